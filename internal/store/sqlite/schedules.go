package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"dossier/internal/schedule"
)

func noSchedule(id string) error { return fmt.Errorf("schedule %q: %w", id, schedule.ErrNone) }

const selectSchedule = "SELECT id, name, user, cron, zone, request, paused, created, next, reckoned, revision FROM schedules "

func scanSchedule(row scanner) (s schedule.Schedule, err error) {
	var paused int64
	err = row.Scan(&s.ID, &s.Name, &s.User, &s.Cron, &s.Zone, unpacked{&s.Request}, &paused, timeAt{&s.Created}, timeAt{&s.Next}, timeAt{&s.From}, &s.Revision)
	s.Paused = paused != 0
	return s, err
}

func (s *Store) schedules(ctx context.Context, rest string, args ...any) ([]schedule.Schedule, error) {
	var list []schedule.Schedule
	err := s.each(ctx, selectSchedule+rest, args, func(row scanner) error {
		one, err := scanSchedule(row)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("schedules: %w", err)
	}
	return list, nil
}

// packedRequest is never NULL.
func packedRequest(request json.RawMessage) any {
	if request == nil {
		return ""
	}
	return pack(request)
}

// AddSchedule implements schedule.Store.
func (s *Store) AddSchedule(ctx context.Context, a schedule.Schedule) error {
	return s.writer.do(ctx, len(a.Request), func(tx *tx) error {
		taken, err := tx.has("SELECT 1 FROM schedules WHERE id = ?", a.ID)
		switch {
		case err != nil:
			return err
		case taken:
			return fmt.Errorf("schedule %q: %w", a.ID, schedule.ErrExists)
		}
		return tx.exec("INSERT INTO schedules (id, name, user, cron, zone, request, paused, created, next, reckoned, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			a.ID, a.Name, a.User, a.Cron, a.Zone, packedRequest(a.Request), flag(a.Paused), moment(a.Created), moment(a.Next), moment(a.From), a.Revision)
	})
}

// Schedule implements schedule.Store.
func (s *Store) Schedule(ctx context.Context, id string) (schedule.Schedule, error) {
	list, err := s.schedules(ctx, "WHERE id = ?", id)
	switch {
	case err != nil:
		return schedule.Schedule{}, err
	case len(list) == 0:
		return schedule.Schedule{}, noSchedule(id)
	}
	return list[0], nil
}

// Schedules implements schedule.Store.
func (s *Store) Schedules(ctx context.Context, user string) ([]schedule.Schedule, error) {
	return s.schedules(ctx, "WHERE ?1 = '' OR user = ?1 ORDER BY n", user)
}

const upcoming = "WHERE next <> 0 ORDER BY next LIMIT ?"

// Upcoming implements schedule.Store.
func (s *Store) Upcoming(ctx context.Context, limit int) ([]schedule.Schedule, error) {
	return s.schedules(ctx, upcoming, limit)
}

// ChangeSchedule implements schedule.Store.
func (s *Store) ChangeSchedule(ctx context.Context, to schedule.Schedule) error {
	return s.writer.do(ctx, len(to.Request), func(tx *tx) error {
		_, err := tx.changeSchedule(to)
		return err
	})
}

// changeSchedule returns the number of the schedule.
func (t *tx) changeSchedule(to schedule.Schedule) (n int64, err error) {
	var revision int64
	switch err := t.row("SELECT n, revision FROM schedules WHERE id = ?", []any{to.ID}, &n, &revision); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, noSchedule(to.ID)
	case err != nil:
		return 0, err
	case revision != to.Revision:
		return 0, fmt.Errorf("schedule %q: %w", to.ID, schedule.ErrChanged)
	}
	return n, t.exec("UPDATE schedules SET name = ?, cron = ?, zone = ?, request = ?, paused = ?, next = ?, reckoned = ?, revision = revision + 1 WHERE n = ?",
		to.Name, to.Cron, to.Zone, packedRequest(to.Request), flag(to.Paused), moment(to.Next), moment(to.From), n)
}

// Fire implements schedule.Store.
func (s *Store) Fire(ctx context.Context, to schedule.Schedule, f schedule.Firing) error {
	return s.writer.do(ctx, len(to.Request), func(tx *tx) error {
		n, err := tx.changeSchedule(to)
		if err != nil {
			return err
		}
		err = tx.exec("INSERT INTO firings (schedule, run, due, at, by_hand, state, error) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n, f.Run, moment(f.Due), moment(f.At), flag(f.ByHand), string(f.State), f.Error)
		if err != nil {
			return err
		}
		return tx.exec("DELETE FROM firings WHERE schedule = ?1 AND n <= (SELECT n FROM firings WHERE schedule = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)", n, schedule.KeepFirings)
	})
}

// RemoveSchedule implements schedule.Store.
func (s *Store) RemoveSchedule(ctx context.Context, id string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		changed, err := tx.w.conn.exec("DELETE FROM schedules WHERE id = ?", id) // its firings follow by foreign keys
		if err == nil && changed == 0 {
			return noSchedule(id)
		}
		return err
	})
}

func (s *Store) firings(ctx context.Context, rest string, args ...any) ([]schedule.Firing, error) {
	var list []schedule.Firing
	err := s.each(ctx, "SELECT s.id, f.run, f.due, f.at, f.by_hand, f.state, f.error FROM firings f JOIN schedules s ON s.n = f.schedule "+rest, args, func(row scanner) error {
		var f schedule.Firing
		var byHand int64
		var state string
		err := row.Scan(&f.Schedule, &f.Run, timeAt{&f.Due}, timeAt{&f.At}, &byHand, &state, &f.Error)
		f.ByHand, f.State = byHand != 0, schedule.State(state)
		list = append(list, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("firings: %w", err)
	}
	return list, nil
}

// Firings implements schedule.Store.
func (s *Store) Firings(ctx context.Context, id string, limit int) ([]schedule.Firing, error) {
	return s.firings(ctx, "WHERE s.id = ? ORDER BY f.n DESC LIMIT ?", id, limit)
}

const openFirings = "WHERE f.state = 'claimed' ORDER BY f.n"

// OpenFirings implements schedule.Store.
func (s *Store) OpenFirings(ctx context.Context) ([]schedule.Firing, error) {
	return s.firings(ctx, openFirings)
}

// SettleFiring implements schedule.Store.
func (s *Store) SettleFiring(ctx context.Context, f schedule.Firing) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		return tx.exec("UPDATE firings SET state = ?, error = ? WHERE run = ? AND state = 'claimed'", string(f.State), f.Error, f.Run)
	})
}
