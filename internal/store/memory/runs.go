package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/internal/store"
	"dossier/run"
)

// usual is how many entries and events a small run has.
const usual = 16

// Create implements store.Runs.
func (s *Store) Create(ctx context.Context, r run.Record, entries []run.Entry, events []run.PlacedEvent) error {
	if r.ID == "" {
		return errors.New("a run needs an id")
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.runs[r.ID] != nil {
		return fmt.Errorf("run %q: %w", r.ID, store.ErrExists)
	}
	now := s.now()
	if !r.Status.Ended() {
		r.Status, r.Failure = run.Queued, nil
	}
	if r.Created.IsZero() {
		r.Created = now
	}
	if r.Updated.IsZero() {
		r.Updated = r.Created
	}
	r.Epoch, r.Owner, r.LeaseUntil, r.LastSeq = 0, "", time.Time{}, 0
	j := &journal{
		n: s.created + 1, rec: r,
		entries: make([]run.Entry, 0, len(entries)+usual), keys: make(map[entryKey]struct{}, usual),
		events: make([]run.PlacedEvent, 0, len(events)+usual), places: make(map[string]int64, usual),
	}
	if err := j.check(entries, events); err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	j.add(now, entries, events)
	s.created++
	s.runs[r.ID] = j
	if r.Session == "" {
		return nil
	}
	g := s.sessions[r.Session]
	if g == nil {
		g = &session{id: r.Session, title: r.Title, created: r.Created}
		s.sessions[r.Session] = g
	}
	g.runs = append(g.runs, j)
	return nil
}

// Run implements store.Runs.
func (s *Store) Run(ctx context.Context, id string) (run.Record, error) {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return run.Record{}, err
	}
	defer s.mu.Unlock()
	return j.rec, nil
}

// List implements store.Runs.
func (s *Store) List(ctx context.Context, f store.Filter) ([]run.Record, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if f.Limit <= 0 {
		f.Limit = 100
	}
	before := s.created + 1
	if f.Before != "" {
		j := s.runs[f.Before]
		if j == nil {
			return nil, unknown(f.Before)
		}
		before = j.n
	}
	var list []run.Record
	for _, j := range slices.Backward(s.inOrder()) {
		if len(list) == f.Limit {
			break
		}
		if j.n < before && (f.Session == "" || j.rec.Session == f.Session) && (f.Status == "" || j.rec.Status == f.Status) {
			rec := j.rec
			rec.Request = nil
			list = append(list, rec)
		}
	}
	return list, nil
}

// Find implements store.Runs.
func (s *Store) Find(ctx context.Context, part string) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if utf8.RuneCountInString(part) < store.FindLeast {
		return nil, nil
	}
	var ids []string
	for id := range s.runs {
		if strings.HasPrefix(id, part) || strings.HasSuffix(id, part) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), store.FindMost)], nil
}

// inOrder returns the runs in the order of their creation.
func (s *Store) inOrder() []*journal {
	return slices.SortedFunc(maps.Values(s.runs), func(a, b *journal) int { return cmp.Compare(a.n, b.n) })
}

// Delete implements store.Runs.
func (s *Store) Delete(ctx context.Context, id string) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if j.leased(s.now()) {
		return fmt.Errorf("run %q: %w", id, store.ErrBusy)
	}
	if err := s.release(j); err != nil {
		return fmt.Errorf("run %q: %w", id, err)
	}
	delete(s.runs, id)
	if g := s.sessions[j.rec.Session]; g != nil {
		g.runs = slices.DeleteFunc(g.runs, func(other *journal) bool { return other == j })
		if len(g.runs) == 0 {
			delete(s.sessions, g.id)
		}
	}
	return nil
}

// Events implements store.Runs.
func (s *Store) Events(ctx context.Context, id string, after int64, limit int) ([]run.PlacedEvent, error) {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	from := min(max(after, 0), int64(len(j.events)))
	events := j.events[from:]
	if limit > 0 && limit < len(events) {
		events = events[:limit]
	}
	return slices.Clone(events), nil
}

// Answer implements store.Runs.
func (s *Store) Answer(ctx context.Context, id, ask, text string) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if j.rec.Status.Ended() {
		return fmt.Errorf("run %q is %s: %w", id, j.rec.Status, store.ErrNotWaiting)
	}
	key, err := j.questions().Answer(ask, text)
	if err != nil {
		return fmt.Errorf("run %q: %w", id, err)
	}
	if key != "" {
		j.signal(run.Signal{Kind: run.SignalAnswer, Key: key, Text: text, Time: s.now()})
	}
	return nil
}

// Signal implements store.Runs.
func (s *Store) Signal(ctx context.Context, id string, signal run.Signal) error {
	if signal.Kind == run.SignalAnswer || signal.Kind == "" {
		return fmt.Errorf("run %q: not a signal to send: %q", id, signal.Kind)
	}
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if j.rec.Status.Ended() {
		return fmt.Errorf("run %q is %s: %w", id, j.rec.Status, run.ErrEnded)
	}
	if signal.Time.IsZero() {
		signal.Time = s.now()
	}
	j.signal(signal)
	return nil
}

func (j *journal) signal(signal run.Signal) {
	j.lastN++
	signal.N = j.lastN
	j.signals = append(j.signals, signal)
}

// Asks implements store.Runs.
func (s *Store) Asks(ctx context.Context, id string) ([]run.Entry, error) {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if j.rec.Status.Ended() {
		return nil, nil
	}
	return j.questions().Pending(), nil
}

// Reopen implements store.Runs.
func (s *Store) Reopen(ctx context.Context, id string) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	switch {
	case j.rec.Status == run.Done:
		return fmt.Errorf("run %q is done: %w", id, run.ErrEnded)
	case j.leased(now):
		return fmt.Errorf("run %q: %w", id, store.ErrBusy)
	case j.rec.Status != run.Failed && j.rec.Status != run.Cancelled && j.rec.Status != run.Paused:
		return nil
	}
	if f := j.rec.Failure; f != nil && f.Step != "" {
		j.entries = slices.DeleteFunc(j.entries, func(e run.Entry) bool {
			forgotten := e.Kind == run.EntryFault && (e.Key == f.Step || strings.HasPrefix(e.Key, f.Step+"/"))
			if forgotten {
				delete(j.keys, entryKey{e.Key, e.Kind})
			}
			return forgotten
		})
	}
	j.signals = slices.DeleteFunc(j.signals, func(s run.Signal) bool {
		return s.Kind == run.SignalCancel || s.Kind == run.SignalPause || s.Kind == run.SignalFinish
	})
	j.rec.Status, j.rec.Failure, j.rec.Updated = run.Queued, nil, now
	j.rec.Owner, j.rec.LeaseUntil = "", time.Time{}
	return nil
}

// Evict implements store.Runs.
func (s *Store) Evict(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, j := range s.runs {
		j.rec.Owner, j.rec.LeaseUntil = "", time.Time{}
	}
	return nil
}

// Orphans implements store.Runs.
func (s *Store) Orphans(ctx context.Context, now time.Time) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var ids []string
	for _, j := range s.inOrder() {
		if !j.leased(now) && j.wanted() {
			ids = append(ids, j.rec.ID)
		}
	}
	return ids, nil
}

// Unrecorded implements store.Runs.
func (s *Store) Unrecorded(ctx context.Context, mode string, since time.Time) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var ids []string
	for _, j := range s.inOrder() {
		_, known := s.agents.outcomes[j.rec.ID]
		if !known && j.rec.Mode == mode && j.rec.Status.Ended() && !j.rec.Updated.Before(since) {
			ids = append(ids, j.rec.ID)
		}
	}
	return ids, nil
}

// wanted says whether there is something to do for a worker.
func (j *journal) wanted() bool {
	told := func(kinds ...run.SignalKind) bool {
		return slices.ContainsFunc(j.signals, func(s run.Signal) bool { return slices.Contains(kinds, s.Kind) })
	}
	switch j.rec.Status {
	case run.Queued, run.Running:
		return true
	case run.Waiting:
		return told(run.SignalCancel, run.SignalPause, run.SignalFinish) || j.questions().Unused()
	case run.Paused:
		return told(run.SignalCancel, run.SignalFinish)
	}
	return false
}
