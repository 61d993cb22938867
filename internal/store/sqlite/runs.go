package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dossier/internal/store"
	"dossier/run"
)

func unknown(id string) error { return fmt.Errorf("run %q: %w", id, run.ErrUnknownRun) }

// held is what a write needs to know of a run.
type held struct {
	n       int64
	session sql.NullInt64
	status  run.Status
	epoch   int64
	owner   string
	until   time.Time
	lastSeq int64
	lastOrd int64
	// lastSignal is the number of the last signal.
	lastSignal int64
}

func (h *held) leased(now time.Time) bool { return h.owner != "" && now.Before(h.until) }

// find reads a run inside the transaction.
func (t *tx) find(id string) (*held, error) {
	h := new(held)
	err := t.row("SELECT n, session, status, epoch, owner, lease_until, last_seq, last_ord, last_signal FROM runs WHERE id = ?", []any{id},
		&h.n, &h.session, &h.status, &h.epoch, &h.owner, timeAt{&h.until}, &h.lastSeq, &h.lastOrd, &h.lastSignal)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, unknown(id)
	}
	return h, err
}

// Create implements store.Runs.
func (s *Store) Create(ctx context.Context, r run.Record, entries []run.Entry, events []run.PlacedEvent) error {
	if r.ID == "" {
		return errors.New("a run needs an id")
	}
	if err := store.CheckSequence(0, events); err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	c, err := newBatch(entries, events)
	if err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	if !r.Status.Ended() {
		r.Status, r.Failure = run.Queued, nil
	}
	failure, err := failureJSON(r.Failure)
	if err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	request := pack(r.Request)
	c.holds = named(c.holds, r.Request)
	return s.writer.do(ctx, c.size+len(r.Request), func(tx *tx) error {
		switch _, err := tx.find(r.ID); {
		case err == nil:
			return fmt.Errorf("run %q: %w", r.ID, store.ErrExists)
		case !errors.Is(err, run.ErrUnknownRun):
			return err
		}
		created := r.Created
		if created.IsZero() {
			created = tx.now
		}
		updated := r.Updated
		if updated.IsZero() {
			updated = created
		}
		session, err := tx.session(r.Session, r.User, r.Title, created)
		if err != nil {
			return err
		}
		var n int64
		err = tx.row(`INSERT INTO runs (id, user, home, session, status, failure, updated, last_seq, last_ord,
			active, calls, input_tokens, output_tokens, cost, searches, pages)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
			[]any{r.ID, r.User, r.Home, session, string(r.Status), failure, moment(updated), len(events), len(entries), int64(r.Active),
				r.Spent.Calls, r.Spent.InputTokens, r.Spent.OutputTokens, r.Spent.Cost, r.Spent.Searches, r.Spent.Pages}, &n)
		if err != nil {
			return err
		}
		err = tx.exec("INSERT INTO requests (run, mode, title, request, created, fork_of, fork_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n, r.Mode, r.Title, request, moment(created), r.ForkOf, r.ForkAt)
		if err == nil && r.Agent != "" {
			err = tx.exec("INSERT INTO agents (run, id) VALUES (?, ?)", n, r.Agent)
		}
		if err == nil {
			err = tx.tag(n, r.Tags)
		}
		if err != nil {
			return err
		}
		if err := c.insert(tx, n, 0); err != nil {
			return fmt.Errorf("run %q: %w", r.ID, err)
		}
		return nil
	})
}

// session returns the number of a session and makes it if need be; nil for
// the empty id.
func (t *tx) session(id, user, title string, created time.Time) (any, error) {
	if id == "" {
		return nil, nil
	}
	var n int64
	var whose string
	err := t.row("SELECT n, user FROM sessions WHERE id = ?", []any{id}, &n, &whose)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = t.row("INSERT INTO sessions (id, user, title, created) VALUES (?, ?, ?, ?) RETURNING n", []any{id, user, title, moment(created)}, &n)
	case err == nil && whose != user:
		err = noSession(id)
	}
	return n, err
}

func noSession(id string) error { return fmt.Errorf("session %q: %w", id, store.ErrNotFound) }

// Answer implements store.Runs.
func (s *Store) Answer(ctx context.Context, id, ask, text string) error {
	return s.writer.do(ctx, len(text), func(tx *tx) error {
		r, err := tx.find(id)
		if err != nil {
			return err
		}
		if r.status.Ended() {
			return fmt.Errorf("run %q is %s: %w", id, r.status, store.ErrNotWaiting)
		}
		q, err := questions(ctx, tx.w.conn, r.n)
		if err != nil {
			return err
		}
		key, err := q.Answer(ask, text)
		if err != nil {
			return fmt.Errorf("run %q: %w", id, err)
		}
		if key == "" {
			return nil
		}
		return tx.signal(r.n, run.Signal{Kind: run.SignalAnswer, Key: key, Text: text})
	})
}

// Signal implements store.Runs.
func (s *Store) Signal(ctx context.Context, id string, signal run.Signal) error {
	if signal.Kind == run.SignalAnswer || signal.Kind == "" {
		return fmt.Errorf("run %q: not a signal to send: %q", id, signal.Kind)
	}
	return s.writer.do(ctx, len(signal.Text), func(tx *tx) error {
		r, err := tx.find(id)
		if err != nil {
			return err
		}
		if r.status.Ended() {
			return fmt.Errorf("run %q is %s: %w", id, r.status, run.ErrEnded)
		}
		return tx.signal(r.n, signal)
	})
}

// signal stores a signal for the run numbered n.
func (t *tx) signal(n int64, signal run.Signal) error {
	if signal.Time.IsZero() {
		signal.Time = t.now
	}
	if err := t.row("UPDATE runs SET last_signal = last_signal + 1 WHERE n = ? RETURNING last_signal", []any{n}, &signal.N); err != nil {
		return err
	}
	return t.exec("INSERT INTO signals (run, n, kind, key, text, time) VALUES (?, ?, ?, ?, ?, ?)",
		n, signal.N, string(signal.Kind), signal.Key, signal.Text, moment(signal.Time))
}

// Reopen implements store.Runs.
func (s *Store) Reopen(ctx context.Context, id string, r run.Reopening) error {
	told, err := newBatch(nil, []run.PlacedEvent{r.Event})
	if err != nil {
		return fmt.Errorf("run %q: %w", id, err)
	}
	return s.writer.do(ctx, told.size+len(r.Request)+64*(len(r.Drop)+len(r.Void)), func(tx *tx) error {
		h, err := tx.find(id)
		switch {
		case err != nil:
			return err
		case h.leased(tx.now):
			return fmt.Errorf("run %q: %w", id, store.ErrBusy)
		case h.epoch != r.Epoch || h.lastSeq != r.LastSeq || r.Event.Seq != r.LastSeq+1:
			return fmt.Errorf("run %q: %w", id, run.ErrChanged)
		}
		for _, e := range r.Drop {
			if err := tx.exec("DELETE FROM log WHERE run = ? AND key = ? AND kind = ?", h.n, e.Key, string(e.Kind)); err != nil {
				return err
			}
		}
		for _, place := range r.Void {
			err := tx.exec("UPDATE log SET key = ? WHERE run = ? AND key = ? AND kind = 'event'", run.VoidPlace(place, r.Epoch), h.n, place)
			if err != nil {
				return err
			}
		}
		if err := tx.exec("DELETE FROM signals WHERE run = ? AND kind IN ('cancel', 'pause', 'finish')", h.n); err != nil {
			return err
		}
		for _, ask := range r.Unasked {
			if err := tx.exec("DELETE FROM signals WHERE run = ? AND kind = 'answer' AND key = ?", h.n, ask); err != nil {
				return err
			}
		}
		if r.Request != nil {
			if err := tx.exec("UPDATE requests SET request = ? WHERE run = ?", pack(r.Request), h.n); err != nil {
				return err
			}
		}
		if err := told.insert(tx, h.n, h.lastOrd); err != nil {
			return err
		}
		return tx.exec(`UPDATE runs SET status = ?, failure = NULL, owner = '', lease_until = 0, home = ?, updated = ?, epoch = epoch + 1, last_seq = ?
			WHERE n = ?`, string(run.Queued), r.Home, moment(tx.now), r.Event.Seq, h.n)
	})
}

// Append implements store.Runs.
func (s *Store) Append(ctx context.Context, id string, e run.PlacedEvent) error {
	told, err := newBatch(nil, []run.PlacedEvent{e})
	if err != nil {
		return fmt.Errorf("run %q: %w", id, err)
	}
	return s.writer.do(ctx, told.size, func(tx *tx) error {
		h, err := tx.find(id)
		switch {
		case err != nil:
			return err
		case !h.status.Ended():
			return fmt.Errorf("run %q: %w", id, store.ErrBusy)
		case e.Seq != h.lastSeq+1:
			return fmt.Errorf("run %q: %w", id, run.ErrChanged)
		}
		if err := told.insert(tx, h.n, h.lastOrd); err != nil {
			return err
		}
		return tx.exec("UPDATE runs SET last_seq = ? WHERE n = ?", e.Seq, h.n)
	})
}

// Runs that are not over; an index has them.
const unfinished = "status IN ('queued', 'running', 'waiting', 'paused')"

const selectLastSeqs = "SELECT id, last_seq FROM runs WHERE id IN (SELECT value FROM json_each(?))"

// LastSeqs implements store.Runs.
func (s *Store) LastSeqs(ctx context.Context, ids []string) (map[string]int64, error) {
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	last := make(map[string]int64, len(ids))
	err = s.each(ctx, selectLastSeqs, []any{string(asked)}, func(row scanner) error {
		var id string
		var seq int64
		err := row.Scan(&id, &seq)
		last[id] = seq
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("last sequences: %w", err)
	}
	return last, nil
}

// Owners implements store.Runs.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	err = s.each(ctx, "SELECT owner FROM runs WHERE "+unfinished+" AND owner <> '' UNION SELECT home FROM runs WHERE "+unfinished+" AND home <> ''", nil, func(row scanner) error {
		var owner string
		err := row.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("owners: %w", err)
	}
	return owners, nil
}

// Evict implements store.Runs.
func (s *Store) Evict(ctx context.Context, owner string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		err := tx.exec(`UPDATE runs SET owner = '', lease_until = 0, status = CASE status WHEN 'running' THEN 'queued' ELSE status END
			WHERE `+unfinished+` AND owner = ?`, owner)
		if err == nil {
			err = tx.exec("UPDATE runs SET home = '' WHERE "+unfinished+" AND home = ?", owner)
		}
		return err
	})
}

// SetSetting implements store.Settings.
func (s *Store) SetSetting(ctx context.Context, bucket, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	err := s.writer.do(ctx, len(value), func(tx *tx) error {
		return tx.exec("INSERT INTO settings (bucket, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", bucket, key, value)
	})
	if err != nil {
		return fmt.Errorf("setting %s/%s: %w", bucket, key, err)
	}
	return nil
}
