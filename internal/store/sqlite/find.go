package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// List implements store.Runs.
func (s *Store) List(ctx context.Context, f store.Filter) ([]run.Record, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	where, args, err := s.listed(ctx, f)
	if err != nil || where == "" {
		return nil, err
	}
	var list []run.Record
	err = s.each(ctx, selectListed+where+" ORDER BY r.n DESC LIMIT ?", append(args, f.Limit), func(row scanner) error {
		_, r, err := scanRecord(row)
		list = append(list, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return list, nil
}

// listed returns the condition of a filter and its arguments; it is empty where
// no run can meet it.
func (s *Store) listed(ctx context.Context, f store.Filter) (where string, args []any, err error) {
	where = "WHERE 1"
	and := func(condition string, values ...any) {
		where, args = where+" AND "+condition, append(args, values...)
	}
	if f.Before != "" {
		var n int64
		switch err := s.row(ctx, "SELECT n FROM runs WHERE id = ?", []any{f.Before}, &n); {
		case errors.Is(err, sql.ErrNoRows):
			return "", nil, unknown(f.Before)
		case err != nil:
			return "", nil, fmt.Errorf("list runs: %w", err)
		}
		and("r.n < ?", n)
	}
	if f.Agent != "" {
		and(ofAgent, f.Agent)
	}
	if f.Session != "" {
		and("r.session = (SELECT n FROM sessions WHERE id = ?)", f.Session)
	}
	if f.User != "" {
		and("r.user = ? AND r.user <> ''", f.User) // the index has no others
	}
	if f.Status != "" {
		and("r.status = ?", string(f.Status))
	}
	if f.Mode != "" {
		and("q.mode = ?", f.Mode)
	}
	if f.Tag != "" {
		and("r.n IN (SELECT run FROM tags WHERE tag = ?)", f.Tag)
	}
	if !f.Since.IsZero() {
		and("q.created >= ?", moment(f.Since))
	}
	if !f.Until.IsZero() {
		and("q.created <= ?", moment(f.Until))
	}
	if strings.TrimSpace(f.Text) == "" {
		return where, args, nil
	}
	terms := store.QueryTerms(f.Text)
	if len(terms) == 0 {
		return "", nil, nil // signs alone are said nowhere
	}
	if err := s.word(ctx); err != nil {
		return "", nil, err
	}
	for i, t := range terms {
		terms[i] = `"` + t + `"`
	}
	and("r.n IN (SELECT rowid FROM words WHERE words MATCH ?)", strings.Join(terms, " AND "))
	return where, args, nil
}

// What a piece of bringing the words up to date takes in at most.
const (
	wordRuns  = 50
	wordBytes = 1 << 20
)

// stale is a run whose words are not those of its last event.
type stale struct {
	n, seq int64
	title  string
}

// word brings the words of runs up to date, in pieces between which others can
// commit. What is cut short goes on with the next search.
func (s *Store) word(ctx context.Context) error {
	for last := int64(0); ; {
		var list []stale
		err := s.each(ctx, `SELECT r.n, r.last_seq, q.title FROM runs r JOIN requests q ON q.run = r.n LEFT JOIN worded w ON w.run = r.n
			WHERE r.n > ? AND r.last_seq <> coalesce(w.seq, -1) ORDER BY r.n LIMIT ?`, []any{last, wordRuns}, func(row scanner) error {
			var r stale
			err := row.Scan(&r.n, &r.seq, &r.title)
			list = append(list, r)
			return err
		})
		if err != nil {
			return fmt.Errorf("words of runs: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		if last, err = s.wordSome(ctx, list); err != nil {
			return fmt.Errorf("words of runs: %w", err)
		}
	}
}

// wordSome takes the words of some runs in and returns the last of them.
func (s *Store) wordSome(ctx context.Context, list []stale) (last int64, err error) {
	type entry struct {
		stale
		terms string
	}
	var batch []entry
	size := 0
	for _, r := range list {
		said, err := s.said(ctx, r)
		if err != nil {
			return 0, err
		}
		terms := strings.Join(store.Terms(said), " ")
		batch = append(batch, entry{r, terms})
		last = r.n
		if size += len(terms); size > wordBytes {
			break
		}
	}
	return last, s.writer.between(ctx, size, func(tx *tx) error {
		for _, e := range batch {
			var there int64
			switch err := tx.row("SELECT 1 FROM runs WHERE n = ?", []any{e.n}, &there); {
			case errors.Is(err, sql.ErrNoRows):
				continue // deleted meanwhile
			case err != nil:
				return err
			}
			if err := tx.unword(e.n); err != nil {
				return err
			}
			if err := tx.exec("INSERT INTO words (rowid, terms) VALUES (?, ?)", e.n, e.terms); err != nil {
				return err
			}
			if err := tx.exec("INSERT INTO worded (run, seq) VALUES (?, ?)", e.n, e.seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// unword forgets the words of a run.
func (t *tx) unword(n int64) error {
	if err := t.exec("DELETE FROM words WHERE rowid = ?", n); err != nil {
		return err
	}
	return t.exec("DELETE FROM worded WHERE run = ?", n)
}

// said is the text by which a run is found.
func (s *Store) said(ctx context.Context, r stale) (string, error) {
	var text strings.Builder
	text.WriteString(r.title)
	kinds, err := json.Marshal(store.SaidKinds)
	if err != nil {
		return "", err
	}
	err = s.each(ctx, `SELECT event, value FROM log WHERE run = ? AND kind = 'event' AND seq <= ? AND key NOT LIKE '@void/%'
		AND event IN (SELECT value FROM json_each(?)) ORDER BY seq`, []any{r.n, r.seq, string(kinds)}, func(row scanner) error {
		var kind maybeText
		var raw json.RawMessage
		if err := row.Scan(&kind, unpacked{&raw}); err != nil || text.Len() >= store.SaidMost {
			return err
		}
		data, err := event.DecodeData(event.Kind(kind), raw)
		if err == nil {
			text.WriteString("\n" + store.Said(data))
		}
		return err
	})
	said := text.String()
	return said[:min(len(said), store.SaidMost)], err
}

// CountRuns implements store.Runs.
func (s *Store) CountRuns(ctx context.Context) (map[run.Status]int, error) {
	counts := make(map[run.Status]int)
	err := s.each(ctx, "SELECT status, count(*) FROM runs GROUP BY status", nil, func(row scanner) error {
		var status run.Status
		var n int
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	return counts, nil
}
