package cli

import (
	"fmt"
	"strings"

	"dossier"
	"dossier/internal/base/term"
	"dossier/kb"
	"dossier/report"
)

type kbDocs struct {
	Name   string   `arg:"" help:"The collection."`
	Words  []string `arg:"" optional:"" help:"Words of the path, or the number of a document to show its passages."`
	Failed bool     `help:"Only those that could not be read."`
	Skip   int      `placeholder:"N" help:"Pass over so many."`
	Limit  int      `short:"n" default:"50" placeholder:"N" help:"How many (default 50, at most 200)."`
}

func (kbDocs) Help() string {
	return examples("dossier kb docs handbook", "dossier kb docs handbook leave --failed", "dossier kb docs handbook 12")
}

func (c *kbDocs) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		if n, ok := documentNumber(c.Words); ok {
			return c.passages(a, l, name, n)
		}
		f := kb.EntryFilter{Words: strings.Join(c.Words, " "), Skip: c.Skip, Limit: c.Limit}
		if c.Failed {
			f.Failed = &c.Failed
		}
		list, err := l.Documents(a.ctx, name, f)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, d := range list.Documents {
			if a.JSON {
				printJSON(a.proc.Stdout, d)
				continue
			}
			what := fmt.Sprintf("%d passages", d.Chunks)
			if d.Failure != nil {
				what = "not readable: " + d.Failure.Why
			}
			fmt.Fprintf(&b, "%5d  %s  (%s)\n", d.N, term.Line(d.Path), term.Line(what))
		}
		if left := list.Total - c.Skip - len(list.Documents); left > 0 {
			a.notef("%d more; --skip %d shows the next", left, c.Skip+len(list.Documents))
		}
		if list.Total == 0 {
			a.notef("no documents")
		}
		_, err = a.proc.Stdout.Write([]byte(b.String()))
		return err
	})
}

// documentNumber is the number that stands alone.
func documentNumber(words []string) (n int64, ok bool) {
	if len(words) != 1 {
		return 0, false
	}
	_, err := fmt.Sscanf(words[0]+"\n", "%d\n", &n)
	return n, err == nil && n > 0
}

// passages shows a document as it was cut.
func (c *kbDocs) passages(a *app, l *link, name string, n int64) error {
	d, err := l.Document(a.ctx, name, n, c.Skip, c.Limit)
	if err != nil {
		return err
	}
	if a.JSON {
		printJSON(a.proc.Stdout, d)
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d passages\n", term.Line(d.Path), d.Chunks)
	if d.Failure != nil {
		fmt.Fprintf(&b, "not readable: %s\n", term.Line(d.Failure.Why))
	}
	for _, p := range d.Passages {
		fmt.Fprintf(&b, "\n%s", p.ID)
		if len(p.Headings) > 0 {
			b.WriteString("  " + term.Line(strings.Join(p.Headings, " › ")))
		}
		for line := range strings.SplitSeq(strings.TrimSpace(term.Clean(p.Text)), "\n") {
			b.WriteString("\n   " + line)
		}
		b.WriteByte('\n')
	}
	_, err = a.proc.Stdout.Write([]byte(b.String()))
	return err
}

type kbReindex struct {
	Name string `arg:"" help:"The collection."`
}

func (kbReindex) Help() string {
	return "Reads the files again that another version of the program read, that have\nchanged, or that could not be read before.\n\n" + examples("dossier kb reindex handbook")
}

func (c kbReindex) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		code := a.locale()
		rec, err := l.IngestCollection(a.ctx, name, dossier.IngestOptions{Reread: true, Lang: string(code)})
		if err != nil {
			return err
		}
		f := &follower{app: a, link: l, rec: rec, lang: code, view: a.newView(l, rec, a.proc.Stdout, code, report.Short)}
		return f.run(a.ctx)
	})
}

type kbTag struct {
	Name string   `arg:"" help:"The collection."`
	Tags []string `arg:"" optional:"" help:"Its tags from now on; none takes all away."`
}

func (kbTag) Help() string {
	return "Tags are words by which collections are chosen together on the page.\n\n" + examples("dossier kb tag handbook staff law")
}

func (c kbTag) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		name, err := a.collectionName(l, c.Name)
		if err != nil {
			return err
		}
		made, err := l.TagCollection(a.ctx, name, c.Tags)
		if err == nil {
			a.notef("%s: %s", term.Line(made.Name), term.Line(strings.Join(made.Tags, ", ")))
		}
		return err
	})
}
