package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dossier/run"
)

// late answers a renewal only after during has happened.
type late struct {
	run.Journal
	during func()
}

func (l *late) Renew(ctx context.Context, owner string, ttl time.Duration, held map[string]int64) ([]string, []string, error) {
	if l.during == nil {
		return l.Journal.Renew(ctx, owner, ttl, held)
	}
	lost := make([]string, 0, len(held))
	for id := range held {
		lost = append(lost, id) // released just now
	}
	l.during()
	l.during = nil
	return nil, lost, nil
}

// A worker that gives a run up and takes it again while it renews its leases
// is not fenced by the answer about the first time.
func TestRenewalDoesNotFenceTheNextExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		w := newWorld(t, nil)
		fn := func(ctx context.Context, s *run.Scope) error {
			<-gate
			_, err := s.Ask(ctx, run.Question{Questions: []string{"go on?"}})
			if err != nil {
				return err
			}
			_, err = run.Step(ctx, s, "work", func(context.Context, *run.Scope) (int, error) {
				time.Sleep(5 * time.Second)
				return 1, nil
			})
			return err
		}
		j := &late{Journal: w.store}
		x := run.NewExecutor(run.ExecutorConfig{
			Journal: j, Owner: "w", TTL: 9 * time.Second,
			Program: func(run.Record) (run.Func, run.Limits, error) { return fn, run.Limits{}, nil },
		})
		defer x.Close()
		w.create("r")
		parked := make(chan run.Status, 1)
		done := make(chan run.Status, 1)
		j.during = func() {
			close(gate)
			if st := <-parked; st != run.Waiting {
				t.Errorf("status %s", st)
			}
			if err := w.store.Answer(t.Context(), "r", "", "yes"); err != nil {
				t.Error(err)
			}
			go func() {
				st, err := x.Execute(t.Context(), "r")
				if err != nil {
					t.Error(err)
				}
				done <- st
			}()
			time.Sleep(time.Second)
		}
		parked <- w.execute(x, "r")
		if st := <-done; st != run.Done {
			t.Errorf("status %s", st)
		}
	})
}

// shy lets something happen right before a run's last batch.
type shy struct {
	run.Journal
	before func()
}

func (s *shy) Commit(b *run.Batch, done func(error)) {
	if b.Release && s.before != nil {
		f := s.before
		s.before = nil
		f()
	}
	s.Journal.Commit(b, done)
}

// A pause that comes while a run is being parked is not left lying.
func TestPauseWhileParking(t *testing.T) {
	w := newWorld(t, nil)
	j := &shy{Journal: w.store, before: func() {
		if err := w.store.Signal(t.Context(), "r", run.Signal{Kind: run.SignalPause}); err != nil {
			t.Error(err)
		}
	}}
	x := run.NewExecutor(run.ExecutorConfig{Journal: j, Owner: "w", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, s *run.Scope) error {
			_, err := s.Ask(ctx, run.Question{Questions: []string{"go on?"}})
			return err
		}, run.Limits{}, nil
	}})
	defer x.Close()
	w.create("r")
	if st := w.execute(x, "r"); st != run.Paused {
		t.Errorf("status %s", st)
	}
}
