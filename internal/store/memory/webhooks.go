package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dossier/internal/webhook"
	"dossier/run"
)

// addNews notes that a run has come to a status. The lock is held.
func (s *Store) addNews(id string, seq int64, status run.Status, now time.Time) {
	if webhook.EventOf(status) == "" {
		return
	}
	s.lastNews++
	s.news = append(s.news, webhook.News{N: s.lastNews, Run: id, Seq: seq, Status: status, At: now})
}

// News implements webhook.Store.
func (s *Store) News(ctx context.Context, limit int) ([]webhook.News, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.news[:min(len(s.news), limit)]), nil
}

// delivery returns where a delivery is, -1 for nowhere. The lock is held.
func (s *Store) delivery(id string) int {
	return slices.IndexFunc(s.deliveries, func(d webhook.Delivery) bool { return d.ID == id })
}

// Tell implements webhook.Store.
func (s *Store) Tell(ctx context.Context, upTo int64, made []webhook.Delivery) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, d := range made {
		if s.delivery(d.ID) < 0 {
			s.deliveries = append(s.deliveries, d)
		}
	}
	s.news = slices.DeleteFunc(s.news, func(n webhook.News) bool { return n.N <= upTo })
	return nil
}

// ClaimDeliveries implements webhook.Store.
func (s *Store) ClaimDeliveries(ctx context.Context, hook string, now, until, far time.Time, limit int) ([]webhook.Delivery, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []webhook.Delivery
	for i := range s.deliveries {
		d := &s.deliveries[i]
		if d.Hook != hook || d.State != webhook.Pending || d.Next.After(now) && !d.Next.After(far) || len(list) == limit {
			continue
		}
		d.Next = until.UTC()
		list = append(list, *d)
	}
	return list, nil
}

// RecordAttempt implements webhook.Store.
func (s *Store) RecordAttempt(ctx context.Context, d webhook.Delivery) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if i := s.delivery(d.ID); i >= 0 {
		is := &s.deliveries[i]
		is.State, is.Attempts, is.At, is.Next, is.Status, is.Error = d.State, d.Attempts, d.At, d.Next, d.Status, d.Error
	}
	return nil
}

// Delivery implements webhook.Store.
func (s *Store) Delivery(ctx context.Context, id string) (webhook.Delivery, error) {
	if err := s.open(ctx); err != nil {
		return webhook.Delivery{}, err
	}
	defer s.mu.Unlock()
	if i := s.delivery(id); i >= 0 {
		return s.deliveries[i], nil
	}
	return webhook.Delivery{}, fmt.Errorf("delivery %q: %w", id, webhook.ErrNone)
}

// Deliveries implements webhook.Store.
func (s *Store) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var list []webhook.Delivery
	for _, d := range slices.Backward(s.deliveries) {
		if f.Hook != "" && d.Hook != f.Hook || f.Run != "" && d.Run != f.Run || f.State != "" && d.State != f.State || len(list) == f.Limit {
			continue
		}
		d.Body = nil
		list = append(list, d)
	}
	return list, nil
}

// CountDeliveries implements webhook.Store.
func (s *Store) CountDeliveries(ctx context.Context) (map[webhook.State]int, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := map[webhook.State]int{}
	for _, d := range s.deliveries {
		counts[d.State]++
	}
	return counts, nil
}

// TidyDeliveries implements webhook.Store.
func (s *Store) TidyDeliveries(ctx context.Context, before time.Time) (int, error) {
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := len(s.deliveries)
	s.deliveries = slices.DeleteFunc(s.deliveries, func(d webhook.Delivery) bool { return d.Created.Before(before) })
	return n - len(s.deliveries), nil
}
