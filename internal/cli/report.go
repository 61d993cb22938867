package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dossier"
	"dossier/internal/base/fonts"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/report"
	"dossier/report/evidence"
	"dossier/run"
)

// formatOf is the format asked for, or that of the file's name.
func formatOf(asked, file string) (dossier.Format, error) {
	if asked != "" {
		return dossier.Format(asked), nil
	}
	switch ending := strings.ToLower(filepath.Ext(file)); ending {
	case "", ".md", ".markdown", ".txt":
		return dossier.Markdown, nil
	case ".html", ".htm":
		return dossier.HTML, nil
	case ".json", ".docx", ".pdf", ".bib", ".ris":
		return dossier.Format(ending[1:]), nil
	case ".bibtex":
		return dossier.BibTeX, nil
	default:
		return "", &failure{code: exitUsage, message: fmt.Sprintf("a report can't be written as %s", term.Line(ending)), hint: "name the file .md, .html, .docx, .pdf, .json, .bib or .ris, or say --format"}
	}
}

// onlyResearch says that what was made in a mode is not had as PDF, and what
// is.
func (a *app) onlyResearch(mode string) error {
	code := a.locale()
	return &failure{code: exitUsage, message: lang.Text(code, "pdf.only-research", "mode", modeShown(mode)), hint: lang.Text(code, "pdf.only-research.hint")}
}

// rendered returns a report in a format.
func (a *app) rendered(r *report.Report, form dossier.Format) ([]byte, error) {
	made, err := dossier.Render(r, form, fonts.Dirs(func(name string) string { return getenv(a.proc.Env, name) }))
	if len(made.Missing) > 0 {
		a.notef("%s", lang.Text(r.Lang, "pdf.missing", "characters", term.Line(string(made.Missing))))
	}
	return made.Data, err
}

// deliver writes a report to a file, or to standard output without one.
func (a *app) deliver(r *report.Report, form dossier.Format, file string) error {
	_, live := a.terminal(a.proc.Stdout)
	if file == "" && form.Binary() && live {
		code := a.locale()
		return &failure{code: exitUsage, message: lang.Text(code, "report.binary"), hint: lang.Text(code, "report.binary.hint", "format", string(form))}
	}
	text, err := a.rendered(r, form)
	if err != nil {
		return err
	}
	if file == "" {
		switch {
		case form == dossier.JSON:
			text = []byte(safeJSON(text))
		case form == dossier.Markdown && live:
			return a.print(report.Form{Linked: true}.Markdown(r), r)
		}
		_, err = a.proc.Stdout.Write(text)
		return err
	}
	path, err := a.path(file)
	if err == nil {
		err = writeFile(path, text)
	}
	if err != nil {
		return &failure{code: exitFailure, message: "writing the report: " + err.Error(), hint: "it is kept: `dossier runs report " + r.Run + " -o FILE` writes it elsewhere"}
	}
	a.notef("%s", lang.Text(r.Lang, "research.written", "file", file))
	return nil
}

type runsReport struct {
	one
	Format string `placeholder:"FORMAT" default:"" enum:",md,html,json,docx,pdf,bib,ris" help:"md, html, docx, pdf (of deep research), json, or bib or ris for the sources (default: that of the file's name, else md)."`
	Output string `short:"o" placeholder:"FILE" help:"Write it to a file."`
}

func (runsReport) Help() string {
	return `The ending of the file says the format: .md, .html (one page that needs nothing
else), .docx, .json, and .bib or .ris for the sources alone, as reference
managers read them. A .pdf is made of deep research that is done.

` + examples(
		"dossier runs report last",
		"dossier runs report last -o answer.html",
		"dossier runs report last -o report.pdf",
		"dossier runs report last -o sources.bib",
		"dossier runs report 06f3 --format json | jq .coverage",
	)
}

func (c runsReport) Run(a *app) error {
	form, err := formatOf(c.Format, c.Output)
	if err != nil {
		return err
	}
	return c.on(a, func(l *link, rec run.Record) error {
		if form == dossier.PDF && !rec.Status.Ended() {
			code := a.locale()
			return &failure{code: exitNotEnough, message: lang.Text(code, "pdf.not-done", "run", rec.ID), hint: lang.Text(code, "pdf.not-done.hint", "run", rec.ID)}
		}
		r, err := l.Report(a.ctx, rec.ID)
		if err != nil {
			return err
		}
		if form == dossier.PDF && r.Kind != report.Research {
			return a.onlyResearch(rec.Mode)
		}
		return a.deliver(r, form, c.Output)
	})
}

// writeBundle writes the report of a run with its evidence.
func (a *app) writeBundle(l *link, rec run.Record, file string) error {
	code := a.locale()
	r, err := l.Report(a.ctx, rec.ID)
	if errors.Is(err, dossier.ErrNoReport) {
		return &failure{code: exitNotEnough, message: lang.Text(code, "bundle.no-report", "run", rec.ID), hint: lang.Text(code, "bundle.no-report.hint", "run", rec.ID)}
	}
	if err != nil {
		return err
	}
	texts, err := l.Snapshots(a.ctx, rec.ID)
	if err != nil {
		return err
	}
	all, err := l.Export(a.ctx, rec.ID)
	if err != nil {
		return err
	}
	data, err := evidence.Pack(evidence.Content{Report: r, Snapshots: texts, Run: all.Run, Events: all.Events})
	if err != nil {
		return err
	}
	path, err := a.path(file)
	if err == nil {
		err = writeFile(path, data)
	}
	if err != nil {
		return &failure{code: exitFailure, message: "writing the bundle: " + err.Error()}
	}
	a.notef("%s", lang.Text(code, "bundle.written", "file", file))
	return nil
}

type verifyCmd struct {
	Bundle string `arg:"" help:"The file that runs export wrote."`
}

func (verifyCmd) Help() string {
	return `Checks a report with its evidence, offline and without the data directory that
it came from: the hash of every file, each quote in the text that was read, at
its place, what sentences cite, and that no event is missing. Exit code 1 says
that something was changed, and it is named.

` + examples("dossier runs export last -o evidence.zip", "dossier verify evidence.zip", "dossier verify evidence.zip --json | jq .problems")
}

func (c verifyCmd) Run(a *app) error {
	if _, err := a.settings(); err != nil { // they say in which language to answer
		return err
	}
	code := a.locale()
	path, err := a.path(c.Bundle)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return &failure{code: exitUsage, message: fmt.Sprintf("%s: %v", term.Line(c.Bundle), pathError(err))}
	}
	found, err := evidence.Verify(data)
	if errors.Is(err, evidence.ErrNotABundle) {
		return &failure{code: exitUsage, message: lang.Text(code, "verify.not-a-bundle", "file", term.Line(c.Bundle)), hint: lang.Text(code, "verify.not-a-bundle.hint")}
	}
	if err != nil {
		return err
	}
	if a.JSON {
		printJSON(a.proc.Stdout, found)
		if !found.OK() {
			return exitWith(exitFailure)
		}
		return nil
	}
	var b strings.Builder
	if found.OK() {
		b.WriteString(lang.Text(code, "verify.ok", "file", term.Line(c.Bundle), "files", found.Files, "sources", found.Sources, "quotes", found.Quotes, "claims", found.Claims, "events", found.Events) + "\n")
	} else {
		b.WriteString(lang.Text(code, "verify.failed", "file", term.Line(c.Bundle)) + "\n")
	}
	for _, p := range found.Problems {
		b.WriteString("  " + lang.Text(code, "verify."+string(p.Wrong), "name", term.Line(p.File)))
		if p.Detail != "" {
			b.WriteString(": " + term.Line(p.Detail))
		}
		b.WriteByte('\n')
	}
	if len(found.Edited) > 0 {
		b.WriteString(lang.Text(code, "verify.edited", "n", len(found.Edited)) + "\n")
	}
	for _, sentence := range found.Edited {
		b.WriteString("  " + term.Line(sentence) + "\n")
	}
	if _, err := fmt.Fprint(a.proc.Stdout, b.String()); err != nil || found.OK() {
		return err
	}
	return exitWith(exitFailure)
}
