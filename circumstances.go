package dossier

import (
	"context"

	"dossier/event"
	"dossier/mode"
	"dossier/run"
)

// circumstances are those of this moment for a request whose settings are
// frozen. A mode that depends on none has none, which is recorded too: it tells
// the run from those of programs that recorded nothing.
func circumstances(ctx context.Context, m mode.Mode, req *mode.Request) *mode.Circumstances {
	c := new(mode.Circumstances)
	if s, ok := m.(mode.Situated); ok {
		*c = s.Circumstances(ctx, req)
	}
	return c
}

// tellChanges says what is different from when the run was created. It is no
// part of the run's code: a replay passes over it.
func tellChanges(ctx context.Context, s *run.Scope, m mode.Mode, req *mode.Request) error {
	if req.Circumstances == nil {
		return nil
	}
	changes := req.Circumstances.Changes(circumstances(ctx, m, req))
	if len(changes) == 0 {
		return nil
	}
	return s.Notice("circumstances", event.Circumstances{Changes: changes})
}
