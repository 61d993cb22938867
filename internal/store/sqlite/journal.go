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
// A run that has none yet is read with the lease: that is cheaper than a
// reader's snapshot.
func (s *Store) Acquire(ctx context.Context, id, owner string, ttl time.Duration) (*run.History, error) {
	if owner == "" {
		return nil, fmt.Errorf("run %q: a lease needs an owner", id)
	}
	var epoch int64
	var fresh *run.History
	err := s.writer.do(ctx, 0, func(tx *tx) error {
		fresh = nil
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
		err = tx.exec("UPDATE runs SET epoch = ?, owner = ?, lease_until = ?, status = ?, updated = ? WHERE n = ?",
			epoch, owner, moment(tx.now.Add(ttl)), string(run.Running), moment(tx.now), r.n)
		if err != nil || r.lastOrd > 0 || r.lastSeq > 0 || r.lastSignal > 0 {
			return err
		}
		fresh = &run.History{Places: map[string]int64{}}
		_, fresh.Record, err = record(ctx, tx.w.conn, id)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case fresh != nil:
		return fresh, nil
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

// The fence changes a run's record for the worker that holds it. What the
// worker builds on must be what is recorded. Each parameter costs, so there is
// a shorter form for batches that have spent nothing.
const (
	fence       = "UPDATE runs SET updated = ?, last_ord = last_ord + ?, last_seq = last_seq + ?, active = active + ?" + fenceWhere
	fenceSpends = `UPDATE runs SET updated = ?, last_ord = last_ord + ?, last_seq = last_seq + ?, active = active + ?,
		calls = calls + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost = cost + ?,
		searches = searches + ?, pages = pages + ?` + fenceWhere
	fenceWhere = " WHERE n = ? AND epoch = ? AND last_ord = ? AND last_seq = ? AND owner <> ''"
)

// known is what the writer remembers of a run between its commits. It may be
// out of date: the fence finds out.
type known struct{ n, lastOrd, lastSeq int64 }

// knownRuns limits what is remembered; the runs at work are far fewer.
const knownRuns = 10_000

// commit stores a batch, the fence first.
func (t *tx) commit(b *run.Batch, c *batch, status, failure any) error {
	k, remembered := t.w.known[b.Run]
	passed := false
	var err error
	if remembered {
		passed, err = t.fence(b, k)
	}
	if err == nil && !passed {
		r, findErr := t.find(b.Run)
		if findErr == nil {
			k = known{r.n, r.lastOrd, r.lastSeq}
			passed, err = t.fence(b, k)
		}
		if err == nil && !passed {
			delete(t.w.known, b.Run)
			return refused(b, r, findErr)
		}
	}
	if err != nil {
		return err
	}
	if err := c.insert(t, k.n, k.lastOrd); err != nil {
		return fmt.Errorf("run %q: %w", b.Run, err)
	}
	if status != nil {
		if err := t.exec("UPDATE runs SET status = ?, failure = ? WHERE n = ?", status, failure, k.n); err != nil {
			return err
		}
		if err := t.addNews(b.Run, k.lastSeq+int64(len(b.Events)), b.State.Status); err != nil {
			return err
		}
	}
	if b.Release {
		delete(t.w.known, b.Run)
		return t.exec("UPDATE runs SET owner = '', lease_until = 0 WHERE n = ?", k.n)
	}
	if len(t.w.known) >= knownRuns {
		clear(t.w.known)
	}
	t.w.known[b.Run] = known{k.n, k.lastOrd + int64(len(b.Entries)), k.lastSeq + int64(len(b.Events))}
	return nil
}

// fence says whether a batch may pass.
func (t *tx) fence(b *run.Batch, k known) (passed bool, err error) {
	if len(b.Events) > 0 && b.Events[0].Seq != k.lastSeq+1 {
		return false, nil
	}
	var changed int64
	entries, events, now := int64(len(b.Entries)), int64(len(b.Events)), moment(t.now)
	if p := &b.Spent; *p == (run.Spent{}) {
		changed, err = t.w.conn.exec(fence, now, entries, events, int64(b.Active), k.n, b.Epoch, k.lastOrd, k.lastSeq)
	} else {
		changed, err = t.w.conn.exec(fenceSpends, now, entries, events, int64(b.Active),
			p.Calls, p.InputTokens, p.OutputTokens, p.Cost, p.Searches, p.Pages, k.n, b.Epoch, k.lastOrd, k.lastSeq)
	}
	return changed > 0, err
}

// refused says why the fence did not let a batch pass.
func refused(b *run.Batch, r *held, err error) error {
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
	values  []any    // of the entries
	spent   []any    // by the entries
	data    []any    // of the events
	holds   [][]byte // hashes of the bodies that these name
	size    int
}

// newBatch encodes entries and events. The events must be without a gap among
// themselves.
func newBatch(entries []run.Entry, events []run.PlacedEvent) (*batch, error) {
	c := &batch{entries: entries, events: events}
	n := len(entries)
	all := make([]any, 2*n+len(events))
	c.values, c.spent, c.data = all[:n], all[n:2*n], all[2*n:]
	for i := range entries {
		e := &entries[i]
		if e.Kind == "" || e.Kind == kindEvent {
			return nil, fmt.Errorf("entry %q has the kind %q", e.Key, e.Kind)
		}
		if e.Spent != (run.Spent{}) {
			spent, err := json.Marshal(e.Spent)
			if err != nil {
				return nil, fmt.Errorf("%s entry %q: %w", e.Kind, e.Key, err)
			}
			c.spent[i] = string(spent)
		}
		c.values[i] = pack(e.Value)
		c.holds = named(c.holds, e.Value)
		c.size += 100 + len(e.Key) + len(e.Value)
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
		c.holds = named(c.holds, raw)
		c.size += 100 + 2*len(events[i].Place) + len(raw)
	}
	return c, nil
}

// Most entries are of the run's own branch and did not fall short: each
// parameter costs.
const (
	insertEntry = "INSERT INTO log (run, kind, key, seq, ord, spent, time, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	insertMore  = "INSERT INTO log (run, kind, key, seq, ord, spent, time, value, branch, born, short) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertEvent = "INSERT INTO log (run, kind, key, seq, event, agent, time, value) VALUES (?, 'event', ?, ?, ?, ?, ?, ?)"
)

// kindEvent is what the log calls an event among the kinds of entries.
const kindEvent = "event"

// insert stores a batch for the run numbered n, whose last entry is lastOrd.
func (c *batch) insert(t *tx, n, lastOrd int64) error {
	for i := range c.entries {
		e := &c.entries[i]
		at := e.Time
		if at.IsZero() {
			at = t.now
		}
		var err error
		if ord := lastOrd + 1 + int64(i); e.Branch == 0 && e.Short == "" {
			err = t.exec(insertEntry, n, string(e.Kind), e.Key, e.Seq, ord, c.spent[i], moment(at), c.values[i])
		} else {
			err = t.exec(insertMore, n, string(e.Kind), e.Key, e.Seq, ord, c.spent[i], moment(at), c.values[i], e.Branch, e.Born, e.Short)
		}
		if violated(err) {
			return fmt.Errorf("%s entry %q: %w: %w", e.Kind, e.Key, store.ErrExists, err)
		}
		if err != nil {
			return err
		}
	}
	for i := range c.events {
		e := &c.events[i]
		err := t.exec(insertEvent, n, e.Place, e.Seq, string(e.Kind()), e.Agent, moment(e.Time), c.data[i])
		if violated(err) {
			return fmt.Errorf("event at %q: %w: %w", e.Place, store.ErrExists, err)
		}
		if err != nil {
			return err
		}
	}
	return t.hold(n, c.holds)
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

// Signalled implements run.Journal.
func (s *Store) Signalled(ctx context.Context, owner string) (map[string]int64, error) {
	last := make(map[string]int64)
	err := s.each(ctx, "SELECT id, last_signal FROM runs WHERE status = 'running' AND owner = ? AND last_signal > 0", []any{owner}, func(row scanner) error {
		var id string
		var n int64
		err := row.Scan(&id, &n)
		last[id] = n
		return err
	})
	return last, err
}
