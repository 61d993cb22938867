package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// Acquire implements run.Journal. The history is read after the lease is
// taken, by a reader, so that a long one does not hold up other runs' commits.
func (s *Store) Acquire(ctx context.Context, id, owner string, ttl time.Duration) (*run.History, error) {
	if owner == "" {
		return nil, fmt.Errorf("run %q: a lease needs an owner", id)
	}
	var epoch int64
	err := s.writer.do(ctx, 0, func(tx *tx) error {
		r, err := tx.find(id)
		switch {
		case err != nil:
			return err
		case r.status.Ended():
			return fmt.Errorf("run %q: %w", id, run.ErrEnded)
		case r.leased(tx.now):
			return fmt.Errorf("run %q: %w", id, run.ErrLeased)
		}
		epoch = r.epoch + 1
		return tx.exec("UPDATE runs SET epoch = ?, owner = ?, lease_until = ?, status = ?, updated = ? WHERE n = ?",
			epoch, owner, moment(tx.now.Add(ttl)), string(run.Running), moment(tx.now), r.n)
	})
	if err != nil {
		return nil, err
	}
	h, err := s.History(ctx, id)
	if err == nil && h.Record.Epoch != epoch {
		return nil, fmt.Errorf("run %q: %w", id, run.ErrLeased)
	}
	return h, err
}

// Commit implements run.Journal. What can be computed is computed here, in
// the caller's goroutine; the writer only stores it.
func (s *Store) Commit(b *run.Batch, done func(error)) {
	c, err := newBatch(b.Entries, b.Events)
	if err != nil {
		done(fmt.Errorf("run %q: %w", b.Run, err))
		return
	}
	var status, failure any
	if b.State != nil {
		status = string(b.State.Status)
		if failure, err = failureJSON(b.State.Failure); err != nil {
			done(fmt.Errorf("run %q: %w", b.Run, err))
			return
		}
	}
	s.writer.enqueue(job{size: c.size, done: done, do: func(tx *tx) error {
		return tx.commit(b, c, status, failure)
	}})
}

func failureJSON(f *run.Failure) (any, error) {
	if f == nil {
		return nil, nil
	}
	b, err := json.Marshal(f)
	return string(b), err
}

// fence changes a run's record for the worker that holds it. A batch without
// events goes with any sequence.
const fence = `UPDATE runs SET updated = ?, last_seq = last_seq + ?, last_ord = last_ord + ?, active = active + ?,
	calls = calls + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost = cost + ?,
	searches = searches + ?, pages = pages + ?
	WHERE id = ? AND epoch = ? AND owner <> '' AND (last_seq = ? OR ? = 0) RETURNING n, last_ord`

// commit stores a batch, the fence first.
func (t *tx) commit(b *run.Batch, c *batch, status, failure any) error {
	events, entries := len(b.Events), len(b.Entries)
	var first int64
	if events > 0 {
		first = b.Events[0].Seq
	}
	var n, lastOrd int64
	err := t.row(fence, []any{
		moment(t.now), events, entries, int64(b.Active),
		b.Spent.Calls, b.Spent.InputTokens, b.Spent.OutputTokens, b.Spent.Cost, b.Spent.Searches, b.Spent.Pages,
		b.Run, b.Epoch, first - 1, events,
	}, &n, &lastOrd)
	if errors.Is(err, sql.ErrNoRows) {
		return t.refused(b)
	}
	if err != nil {
		return err
	}
	if err := c.insert(t, n, lastOrd-int64(entries)); err != nil {
		return fmt.Errorf("run %q: %w", b.Run, err)
	}
	if status != nil {
		if err := t.exec("UPDATE runs SET status = ?, failure = ? WHERE n = ?", status, failure, n); err != nil {
			return err
		}
	}
	if b.Release {
		return t.exec("UPDATE runs SET owner = '', lease_until = 0 WHERE n = ?", n)
	}
	return nil
}

// refused says why the fence did not let a batch pass.
func (t *tx) refused(b *run.Batch) error {
	r, err := t.find(b.Run)
	switch {
	case errors.Is(err, run.ErrUnknownRun):
		return fmt.Errorf("run %q: %w", b.Run, store.ErrDeleted)
	case err != nil:
		return err
	case r.epoch != b.Epoch || r.owner == "":
		return fmt.Errorf("run %q: %w", b.Run, run.ErrFenced)
	}
	return fmt.Errorf("run %q: %w", b.Run, store.CheckSequence(r.lastSeq, b.Events))
}

// batch is entries and events in the form in which they are stored.
type batch struct {
	entries []run.Entry
	events  []run.PlacedEvent
	values  []any // of the entries
	data    []any // of the events
	size    int
}

// newBatch encodes entries and events. The events must be without a gap among
// themselves.
func newBatch(entries []run.Entry, events []run.PlacedEvent) (*batch, error) {
	c := &batch{entries: entries, events: events}
	both := make([]any, len(entries)+len(events))
	c.values, c.data = both[:len(entries):len(entries)], both[len(entries):]
	for i := range entries {
		c.values[i] = pack(entries[i].Value)
		c.size += 100 + len(entries[i].Key) + len(entries[i].Value)
	}
	if len(events) == 0 {
		return c, nil
	}
	if err := store.CheckSequence(events[0].Seq-1, events); err != nil {
		return nil, err
	}
	for i := range events {
		raw, err := event.EncodeData(events[i].Data)
		if err != nil {
			return nil, fmt.Errorf("event at %q: %w", events[i].Place, err)
		}
		c.data[i] = pack(raw)
		c.size += 100 + 2*len(events[i].Place) + len(raw)
	}
	return c, nil
}

// insert stores a batch for the run numbered n, whose last entry is lastOrd.
func (c *batch) insert(t *tx, n, lastOrd int64) error {
	for i := range c.entries {
		e := &c.entries[i]
		var spent any
		if e.Spent != (run.Spent{}) {
			b, err := json.Marshal(e.Spent)
			if err != nil {
				return err
			}
			spent = string(b)
		}
		at := e.Time
		if at.IsZero() {
			at = t.now
		}
		err := t.exec("INSERT INTO entries (run, ord, key, kind, value, spent, seq, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			n, lastOrd+1+int64(i), e.Key, string(e.Kind), c.values[i], spent, e.Seq, moment(at))
		if violated(err) {
			return fmt.Errorf("%s entry %q: %w: %w", e.Kind, e.Key, store.ErrExists, err)
		}
		if err != nil {
			return err
		}
	}
	for i := range c.events {
		e := &c.events[i]
		err := t.exec("INSERT INTO events (run, seq, place, kind, agent, time, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n, e.Seq, e.Place, string(e.Kind()), e.Agent, moment(e.Time), c.data[i])
		if violated(err) {
			return fmt.Errorf("event at %q: %w: %w", e.Place, store.ErrExists, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Renew implements run.Journal.
func (s *Store) Renew(ctx context.Context, owner string, ttl time.Duration, held map[string]int64) (signalled, lost []string, err error) {
	if len(held) == 0 {
		return nil, nil, s.alive(ctx)
	}
	err = s.writer.do(ctx, 20*len(held), func(tx *tx) error {
		signalled, lost = nil, nil
		until := moment(tx.now.Add(ttl))
		for id, mark := range held {
			var last int64
			err := tx.row("UPDATE runs SET lease_until = ? WHERE id = ? AND owner = ? RETURNING last_signal", []any{until, id, owner}, &last)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				lost = append(lost, id)
			case err != nil:
				return err
			case last > mark:
				signalled = append(signalled, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("renew leases: %w", err)
	}
	slices.Sort(signalled)
	slices.Sort(lost)
	return signalled, lost, nil
}
