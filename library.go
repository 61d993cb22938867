package dossier

import (
	"context"
	"errors"
	"fmt"

	"dossier/event"
	"dossier/internal/store"
	"dossier/kb"
	"dossier/report"
	"dossier/run"
	"dossier/sources/qa"
)

// ErrNoReport says that a run has no report: it is not over, or its mode makes
// none.
var ErrNoReport = errors.New("the run has no report")

// keepReport stores a report as the run's result and tells where it is.
func (e *Engine) keepReport(ctx context.Context, s *run.Scope, r *report.Report) error {
	kept, err := run.Step(ctx, s, "report", func(ctx context.Context, _ *run.Scope) (event.ExportReady, error) {
		raw, err := report.JSON(r)
		if err != nil {
			return event.ExportReady{}, err
		}
		hash, err := e.store.PutBlob(ctx, raw)
		return event.ExportReady{Format: "json", Hash: hash, Bytes: int64(len(raw))}, err
	})
	if err != nil {
		return err
	}
	return s.Emit(kept)
}

// Report returns what a run delivered, with what people changed in it since. It fails with ErrNoReport.
func (e *Engine) Report(ctx context.Context, id string) (*report.Report, error) {
	rec, err := e.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.reportOf(ctx, rec.ID)
}

// reportOf is Report of a run whose whole id is known.
func (e *Engine) reportOf(ctx context.Context, id string) (*report.Report, error) {
	versions, err := e.versions(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.reportIn(ctx, id, versions[len(versions)-1])
}

// reportIn reads a report of a run from the blob in which it is.
func (e *Engine) reportIn(ctx context.Context, id, hash string) (*report.Report, error) {
	raw, err := e.store.Blob(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("the report of run %s: %w", id, err)
	}
	return report.Parse(raw)
}

// Snapshots returns the texts that a run's report rests on, by their hashes. It
// fails with ErrNoReport.
func (e *Engine) Snapshots(ctx context.Context, id string) (map[string]string, error) {
	r, err := e.Report(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.textsOf(ctx, r)
}

// textsOf are the texts that a report rests on.
func (e *Engine) textsOf(ctx context.Context, r *report.Report) (map[string]string, error) {
	texts := map[string]string{}
	for _, s := range r.Sources {
		if s.Snapshot == "" {
			continue
		}
		raw, err := e.store.Blob(ctx, s.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("the text of source %d: %w", s.Number, err)
		}
		texts[s.Snapshot] = string(raw)
	}
	return texts, nil
}

// CollectionList is every collection, and the name of the active one.
// Collections are filled by runs of the mode ingest and by those that look for
// something in a folder.
type CollectionList struct {
	Collections []kb.Collection `json:"collections"`
	Active      string          `json:"active,omitempty"`
	// MaxFile is how large a file may be that is read, in bytes.
	MaxFile int64 `json:"max_file"`
}

// Collections returns the collections.
func (e *Engine) Collections(ctx context.Context) (CollectionList, error) {
	list, err := e.library.List(ctx)
	if err != nil {
		return CollectionList{}, err
	}
	active, err := activeCollection(ctx, e.store)
	for i := range list {
		list[i] = e.shown(list[i])
	}
	return CollectionList{list, active, e.library.MaxFile()}, err
}

// CollectionDetail is a collection and what could not be read of it.
type CollectionDetail struct {
	kb.Collection
	Failures []kb.FileFailure `json:"failures,omitempty"`
	// Unread counts the files that were put into it and that no run has read yet.
	Unread int `json:"unread,omitempty"`
}

// Collection returns a collection by its name or id.
func (e *Engine) Collection(ctx context.Context, name string) (CollectionDetail, error) {
	c, err := e.collection(ctx, name)
	if err != nil {
		return CollectionDetail{}, err
	}
	if c.Outdated, err = e.library.Outdated(ctx, c.ID); err != nil {
		return CollectionDetail{}, err
	}
	failed, err := e.library.Failures(ctx, c.ID)
	if err != nil {
		return CollectionDetail{}, err
	}
	unread, err := e.library.Unread(ctx, c.ID)
	return CollectionDetail{e.shown(c), failed, unread}, err
}

// collection finds a collection; an empty name means the active one.
func (e *Engine) collection(ctx context.Context, name string) (kb.Collection, error) {
	if name == "" {
		active, err := activeCollection(ctx, e.store)
		if err != nil {
			return kb.Collection{}, err
		}
		if active == "" {
			return kb.Collection{}, &UsageError{Message: "no collection is named and none is in use", Hint: "`dossier kb list` shows the collections, `dossier kb use NAME` chooses one"}
		}
		name = active
	}
	return e.library.Get(ctx, name)
}

// SearchCollection searches a collection; an empty name means the active one.
func (e *Engine) SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error) {
	c, err := e.collection(ctx, name)
	if err != nil {
		return kb.Result{}, err
	}
	return e.library.Search(ctx, c.ID, q)
}

// Passages finds those of a collection, by its name or id, that a question is answered
// from in one go.
func (e *Engine) Passages(collection string) qa.Find { return qa.In(e.library, collection) }

// DeleteCollection removes a collection with what was put into it. The files that
// it mirrors stay, and so do the texts that runs have cited from it.
func (e *Engine) DeleteCollection(ctx context.Context, name string) error {
	c, err := e.library.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := e.library.Delete(ctx, c.ID); err != nil {
		return err
	}
	if active, err := activeCollection(ctx, e.store); err == nil && active == c.Name {
		return e.store.SetSetting(ctx, kbBucket, kbActive, nil)
	}
	return nil
}

// UseCollection makes a collection the one that is asked when none is named,
// from the next run on.
func (e *Engine) UseCollection(ctx context.Context, name string) (kb.Collection, error) {
	c, err := e.library.Get(ctx, name)
	if err != nil {
		return c, err
	}
	return c, e.store.SetSetting(ctx, kbBucket, kbActive, []byte(c.Name))
}

// Where the name of the active collection is kept.
const (
	kbBucket = "kb"
	kbActive = "active"
)

func activeCollection(ctx context.Context, s store.Settings) (string, error) {
	raw, err := s.Setting(ctx, kbBucket, kbActive)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return string(raw), err
}
