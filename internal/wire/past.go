package wire

import (
	"context"
	"encoding/json"
	"errors"

	"dossier/event"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/study"
)

// How far back a conversation is looked at: runs, and reports among them.
const (
	pastRuns    = 50
	pastReports = 5
)

// pastIn finds what the runs of a session have delivered before a run. For a fork
// these are the ones before the run that it was forked from.
func pastIn(s store.Store) study.Past {
	return func(ctx context.Context, session, id string) ([]study.Finished, error) {
		before, err := original(ctx, s, id)
		if err != nil {
			return nil, err
		}
		list, err := s.List(ctx, store.Filter{Session: session, Status: run.Done, Before: before, Limit: pastRuns})
		if err != nil {
			return nil, err
		}
		var out []study.Finished
		for _, rec := range list {
			if len(out) == pastReports {
				break
			}
			done, err := delivered(ctx, s, rec.ID)
			if err != nil {
				return nil, err
			}
			if done != nil {
				out = append(out, *done)
			}
		}
		return out, nil
	}
}

// original is the run that a run was forked from, or the run itself.
func original(ctx context.Context, s store.Store, id string) (string, error) {
	for {
		rec, err := s.Run(ctx, id)
		if errors.Is(err, run.ErrUnknownRun) || err == nil && rec.ForkOf == "" {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = rec.ForkOf
	}
}

// delivered is a run with its report, nil for one that has none or whose report
// is gone.
func delivered(ctx context.Context, s store.Store, id string) (*study.Finished, error) {
	rec, err := s.Run(ctx, id)
	if errors.Is(err, run.ErrUnknownRun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	log, err := s.Events(ctx, id, 0, 0)
	if err != nil {
		return nil, err
	}
	hash := ""
	for _, ev := range log {
		if d, ok := ev.Data.(event.ExportReady); ok && d.Format == "json" {
			hash = d.Hash
		}
	}
	if hash == "" {
		return nil, nil
	}
	raw, err := s.Blob(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var req mode.Request
	r, err := report.Parse(raw)
	if err != nil || json.Unmarshal(rec.Request, &req) != nil {
		return nil, nil //nolint:nilerr // it can't be gone on from
	}
	return &study.Finished{Run: id, In: req.In, Report: r}, nil
}
