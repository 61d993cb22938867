package storetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dossier/internal/fleet"
)

// waiting is a run in the model's queue.
type waiting struct {
	run, session string
	resumed      bool
	arrived      int
}

// deskModel is an instance as simply as it can be said: the session that has
// waited longest for its turn is next, and of its runs the one that was at work
// before, then the one that came first.
type deskModel struct {
	slots, limit int
	state        fleet.State
	time         int
	running      map[string]string // sessions by runs
	queue        []waiting
	turn         map[string]int // since when a session with waiting runs waits for its turn
	// others are how often other sessions had a turn since a session waits.
	others map[string]map[string]int
}

func (m *deskModel) enter(run, session string, resumed bool) {
	m.time++
	if _, waits := m.turn[session]; !waits {
		m.turn[session] = m.time
		m.others[session] = map[string]int{}
	}
	m.queue = append(m.queue, waiting{run, session, resumed, m.time})
}

func (m *deskModel) leave(run string) {
	m.time++
	delete(m.running, run)
	m.queue = slices.DeleteFunc(m.queue, func(w waiting) bool { return w.run == run })
	m.rest()
}

// rest forgets the turns of sessions that wait for nothing.
func (m *deskModel) rest() {
	for session := range m.turn {
		if !slices.ContainsFunc(m.queue, func(w waiting) bool { return w.session == session }) {
			delete(m.turn, session)
			delete(m.others, session)
		}
	}
}

// start gives free slots away and returns who got one.
func (m *deskModel) start() (started []string) {
	for len(m.running) < m.slots && len(m.queue) > 0 {
		best := slices.MinFunc(m.queue, func(a, b waiting) int {
			switch {
			case a.session != b.session:
				return m.turn[a.session] - m.turn[b.session]
			case a.resumed != b.resumed && a.resumed:
				return -1
			case a.resumed != b.resumed:
				return 1
			}
			return a.arrived - b.arrived
		})
		m.queue = slices.DeleteFunc(m.queue, func(w waiting) bool { return w.run == best.run })
		m.running[best.run] = best.session
		m.time++
		m.turn[best.session] = m.time
		for session, turns := range m.others {
			if session == best.session {
				clear(turns)
			} else {
				turns[best.session]++
			}
		}
		m.rest()
		started = append(started, best.run)
	}
	return started
}

// there returns all that have a seat.
func (m *deskModel) there() []string {
	runs := slices.Collect(maps.Keys(m.running))
	for _, w := range m.queue {
		runs = append(runs, w.run)
	}
	slices.Sort(runs)
	return runs
}

// load is what the instance is doing.
func (m *deskModel) load() fleet.Load {
	sessions := map[string]bool{}
	for _, s := range m.running {
		sessions[s] = true
	}
	for _, w := range m.queue {
		sessions[w.session] = true
	}
	return fleet.Load{Running: len(m.running), Queued: len(m.queue), Sessions: len(sessions)}
}

// seatModelTest has runs come to an instance and go, through all handles, and
// compares who has a slot with a model.
func seatModelTest(t *testing.T, open Open) {
	f := newFixture(t, open)
	f.template("writer", "a")
	check := 0
	rapid.Check(t, func(rt *rapid.T) {
		check++
		m := &deskModel{
			slots: rapid.IntRange(1, 3).Draw(rt, "slots"), limit: rapid.SampledFrom([]int{-1, 2, 8, 20}).Draw(rt, "queue"), state: fleet.Ready,
			running: map[string]string{}, turn: map[string]int{}, others: map[string]map[string]int{},
		}
		id := fmt.Sprint("w", check)
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		must(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: id, Name: id, Template: "writer", Slots: m.slots, Queue: m.limit, State: fleet.Ready, Created: at}}))
		m.limit = max(m.limit, 0)
		handle := rapid.SampledFrom(f.handles)
		sessions := rapid.SampledFrom([]string{"", "s1", "s1", "s2"})
		away := map[string]string{} // runs that have left and may come again
		n := 0
		same := func(got, want []string) {
			if !slices.Equal(got, want) {
				rt.Fatalf("started %v, want %v", got, want)
			}
		}
		named := func(session string) string {
			if session == "" {
				return ""
			}
			return id + session
		}
		come := func(rt *rapid.T, run, session string, how fleet.Arrival) {
			c := fleet.Seat{Instance: id, Session: named(session), Run: run}
			granted, err := handle.Draw(rt, "handle").Enter(f.ctx, c, how)
			full, isFull := errors.AsType[*fleet.QueueFullError](err)
			closed, isClosed := errors.AsType[*fleet.StateError](err)
			switch {
			case m.state == fleet.Stopped, m.state == fleet.Draining && how == fleet.Fresh:
				want := m.state
				if len(m.there()) == 0 {
					want = fleet.Stopped
				}
				if !isClosed || closed.State != want {
					rt.Fatalf("%s: %v", m.state, err)
				}
				return
			case how == fleet.Fresh && len(m.running) == m.slots && len(m.queue) >= m.limit:
				if !isFull || full.Limit != m.limit {
					rt.Fatalf("full: %v", err)
				}
				return
			}
			must(err)
			delete(away, run)
			m.enter(run, session, how == fleet.Resumed)
			started := m.start()
			if granted != slices.Contains(started, run) || len(started) > 1 {
				rt.Fatalf("granted is %v, and %v started", granted, started)
			}
			// A run that is there already stays where it is.
			again, err := handle.Draw(rt, "other").Enter(f.ctx, c, fleet.Restored)
			if err != nil || again != granted {
				rt.Fatalf("entered twice: %v %v", again, err)
			}
		}
		resume := func(rt *rapid.T) {
			if len(away) > 0 {
				run := rapid.SampledFrom(slices.Sorted(maps.Keys(away))).Draw(rt, "run")
				come(rt, run, away[run], rapid.SampledFrom([]fleet.Arrival{fleet.Resumed, fleet.Resumed, fleet.Restored}).Draw(rt, "how"))
			}
		}
		seldom := func(rt *rapid.T) bool { return rapid.IntRange(0, 7).Draw(rt, "seldom") == 0 }
		rt.Repeat(map[string]func(*rapid.T){
			"enter": func(rt *rapid.T) {
				n++
				come(rt, fmt.Sprint(id, "r", n), sessions.Draw(rt, "session"), fleet.Fresh)
			},
			"resume":         resume,
			"resume another": resume,
			"leave": func(rt *rapid.T) {
				run := rapid.SampledFrom(append(m.there(), "nobody")).Draw(rt, "run")
				if s, ok := m.running[run]; ok {
					away[run] = s
				}
				m.leave(run)
				granted, err := handle.Draw(rt, "handle").Leave(f.ctx, run)
				must(err)
				same(granted, m.start())
			},
			"withdraw": func(rt *rapid.T) {
				run := rapid.SampledFrom(append(m.there(), "nobody")).Draw(rt, "run")
				waits := slices.IndexFunc(m.queue, func(w waiting) bool { return w.run == run })
				if did, err := handle.Draw(rt, "handle").Withdraw(f.ctx, run); err != nil || did != (waits >= 0) {
					rt.Fatalf("%s was withdrawn: %v, %v, and is at %d of those that wait", run, did, err, waits)
				}
				if waits >= 0 {
					away[run] = m.queue[waits].session
					m.leave(run)
					same(nil, m.start())
				}
			},
			"drain": func(rt *rapid.T) {
				if !seldom(rt) {
					return
				}
				must(f.store.SetInstanceState(f.ctx, id, fleet.Draining))
				if m.state == fleet.Ready {
					m.state = fleet.Draining
				}
			},
			"start": func(*rapid.T) {
				must(f.store.SetInstanceState(f.ctx, id, fleet.Ready))
				m.state = fleet.Ready
			},
			"stop": func(rt *rapid.T) {
				if !seldom(rt) {
					return
				}
				running, queued, err := handle.Draw(rt, "handle").StopInstance(f.ctx, id)
				must(err)
				m.state = fleet.Stopped
				var wait []string
				for _, w := range m.queue {
					wait = append(wait, w.run)
					away[w.run] = w.session
				}
				slices.Sort(wait)
				m.queue = nil
				m.rest()
				same(running, slices.Sorted(maps.Keys(m.running)))
				same(queued, wait)
			},
			"": func(rt *rapid.T) {
				want := map[string]fleet.Load{}
				if l := m.load(); l != (fleet.Load{}) {
					want[id] = l
				}
				loads, err := handle.Draw(rt, "handle").Loads(f.ctx, id)
				must(err)
				if !reflect.DeepEqual(loads, want) {
					rt.Fatalf("it does %v, want %v", loads, want)
				}
				for session, turns := range m.others {
					for other, times := range turns {
						if times > 1 {
							rt.Fatalf("%q had %d turns while %q waited for one", other, times, session)
						}
					}
				}
			},
		})
		for _, run := range m.there() {
			_, err := f.store.Leave(f.ctx, run)
			must(err)
		}
		must(f.store.RemoveInstance(f.ctx, id)) // nothing is left of its work
	})
}
