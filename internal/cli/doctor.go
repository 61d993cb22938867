package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier"
	"dossier/internal/base/fonts"
	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/lang"
	"dossier/reader/chromium"
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
	settings, err := a.settings()
	if err != nil {
		return err
	}
	var found []dossier.Finding
	if err := a.with(a.ctx, func(l *link) error { found, err = c.diagnose(a, l); return err }); err != nil {
		return err
	}
	found = append([]dossier.Finding{{What: "data directory", OK: true, Detail: settings.DataDir}}, found...)
	found = append(found, fontFindings(a.proc.Env)...)
	found = append(found, browserFinding(), modelFinding(settings))
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
	if c.Offline {
		return l.Diagnose(a.ctx, true)
	}
	progress := a.newBoard(a.locale())
	progress.line(lang.Text(a.locale(), "doctor.engines", "seconds", int(dossier.ProbeTime.Seconds())))
	defer progress.close()
	defer progress.hide()
	return l.Diagnose(a.ctx, false)
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
	if f.Took >= 100*time.Millisecond || f.Took > 0 && strings.HasPrefix(f.What, "engine ") {
		line += " (" + took(f.Took) + ")"
	}
	fmt.Fprintf(a.proc.Stdout, "%-9s%s\n", mark, term.Line(line))
	if f.Hint != "" {
		fmt.Fprintln(a.proc.Stdout, "         "+term.Line(f.Hint))
	}
}

func fontFindings(env []string) []dossier.Finding {
	samples := fonts.Samples()
	have := fonts.Cover(fonts.Dirs(func(name string) string { return getenv(env, name) }), samples)
	var out []dossier.Finding
	for _, script := range slices.Sorted(maps.Keys(samples)) {
		f, ok := have.Fonts[script]
		finding := dossier.Finding{What: "font " + script, OK: ok, Detail: f.Path, Optional: true}
		if !ok {
			finding.Unset = true
			finding.Detail, finding.Hint = "no font of this machine shows it", "install one, such as Noto Sans: browsers need it to show reports in this script"
		}
		out = append(out, finding)
	}
	return out
}

func browserFinding() dossier.Finding {
	path := chromium.Find()
	if path == "" {
		return dossier.Finding{
			What: "browser", Detail: "no Chromium or Chrome is installed", Optional: true, Unset: true,
			Hint: "pages that are made by scripts can only be read with one; everything else works",
		}
	}
	return dossier.Finding{What: "browser", OK: true, Detail: path, Optional: true}
}

func modelFinding(settings *config.Config) dossier.Finding {
	var ready []string
	for _, role := range config.Roles() {
		if m := settings.Model(role); m.Configured() && !slices.Contains(ready, m.Model) {
			ready = append(ready, m.Model)
		}
	}
	if len(ready) == 0 {
		return dossier.Finding{
			What: "model", Detail: "none is configured: answers consist of quotes", Hint: "`dossier models` says how to connect one",
			Optional: true, Unset: true,
		}
	}
	return dossier.Finding{What: "model", OK: true, Detail: strings.Join(ready, ", "), Optional: true}
}
