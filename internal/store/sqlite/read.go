package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// open keeps the store from being closed until the caller gives mu back.
func (s *Store) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return store.ErrClosed
	}
	return nil
}

// alive says whether the store is open.
func (s *Store) alive(ctx context.Context) error {
	err := s.open(ctx)
	if err == nil {
		s.mu.RUnlock()
	}
	return err
}

// querier is what runs a query: the readers, a snapshot of theirs, the writer.
type querier interface {
	query(ctx context.Context, text string, args []any, scan func(row scanner) error) error
}

// query implements querier for the writer, which no context interrupts.
func (c *conn) query(_ context.Context, text string, args []any, scan func(row scanner) error) error {
	return c.each(text, args, scan)
}

// snapshot calls do with one moment of the database, for reads that must fit
// together.
func (s *Store) snapshot(ctx context.Context, do func(q querier) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(err, s.path)
	}
	defer func() { _ = tx.Rollback() }() // a read has nothing to lose
	return explain(do(readers{s.prepared, tx}), s.path)
}

// each calls scan for each row of a query.
func (s *Store) each(ctx context.Context, text string, args []any, scan func(row scanner) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	return explain(readers{s.prepared, nil}.query(ctx, text, args, scan), s.path)
}

// row reads one row; it fails with sql.ErrNoRows when there is none.
func (s *Store) row(ctx context.Context, text string, args []any, dst ...any) error {
	found := false
	err := s.each(ctx, text, args, func(row scanner) error {
		found = true
		return row.Scan(dst...)
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// A record is read whole, or in lists without its request.
const (
	selectRecord = "SELECT q.request, " + recordColumns
	selectListed = "SELECT NULL, " + recordColumns

	recordColumns = `r.n, r.id, r.user, coalesce(s.id, ''), q.mode, q.title, r.status, r.failure, r.epoch, r.owner, r.home, r.lease_until,
	q.created, r.updated, r.last_seq, r.active, r.calls, r.input_tokens, r.output_tokens, r.cost, r.searches, r.pages, q.fork_of, q.fork_at, coalesce(a.id, ''),
	(SELECT nullif(json_group_array(tag), '[]') FROM tags WHERE run = r.n)
	FROM runs r JOIN requests q ON q.run = r.n LEFT JOIN sessions s ON s.n = r.session LEFT JOIN agents a ON a.run = r.n `
)

func scanRecord(row scanner) (n int64, r run.Record, err error) {
	err = row.Scan(unpacked{&r.Request}, &n, &r.ID, &r.User, &r.Session, &r.Mode, &r.Title, &r.Status, jsonOf{&r.Failure}, &r.Epoch, &r.Owner, &r.Home, timeAt{&r.LeaseUntil},
		timeAt{&r.Created}, timeAt{&r.Updated}, &r.LastSeq, &r.Active, &r.Spent.Calls, &r.Spent.InputTokens, &r.Spent.OutputTokens, &r.Spent.Cost,
		&r.Spent.Searches, &r.Spent.Pages, &r.ForkOf, &r.ForkAt, &r.Agent, jsonOf{&r.Tags})
	return n, r, err
}

// record reads a run and its number.
func record(ctx context.Context, q querier, id string) (n int64, r run.Record, err error) {
	err = q.query(ctx, selectRecord+"WHERE r.id = ?", []any{id}, func(row scanner) (err error) {
		n, r, err = scanRecord(row)
		return err
	})
	if err == nil && n == 0 {
		err = unknown(id)
	}
	return n, r, err
}

// Run implements store.Runs.
func (s *Store) Run(ctx context.Context, id string) (r run.Record, err error) {
	if err := s.open(ctx); err != nil {
		return r, err
	}
	defer s.mu.RUnlock()
	_, r, err = record(ctx, readers{s.prepared, nil}, id)
	return r, explain(err, s.path)
}

// ofAgent narrows a list to the runs of an agent.
const ofAgent = "r.n IN (SELECT run FROM agents WHERE id = ?)"

// selectFound looks for a beginning from ?1 to before ?2, and for an end by an
// index of the ends of ids.
const selectFound = `SELECT id FROM runs WHERE id >= ?1 AND id < ?2
	UNION SELECT id FROM runs WHERE substr(id, -4) = substr(?1, -4) AND substr(id, -length(?1)) = ?1 ORDER BY id LIMIT ?3`

// Find implements store.Runs.
func (s *Store) Find(ctx context.Context, part string) (ids []string, err error) {
	if utf8.RuneCountInString(part) < store.FindLeast {
		return nil, s.alive(ctx)
	}
	err = s.each(ctx, selectFound, []any{part, after(part), store.FindMost}, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find run %q: %w", part, err)
	}
	return ids, nil
}

// after returns the first text behind all that begin with prefix. No text is
// above one of bytes that are all the highest.
func after(prefix string) string {
	next := []byte(prefix)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i] < 0xff {
			next[i]++
			return string(next[:i+1])
		}
	}
	return prefix + "\xff"
}

const selectPlaces = "SELECT key, seq FROM log WHERE run = ? AND kind = 'event'"

// History implements run.Journal.
func (s *Store) History(ctx context.Context, id string) (*run.History, error) {
	h := &run.History{Places: map[string]int64{}}
	err := s.snapshot(ctx, func(q querier) error {
		n, r, err := record(ctx, q, id)
		if err != nil {
			return err
		}
		h.Record = r
		err = q.query(ctx, "SELECT last_ord FROM runs WHERE n = ?", []any{n}, func(row scanner) error { return row.Scan(&h.LastOrd) })
		if err != nil {
			return err
		}
		if h.Entries, err = entries(ctx, q, "run = ?", n); err != nil {
			return err
		}
		err = q.query(ctx, selectPlaces, []any{n}, func(row scanner) error {
			var place string
			var seq int64
			err := row.Scan(&place, &seq)
			h.Places[place] = seq
			return err
		})
		if err != nil {
			return err
		}
		h.Signals, err = signals(ctx, q, "run = ?", n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// entries reads journal entries in order.
func entries(ctx context.Context, q querier, where string, args ...any) ([]run.Entry, error) {
	var list []run.Entry
	err := q.query(ctx, "SELECT ord, key, kind, value, spent, seq, time, coalesce(branch, 0), coalesce(born, 0), coalesce(short, '') FROM entries WHERE "+where, args, func(row scanner) error {
		var e run.Entry
		err := row.Scan(&e.Ord, &e.Key, &e.Kind, unpacked{&e.Value}, jsonOf{&e.Spent}, &e.Seq, timeAt{&e.Time}, &e.Branch, &e.Born, &e.Short)
		list = append(list, e)
		return err
	})
	// Sorting here is cheaper than an index that every commit would write.
	slices.SortFunc(list, func(a, b run.Entry) int { return cmp.Compare(a.Ord, b.Ord) })
	return list, err
}

// signals reads signals in order.
func signals(ctx context.Context, q querier, where string, args ...any) ([]run.Signal, error) {
	var list []run.Signal
	err := q.query(ctx, "SELECT n, kind, key, text, time FROM signals WHERE "+where+" ORDER BY n", args, func(row scanner) error {
		var g run.Signal
		err := row.Scan(&g.N, &g.Kind, &g.Key, &g.Text, timeAt{&g.Time})
		list = append(list, g)
		return err
	})
	return list, err
}

// questions reads what the run numbered n has asked and what was answered.
func questions(ctx context.Context, q querier, n int64) (store.Questions, error) {
	asked, err := entries(ctx, q, "run = ? AND kind IN ('ask', 'answer')", n)
	if err != nil {
		return store.Questions{}, err
	}
	answers, err := signals(ctx, q, "run = ? AND kind = 'answer'", n)
	return store.Questions{Entries: asked, Signals: answers}, err
}

// Asks implements store.Runs.
func (s *Store) Asks(ctx context.Context, id string) (pending []run.Entry, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		n, r, err := record(ctx, q, id)
		if err != nil || r.Status.Ended() {
			return err
		}
		asked, err := questions(ctx, q, n)
		pending = asked.Pending()
		return err
	})
	return pending, err
}

// Signals implements run.Journal.
func (s *Store) Signals(ctx context.Context, id string, after int64) (list []run.Signal, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		n, err := number(ctx, q, id)
		if err != nil {
			return err
		}
		list, err = signals(ctx, q, "run = ? AND n > ?", n, after)
		return err
	})
	return list, err
}

// number returns the number of a run.
func number(ctx context.Context, q querier, id string) (n int64, err error) {
	err = q.query(ctx, "SELECT n FROM runs WHERE id = ?", []any{id}, func(row scanner) error { return row.Scan(&n) })
	if err == nil && n == 0 {
		err = unknown(id)
	}
	return n, err
}

// selectEvents begins with the run, which is in the result even where no event
// is, so that one query does. Its session is told once.
const selectEvents = `SELECT CASE WHEN e.seq > ?1 + 1 THEN NULL ELSE coalesce(s.id, '') END, e.seq, e.key, e.event, e.agent, e.time, e.value
	FROM runs r LEFT JOIN sessions s ON s.n = r.session LEFT JOIN log e ON e.run = r.n AND e.kind = 'event' AND e.seq > ?1
	WHERE r.id = ?2 ORDER BY e.seq LIMIT ?3`

// Events implements store.Runs.
func (s *Store) Events(ctx context.Context, id string, after int64, limit int) ([]run.PlacedEvent, error) {
	if limit <= 0 {
		limit = -1
	}
	after = max(after, 0)
	list := make([]run.PlacedEvent, 0, max(limit, 16))
	known := false
	var session, place, kind, agent maybeText
	var seq, at maybeInt
	var data json.RawMessage
	dst := []any{&session, &seq, &place, &kind, &agent, &at, unpacked{&data}}
	err := s.each(ctx, selectEvents, []any{after, id, limit}, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		known = true
		if seq == 0 {
			return nil
		}
		e := event.Event{Run: id, Session: string(session), Seq: int64(seq), Agent: string(agent)}
		if len(list) > 0 {
			e.Session = list[0].Session
		}
		if at != 0 {
			e.Time = time.Unix(0, int64(at)).UTC()
		}
		var err error
		e.Data, err = event.DecodeData(event.Kind(kind), data)
		list = append(list, run.PlacedEvent{Place: string(place), Event: e})
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("events of run %q: %w", id, err)
	case !known:
		return nil, unknown(id)
	}
	return list, nil
}

// Orphans implements store.Runs.
func (s *Store) Orphans(ctx context.Context, home string) ([]string, error) {
	var ids []string
	err := s.each(ctx, `SELECT r.id FROM runs r
		WHERE r.status IN ('queued', 'running', 'waiting', 'paused') AND (r.owner = '' OR r.lease_until <= ?) AND r.home IN ('', ?)
		AND (r.status IN ('queued', 'running') OR EXISTS (
			SELECT 1 FROM signals g WHERE g.run = r.n AND (g.kind IN ('cancel', 'finish') OR r.status = 'waiting' AND (g.kind = 'pause'
				OR g.kind = 'answer' AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.run = r.n AND e.key = g.key AND e.kind = 'answer')))))
		AND NOT EXISTS (SELECT 1 FROM seats p WHERE p.run = r.id AND p.slot = 0)
		ORDER BY r.n`, []any{moment(s.now()), home}, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("orphans: %w", err)
	}
	return ids, nil
}

// Messages implements store.Sessions.
func (s *Store) Messages(ctx context.Context, session, before string, limit int) ([]event.Message, error) {
	if limit <= 0 {
		limit = -1
	}
	var list []event.Message
	err := s.each(ctx, `SELECT e.data FROM runs r JOIN events e ON e.run = r.n AND e.kind = 'message' AND e.place NOT LIKE '@void/%'
		WHERE r.session = (SELECT n FROM sessions WHERE id = ?) AND r.n < coalesce((SELECT n FROM runs WHERE id = ?), 9223372036854775807)
		ORDER BY r.n DESC, e.seq DESC LIMIT ?`, []any{session, before, limit}, func(row scanner) error {
		var raw json.RawMessage
		if err := row.Scan(unpacked{&raw}); err != nil {
			return err
		}
		var m event.Message
		err := json.Unmarshal(raw, &m)
		list = append(list, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("messages of session %q: %w", session, err)
	}
	slices.Reverse(list)
	return list, nil
}

// Setting implements store.Settings.
func (s *Store) Setting(ctx context.Context, bucket, key string) (value []byte, err error) {
	err = s.row(ctx, "SELECT value FROM settings WHERE bucket = ? AND key = ?", []any{bucket, key}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("setting %s/%s: %w", bucket, key, err)
	}
	return value, nil
}
