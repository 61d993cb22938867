package dossier

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"dossier/internal/base/fonts"
	"dossier/lang"
	"dossier/reader/chromium"
)

// machine is where an engine is at home.
type machine struct {
	dir string   // of its data; "" for an engine that has none
	env []string // NAME=VALUE, as os.Environ
}

// getenv is a variable of the environment; of several the last counts.
func (m machine) getenv(name string) string {
	for _, v := range slices.Backward(m.env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// examine checks that the data directory can be written to.
func (m machine) examine(how Checkup) Finding {
	f := Finding{What: how.say("dir"), OK: true, Detail: m.dir}
	file, err := os.CreateTemp(m.dir, ".doctor-*")
	if err == nil {
		_, err = file.WriteString(ProbeWord)
		if closing := file.Close(); err == nil {
			err = closing
		}
		_ = os.Remove(file.Name()) // an empty file harms nobody
	}
	if err != nil {
		f.OK, f.Detail, f.Hint = false, how.say("dir.bad", "dir", m.dir, "why", err), how.say("dir.hint")
	}
	return f
}

// fonts says which scripts browsers on this machine can show.
func (m machine) fonts(how Checkup) []Finding {
	samples := fonts.Samples()
	have := fonts.Cover(fonts.Dirs(m.getenv), samples)
	var out []Finding
	for _, script := range slices.Sorted(maps.Keys(samples)) {
		f, ok := have.Fonts[script]
		finding := Finding{What: how.say("font", "name", lang.Retold(how.Lang, script)), OK: ok, Detail: f.Path, Optional: true}
		if !ok {
			finding.Unset = true
			finding.Detail, finding.Hint = how.say("font.none"), how.say("font.hint")
		}
		out = append(out, finding)
	}
	return out
}

func browserFinding(how Checkup) Finding {
	path := chromium.Find()
	if path == "" {
		return Finding{
			What: how.say("browser"), Detail: how.say("browser.none"), Optional: true, Unset: true,
			Hint: how.say("browser.hint"),
		}
	}
	return Finding{What: how.say("browser"), OK: true, Detail: path, Optional: true}
}

// modelFinding says which models are set up. None is called: TryConnection does that.
func (e *Engine) modelFinding(ctx context.Context, how Checkup) (Finding, error) {
	list, err := e.Connections(ctx)
	var ready []string
	for _, c := range list {
		if c.Kind == ToModel && !slices.Contains(ready, c.Model) {
			ready = append(ready, c.Model)
		}
	}
	if len(ready) == 0 {
		return Finding{
			What: how.say("model"), Detail: how.say("model.none"), Hint: how.say("model.hint"),
			Optional: true, Unset: true,
		}, err
	}
	return Finding{What: how.say("model"), OK: true, Detail: strings.Join(ready, ", "), Optional: true}, err
}
