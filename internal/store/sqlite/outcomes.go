package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dossier/internal/fleet"
)

// PutOutcome implements fleet.Outcomes.
func (s *Store) PutOutcome(ctx context.Context, o fleet.Outcome) error {
	var coverage any
	if o.Coverage != nil {
		coverage = *o.Coverage
	}
	return s.writer.do(ctx, 100, func(tx *tx) error {
		n, _, err := tx.template(o.Template)
		if err != nil {
			return fmt.Errorf("outcome of run %q: %w", o.Run, err)
		}
		var known int64
		switch err := tx.row("SELECT 1 FROM outcomes WHERE run = ?", []any{o.Run}, &known); {
		case errors.Is(err, sql.ErrNoRows):
			if o.Instance == "" {
				break
			}
			if err := tx.exec("UPDATE instances SET served = served + 1, last_used = max(last_used, ?) WHERE id = ?", moment(o.At), o.Instance); err != nil {
				return err
			}
		case err != nil:
			return err
		}
		return tx.exec(`INSERT INTO outcomes (run, template, version, instance, status, coverage, tokens, cost, spent, time)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET template = excluded.template, version = excluded.version,
			instance = excluded.instance, status = excluded.status, coverage = excluded.coverage, tokens = excluded.tokens,
			cost = excluded.cost, spent = excluded.spent, time = excluded.time`,
			o.Run, n, o.Version, o.Instance, string(o.Status), coverage, o.Tokens, o.Cost, int64(o.Time), moment(o.At))
	})
}

// Unrecorded implements store.Runs.
func (s *Store) Unrecorded(ctx context.Context, mode string, since time.Time) ([]string, error) {
	var ids []string
	err := s.each(ctx, `SELECT r.id FROM runs r JOIN requests q ON q.run = r.n
		WHERE r.updated >= ? AND r.status IN ('done', 'failed', 'cancelled') AND q.mode = ? AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.run = r.id)
		ORDER BY r.n`, []any{moment(since), mode}, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("runs without an outcome: %w", err)
	}
	return ids, nil
}

// EachOutcome implements fleet.Outcomes.
func (s *Store) EachOutcome(ctx context.Context, template string, do func(fleet.Outcome) error) error {
	err := s.snapshot(ctx, func(q querier) error {
		var n int64
		err := q.query(ctx, "SELECT n FROM templates WHERE name = ?", []any{template}, func(row scanner) error { return row.Scan(&n) })
		switch {
		case err != nil:
			return err
		case n == 0:
			return fleet.ErrNoTemplate
		}
		return q.query(ctx, "SELECT run, version, instance, status, coverage, tokens, cost, spent, time FROM outcomes WHERE template = ?", []any{n}, func(row scanner) error {
			o := fleet.Outcome{Template: template}
			var coverage sql.NullFloat64
			if err := row.Scan(&o.Run, &o.Version, &o.Instance, &o.Status, &coverage, &o.Tokens, &o.Cost, &o.Time, timeAt{&o.At}); err != nil {
				return err
			}
			if coverage.Valid {
				o.Coverage = &coverage.Float64
			}
			return do(o)
		})
	})
	if err != nil {
		return fmt.Errorf("outcomes of template %q: %w", template, err)
	}
	return nil
}
