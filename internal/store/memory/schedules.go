package memory

import (
	"context"
	"fmt"
	"slices"

	"dossier/internal/schedule"
)

func noSchedule(id string) error { return fmt.Errorf("schedule %q: %w", id, schedule.ErrNone) }

// schedule returns where a schedule is, -1 for nowhere. The lock is held.
func (s *Store) schedule(id string) int {
	return slices.IndexFunc(s.schedules, func(a schedule.Schedule) bool { return a.ID == id })
}

// AddSchedule implements schedule.Store.
func (s *Store) AddSchedule(ctx context.Context, a schedule.Schedule) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.schedule(a.ID) >= 0 {
		return fmt.Errorf("schedule %q: %w", a.ID, schedule.ErrExists)
	}
	s.schedules = append(s.schedules, a)
	return nil
}

// Schedule implements schedule.Store.
func (s *Store) Schedule(ctx context.Context, id string) (schedule.Schedule, error) {
	if err := s.open(ctx); err != nil {
		return schedule.Schedule{}, err
	}
	defer s.mu.Unlock()
	if i := s.schedule(id); i >= 0 {
		return s.schedules[i], nil
	}
	return schedule.Schedule{}, noSchedule(id)
}

// Schedules implements schedule.Store.
func (s *Store) Schedules(ctx context.Context, user string) ([]schedule.Schedule, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.schedules), func(a schedule.Schedule) bool { return user != "" && a.User != user }), nil
}

// Upcoming implements schedule.Store.
func (s *Store) Upcoming(ctx context.Context, limit int) ([]schedule.Schedule, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.schedules), func(a schedule.Schedule) bool { return a.Next.IsZero() })
	slices.SortStableFunc(list, func(a, b schedule.Schedule) int { return a.Next.Compare(b.Next) })
	return list[:min(len(list), limit)], nil
}

// ChangeSchedule implements schedule.Store.
func (s *Store) ChangeSchedule(ctx context.Context, to schedule.Schedule) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return s.changeSchedule(to)
}

// changeSchedule is ChangeSchedule under the lock.
func (s *Store) changeSchedule(to schedule.Schedule) error {
	i := s.schedule(to.ID)
	if i < 0 {
		return noSchedule(to.ID)
	}
	was := s.schedules[i]
	if was.Revision != to.Revision {
		return fmt.Errorf("schedule %q: %w", to.ID, schedule.ErrChanged)
	}
	to.User, to.Created, to.Revision = was.User, was.Created, was.Revision+1
	s.schedules[i] = to
	return nil
}

// Fire implements schedule.Store.
func (s *Store) Fire(ctx context.Context, to schedule.Schedule, f schedule.Firing) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.changeSchedule(to); err != nil {
		return err
	}
	f.Schedule = to.ID
	s.firings = append(s.firings, f)
	of := 0
	for i, v := range slices.Backward(s.firings) {
		if v.Schedule != to.ID {
			continue
		}
		if of++; of > schedule.KeepFirings {
			s.firings = slices.Delete(s.firings, i, i+1)
		}
	}
	return nil
}

// RemoveSchedule implements schedule.Store.
func (s *Store) RemoveSchedule(ctx context.Context, id string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	i := s.schedule(id)
	if i < 0 {
		return noSchedule(id)
	}
	s.schedules = slices.Delete(s.schedules, i, i+1)
	s.firings = slices.DeleteFunc(s.firings, func(f schedule.Firing) bool { return f.Schedule == id })
	return nil
}

// Firings implements schedule.Store.
func (s *Store) Firings(ctx context.Context, id string, limit int) ([]schedule.Firing, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []schedule.Firing
	for _, f := range slices.Backward(s.firings) {
		if f.Schedule == id && len(list) < limit {
			list = append(list, f)
		}
	}
	return list, nil
}

// OpenFirings implements schedule.Store.
func (s *Store) OpenFirings(ctx context.Context) ([]schedule.Firing, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.firings), func(f schedule.Firing) bool { return f.State != schedule.Claimed }), nil
}

// SettleFiring implements schedule.Store.
func (s *Store) SettleFiring(ctx context.Context, f schedule.Firing) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for i := range s.firings {
		if was := &s.firings[i]; was.Run == f.Run && was.State == schedule.Claimed {
			was.State, was.Error = f.State, f.Error
		}
	}
	return nil
}
