package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"dossier/internal/base/term"
	"dossier/internal/fleet"
)

type templatesCmd struct {
	List      templatesList      `cmd:"" default:"withargs" help:"List the templates."`
	Show      templatesShow      `cmd:"" help:"Print the document of a template, and which versions there are."`
	Save      templatesSave      `cmd:"" help:"Keep a document as a template, or as its next version."`
	Diff      templatesDiff      `cmd:"" help:"Show how two versions differ."`
	Publish   templatesPublish   `cmd:"" help:"Make a version the one that is used where none is named."`
	Rollback  templatesRollback  `cmd:"" help:"Publish an earlier version again."`
	Deprecate templatesDeprecate `cmd:"" help:"Mark a version, or the whole template, as one not to use."`
	Stats     templatesStats     `cmd:"" help:"Show what runs of each version cost and brought."`
	Rm        templatesRm        `cmd:"" help:"Delete templates that have no instances."`
}

func (templatesCmd) Help() string {
	return `A template is an agent that is kept in the data directory, in numbered versions
that never change. Its document has the form of one entry of "agents" in the
configuration file, as YAML or JSON. A new version is a draft until it is
published; NAME@VERSION runs any of them.

` + examples(
		"dossier templates save careful careful.yaml --publish",
		"dossier templates diff careful",
		`dossier agents run careful "compare A and B"`,
		"dossier templates rollback careful",
	)
}

// aTemplate is the argument of the commands about one template.
type aTemplate struct {
	Name string `arg:"" help:"The template."`
}

// aVersion is the argument of the commands about a version, which may be left
// out.
type aVersion struct {
	aTemplate
	Version int `arg:"" name:"n" optional:"" help:"The version."`
}

// on does something with a version. Nothing is made where there is nothing yet.
func (t aTemplate) on(a *app, do func(l *link) error) error {
	if none, err := a.empty(); err != nil {
		return err
	} else if none {
		return fmt.Errorf("template %q: %w", t.Name, fleet.ErrNoTemplate)
	}
	return a.with(a.ctx, do)
}

type templatesList struct{}

func (templatesList) Help() string {
	return examples("dossier templates list", "dossier templates list --json")
}

func (templatesList) Run(a *app) error {
	none, err := a.empty()
	if err != nil {
		return err
	}
	var list []fleet.Template
	if !none {
		if err := a.with(a.ctx, func(l *link) error { list, err = l.Templates(a.ctx); return err }); err != nil {
			return err
		}
	}
	if a.JSON {
		for _, t := range list {
			printJSON(a.proc.Stdout, t)
		}
		return nil
	}
	if len(list) == 0 {
		a.notef("no templates; `dossier templates save NAME FILE` makes one")
		return nil
	}
	rows := make([][]string, len(list))
	for i, t := range list {
		rows[i] = []string{t.Name, published(t), fmt.Sprintf("latest %d", t.Latest), "changed " + day(t.Updated)}
	}
	return a.printRows(rows)
}

// published says which version of a template is used.
func published(t fleet.Template) string {
	switch {
	case t.Deprecated:
		return "deprecated"
	case t.Published == 0:
		return "not published"
	}
	return fmt.Sprintf("published %d", t.Published)
}

// day is a moment as lists show it.
func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

type templatesShow struct {
	aTemplate
	Version int `arg:"" name:"n" optional:"" help:"The version (default: the published one, and the latest where none is)."`
}

func (templatesShow) Help() string {
	return "The document goes to standard output as it was saved, and the rest to standard\nerror.\n\n" +
		examples("dossier templates show careful", "dossier templates show careful 1 > careful.yaml", "dossier templates show careful --json")
}

func (c templatesShow) Run(a *app) error {
	return c.on(a, func(l *link) error {
		v, err := l.TemplateVersion(a.ctx, c.Name, c.Version)
		if err != nil {
			return err
		}
		if a.JSON && c.Version != 0 {
			printJSON(a.proc.Stdout, v)
			return nil
		}
		t, err := l.Template(a.ctx, c.Name)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, struct {
				fleet.Template

				Document fleet.Version `json:"document"`
			}{t, v})
			return nil
		}
		for _, one := range t.Versions {
			a.notef("%s", stateLine(t, one, one.N == v.N))
		}
		document := v.Document
		if _, terminal := a.terminal(a.proc.Stdout); terminal {
			document = term.Clean(document)
		}
		_, err = io.WriteString(a.proc.Stdout, document)
		return err
	})
}

// stateLine is a version in a line; the one that is shown has a mark.
func stateLine(t fleet.Template, v fleet.Version, shown bool) string {
	mark := " "
	if shown {
		mark = "*"
	}
	state := string(v.State)
	if v.State == fleet.Published && v.N != t.Published {
		state = "was published"
	}
	line := fmt.Sprintf("version %d, %s, %s", v.N, state, day(v.Created))
	if v.Author != "" {
		line += ", " + v.Author
	}
	if v.Note != "" {
		line += ": " + v.Note
	}
	return mark + " " + term.Line(line)
}

type templatesSave struct {
	aTemplate
	File    string `arg:"" help:"The document, YAML or JSON; - reads it from standard input."`
	Note    string `placeholder:"TEXT" help:"What is new in this version."`
	Publish bool   `help:"Publish it as well."`
}

func (templatesSave) Help() string {
	return `The document is checked: an unknown key or tool is refused, with its place. The
same document again makes no new version.

` + examples("dossier templates save careful careful.yaml", `dossier templates save careful careful.yaml --note "fewer searches" --publish`,
		`echo '{"base_class": "SGRAgent", "tools": ["web_search_tool"]}' | dossier templates save quick -`)
}

func (c templatesSave) Run(a *app) error {
	document, err := a.document(c.File)
	if err != nil {
		return err
	}
	return a.with(a.ctx, func(l *link) error {
		v, added, err := l.SaveTemplate(a.ctx, c.Name, fleet.Text{Document: document, Note: c.Note, Author: author(a.proc.Env)})
		if err != nil {
			return err
		}
		if added {
			a.notef("saved %s, version %d", c.Name, v.N)
		} else {
			a.notef("nothing changed: this is version %d of %s", v.N, c.Name)
		}
		if c.Publish {
			if err := l.PublishTemplate(a.ctx, c.Name, v.N); err != nil {
				return err
			}
			a.notef("published %s, version %d", c.Name, v.N)
		} else if added {
			a.notef("to use it where no version is named: dossier templates publish %s %d", c.Name, v.N)
		}
		if a.JSON {
			printJSON(a.proc.Stdout, v)
		}
		return nil
	})
}

// document reads a file, or standard input for "-".
func (a *app) document(file string) (string, error) {
	in := a.proc.Stdin
	if file != "-" {
		path, err := a.path(file)
		if err != nil {
			return "", err
		}
		f, err := os.Open(path)
		if err != nil {
			return "", &failure{code: exitUsage, message: fmt.Sprintf("%s: %v", term.Line(file), pathError(err)), hint: "give a file that exists, or - for standard input"}
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxStdin))
	if err != nil {
		return "", &failure{code: exitUsage, message: fmt.Sprintf("%s: %v", term.Line(file), pathError(err))}
	}
	return string(raw), nil
}

// author is who uses the computer, as the environment says.
func author(env []string) string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if who := getenv(env, name); who != "" {
			return who
		}
	}
	return ""
}

type templatesDiff struct {
	aTemplate
	A int `arg:"" optional:"" help:"A version (default: the published one)."`
	B int `arg:"" optional:"" help:"Another version (default: the latest)."`
}

func (templatesDiff) Help() string {
	return examples("dossier templates diff careful", "dossier templates diff careful 1", "dossier templates diff careful 1 3")
}

func (c templatesDiff) Run(a *app) error {
	return c.on(a, func(l *link) error {
		t, err := l.Template(a.ctx, c.Name)
		if err != nil {
			return err
		}
		if c.A == 0 {
			c.A = t.Published
		}
		if c.B == 0 {
			c.B = t.Latest
		}
		if c.A == 0 {
			return &failure{code: exitUsage, message: fmt.Sprintf("no version of %s is published: say which ones to compare", c.Name), hint: fmt.Sprintf("`dossier templates diff %s 1 %d`", c.Name, t.Latest)}
		}
		diff, err := l.DiffTemplate(a.ctx, c.Name, c.A, c.B)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, map[string]any{"template": c.Name, "a": c.A, "b": c.B, "diff": diff})
			return nil
		}
		if diff == "" {
			a.notef("versions %d and %d of %s have the same document", c.A, c.B, c.Name)
		}
		_, err = io.WriteString(a.proc.Stdout, term.Clean(diff))
		return err
	})
}

type templatesPublish struct{ aVersion }

func (templatesPublish) Help() string {
	return "Without a version it is the latest. Runs that are under way keep theirs.\n\n" +
		examples("dossier templates publish careful", "dossier templates publish careful 2")
}

func (c templatesPublish) Run(a *app) error {
	return c.on(a, func(l *link) error {
		if c.Version == 0 {
			t, err := l.Template(a.ctx, c.Name)
			if err != nil {
				return err
			}
			c.Version = t.Latest
		}
		if err := l.PublishTemplate(a.ctx, c.Name, c.Version); err != nil {
			return err
		}
		a.notef("published %s, version %d", c.Name, c.Version)
		return nil
	})
}

type templatesRollback struct{ aVersion }

func (templatesRollback) Help() string {
	return "Without a version it is the one that was published before the present one. Later\nversions stay.\n\n" +
		examples("dossier templates rollback careful", "dossier templates rollback careful 1")
}

func (c templatesRollback) Run(a *app) error {
	return c.on(a, func(l *link) error {
		now, err := l.RollBackTemplate(a.ctx, c.Name, c.Version)
		if err == nil {
			a.notef("published %s, version %d again", c.Name, now)
		}
		return err
	})
}

type templatesDeprecate struct{ aVersion }

func (templatesDeprecate) Help() string {
	return "Without a version it is the whole template, which gets no new instances then.\nWhat is made from it works on. Publishing a version takes it back.\n\n" +
		examples("dossier templates deprecate careful 1", "dossier templates deprecate careful")
}

func (c templatesDeprecate) Run(a *app) error {
	return c.on(a, func(l *link) error {
		if err := l.DeprecateTemplate(a.ctx, c.Name, c.Version); err != nil {
			return err
		}
		what := c.Name
		if c.Version != 0 {
			what += ", version " + strconv.Itoa(c.Version)
		}
		a.notef("deprecated %s", what)
		return nil
	})
}

type templatesStats struct{ aTemplate }

func (templatesStats) Help() string {
	return "Coverage is the share of sentences that a source bears out; tokens, cost and time\nare those of the middle run.\n\n" +
		examples("dossier templates stats careful", "dossier templates stats careful --json | jq .success")
}

func (c templatesStats) Run(a *app) error {
	return c.on(a, func(l *link) error {
		stats, err := l.TemplateStats(a.ctx, c.Name)
		if err != nil {
			return err
		}
		if a.JSON {
			for _, s := range stats {
				printJSON(a.proc.Stdout, s)
			}
			return nil
		}
		if len(stats) == 0 {
			a.notef("no runs yet; `dossier agents run %s QUESTION` makes one", c.Name)
			return nil
		}
		rows := [][]string{{"version", "runs", "done", "failed", "cancelled", "success", "coverage", "tokens", "cost", "time"}}
		for _, s := range stats {
			rows = append(rows, []string{
				strconv.Itoa(s.Version), strconv.Itoa(s.Runs), strconv.Itoa(s.Done), strconv.Itoa(s.Failed), strconv.Itoa(s.Cancelled),
				percent(s.Success), percent(s.Coverage), strconv.Itoa(s.Tokens.Median), fmt.Sprintf("$%.4f", s.Cost.Median), took(s.Time.Median),
			})
		}
		return a.printRows(rows)
	})
}

// percent is a share that may be unknown.
func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100**share)
}

type templatesRm struct {
	Names []string `arg:"" name:"name" help:"Templates."`
}

func (templatesRm) Help() string {
	return "Its versions and statistics go with it. Runs that were made from it are kept.\n\n" + examples("dossier templates rm careful")
}

func (c templatesRm) Run(a *app) error {
	return aTemplate{strings.Join(c.Names, " ")}.on(a, func(l *link) error {
		for _, name := range c.Names {
			if err := l.DeleteTemplate(a.ctx, name); err != nil {
				return err
			}
			a.notef("deleted %s", name)
		}
		return nil
	})
}
