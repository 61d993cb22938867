package cli

import (
	"fmt"
	"slices"
	"time"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
)

type doctorCmd struct {
	Offline bool `help:"Leave the search engines out; nothing is sent anywhere."`
}

func (doctorCmd) Help() string {
	return `Checks the data directory, the collections and their indexes, the parsers of
all formats (with small documents that are part of the program), the search
engines, the fonts of this machine, an installed browser, and which models are
configured. Each search engine that is set up is sent one search for the word
"` + dossier.ProbeWord + `", with the key that you set for it; those that are MCP servers are
started for that. Nothing else is sent, and with --offline nothing at all.
Models are not called: "dossier models test" does that.

Exit code 1 says that something is broken or does not answer, 0 that at most
something is missing that can be done without.

` + examples("dossier doctor", "dossier doctor --offline", "dossier doctor --json")
}

func (c doctorCmd) Run(a *app) error {
	var found []dossier.Finding
	if err := a.with(a.ctx, func(l *link) (err error) { found, err = c.diagnose(a, l); return err }); err != nil {
		return err
	}
	broken := slices.ContainsFunc(found, func(f dossier.Finding) bool { return !f.OK && !f.Unset })
	for _, f := range found {
		if a.JSON {
			printJSON(a.proc.Stdout, f)
			continue
		}
		printFinding(a, f)
	}
	if broken {
		return exitWith(exitFailure)
	}
	return nil
}

// diagnose tells that it takes a while: engines may be slow.
func (c doctorCmd) diagnose(a *app, l *link) ([]dossier.Finding, error) {
	how := dossier.Checkup{Offline: c.Offline}
	if !a.JSON { // programs read English
		how.Lang = a.locale()
	}
	if c.Offline {
		return l.Diagnose(a.ctx, how)
	}
	progress := a.newBoard(a.locale())
	progress.line(lang.Text(a.locale(), "doctor.engines", "seconds", int(dossier.ProbeTime.Seconds())))
	defer progress.close()
	defer progress.hide()
	return l.Diagnose(a.ctx, how)
}

func printFinding(a *app, f dossier.Finding) {
	mark := "ok"
	switch {
	case !f.OK && f.Unset:
		mark = "missing"
	case !f.OK && f.Optional:
		mark = "failed"
	case !f.OK:
		mark = "BROKEN"
	}
	line := f.What
	if f.Detail != "" {
		line += ": " + f.Detail
	}
	if f.Took >= 100*time.Millisecond || f.Took > 0 && f.Optional {
		line += " (" + took(f.Took) + ")"
	}
	fmt.Fprintf(a.proc.Stdout, "%-9s%s\n", mark, term.Line(line))
	if f.Hint != "" {
		fmt.Fprintln(a.proc.Stdout, "         "+term.Line(f.Hint))
	}
}
