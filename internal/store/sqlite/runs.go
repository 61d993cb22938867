package sqlite

import (
	"context"
	"database/sql"
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
		session, err := tx.session(r.Session, r.Title, created)
		if err != nil {
			return err
		}
		var n int64
		err = tx.row(`INSERT INTO runs (id, session, status, failure, updated, last_seq, last_ord,
			active, calls, input_tokens, output_tokens, cost, searches, pages)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
			[]any{r.ID, session, string(r.Status), failure, moment(updated), len(events), len(entries), int64(r.Active),
				r.Spent.Calls, r.Spent.InputTokens, r.Spent.OutputTokens, r.Spent.Cost, r.Spent.Searches, r.Spent.Pages}, &n)
		if err != nil {
			return err
		}
		err = tx.exec("INSERT INTO requests (run, mode, title, request, created, fork_of, fork_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n, r.Mode, r.Title, request, moment(created), r.ForkOf, r.ForkAt)
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
func (t *tx) session(id, title string, created time.Time) (any, error) {
	if id == "" {
		return nil, nil
	}
	var n int64
	err := t.row("SELECT n FROM sessions WHERE id = ?", []any{id}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.row("INSERT INTO sessions (id, title, created) VALUES (?, ?, ?) RETURNING n", []any{id, title, moment(created)}, &n)
	}
	return n, err
}

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
func (s *Store) Reopen(ctx context.Context, id string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		r, err := tx.find(id)
		switch {
		case err != nil:
			return err
		case r.status == run.Done:
			return fmt.Errorf("run %q is done: %w", id, run.ErrEnded)
		case r.leased(tx.now):
			return fmt.Errorf("run %q: %w", id, store.ErrBusy)
		case r.status != run.Failed && r.status != run.Cancelled && r.status != run.Paused:
			return nil
		}
		var failure run.Failure
		if err := tx.row("SELECT failure FROM runs WHERE n = ?", []any{r.n}, jsonOf{&failure}); err != nil {
			return err
		}
		if failure.Step != "" {
			if err := tx.exec("DELETE FROM log WHERE run = ? AND kind = 'fault' AND (key = ? OR substr(key, 1, length(?) + 1) = ? || '/')",
				r.n, failure.Step, failure.Step, failure.Step); err != nil {
				return err
			}
		}
		if err := tx.exec("DELETE FROM signals WHERE run = ? AND kind IN ('cancel', 'pause', 'finish')", r.n); err != nil {
			return err
		}
		return tx.exec("UPDATE runs SET status = ?, failure = NULL, owner = '', lease_until = 0, updated = ? WHERE n = ?",
			string(run.Queued), moment(tx.now), r.n)
	})
}

// Evict implements store.Runs.
func (s *Store) Evict(ctx context.Context) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		return tx.exec("UPDATE runs SET owner = '', lease_until = 0 WHERE owner <> ''")
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
