package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

type researchCmd struct {
	Question    []string `arg:"" optional:"" help:"What you want to know; - or nothing reads it from standard input."`
	In          []string `placeholder:"DIR|NAME" sep:"none" help:"Folder, file or collection to look in; may be repeated (default: the collection in use, else the web)."`
	Mode        string   `placeholder:"NAME" default:"web_search" enum:"web_search,deep_search,quality,deep_research,search,web,deep" help:"How thoroughly: web_search, deep_search, quality or deep_research (default web_search)."`
	Format      string   `placeholder:"FORMAT" default:"" enum:",md,html,json,docx,pdf,bib,ris" help:"Format of the report: md, html, docx, pdf (of deep research), json, or bib or ris for the sources (default: that of the file's name, else md)."`
	Output      string   `short:"o" placeholder:"FILE" help:"Write the report to a file."`
	MinCoverage float64  `placeholder:"SHARE" help:"Exit with 4 when a smaller share of the answer's sentences is borne out, from 0 to 1."`
	Session     string   `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue    bool     `xor:"session" help:"Continue the last conversation."`

	deepFlags    `embed:""`
	reportFlags  `embed:""`
	webFlags     `embed:""`
	searchBudget `embed:""`
}

func (researchCmd) Help() string {
	return `Looks for the answer in a folder, a collection or the web, reads what it finds,
and answers with sentences that can be traced to where they stand. Without a
model the answer consists of quotes. A folder is read once; later only what
changed.

--deep-research writes a whole report with a summary, sections and a
conclusion. It asks what is meant where that is not clear ("skip" goes on), and
for the question if there is none.

What is named is asked, and all of it: --in a folder or a collection, --search
the web, and what is piped in. Where nothing is named, it is the collection in
use ("dossier kb use"), and without one the web; it is said which.

` + webHelp + `

Exit code 4 says that no passage answers the question, 3 that no search engine
is set up or none answered.

` + examples(
		`dossier research "how long is the warranty?" --in ~/contracts`,
		`dossier research "how long is the warranty?" --in ~/contracts --in ~/mail/offers`,
		`dossier research "how do heat pumps work in cold climates?" --search`,
		`dossier research "sparse attention" --search=arxiv,hf_papers --since 1y`,
		`dossier research "is our warranty usual?" --in ~/contracts --search --block example.com`,
		`dossier research "parental leave" --site gov.uk --since 2024-04 --mode deep_search`,
		`dossier research "what changed in March?" --in notes -o answer.html`,
		`dossier research --deep-research "how do heat pumps work in cold climates?" -o report.html`,
		`dossier research --deep-research --engine loop --max-iterations 3 --plan edit "compare A and B" --in papers --search`,
		`dossier kb use handbook && dossier research "who approves travel?"`,
		`pdftotext report.pdf - | dossier research "what did it cost?"`,
		`dossier research "compare A and B" --in papers --mode deep_search --min-coverage 0.8`,
	)
}

func (c *researchCmd) Run(a *app) error {
	if err := c.deepFlags.set(a, c); err != nil {
		return err
	}
	settings, err := a.settings()
	if err != nil {
		return err
	}
	if c.MinCoverage < 0 || c.MinCoverage > 1 {
		return &failure{code: exitUsage, message: "--min-coverage is a share: from 0 to 1, as in 0.8"}
	}
	form, err := formatOf(c.Format, c.Output)
	if err != nil {
		return err
	}
	if form == dossier.PDF && c.Mode != deepResearchMode {
		return a.onlyResearch(c.Mode)
	}
	if err := a.writable(c.Output); err != nil {
		return err
	}
	if a.JSON && c.Format != "" && c.Output == "" {
		return &failure{code: exitUsage, message: "--json prints the events of the run, and --format the report: both can't go to standard output", hint: "write the report to a file with -o"}
	}
	choice, words, err := c.choose(c.Question, settings.Search.MCPServers, time.Now())
	if err != nil {
		return err
	}
	question, material, err := a.question(strings.Join(words, " "))
	if err == nil && question == "" && c.DeepResearch && a.interactive() {
		question, err = a.askQuestion()
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(question) == "" {
		return &failure{code: exitUsage, message: lang.Text(a.locale(), "question.empty", "example", `dossier research "`+lang.Text(a.locale(), "question.example")+`" --in DIR`), hint: "`dossier research --help` shows what is possible"}
	}
	in, err := a.places(c.In)
	if err != nil {
		return err
	}
	code := a.languageOf(question)
	req := dossier.Request{Mode: c.Mode, Session: c.Session, Request: mode.Request{
		Question: question, Context: material, In: in, Lang: string(code), Model: a.Model, NoInput: !a.interactive(), Limits: c.limits(settings),
		MinCoverage: c.MinCoverage,
	}}
	return a.with(a.ctx, func(l *link) error {
		if err := a.chooseSession(a.ctx, l, &req, c.Continue); err != nil {
			return err
		}
		if err := choice.into(a, l, &req.In); err != nil {
			return err
		}
		if !choice.none {
			if err := c.goOn(a, l, &req, code); err != nil {
				return err
			}
		}
		if err := a.tellPlace(l, req, code); err != nil {
			return err
		}
		rec, err := a.start(a.ctx, l, req)
		if err != nil {
			return err
		}
		return c.follow(a, l, rec, code, form)
	})
}

// follow shows the run and delivers its report.
func (c *researchCmd) follow(a *app, l *link, rec run.Record, code lang.Code, form dossier.Format) error {
	show := a.proc.Stdout
	if c.Output != "" || form != dossier.Markdown {
		show = io.Discard
	}
	f := &follower{app: a, link: l, rec: rec, lang: code, view: a.newView(l, rec, show, code, c.extent(a))}
	err := f.run(a.ctx)
	if show != io.Discard || f.course.answer().Text == "" {
		return err // all is shown, or it failed, waits or was cancelled
	}
	// What there is is delivered, be it not enough.
	r, rerr := l.Report(context.Background(), rec.ID)
	if rerr == nil {
		rerr = a.deliver(r, form, c.Output)
		a.tellNext(r)
	}
	if rerr != nil {
		return rerr
	}
	return err
}

// places finds out what a question is asked of, of all that is named. What lies
// in a folder that is named too is asked with it.
func (a *app) places(names []string) (sources.Target, error) {
	var in sources.Target
	var paths []string
	for _, name := range append([]string{""}, names...) {
		one, err := a.place(name)
		if err != nil {
			return in, err
		}
		in.Base = one.Base
		paths = append(paths, one.Paths...)
		if one.Collection != "" {
			in.Also = append(in.Also, sources.Documents{Collection: one.Collection})
		}
	}
	for i, path := range paths {
		if !slices.ContainsFunc(paths[:i], func(p string) bool { return p == path }) && !slices.ContainsFunc(paths, func(p string) bool { return p != path && inside(path, p) }) {
			in.Also = append(in.Also, sources.Documents{Paths: []string{path}})
		}
	}
	if len(in.Also) > 0 {
		in.Paths, in.Collection = in.Also[0].Paths, in.Also[0].Collection
		in.Also = in.Also[1:]
	}
	return in, nil
}

// inside reports whether a path lies in a folder.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// tellPlace says what is asked where nothing was named.
func (a *app) tellPlace(l *link, req dossier.Request, code lang.Code) error {
	if in := req.In; len(in.Paths) > 0 || in.Collection != "" || in.Web != nil || strings.TrimSpace(req.Context) != "" {
		return nil
	}
	list, err := l.Collections(a.ctx)
	if err != nil {
		return err
	}
	if list.Active != "" {
		a.notef("%s", lang.Text(code, "place.collection", "name", term.Line(list.Active)))
	} else {
		a.notef("%s", lang.Text(code, "place.web"))
	}
	return nil
}

// place finds out what a question is asked of: a path that exists, or the name
// of a collection.
func (a *app) place(name string) (sources.Target, error) {
	in := sources.Target{Base: a.dir()}
	if name == "" {
		return in, nil
	}
	path, err := a.path(name)
	if err != nil {
		return in, err
	}
	if !utf8.ValidString(path) {
		// What a run was asked is kept as JSON, which can't hold it.
		return in, &failure{code: exitUsage, message: fmt.Sprintf("the path %q is not UTF-8", path), hint: "name the folder above it, or rename it; the names of the files in it don't matter"}
	}
	_, err = os.Stat(path)
	switch {
	case err == nil:
		in.Paths = []string{path}
	case strings.ContainsRune(name, filepath.Separator) || strings.HasPrefix(name, "."):
		return in, &failure{code: exitUsage, message: fmt.Sprintf("--in %s: %v", term.Line(name), pathError(err)), hint: "give a folder or file that exists, or the name of a collection (`dossier kb list`)"}
	default:
		in.Collection = name
	}
	return in, nil
}

// dir is where the command was given, "" where that can't be told.
func (a *app) dir() string {
	if a.proc.Dir != "" {
		return a.proc.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// path makes a path absolute, from where the command was given.
func (a *app) path(name string) (string, error) {
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	if a.proc.Dir != "" {
		return filepath.Join(a.proc.Dir, name), nil
	}
	return filepath.Abs(name)
}

// pathError is what is wrong with a path, without the path.
func pathError(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
