package fleet_test

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

// model is an instance as simply as it can be said: the session that has
// waited longest for its turn is next, and of its runs the one that was at
// work before, then the one that came first.
type model struct {
	slots, limit int
	state        fleet.State
	time         int
	running      map[string]string // sessions by runs
	queue        []waiting
	turn         map[string]int // since when a session with waiting runs waits for its turn
	// others are how often other sessions had a turn since a session waits.
	others map[string]map[string]int
}

func (m *model) clone() *model {
	c := *m
	c.running, c.turn, c.queue = maps.Clone(m.running), maps.Clone(m.turn), slices.Clone(m.queue)
	c.others = nil
	return &c
}

func (m *model) submit(run, session string, resumed bool) {
	m.time++
	if _, waits := m.turn[session]; !waits {
		m.turn[session] = m.time
		m.others[session] = map[string]int{}
	}
	m.queue = append(m.queue, waiting{run, session, resumed, m.time})
}

func (m *model) leave(run string) {
	m.time++
	delete(m.running, run)
	m.queue = slices.DeleteFunc(m.queue, func(w waiting) bool { return w.run == run })
	m.rest()
}

// rest forgets the turns of sessions that wait for nothing.
func (m *model) rest() {
	for session := range m.turn {
		if !slices.ContainsFunc(m.queue, func(w waiting) bool { return w.session == session }) {
			delete(m.turn, session)
			delete(m.others, session)
		}
	}
}

// start gives free slots away and returns who got one.
func (m *model) start() (started []string) {
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

// order is who would start, one after the other, if nobody came any more.
func (m *model) order() (runs []string) {
	c := m.clone()
	c.slots = 1
	c.running = map[string]string{}
	for len(c.queue) > 0 {
		runs = append(runs, c.start()...)
		clear(c.running)
	}
	return runs
}

func (m *model) present() fleet.State {
	work := len(m.running)+len(m.queue) > 0
	switch {
	case m.state == fleet.Ready && work:
		return fleet.Busy
	case m.state == fleet.Ready:
		return fleet.Ready
	case work:
		return fleet.Draining
	}
	return fleet.Stopped
}

func TestScheduleFollowsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		f := newFleet(t, newStore())
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := f.Create(ctx, "writer", fleet.Text{Document: "one"})
		must(err)
		m := &model{
			slots: rapid.IntRange(1, 3).Draw(t, "slots"), limit: rapid.SampledFrom([]int{-1, 2, 8, 20}).Draw(t, "queue"), state: fleet.Ready,
			running: map[string]string{}, turn: map[string]int{}, others: map[string]map[string]int{},
		}
		i, err := f.Register(ctx, fleet.Instance{Name: "w", Template: "writer", Slots: m.slots, Queue: m.limit})
		must(err)
		m.limit = max(m.limit, 0)
		sessions := rapid.SampledFrom([]string{"", "s1", "s1", "s2"})
		away := map[string]string{} // runs that have left and may come again
		n := 0

		same := func(got, want []string) {
			if !slices.Equal(got, want) {
				t.Fatalf("started %v, want %v", got, want)
			}
		}
		come := func(run, session string, again bool) {
			submit := f.Submit
			if again {
				submit = f.Resume
			}
			start, pos, err := submit(ctx, rapid.SampledFrom([]string{i.ID, "w"}).Draw(t, "key"), session, run)
			full, isFull := errors.AsType[*fleet.QueueFullError](err)
			closed, isClosed := errors.AsType[*fleet.StateError](err)
			switch {
			case m.state == fleet.Stopped, m.state == fleet.Draining && !again:
				if !isClosed || closed.State == fleet.Ready {
					t.Fatalf("%s: %v", m.state, err)
				}
				return
			case !again && len(m.running) == m.slots && len(m.queue) >= m.limit:
				if !isFull || full.Limit != m.limit {
					t.Fatalf("full: %v", err)
				}
				return
			}
			must(err)
			delete(away, run)
			m.submit(run, session, again)
			same(start, m.start())
			if want := slices.Index(m.order(), run) + 1; pos != want {
				t.Fatalf("position %d, want %d of %v", pos, want, m.order())
			}
			// A run that is there already stays where it is.
			start, again2, err := f.Submit(ctx, i.ID, session, run)
			if err != nil || start != nil || again2 != pos {
				t.Fatalf("submitted twice: %v %d %v", start, again2, err)
			}
		}
		resume := func(t *rapid.T) {
			if len(away) > 0 {
				run := rapid.SampledFrom(slices.Sorted(maps.Keys(away))).Draw(t, "run")
				come(run, away[run], true)
			}
		}
		seldom := func(t *rapid.T) bool { return rapid.IntRange(0, 7).Draw(t, "seldom") == 0 }
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(t *rapid.T) {
				n++
				come(fmt.Sprint("r", n), sessions.Draw(t, "session"), false)
			},
			"resume": resume,
			"leave": func(t *rapid.T) {
				there := slices.Collect(maps.Keys(m.running))
				for _, w := range m.queue {
					there = append(there, w.run)
				}
				slices.Sort(there)
				run := rapid.SampledFrom(append(there, "nobody")).Draw(t, "run")
				if s, ok := m.running[run]; ok {
					away[run] = s
				}
				m.leave(run)
				same(f.Leave(ctx, i.ID, run), m.start())
			},
			"withdraw": func(t *rapid.T) {
				there := slices.Collect(maps.Keys(m.running))
				for _, w := range m.queue {
					there = append(there, w.run)
				}
				slices.Sort(there)
				run := rapid.SampledFrom(append(there, "nobody")).Draw(t, "run")
				waits := slices.IndexFunc(m.queue, func(w waiting) bool { return w.run == run })
				if f.Withdraw(i.ID, run) != (waits >= 0) {
					t.Fatalf("%s was withdrawn or not, and is at %d of those that wait", run, waits)
				}
				if waits >= 0 {
					away[run] = m.queue[waits].session
					m.leave(run)
					same(nil, m.start())
				}
			},
			"resume another": resume,
			"drain": func(t *rapid.T) {
				if !seldom(t) {
					return
				}
				must(f.Drain(ctx, i.ID))
				if m.state == fleet.Ready {
					m.state = fleet.Draining
				}
			},
			"start": func(*rapid.T) {
				must(f.Start(ctx, i.ID))
				m.state = fleet.Ready
			},
			"stop": func(t *rapid.T) {
				if !seldom(t) {
					return
				}
				running, queued, err := f.Stop(ctx, i.ID)
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
			"": func(t *rapid.T) {
				st, err := f.Status(ctx, "w")
				must(err)
				sessions := map[string]bool{}
				for _, s := range m.running {
					sessions[s] = true
				}
				for _, w := range m.queue {
					sessions[w.session] = true
				}
				got := []any{st.State, st.Running, st.Queued, st.Sessions}
				want := []any{m.present(), len(m.running), len(m.queue), len(sessions)}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("status %v, want %v", got, want)
				}
				for session, turns := range m.others {
					for other, times := range turns {
						if times > 1 {
							t.Fatalf("%q had %d turns while %q waited for one", other, times, session)
						}
					}
				}
			},
		})
	})
}
