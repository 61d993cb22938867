package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier"
	"dossier/internal/base/term"
	"dossier/kb"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/ingest"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

type kbCmd struct {
	List    kbList    `cmd:"" default:"withargs" help:"List the collections, or what could not be read of one."`
	Add     kbAdd     `cmd:"" help:"Read folders and files into a collection, or bring it up to date."`
	Search  kbSearch  `cmd:"" help:"Show the passages of a collection that are about something."`
	Docs    kbDocs    `cmd:"" help:"List the documents of a collection, or show the passages of one."`
	Reindex kbReindex `cmd:"" help:"Read what is in a collection again."`
	Tag     kbTag     `cmd:"" help:"Give a collection other tags."`
	Use     kbUse     `cmd:"" help:"Choose the collection that is asked when none is named."`
	Rm      kbRm      `cmd:"" help:"Forget a collection; the files that it mirrors stay."`
}

func (kbCmd) Help() string {
	return `A collection mirrors folders: what is in them is read, cut into passages and
indexed. It is kept in the data directory; the files themselves are never
changed. "dossier research --in DIR" makes a collection of its own for DIR.

` + examples("dossier kb add ~/handbook --name handbook", "dossier kb search handbook \"parental leave\"", "dossier kb use handbook")
}

type kbAdd struct {
	Paths []string `arg:"" help:"Folders and files."`
	Name  string   `placeholder:"NAME" help:"Name of the collection (default: that of the first folder)."`
	Tag   []string `placeholder:"TAG" help:"A tag of the collection; may be repeated."`
}

func (kbAdd) Help() string {
	return `Reads text, Markdown, HTML, PDF, DOCX, ODT, PPTX, XLSX, EPUB, CSV and JSON.
What is unchanged since the last time is not read again, what is gone is
forgotten. Files and folders whose names begin with a dot are left out, and
links are not followed.
Ctrl-C keeps what was read; the same command goes on.

` + examples("dossier kb add ~/handbook", "dossier kb add ~/papers ~/notes/physics.md --name physics")
}

func (c *kbAdd) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	in := sources.Target{Collection: c.Name}
	for _, name := range c.Paths {
		if !filepath.IsAbs(name) {
			name = "./" + name // a path, and never the name of a collection
		}
		p, err := a.place(name)
		if err != nil {
			return err
		}
		in.Paths, in.Base = append(in.Paths, p.Paths...), p.Base
	}
	if in.Collection == "" {
		in.Collection = filepath.Base(in.Paths[0])
	}
	code := a.locale()
	req := dossier.Request{Mode: ingest.Name, Request: mode.Request{
		Question: "kb add " + strings.Join(c.Paths, " "), In: in, Lang: string(code), NoInput: true, Limits: run.Limits{Time: settings.Limits.Time},
	}}
	return a.with(a.ctx, func(l *link) error {
		if c.Name == "" {
			if err := a.sameFolder(l, in); err != nil {
				return err
			}
		}
		rec, err := a.start(a.ctx, l, req)
		if err != nil {
			return err
		}
		f := &follower{app: a, link: l, rec: rec, lang: code, view: a.newView(l, rec, a.proc.Stdout, code, report.Short)}
		if err := f.run(a.ctx); err != nil {
			return err
		}
		if len(c.Tag) > 0 {
			if _, err := l.TagCollection(a.ctx, in.Collection, c.Tag); err != nil {
				return err
			}
		}
		a.notef("%s", lang.Text(code, "ingest.next", "command", fmt.Sprintf("dossier research \"…\" --in %s", quoted(in.Collection))))
		return nil
	})
}

// sameFolder refuses a place whose collection got its name from another folder:
// two folders that happen to be called the same are not mixed unasked.
func (a *app) sameFolder(l *link, in sources.Target) error {
	list, err := l.Collections(a.ctx)
	if err != nil {
		return err
	}
	for _, c := range list.Collections {
		if c.Name != in.Collection {
			continue
		}
		root := in.Paths[0]
		if target, err := filepath.EvalSymlinks(root); err == nil {
			root = target
		}
		if slices.Contains(c.Roots, root) {
			return nil
		}
		return &failure{
			code: exitUsage, message: fmt.Sprintf("there is a collection %s already, of %s", term.Line(c.Name), term.Line(strings.Join(c.Roots, ", "))),
			hint: fmt.Sprintf("--name %s adds to it, another --name makes another one", quoted(c.Name)),
		}
	}
	return nil
}

// quoted is a name as a shell takes it.
func quoted(name string) string {
	if strings.ContainsAny(name, " \t\"'`$\\&|;()<>*?[]#~!") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

type kbList struct {
	Name string `arg:"" optional:"" help:"Only this collection, with the files that could not be read."`
}

func (kbList) Help() string {
	return examples("dossier kb list", "dossier kb list handbook", "dossier kb list --json")
}

// one shows a collection and what could not be read of it.
func (c kbList) one(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		d, err := l.Collection(a.ctx, name)
		if errors.Is(err, kb.ErrNoCollection) {
			if meant := a.meant("kb", c.Name); meant != "" {
				return &failure{code: exitUsage, message: fmt.Sprintf("%v, and no command %s: did you mean %q?", err, term.Line(c.Name), meant), hint: "`dossier kb --help` lists the commands"}
			}
		}
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, d)
			return nil
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %d documents, %d passages\n", term.Line(d.Name), d.Documents, d.Chunks)
		b.WriteString(outdated(d.Collection))
		for _, f := range d.Failures {
			fmt.Fprintf(&b, "  %s: %s\n", term.Line(f.Path), term.Line(f.Why))
		}
		_, err = a.proc.Stdout.Write([]byte(b.String()))
		return err
	})
}

func (c kbList) Run(a *app) error {
	if c.Name != "" {
		return c.one(a)
	}
	none, err := a.empty()
	if err != nil {
		return err
	}
	var list dossier.CollectionList
	if !none {
		if err := a.with(a.ctx, func(l *link) error { list, err = l.Collections(a.ctx); return err }); err != nil {
			return err
		}
	}
	if a.JSON {
		for _, c := range list.Collections {
			printJSON(a.proc.Stdout, c)
		}
		return nil
	}
	if len(list.Collections) == 0 {
		a.notef("no collections; `dossier kb add DIR` makes one")
		return nil
	}
	var b strings.Builder
	for _, c := range list.Collections {
		mark := " "
		if c.Name == list.Active {
			mark = "*"
		}
		synced := "never read to the end"
		if !c.Synced.IsZero() {
			synced = "read " + c.Synced.Local().Format("2006-01-02 15:04")
		}
		failed, tags := "", ""
		if len(c.Tags) > 0 {
			tags = " [" + term.Line(strings.Join(c.Tags, ", ")) + "]"
		}
		if c.Failed > 0 {
			failed = fmt.Sprintf(", %d files without text", c.Failed)
		}
		fmt.Fprintf(&b, "%s %-20s  %6d documents%s, %d passages, %s%s\n", mark, term.Line(c.Name), c.Documents, failed, c.Chunks, synced, tags)
		for _, root := range c.Roots {
			if root != c.Name {
				fmt.Fprintf(&b, "    %s\n", term.Line(root))
			}
		}
		b.WriteString(outdated(c))
	}
	_, err = a.proc.Stdout.Write([]byte(b.String()))
	return err
}

// outdated is the line about the documents of a collection that another version
// of the program read, and what to do about them.
func outdated(c kb.Collection) string {
	if c.Outdated == 0 {
		return ""
	}
	return fmt.Sprintf("    read by another version: %d; `dossier kb reindex %s` reads them again\n", c.Outdated, term.Line(quoted(c.Name)))
}

type kbSearch struct {
	Name  string   `arg:"" help:"The collection."`
	Query []string `arg:"" help:"What to look for."`
	Limit int      `short:"n" default:"5" placeholder:"N" help:"How many passages (default 5)."`
	Route string   `placeholder:"HOW" default:"" enum:",bm25,dense,hybrid" help:"By words (bm25), by meaning (dense) or both (hybrid; the default where an embedder is configured)."`
	Path  []string `placeholder:"GLOB" help:"Only files that match, as in 'contracts/*.pdf'; may be repeated."`
	In    []string `name:"written-in" placeholder:"CODE" help:"Only documents in this language (ru, en, zh …); may be repeated."`
	After string   `placeholder:"DATE" help:"Only documents of this date or later (YYYY-MM-DD)."`
}

func (kbSearch) Help() string {
	return examples(`dossier kb search handbook "parental leave"`, `dossier kb search papers "error correction" -n 20 --path '2025/*' --json`)
}

func (c *kbSearch) Run(a *app) error {
	if _, err := a.settings(); err != nil {
		return err
	}
	if c.Limit <= 0 {
		return &failure{code: exitUsage, message: "--limit has to be more than 0"}
	}
	if c.After != "" && !isDate(c.After) {
		return &failure{code: exitUsage, message: fmt.Sprintf("--after %s is no date", term.Line(c.After)), hint: "write it as 2025, 2025-03 or 2025-03-14"}
	}
	q := kb.Query{Text: strings.Join(c.Query, " "), Limit: c.Limit, Route: kb.Route(c.Route), Filter: kb.Filter{Paths: c.Path, After: c.After}}
	for _, code := range c.In {
		q.Filter.Langs = append(q.Filter.Langs, lang.Code(code))
	}
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		found, err := l.SearchCollection(a.ctx, name, q)
		if err != nil {
			return err
		}
		if err := c.print(a, found); err != nil {
			return err
		}
		of, err := l.Collection(a.ctx, name)
		if err != nil {
			return err
		}
		if line := strings.TrimSpace(outdated(of.Collection)); line != "" {
			a.notef("%s", line)
		}
		return nil
	})
}

// isDate says whether a text is a date or the beginning of one.
func isDate(text string) bool {
	return slices.ContainsFunc([]string{"2006", "2006-01", "2006-01-02"}, func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
}

// collectionName is the name of a collection, which may also be the path of its
// folder.
func (a *app) collectionName(l *link, name string) (string, error) {
	list, err := l.Collections(a.ctx)
	if err != nil {
		return "", err
	}
	named := func(n string) bool {
		return slices.ContainsFunc(list.Collections, func(c kb.Collection) bool { return c.Name == n || c.ID == n })
	}
	if named(name) {
		return name, nil
	}
	path, err := a.path(name)
	if err != nil {
		return "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if named(path) {
		return path, nil
	}
	return name, nil
}

func (c *kbSearch) print(a *app, found kb.Result) error {
	if a.JSON {
		for _, h := range found.Hits {
			printJSON(a.proc.Stdout, h)
		}
	} else {
		var b strings.Builder
		for i, h := range found.Hits {
			place := term.Line(h.Path)
			if h.Page > 0 {
				place += fmt.Sprintf(", p. %d", h.Page)
			}
			if len(h.Headings) > 0 {
				place += " · " + term.Line(strings.Join(h.Headings, " › "))
			}
			fmt.Fprintf(&b, "%d. %s\n", i+1, place)
			for line := range strings.SplitSeq(strings.TrimSpace(term.Clean(h.Text)), "\n") {
				fmt.Fprintf(&b, "   %s\n", line)
			}
			b.WriteByte('\n')
		}
		if _, err := a.proc.Stdout.Write([]byte(b.String())); err != nil {
			return err
		}
		if found.Note != "" {
			a.notef("%s", term.Line(found.Note))
		}
	}
	if len(found.Hits) == 0 {
		a.notef("nothing found; try other words")
		return exitWith(exitNotEnough)
	}
	return nil
}

type kbUse struct {
	Name string `arg:"" help:"The collection."`
}

func (kbUse) Help() string {
	return "Runs that are under way keep the collection they began with.\n\n" + examples("dossier kb use handbook")
}

func (c kbUse) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		used, err := l.UseCollection(a.ctx, name)
		if err == nil {
			a.notef("using %s (%d documents)", term.Line(used.Name), used.Documents)
		}
		return err
	})
}

type kbRm struct {
	Names []string `arg:"" help:"Collections."`
}

func (kbRm) Help() string { return examples("dossier kb rm handbook") }

func (c kbRm) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		for _, name := range c.Names {
			full, err := a.collectionName(l, name)
			if err == nil {
				err = l.DeleteCollection(a.ctx, full)
			}
			if err != nil {
				return err
			}
			a.notef("forgot %s; the files that it mirrored are untouched", term.Line(full))
		}
		return nil
	})
}
