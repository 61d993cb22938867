// Package memory keeps everything in memory: for tests in virtual time, for
// measuring what durability costs, and for runs that nobody wants to keep.
//
// It uses nothing but a mutex, and Commit calls done before it returns.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/schedule"
	"dossier/internal/store"
	"dossier/internal/webhook"
	"dossier/run"
	"dossier/tool/catalog"
)

// Options of a Store.
type Options struct {
	// Now is the clock of leases; time.Now when nil.
	Now func() time.Time
}

// Store implements store.Store: a handle on what is kept.
type Store struct {
	*core
	closed   bool
	watchers map[chan struct{}]struct{}
}

// core is what handles share.
type core struct {
	now func() time.Time

	mu       sync.Mutex
	handles  map[*Store]struct{}
	created  int64
	runs     map[string]*journal
	sessions map[string]*session
	blobs    map[string]blob
	settings map[setting][]byte
	// collections by their ids.
	collections map[string]*collection
	agents      agents
	tools       map[toolKey]catalog.Record
	tokens      []access.Token // in the order in which they were added

	// All in the order in which they were added.
	schedules  []schedule.Schedule
	firings    []schedule.Firing
	news       []webhook.News
	lastNews   int64
	deliveries []webhook.Delivery
}

type setting struct{ bucket, key string }

type session struct {
	id      string
	user    string
	title   string
	created time.Time
	runs    []*journal // in the order of creation
}

// journal is one run.
type journal struct {
	n       int64 // order of creation
	rec     run.Record
	entries []run.Entry
	keys    map[entryKey]struct{}
	events  []run.PlacedEvent
	places  map[string]int64
	signals []run.Signal
	lastOrd int64
	lastN   int64
}

type entryKey struct {
	key  string
	kind run.EntryKind
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &core{
		now:      o.Now,
		handles:  map[*Store]struct{}{},
		runs:     map[string]*journal{},
		sessions: map[string]*session{},
		blobs:    map[string]blob{},
		settings: map[setting][]byte{},

		collections: map[string]*collection{},
		agents:      newAgents(),
		tools:       map[toolKey]catalog.Record{},
	}
	return c.handle()
}

func (c *core) handle() *Store {
	s := &Store{core: c, watchers: map[chan struct{}]struct{}{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handles[s] = struct{}{}
	return s
}

// Handle returns another handle on the same store, which is closed by itself.
func (s *Store) Handle() *Store { return s.handle() }

// Watch implements store.Store.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[ch] = struct{}{}
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
	}
}

// changed tells those who watch through other handles. The lock is held.
func (s *Store) changed() {
	for other := range s.handles {
		if other == s {
			continue
		}
		for ch := range other.watchers {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}

// open locks the store; the caller unlocks it when there is no error.
func (s *Store) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

// openRun locks the store and finds a run.
func (s *Store) openRun(ctx context.Context, id string) (*journal, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	j := s.runs[id]
	if j == nil {
		s.mu.Unlock()
		return nil, unknown(id)
	}
	return j, nil
}

func unknown(id string) error { return fmt.Errorf("run %q: %w", id, run.ErrUnknownRun) }

func (j *journal) leased(now time.Time) bool {
	return j.rec.Owner != "" && now.Before(j.rec.LeaseUntil)
}

func (j *journal) questions() store.Questions {
	return store.Questions{Entries: j.entries, Signals: j.signals}
}

func (j *journal) history() *run.History {
	return &run.History{
		Record:  j.rec,
		Entries: slices.Clone(j.entries),
		LastOrd: j.lastOrd,
		Places:  maps.Clone(j.places),
		Signals: slices.Clone(j.signals),
	}
}

// check says whether entries and events can be added.
func (j *journal) check(entries []run.Entry, events []run.PlacedEvent) error {
	if err := store.CheckSequence(j.rec.LastSeq, events); err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		_, taken := j.keys[entryKey{e.Key, e.Kind}]
		for k := 0; k < i && !taken; k++ {
			taken = entries[k].Key == e.Key && entries[k].Kind == e.Kind
		}
		if taken {
			return fmt.Errorf("%s entry %q: %w", e.Kind, e.Key, store.ErrExists)
		}
	}
	for i := range events {
		e := &events[i]
		_, taken := j.places[e.Place]
		for k := 0; k < i && !taken; k++ {
			taken = events[k].Place == e.Place
		}
		if taken {
			return fmt.Errorf("event at %q: %w", e.Place, store.ErrExists)
		}
	}
	return nil
}

func (j *journal) add(now time.Time, entries []run.Entry, events []run.PlacedEvent) {
	for i := range entries {
		e := entries[i]
		j.lastOrd++
		e.Ord = j.lastOrd
		if e.Time.IsZero() {
			e.Time = now
		}
		j.entries = append(j.entries, e)
		j.keys[entryKey{e.Key, e.Kind}] = struct{}{}
	}
	for i := range events {
		e := events[i]
		e.Run, e.Session = j.rec.ID, j.rec.Session
		j.events = append(j.events, e)
		j.places[e.Place] = e.Seq
		j.rec.LastSeq = e.Seq
	}
}

// Acquire implements run.Journal.
func (s *Store) Acquire(ctx context.Context, id, owner string, ttl time.Duration) (*run.History, error) {
	if owner == "" {
		return nil, fmt.Errorf("run %q: a lease needs an owner", id)
	}
	j, err := s.openRun(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	switch {
	case j.rec.Status.Ended():
		return nil, fmt.Errorf("run %q: %w", id, run.ErrEnded)
	case j.leased(now):
		return nil, fmt.Errorf("run %q: %w", id, run.ErrLeased)
	}
	j.rec.Epoch++
	j.rec.Owner, j.rec.LeaseUntil = owner, now.Add(ttl)
	j.rec.Status, j.rec.Updated = run.Running, now
	s.changed()
	return j.history(), nil
}

// Commit implements run.Journal.
func (s *Store) Commit(b *run.Batch, done func(error)) { done(s.commit(b)) }

func (s *Store) commit(b *run.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	j := s.runs[b.Run]
	switch {
	case j == nil:
		return fmt.Errorf("run %q: %w", b.Run, store.ErrDeleted)
	case j.rec.Epoch != b.Epoch || j.rec.Owner == "":
		return fmt.Errorf("run %q: %w", b.Run, run.ErrFenced)
	}
	if err := j.check(b.Entries, b.Events); err != nil {
		return fmt.Errorf("run %q: %w", b.Run, err)
	}
	now := s.now()
	j.add(now, b.Entries, b.Events)
	j.rec.Updated = now
	j.rec.Active += b.Active
	j.rec.Spent = j.rec.Spent.Add(b.Spent)
	if b.State != nil {
		j.rec.Status, j.rec.Failure = b.State.Status, b.State.Failure
		s.addNews(b.Run, j.rec.LastSeq, b.State.Status, now)
	}
	if b.Release {
		j.rec.Owner, j.rec.LeaseUntil = "", time.Time{}
	}
	s.changed()
	return nil
}

// Renew implements run.Journal.
func (s *Store) Renew(ctx context.Context, owner string, ttl time.Duration, held map[string]int64) (signalled, lost []string, err error) {
	if err := s.open(ctx); err != nil {
		return nil, nil, err
	}
	defer s.mu.Unlock()
	until := s.now().Add(ttl)
	for id, mark := range held {
		j := s.runs[id]
		if j == nil || j.rec.Owner != owner {
			lost = append(lost, id)
			continue
		}
		j.rec.LeaseUntil = until
		if j.lastN > mark {
			signalled = append(signalled, id)
		}
	}
	slices.Sort(signalled)
	slices.Sort(lost)
	return signalled, lost, nil
}

// Signalled implements run.Journal.
func (s *Store) Signalled(ctx context.Context, owner string) (map[string]int64, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	last := make(map[string]int64)
	for id, j := range s.runs {
		if j.rec.Owner == owner && j.rec.Status == run.Running && j.lastN > 0 {
			last[id] = j.lastN
		}
	}
	return last, nil
}

// Signals implements run.Journal.
func (s *Store) Signals(ctx context.Context, id string, after int64) ([]run.Signal, error) {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(j.signals, after+1, func(s run.Signal, n int64) int { return cmp.Compare(s.N, n) })
	return slices.Clone(j.signals[i:]), nil
}

// History implements run.Journal.
func (s *Store) History(ctx context.Context, id string) (*run.History, error) {
	j, err := s.openRun(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return j.history(), nil
}

// Check implements store.Store.
func (s *Store) Check(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for id, j := range s.runs {
		if j.rec.LastSeq != int64(len(j.events)) || len(j.places) != len(j.events) {
			return fmt.Errorf("run %q: %w: %d events and %d places end at sequence %d",
				id, store.ErrCorrupt, len(j.events), len(j.places), j.rec.LastSeq)
		}
	}
	for id, c := range s.collections {
		if c.rec.Documents+c.rec.Failed != len(c.documents) {
			return fmt.Errorf("collection %q: %w: %d documents are counted as %d and %d",
				id, store.ErrCorrupt, len(c.documents), c.rec.Documents, c.rec.Failed)
		}
	}
	return nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	delete(s.handles, s)
	return nil
}

// Messages implements store.Sessions.
func (s *Store) Messages(ctx context.Context, id, before string, limit int) ([]event.Message, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	g := s.sessions[id]
	if g == nil {
		return nil, nil
	}
	older := s.runs[before]
	var messages []event.Message
newest:
	for _, j := range slices.Backward(g.runs) {
		if older != nil && j.n >= older.n {
			continue
		}
		for _, e := range slices.Backward(j.events) {
			if limit > 0 && len(messages) == limit {
				break newest
			}
			if m, ok := e.Data.(event.Message); ok && !run.IsVoid(e.Place) {
				messages = append(messages, m)
			}
		}
	}
	slices.Reverse(messages)
	return messages, nil
}

// Setting implements store.Settings.
func (s *Store) Setting(ctx context.Context, bucket, key string) ([]byte, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if value, ok := s.settings[setting{bucket, key}]; ok {
		return value, nil
	}
	return nil, fmt.Errorf("setting %s/%s: %w", bucket, key, store.ErrNotFound)
}

// SetSetting implements store.Settings.
func (s *Store) SetSetting(ctx context.Context, bucket, key string, value []byte) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.settings[setting{bucket, key}] = value
	return nil
}
