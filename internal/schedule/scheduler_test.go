package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/base/usage"
	"dossier/internal/schedule"
	"dossier/internal/store/memory"
)

// world is a store, a clock on the wall that can be set, and what was begun.
type world struct {
	t     *testing.T
	store *memory.Store

	mu    sync.Mutex
	set   time.Duration // by how much the clock on the wall was set
	begun []string      // runs with the moments by the wall
	on    map[string]bool
	fail  error
	ids   int
}

func newWorld(t *testing.T) *world {
	return &world{t: t, store: memory.New(memory.Options{}), on: map[string]bool{}}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Round(0).Add(w.set)
}

// scheduler is that of one more process.
func (w *world) scheduler() *schedule.Scheduler {
	return schedule.New(schedule.Options{
		Store: w.store.Handle(), Now: w.now,
		NewID: func(time.Time) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return fmt.Sprint("id", w.ids)
		},
		Begin: func(_ context.Context, _ schedule.Schedule, f schedule.Firing) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.fail != nil {
				return w.fail
			}
			for _, b := range w.begun {
				if strings.HasPrefix(b, f.Run+" ") {
					return nil
				}
			}
			w.begun = append(w.begun, f.Run+" "+f.Due.Format("2 15:04"))
			return nil
		},
		On: func(_ context.Context, run string) (bool, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.on[run], nil
		},
	})
}

// dues are when what was begun was due.
func (w *world) dues() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, b := range w.begun {
		_, due, _ := strings.Cut(b, " ")
		out = append(out, due)
	}
	return out
}

func (w *world) want(dues ...string) {
	w.t.Helper()
	if got := w.dues(); !reflect.DeepEqual(got, dues) {
		w.t.Errorf("begun: %q, want %q", got, dues)
	}
}

// serve has a scheduler at work until the test or stop ends it.
func (w *world) serve() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.scheduler().Run(ctx) }()
	return func() { cancel(); <-done }
}

func (w *world) add(cron string) schedule.Schedule {
	w.t.Helper()
	s, err := w.scheduler().Create(w.t.Context(), schedule.Schedule{Cron: cron, Zone: "UTC", Request: []byte(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Bubbles begin at midnight of January 1st, 2000, UTC.
func bubble(t *testing.T, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func TestWhatIsDueBegins(t *testing.T) {
	bubble(t, func(w *world) {
		stop := w.serve()
		w.add("*/20 * * * *")
		paused := w.add("* * * * *")
		yes := true
		if _, err := w.scheduler().Change(w.t.Context(), paused.ID, func(s *schedule.Schedule) error { s.Paused = yes; return nil }); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		stop()
		w.want("1 00:20", "1 00:40")
	})
}

// What came while nobody was there is made up for once.
func TestMissedTimesFireOnce(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.add("0 * * * *")
		time.Sleep(5*time.Hour + time.Minute)
		stop := w.serve()
		time.Sleep(time.Hour)
		stop()
		w.want("1 01:00", "1 06:00")
		fired, err := w.store.Firings(w.t.Context(), s.ID, 10)
		if err != nil || len(fired) != 2 || fired[1].At.Sub(fired[1].Due) != 4*time.Hour+time.Minute {
			w.t.Errorf("%+v, %v", fired, err)
		}
	})
}

// Of several processes one begins what is due, each time.
func TestOneOfManyFires(t *testing.T) {
	bubble(t, func(w *world) {
		w.add("*/10 * * * *")
		var stops []func()
		for range 5 {
			stops = append(stops, w.serve())
		}
		time.Sleep(31 * time.Minute)
		for _, stop := range stops {
			stop()
		}
		w.want("1 00:10", "1 00:20", "1 00:30")
	})
}

func TestARunThatIsOnIsNotOverlapped(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.add("*/10 * * * *")
		stop := w.serve()
		time.Sleep(11 * time.Minute)
		fired, err := w.store.Firings(w.t.Context(), s.ID, 1)
		if err != nil || len(fired) != 1 {
			w.t.Fatal(fired, err)
		}
		run := fired[0].Run
		set := func(on bool) { w.mu.Lock(); w.on[run] = on; w.mu.Unlock() }
		set(true)
		time.Sleep(20 * time.Minute) // 00:20 and 00:30 come
		if _, err := w.scheduler().Fire(w.t.Context(), s.ID); err == nil || !strings.Contains(err.Error(), run) {
			w.t.Errorf("fired by hand over a run that is on: %v", err)
		}
		set(false)
		time.Sleep(10 * time.Minute)
		stop()
		w.want("1 00:10", "1 00:40")
		fired, err = w.store.Firings(w.t.Context(), s.ID, 10)
		if err != nil || len(fired) != 4 || fired[1].State != schedule.Skipped || fired[1].Run != run || fired[2].State != schedule.Skipped {
			w.t.Errorf("%+v, %v", fired, err)
		}
	})
}

// A clock that is set forward brings what was left out once; one that is set back a
// little repeats nothing, and one that is set back far does not stop anything.
func TestTheClockIsSet(t *testing.T) {
	bubble(t, func(w *world) {
		stop := w.serve()
		w.add("0 * * * *")
		shift := func(by time.Duration) { w.mu.Lock(); w.set += by; w.mu.Unlock() }
		time.Sleep(61 * time.Minute) // it is 01:01
		shift(4 * time.Hour)         // 05:01
		time.Sleep(time.Minute)
		w.want("1 01:00", "1 02:00")
		time.Sleep(time.Hour) // 06:02
		w.want("1 01:00", "1 02:00", "1 06:00")
		shift(-10 * time.Minute) // 05:52
		time.Sleep(30 * time.Minute)
		w.want("1 01:00", "1 02:00", "1 06:00") // six o'clock came once
		time.Sleep(40 * time.Minute)            // 07:02
		w.want("1 01:00", "1 02:00", "1 06:00", "1 07:00")
		shift(-365 * 24 * time.Hour) // it was a year ahead
		time.Sleep(time.Hour)
		if got := w.dues(); len(got) != 5 {
			w.t.Errorf("after the clock was set back a year: %q", got)
		}
		stop()
	})
}

// A server that is started after the clock was set back far goes by the new time.
func TestStartedAfterTheClockWasSetBack(t *testing.T) {
	bubble(t, func(w *world) {
		w.set = 365 * 24 * time.Hour
		w.add("0 * * * *")
		w.set = 0
		stop := w.serve()
		time.Sleep(2*time.Hour + time.Minute)
		stop()
		w.want("1 01:00", "1 02:00")
	})
}

// Whoever dies between the claim and the run leaves what the next one begins.
func TestClaimedAndNotBegun(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.add("0 * * * *")
		time.Sleep(time.Hour)
		next := s
		next.Next, next.From = w.now().Add(time.Hour), w.now()
		if err := w.store.Fire(w.t.Context(), next, schedule.Firing{Schedule: s.ID, Run: "left", Due: s.Next, At: w.now(), State: schedule.Claimed}); err != nil {
			w.t.Fatal(err)
		}
		stops := []func(){w.serve(), w.serve(), w.serve()}
		time.Sleep(time.Minute)
		for _, stop := range stops {
			stop()
		}
		if w.want("1 01:00"); w.begun[0] != "left 1 01:00" {
			w.t.Errorf("begun: %q", w.begun)
		}
		if open, err := w.store.OpenFirings(w.t.Context()); err != nil || len(open) != 0 {
			w.t.Errorf("%+v, %v", open, err)
		}
	})
}

func TestWhatCannotBegin(t *testing.T) {
	bubble(t, func(w *world) {
		s := w.add("0 * * * *")
		w.fail = fmt.Errorf("%w: the disk is full", schedule.ErrLater)
		stop := w.serve()
		time.Sleep(time.Hour + time.Minute)
		w.want()
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		time.Sleep(time.Minute)
		w.want("1 01:00") // as soon as it can
		w.mu.Lock()
		w.fail = errors.New("the collection is gone")
		w.mu.Unlock()
		time.Sleep(time.Hour)
		stop()
		w.want("1 01:00")
		fired, err := w.store.Firings(w.t.Context(), s.ID, 10)
		if err != nil || len(fired) != 2 || fired[0].State != schedule.Failed || fired[0].Error != "the collection is gone" || fired[1].State != schedule.Started {
			w.t.Errorf("%+v, %v", fired, err)
		}
	})
}

func TestByHand(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.scheduler()
		s := w.add("0 * * * *")
		f, err := c.Fire(w.t.Context(), s.ID)
		if err != nil || !f.ByHand || f.State != schedule.Started {
			w.t.Fatalf("%+v, %v", f, err)
		}
		w.want("1 00:00")
		if kept, err := w.store.Schedule(w.t.Context(), s.ID); err != nil || !kept.Next.Equal(s.Next) {
			w.t.Errorf("due %v, was %v, %v", kept.Next, s.Next, err)
		}
		w.fail = errors.New("no room")
		if f, err := c.Fire(w.t.Context(), s.ID); err == nil || f.State != schedule.Failed {
			w.t.Errorf("%+v, %v", f, err)
		}
		if _, err := c.Fire(w.t.Context(), "none"); !errors.Is(err, schedule.ErrNone) {
			w.t.Error(err)
		}
	})
}

func TestWhatIsNoSchedule(t *testing.T) {
	c := newWorld(t).scheduler()
	for name, s := range map[string]schedule.Schedule{
		"expression": {Cron: "every day"}, "zone": {Cron: "@daily", Zone: "Mars/Olympus"}, "path": {Cron: "@daily", Zone: "../../etc/passwd"},
		"name": {Cron: "@daily", Name: strings.Repeat("x", 101)},
	} {
		if _, err := c.Create(t.Context(), s); err == nil {
			t.Errorf("%s: it was made", name)
		} else if _, ok := errors.AsType[*usage.Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
