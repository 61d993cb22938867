package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"dossier/internal/fleet"
	"dossier/run"
)

// Enter implements fleet.Seats.
func (s *Store) Enter(ctx context.Context, c fleet.Seat, how fleet.Arrival) (granted bool, err error) {
	i, err := s.openInstance(ctx, c.Instance)
	if err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	d, seated := s.agents.desks[i.ID], s.agents.seats[c.Run]
	if seated != nil && i.State != fleet.Stopped {
		return seated.running, nil
	}
	if err := i.Refuses(d.load(), how); err != nil {
		return false, err
	}
	if c.Session != "" {
		owner := s.agents.owners[c.Session]
		if owner != "" && owner != i.ID {
			return false, &fleet.SessionError{Session: c.Session, Instance: i.ID, Owner: owner}
		}
		if owner == "" {
			s.agents.owners[c.Session] = i.ID
			use(i, s.now())
		}
	}
	if d == nil {
		d = newDesk(i)
		s.agents.desks[i.ID] = d
	}
	w := d.enter(c.Session, c.Run, how)
	w.since = s.now()
	if j := s.runs[c.Run]; j != nil {
		w.epoch = j.rec.Epoch
	}
	s.agents.seats[c.Run] = w
	d.next(s.now())
	s.changed()
	return w.running, nil
}

// leave takes a run's seat away, if it has one, and returns who was given a slot
// by that.
func (s *Store) leave(id string) (granted []string) {
	w := s.agents.seats[id]
	if w == nil {
		return nil
	}
	delete(s.agents.seats, id)
	w.desk.leave(id)
	granted = w.desk.next(s.now())
	if len(w.desk.runs) == 0 {
		delete(s.agents.desks, w.desk.instance.ID)
	}
	s.changed()
	return granted
}

// Leave implements fleet.Seats.
func (s *Store) Leave(ctx context.Context, id string) (granted []string, err error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.leave(id), nil
}

// Withdraw implements fleet.Seats.
func (s *Store) Withdraw(ctx context.Context, id string) (bool, error) {
	if err := s.open(ctx); err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	if w := s.agents.seats[id]; w == nil || w.running {
		return false, nil
	}
	s.leave(id) // no slot gets free: nobody has anything of it
	return true, nil
}

// StopInstance implements fleet.Seats.
func (s *Store) StopInstance(ctx context.Context, id string) (running, waiting []string, err error) {
	i, err := s.openInstance(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	defer s.mu.Unlock()
	i.State = fleet.Stopped
	s.changed()
	d := s.agents.desks[id]
	if d == nil {
		return nil, nil, nil
	}
	for _, run := range slices.Sorted(maps.Keys(d.runs)) {
		if d.runs[run].running {
			running = append(running, run)
		} else {
			waiting = append(waiting, run)
		}
	}
	for _, run := range waiting {
		delete(s.agents.seats, run)
		d.leave(run)
	}
	if len(d.runs) == 0 {
		delete(s.agents.desks, id)
	}
	return running, waiting, nil
}

// Loads implements fleet.Seats.
func (s *Store) Loads(ctx context.Context, ids ...string) (map[string]fleet.Load, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	loads := map[string]fleet.Load{}
	for id, d := range s.agents.desks {
		if len(ids) == 0 || slices.Contains(ids, id) {
			loads[id] = d.load()
		}
	}
	return loads, nil
}

// Standing implements fleet.Seats.
func (s *Store) Standing(ctx context.Context, runs []string) (map[string]bool, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	slots := map[string]bool{}
	for _, id := range runs {
		if w := s.agents.seats[id]; w != nil {
			slots[id] = w.running
		}
	}
	return slots, nil
}

// Holders implements fleet.Seats.
func (s *Store) Holders(ctx context.Context, runs []string) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var holders []string
	seen := map[*desk]bool{}
	for _, id := range runs {
		w := s.agents.seats[id]
		if w == nil || w.running || seen[w.desk] {
			continue
		}
		seen[w.desk] = true
		for id, other := range w.desk.runs {
			if other.running {
				holders = append(holders, id)
			}
		}
	}
	slices.Sort(holders)
	return holders, nil
}

// Settle implements fleet.Seats.
func (s *Store) Settle(ctx context.Context) (granted []string, err error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var stale []string
	for id, w := range s.agents.seats {
		if s.stale(id, w) {
			stale = append(stale, id)
		}
	}
	slices.Sort(stale)
	for _, id := range stale {
		granted = append(granted, s.leave(id)...)
	}
	return slices.DeleteFunc(granted, func(id string) bool { return slices.Contains(stale, id) }), nil
}

// stale says whether a run needs its seat no more.
func (s *Store) stale(id string, w *work) bool {
	j := s.runs[id]
	switch {
	case j == nil || j.rec.Status.Ended():
		return true
	case j.rec.Status != run.Waiting && j.rec.Status != run.Paused:
		return false
	}
	return j.rec.Epoch > w.epoch || w.running && s.now().Sub(w.since) > fleet.SeatGrace
}

// inUse says whether an instance has work.
func (a *agents) inUse(id string) error {
	if d := a.desks[id]; d != nil {
		return fmt.Errorf("instance %q: %w", d.instance.Name, fleet.ErrInUse)
	}
	return nil
}
