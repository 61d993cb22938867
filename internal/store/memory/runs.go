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
	r.Tags = store.CleanTags(r.Tags)
	r.Epoch, r.Owner, r.LeaseUntil, r.LastSeq = 0, "", time.Time{}, 0
	j := &journal{
		n: s.created + 1, rec: r,
		entries: make([]run.Entry, 0, len(entries)+usual), keys: make(map[entryKey]struct{}, usual),
		events: make([]run.PlacedEvent, 0, len(events)+usual), places: make(map[string]int64, usual),
	}
	if err := j.check(entries, events); err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	g := s.sessions[r.Session]
	if g != nil && g.user != r.User {
		return noSession(r.Session)
	}
	j.add(now, entries, events)
	s.created++
	s.runs[r.ID] = j
	s.changed()
	if r.Session == "" {
		return nil
	}
	if g == nil {
		g = &session{id: r.Session, user: r.User, title: r.Title, created: r.Created}
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
	var terms []string
	if strings.TrimSpace(f.Text) != "" {
		if terms = store.QueryTerms(f.Text); len(terms) == 0 {
			return nil, nil // signs alone are said nowhere
		}
	}
	var list []run.Record
	for _, j := range slices.Backward(s.inOrder()) {
		if len(list) == f.Limit {
			break
		}
		if j.n < before && j.meets(f) && (terms == nil || j.says(terms)) {
			rec := j.rec
			rec.Request = nil
			list = append(list, rec)
		}
	}
	return list, nil
}

// meets says whether a run is one of those that a filter wants, its text aside.
func (j *journal) meets(f store.Filter) bool {
	r := &j.rec
	return (f.Session == "" || r.Session == f.Session) && (f.Agent == "" || r.Agent == f.Agent) && (f.User == "" || r.User == f.User) &&
		(f.Status == "" || r.Status == f.Status) && (f.Mode == "" || r.Mode == f.Mode) &&
		(f.Tag == "" || slices.Contains(r.Tags, f.Tag)) &&
		(f.Since.IsZero() || !r.Created.Before(f.Since)) && (f.Until.IsZero() || !r.Created.After(f.Until))
}

// says says whether all terms are among those of a run.
func (j *journal) says(terms []string) bool {
	said := j.rec.Title
	for _, e := range j.events {
		if text := store.Said(e.Data); text != "" && !run.IsVoid(e.Place) && len(said) < store.SaidMost {
			said += "\n" + text
		}
	}
	all := store.Terms(said[:min(len(said), store.SaidMost)])
	return !slices.ContainsFunc(terms, func(t string) bool {
		_, found := slices.BinarySearch(all, t)
		return !found
	})
}

// CountRuns implements store.Runs.
func (s *Store) CountRuns(ctx context.Context) (map[run.Status]int, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := make(map[run.Status]int)
	for _, j := range s.runs {
		counts[j.rec.Status]++
	}
	return counts, nil
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
	s.leave(id)
	s.changed()
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
		s.changed()
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
	s.changed()
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
func (s *Store) Reopen(ctx context.Context, id string, r run.Reopening) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	switch {
	case j.leased(now):
		return fmt.Errorf("run %q: %w", id, store.ErrBusy)
	case j.rec.Epoch != r.Epoch || j.rec.LastSeq != r.LastSeq || r.Event.Seq != r.LastSeq+1:
		return fmt.Errorf("run %q: %w", id, run.ErrChanged)
	}
	for _, e := range r.Drop {
		delete(j.keys, entryKey{e.Key, e.Kind})
	}
	j.entries = slices.DeleteFunc(slices.Clone(j.entries), func(e run.Entry) bool {
		_, there := j.keys[entryKey{e.Key, e.Kind}]
		return !there
	})
	j.events = slices.Clone(j.events) // what was handed out stays as it was
	for _, place := range r.Void {
		if seq, ok := j.places[place]; ok {
			j.events[seq-1].Place = run.VoidPlace(place, r.Epoch)
			delete(j.places, place)
			j.places[j.events[seq-1].Place] = seq
		}
	}
	j.signals = slices.DeleteFunc(slices.Clone(j.signals), func(s run.Signal) bool {
		return s.Kind == run.SignalCancel || s.Kind == run.SignalPause || s.Kind == run.SignalFinish ||
			s.Kind == run.SignalAnswer && slices.Contains(r.Unasked, s.Key)
	})
	if r.Request != nil {
		j.rec.Request = r.Request
	}
	j.add(now, nil, []run.PlacedEvent{r.Event})
	j.rec.Status, j.rec.Failure, j.rec.Updated = run.Queued, nil, now
	j.rec.Owner, j.rec.LeaseUntil, j.rec.Home = "", time.Time{}, r.Home
	j.rec.Epoch++
	s.changed()
	return nil
}

// Append implements store.Runs.
func (s *Store) Append(ctx context.Context, id string, e run.PlacedEvent) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch {
	case !j.rec.Status.Ended():
		return fmt.Errorf("run %q: %w", id, store.ErrBusy)
	case e.Seq != j.rec.LastSeq+1:
		return fmt.Errorf("run %q: %w", id, run.ErrChanged)
	}
	j.add(s.now(), nil, []run.PlacedEvent{e})
	s.changed()
	return nil
}

// Tag implements store.Runs.
func (s *Store) Tag(ctx context.Context, id string, tags []string) error {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	j.rec.Tags = store.CleanTags(tags)
	return nil
}

// Tags implements store.Runs.
func (s *Store) Tags(ctx context.Context, user string) ([]store.TagCount, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := map[string]int{}
	for _, j := range s.runs {
		for _, tag := range j.rec.Tags {
			if user == "" || j.rec.User == user {
				counts[tag]++
			}
		}
	}
	var out []store.TagCount
	for _, tag := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, store.TagCount{Tag: tag, Runs: counts[tag]})
	}
	return out, nil
}

// LastSeqs implements store.Runs.
func (s *Store) LastSeqs(ctx context.Context, ids []string) (map[string]int64, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	last := make(map[string]int64, len(ids))
	for _, id := range ids {
		if j := s.runs[id]; j != nil {
			last[id] = j.rec.LastSeq
		}
	}
	return last, nil
}

// Owners implements store.Runs.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	all := make(map[string]struct{})
	for _, j := range s.runs {
		if !j.rec.Status.Ended() {
			all[j.rec.Owner], all[j.rec.Home] = struct{}{}, struct{}{}
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all)), nil
}

// Evict implements store.Runs.
func (s *Store) Evict(ctx context.Context, owner string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, j := range s.runs {
		if j.rec.Status.Ended() {
			continue
		}
		if j.rec.Owner == owner {
			j.rec.Owner, j.rec.LeaseUntil = "", time.Time{}
			if j.rec.Status == run.Running {
				j.rec.Status = run.Queued
			}
		}
		if j.rec.Home == owner {
			j.rec.Home = ""
		}
	}
	s.changed()
	return nil
}

// Orphans implements store.Runs.
func (s *Store) Orphans(ctx context.Context, home string) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	var ids []string
	for _, j := range s.inOrder() {
		if w := s.agents.seats[j.rec.ID]; w != nil && !w.running {
			continue // it is not its turn
		}
		if (j.rec.Home == "" || j.rec.Home == home) && !j.leased(now) && j.wanted() {
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
