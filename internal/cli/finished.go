package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/run"
)

type runsTag struct {
	one
	Tags []string `arg:"" optional:"" help:"The tags that it has from now on; none takes them all away."`
}

func (runsTag) Help() string {
	return examples(`dossier runs tag last bridges "for the talk"`, "dossier runs list --tag bridges", "dossier runs tag last")
}

func (c runsTag) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		tags, err := l.Tag(a.ctx, rec.ID, c.Tags)
		if err == nil {
			a.notef("%s: %s", rec.ID, term.Line(strings.Join(tags, ", ")))
		}
		return err
	})
}

type runsCompare struct {
	Before string `arg:"" help:"The run with the earlier report."`
	After  string `arg:"" help:"The run with the later one."`
}

func (runsCompare) Help() string {
	return `Sentences are compared by their words, sources by their addresses and the texts
that were read there.

` + examples("dossier runs compare 06f3 last", "dossier runs compare 06f3 last --json | jq .changes.new")
}

func (c runsCompare) Run(a *app) error {
	return one{c.After}.on(a, func(l *link, rec run.Record) error {
		before, err := l.Get(a.ctx, c.Before)
		if err != nil {
			return err
		}
		changes, err := l.Compare(a.ctx, before.ID, rec.ID)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, changes)
			return nil
		}
		var b strings.Builder
		for _, said := range changes.Told {
			b.WriteString(term.Line(said) + "\n")
		}
		_, err = io.WriteString(a.proc.Stdout, b.String())
		return err
	})
}

type runsImport struct {
	Bundle string `arg:"" help:"The file that runs export wrote."`
}

func (runsImport) Help() string {
	return `A bundle that "dossier verify" finds unchanged becomes a run of its own, with its
report, the texts that were read and its events. Nothing of it is carried out.

` + examples("dossier runs import evidence.zip && dossier runs report last")
}

func (c runsImport) Run(a *app) error {
	path, err := a.path(c.Bundle)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return &failure{code: exitUsage, message: fmt.Sprintf("%s: %v", term.Line(c.Bundle), pathError(err))}
	}
	return a.with(a.ctx, func(l *link) error {
		rec, err := l.Import(a.ctx, data, "")
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, rec)
			return nil
		}
		a.notef("%s", lang.Text(a.locale(), "import.done", "run", rec.ID, "title", term.Line(rec.Title)))
		return nil
	})
}
