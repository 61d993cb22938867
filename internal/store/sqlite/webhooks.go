package sqlite

import (
	"context"
	"fmt"
	"time"

	"dossier/internal/webhook"
	"dossier/run"
)

// addNews notes that a run has come to a status, with the commit that brings it
// there.
func (t *tx) addNews(id string, seq int64, status run.Status) error {
	if webhook.EventOf(status) == "" {
		return nil
	}
	return t.exec("INSERT INTO news (run, seq, status, at) VALUES (?, ?, ?, ?)", id, seq, string(status), moment(t.now))
}

// News implements webhook.Store.
func (s *Store) News(ctx context.Context, limit int) ([]webhook.News, error) {
	var list []webhook.News
	err := s.each(ctx, "SELECT n, run, seq, status, at FROM news ORDER BY n LIMIT ?", []any{limit}, func(row scanner) error {
		var n webhook.News
		var status string
		err := row.Scan(&n.N, &n.Run, &n.Seq, &status, timeAt{&n.At})
		n.Status = run.Status(status)
		list = append(list, n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("news: %w", err)
	}
	return list, nil
}

// Tell implements webhook.Store.
func (s *Store) Tell(ctx context.Context, upTo int64, made []webhook.Delivery) error {
	size := 0
	for i := range made {
		size += len(made[i].Body)
	}
	return s.writer.do(ctx, size, func(tx *tx) error {
		for i := range made {
			d := &made[i]
			err := tx.exec(`INSERT INTO deliveries (id, hook, event, run, body, created, state, attempts, at, next, status, error)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				d.ID, d.Hook, string(d.Event), d.Run, packBytes(d.Body), moment(d.Created), string(d.State), d.Attempts, moment(d.At), moment(d.Next), d.Status, d.Error)
			if err != nil {
				return err
			}
		}
		return tx.exec("DELETE FROM news WHERE n <= ?", upTo)
	})
}

const selectDelivery = "SELECT id, hook, event, run, created, state, attempts, at, next, status, error, body FROM deliveries "

// scanDelivery reads a delivery, with its body if that is wanted.
func scanDelivery(row scanner, whole bool) (d webhook.Delivery, err error) {
	var event, state string
	var body []byte
	err = row.Scan(&d.ID, &d.Hook, &event, &d.Run, timeAt{&d.Created}, &state, &d.Attempts, timeAt{&d.At}, timeAt{&d.Next}, &d.Status, &d.Error, bytesOf{&body})
	d.Event, d.State = webhook.Event(event), webhook.State(state)
	if err == nil && whole {
		d.Body, err = inflate(body)
	}
	return d, err
}

const selectDue = selectDelivery + "WHERE state = 'pending' AND hook = ? AND (next <= ? OR next > ?) ORDER BY n LIMIT ?"

// ClaimDeliveries implements webhook.Store.
func (s *Store) ClaimDeliveries(ctx context.Context, hook string, now, until, far time.Time, limit int) ([]webhook.Delivery, error) {
	args := []any{hook, moment(now), moment(far), limit}
	due := false // to look is cheaper than to write
	if err := s.each(ctx, selectDue, args, func(scanner) error { due = true; return nil }); err != nil || !due {
		return nil, err
	}
	var list []webhook.Delivery
	err := s.writer.do(ctx, 0, func(tx *tx) error {
		list = nil
		err := tx.w.conn.each(selectDue, args, func(row scanner) error {
			d, err := scanDelivery(row, true)
			list = append(list, d)
			return err
		})
		if err != nil {
			return err
		}
		for i := range list {
			list[i].Next = until.UTC()
			if err := tx.exec("UPDATE deliveries SET next = ? WHERE id = ?", moment(until), list[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return list, nil
}

// RecordAttempt implements webhook.Store.
func (s *Store) RecordAttempt(ctx context.Context, d webhook.Delivery) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		return tx.exec("UPDATE deliveries SET state = ?, attempts = ?, at = ?, next = ?, status = ?, error = ? WHERE id = ?",
			string(d.State), d.Attempts, moment(d.At), moment(d.Next), d.Status, d.Error, d.ID)
	})
}

// Delivery implements webhook.Store.
func (s *Store) Delivery(ctx context.Context, id string) (d webhook.Delivery, err error) {
	found := false
	err = s.each(ctx, selectDelivery+"WHERE id = ?", []any{id}, func(row scanner) (err error) {
		found = true
		d, err = scanDelivery(row, true)
		return err
	})
	if err == nil && !found {
		err = webhook.ErrNone
	}
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("delivery %q: %w", id, err)
	}
	return d, nil
}

// Deliveries implements webhook.Store.
func (s *Store) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var list []webhook.Delivery
	err := s.each(ctx, selectDelivery+"WHERE (?1 = '' OR hook = ?1) AND (?2 = '' OR run = ?2) AND (?3 = '' OR state = ?3) ORDER BY n DESC LIMIT ?4",
		[]any{f.Hook, f.Run, string(f.State), f.Limit}, func(row scanner) error {
			d, err := scanDelivery(row, false)
			list = append(list, d)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return list, nil
}

// CountDeliveries implements webhook.Store.
func (s *Store) CountDeliveries(ctx context.Context) (map[webhook.State]int, error) {
	counts := map[webhook.State]int{}
	err := s.each(ctx, "SELECT state, count(*) FROM deliveries GROUP BY state", nil, func(row scanner) error {
		var state string
		var n int
		err := row.Scan(&state, &n)
		counts[webhook.State(state)] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return counts, nil
}

// TidyDeliveries implements webhook.Store.
func (s *Store) TidyDeliveries(ctx context.Context, before time.Time) (int, error) {
	var n int64
	err := s.writer.do(ctx, 0, func(tx *tx) (err error) {
		n, err = tx.w.conn.exec("DELETE FROM deliveries WHERE created < ?", moment(before))
		return err
	})
	return int(n), err
}
