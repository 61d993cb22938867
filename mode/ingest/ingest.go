// Package ingest is the mode that brings a collection up to date: as a run it
// is followed, finished early, killed and resumed like any other.
package ingest

import (
	"context"
	"strings"

	"dossier/lang"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// Name of the mode.
const Name = "ingest"

// Mode mirrors folders into a collection.
type Mode struct{ library *sources.Local }

// New returns the mode over a library.
func New(library *sources.Local) *Mode { return &Mode{library} }

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return struct{}{} }

// Run implements mode.Mode. The answer says what changed.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	p, err := m.library.Prepare(ctx, s, req.In)
	if err != nil {
		return mode.Answer{}, err
	}
	code := lang.Catalogue(lang.Code(req.Lang))
	text := lang.Text(code, "ingest.done", "name", p.Name, "documents", p.Documents, "added", p.Added, "changed", p.Changed, "removed", p.Removed)
	if p.Reread > 0 {
		text += "\n" + lang.Text(code, "ingest.reread", "n", p.Reread)
	}
	if p.Ignored > 0 {
		text += "\n" + lang.Text(code, "ingest.ignored", "n", p.Ignored)
	}
	return mode.Answer{Text: strings.Join(append([]string{text}, p.Notes(code)...), "\n")}, nil
}
