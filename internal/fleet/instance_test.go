package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dossier/agent"
	"dossier/internal/fleet"
)

// withWriter returns a fleet with a template of two versions, the first of
// them published.
func withWriter(t testing.TB, s fleet.Store) *fleet.Fleet {
	t.Helper()
	f := newFleet(t, s)
	_, err := f.Create(t.Context(), "writer", fleet.Text{Document: "one"})
	ok(t, err)
	_, _, err = f.AddVersion(t.Context(), "writer", fleet.Text{Document: "two"})
	ok(t, err)
	ok(t, f.Publish(t.Context(), "writer", 1))
	return f
}

func names(t testing.TB, f *fleet.Fleet, q fleet.Filter) string {
	t.Helper()
	list, err := f.List(t.Context(), q)
	ok(t, err)
	var all []string
	for _, i := range list {
		if q.State != "" && i.State != q.State {
			t.Errorf("%s is %s, not %s", i.Name, i.State, q.State)
		}
		all = append(all, i.Name)
	}
	q.Limit = 0
	n, err := f.Count(t.Context(), q)
	ok(t, err)
	if q.After == "" && n < len(all) {
		t.Errorf("%+v: %d counted, %d listed", q, n, len(all))
	}
	return strings.Join(all, " ")
}

func TestRegister(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	i, err := f.Register(ctx, fleet.Instance{Template: "writer", Labels: []string{"fast"}, State: fleet.Stopped, Served: 9})
	ok(t, err)
	want := fleet.Instance{ID: "i0001", Name: "i0001", Template: "writer", Slots: 4, Queue: 100, State: fleet.Ready, Labels: []string{"fast"}, Created: i.Created}
	got, err := f.Instance(ctx, "i0001")
	if ok(t, err); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(i, want) || i.Created.IsZero() {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for _, c := range []struct {
		instance fleet.Instance
		want     string
	}{
		{fleet.Instance{Template: "writer", Name: "a b"}, "letters from a to z"},
		{fleet.Instance{Template: "writer", Name: "i0001"}, "choose another name"},
		{fleet.Instance{Template: "writer", Slots: -1}, "at least one"},
		{fleet.Instance{Template: "writers"}, `did you mean "writer"?`},
		{fleet.Instance{Template: "writer", Version: 3}, "1 to 2"},
	} {
		_, err := f.Register(ctx, c.instance)
		says(t, err, c.want)
	}
	_, err = f.Instance(ctx, "i0002")
	if !errors.Is(err, fleet.ErrNoInstance) {
		t.Fatal(err)
	}
	says(t, err, `did you mean "i0001"?`)
	_, err = f.Submit(ctx, "i001", "s", "r")
	says(t, err, `did you mean "i0001"?`)
	_, err = f.Instance(ctx, "и")
	if !errors.Is(err, fleet.ErrNoInstance) {
		t.Fatal(err)
	}
}

func TestRegisterMany(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	many := func(yield func(fleet.Instance) bool) {
		for k := range 12_000 {
			if !yield(fleet.Instance{Name: fmt.Sprintf("w%05d", k), Template: "writer"}) {
				return
			}
		}
	}
	n, err := f.RegisterMany(ctx, many)
	if ok(t, err); n != 12_000 {
		t.Fatal(n)
	}
	if n, err := f.Count(ctx, fleet.Filter{Template: "writer"}); err != nil || n != 12_000 {
		t.Fatal(n, err)
	}
	if got := names(t, f, fleet.Filter{Limit: 2, After: "w11997"}); got != "w11998 w11999" {
		t.Fatal(got)
	}
	// What was added before a failure stays and is counted.
	n, err = f.RegisterMany(ctx, func(yield func(fleet.Instance) bool) {
		for k := range 6000 {
			if !yield(fleet.Instance{Name: fmt.Sprintf("v%05d", k%5500), Template: "writer"}) {
				return
			}
		}
	})
	says(t, err, "the name is taken")
	if n != 5000 {
		t.Fatal(n)
	}
}

func TestListByState(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		_, err := f.Register(ctx, fleet.Instance{ID: "id-" + name, Name: name, Template: "writer"})
		ok(t, err)
	}
	for _, name := range []string{"b", "c"} {
		_, err := f.Submit(ctx, name, "s-"+name, "r-"+name)
		ok(t, err)
	}
	ok(t, f.Drain(ctx, "c"))
	ok(t, f.Drain(ctx, "d"))
	for state, want := range map[fleet.State]string{
		"": "a b c d e", fleet.Ready: "a e", fleet.Busy: "b", fleet.Draining: "c", fleet.Stopped: "d", fleet.Starting: "",
	} {
		if got := names(t, f, fleet.Filter{State: state}); got != want {
			t.Errorf("%q: got %s, want %s", state, got, want)
		}
		n, err := f.Count(ctx, fleet.Filter{State: state})
		if ok(t, err); n != len(strings.Fields(want)) {
			t.Errorf("%q: %d counted", state, n)
		}
	}
	if got := names(t, f, fleet.Filter{State: fleet.Ready, Limit: 1, After: "a"}); got != "e" {
		t.Error(got)
	}
	_, err := f.List(ctx, fleet.Filter{State: "asleep"})
	says(t, err, "there is no state", "ready")
	leave(t, f, "r-c")
	if st, err := f.Status(ctx, "c"); err != nil || st.State != fleet.Stopped {
		t.Fatal(st, err)
	}
}

// While its template is checked, an instance is starting and says so.
func TestStarting(t *testing.T) {
	ctx := t.Context()
	s := newStore()
	f := withWriter(t, s)
	_, err := f.Register(ctx, fleet.Instance{Name: "w", Template: "writer"})
	ok(t, err)
	_, _, err = f.Stop(ctx, "w")
	ok(t, err)
	_, err = f.Submit(ctx, "w", "s", "r")
	says(t, err, "w is stopped: start it")

	inside, proceed := make(chan bool), make(chan error)
	slow, err := fleet.New(fleet.Options{Store: s, Check: func(string, []byte) (agent.Definition, error) {
		inside <- true
		return agent.Definition{}, <-proceed
	}})
	ok(t, err)
	for _, end := range []error{errors.New("its tool is gone"), nil} {
		done := make(chan error)
		go func() { done <- slow.Start(ctx, "w") }()
		<-inside
		if st, err := slow.Status(ctx, "w"); err != nil || st.State != fleet.Starting {
			t.Error(st, err)
		}
		_, err := slow.Submit(ctx, "w", "s", "r")
		says(t, err, "starting", "in a moment")
		if n, err := slow.Count(ctx, fleet.Filter{State: fleet.Starting}); err != nil || n != 1 {
			t.Error(n, err)
		}
		proceed <- end
		if err := <-done; !errors.Is(err, end) {
			t.Fatal(err)
		}
		want := fleet.Stopped
		if end == nil {
			want = fleet.Ready
		}
		if st, err := slow.Status(ctx, "w"); err != nil || st.State != want {
			t.Fatal(st, err)
		}
	}
}

func TestSessionsAreIsolated(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	for _, name := range []string{"v", "w"} {
		_, err := f.Register(ctx, fleet.Instance{Name: name, Template: "writer", Slots: 1, Queue: -1})
		ok(t, err)
	}
	_, err := f.Submit(ctx, "v", "s", "r1")
	ok(t, err)
	_, err = f.Submit(ctx, "w", "s", "r2")
	if e, is := errors.AsType[*fleet.SessionError](err); !is || e.Session != "s" {
		t.Fatal(err)
	}
	says(t, err, "begin a new session")
	// A refused run does not make a session the instance's.
	_, err = f.Submit(ctx, "v", "other", "r3")
	says(t, err, "no free slot")
	_, err = f.Submit(ctx, "w", "other", "r3")
	ok(t, err)
	// Nor does sleep or a removal of somebody else free one.
	leave(t, f, "r1")
	leave(t, f, "r3")
	_, err = f.Submit(ctx, "w", "s", "r2")
	says(t, err, "belongs to instance")
	ok(t, f.Remove(ctx, "v"))
	_, err = f.Submit(ctx, "w", "s", "r2")
	ok(t, err)
}

func TestRestore(t *testing.T) {
	ctx := t.Context()
	s := newStore()
	f := withWriter(t, s)
	for _, name := range []string{"ready", "drained", "stopped"} {
		_, err := f.Register(ctx, fleet.Instance{ID: name, Template: "writer", Slots: 1, Queue: 1})
		ok(t, err)
		_, err = f.Submit(ctx, name, "s-"+name, name+"-1")
		ok(t, err)
	}
	ok(t, f.Drain(ctx, "drained"))
	_, _, err := f.Stop(ctx, "stopped")
	ok(t, err)

	f = newFleet(t, s) // the process ends, and another begins
	start, left, err := f.Restore(ctx, []fleet.Seat{
		{"ready", "s-ready", "ready-1"}, {"ready", "s-ready", "ready-2"}, {"drained", "s-drained", "drained-1"}, {"stopped", "s-stopped", "stopped-1"},
		{"ready", "s-new", "ready-3"}, {"ready", "s-ready", "ready-4"}, {"gone", "s-gone", "gone-1"}, {"ready", "s-drained", "ready-5"},
	})
	ok(t, err)
	if want := []string{"ready-1", "drained-1"}; !slices.Equal(start, want) {
		t.Fatalf("started %v, want %v", start, want)
	}
	if want := []fleet.Seat{{"stopped", "s-stopped", "stopped-1"}, {"gone", "s-gone", "gone-1"}, {"ready", "s-drained", "ready-5"}}; !slices.Equal(left, want) {
		t.Fatalf("left %v, want %v", left, want)
	}
	if _, err = f.Submit(ctx, "ready", "s-ready", "more"); err == nil {
		t.Fatal("a full queue took a new run")
	}
	if _, err = f.Submit(ctx, "drained", "s-drained", "more"); err == nil {
		t.Fatal("a drained instance took a new run")
	}
	var order []string
	for next := []string{"ready-1"}; len(next) > 0; {
		order = append(order, next...)
		next = leave(t, f, next[0])
	}
	if want := []string{"ready-1", "ready-2", "ready-3", "ready-4"}; !slices.Equal(order, want) {
		t.Fatalf("order %v, want %v", order, want)
	}
	if next := leave(t, f, "drained-1"); next != nil {
		t.Fatal(next)
	}
	// What had a slot of a stopped instance has it until it leaves.
	if st, err := f.Status(ctx, "stopped"); err != nil || st.State != fleet.Draining {
		t.Errorf("stopped is %s, %v", st.State, err)
	}
	leave(t, f, "stopped-1")
	for id, want := range map[string]fleet.State{"ready": fleet.Ready, "drained": fleet.Stopped, "stopped": fleet.Stopped} {
		if st, err := f.Status(ctx, id); err != nil || st.State != want {
			t.Errorf("%s is %s, want %s (%v)", id, st.State, want, err)
		}
	}
}

func TestUpgrade(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	_, err := f.Register(ctx, fleet.Instance{Name: "w", Template: "writer"})
	ok(t, err)
	made := func(want int) {
		t.Helper()
		if _, v, err := f.Wake(ctx, "w"); err != nil || v.N != want {
			t.Fatalf("version %d, want %d (%v)", v.N, want, err)
		}
	}
	made(1)
	ok(t, f.Upgrade(ctx, "w", 2))
	made(2)
	ok(t, f.Upgrade(ctx, "w", 0))
	made(1)
	ok(t, f.Publish(ctx, "writer", 2))
	made(2)
	says(t, f.Upgrade(ctx, "w", 3), "1 to 2")
	ok(t, f.Deprecate(ctx, "writer", 1))
	says(t, f.Upgrade(ctx, "w", 1), "deprecated")
	ok(t, f.Drain(ctx, "w"))
	_, _, err = f.Wake(ctx, "w")
	if _, is := errors.AsType[*fleet.StateError](err); !is {
		t.Fatal(err)
	}
}

func TestRemove(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	_, err := f.Register(ctx, fleet.Instance{Name: "w", Template: "writer"})
	ok(t, err)
	_, err = f.Submit(ctx, "w", "s", "r")
	ok(t, err)
	err = f.Remove(ctx, "w")
	if !errors.Is(err, fleet.ErrInUse) {
		t.Fatal(err)
	}
	says(t, err, "drain it first")
	leave(t, f, "r")
	ok(t, f.Remove(ctx, "w"))
	_, err = f.Submit(ctx, "w", "s", "r")
	if !errors.Is(err, fleet.ErrNoInstance) {
		t.Fatal(err)
	}
	if start := leave(t, f, "r"); start != nil {
		t.Fatal(start)
	}
}

// A run that goes on comes before new ones of its session, in the order of
// coming back, and not before those of others.
func TestResume(t *testing.T) {
	ctx := t.Context()
	f := withWriter(t, newStore())
	_, err := f.Register(ctx, fleet.Instance{ID: "w", Template: "writer", Slots: 2, Queue: 2})
	ok(t, err)
	for _, r := range []string{"a1", "a2"} {
		_, err = f.Submit(ctx, "w", "a", r)
		ok(t, err)
	}
	leave(t, f, "a1") // both ask something
	leave(t, f, "a2")
	for _, r := range []string{"b1", "b2", "a3", "b3"} {
		_, err = f.Submit(ctx, "w", r[:1], r)
		ok(t, err)
	}
	for _, r := range []string{"a2", "a1"} {
		start, err := f.Resume(ctx, "w", "a", r)
		if ok(t, err); start != nil {
			t.Errorf("%v started", start)
		}
	}
	order := []string{"b1", "b2"}
	for k := 0; k < len(order); k++ {
		order = append(order, leave(t, f, order[k])...)
	}
	if want := []string{"b1", "b2", "a2", "b3", "a1", "a3"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// moody is a store that fails for one session.
type moody struct {
	fleet.Store
	session string
}

var errMoody = errors.New("the disk is gone")

func (m moody) Enter(ctx context.Context, c fleet.Seat, how fleet.Arrival) (bool, error) {
	if c.Session == m.session {
		return false, errMoody
	}
	return m.Store.Enter(ctx, c, how)
}

// What was put back before a failure is there, and the rest is told.
func TestRestoreFailsHalfway(t *testing.T) {
	f := newFleet(t, moody{newStore(), "s3"})
	if _, err := f.Create(t.Context(), "writer", fleet.Text{Document: "one"}); err != nil {
		t.Fatal(err)
	}
	i, err := f.Register(t.Context(), fleet.Instance{Name: "w", Template: "writer", Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	var all []fleet.Seat
	for _, n := range []string{"1", "2", "3", "4"} {
		all = append(all, fleet.Seat{Instance: i.ID, Session: "s" + n, Run: "r" + n})
	}
	start, left, err := f.Restore(t.Context(), all)
	if !errors.Is(err, errMoody) || !slices.Equal(start, []string{"r1", "r2"}) || !slices.Equal(left, all[2:]) {
		t.Errorf("%v, %v, %v", start, left, err)
	}
	var taken *fleet.SessionError
	if err := f.Free(t.Context(), "s1"); !errors.As(err, &taken) || taken.Owner != i.ID {
		t.Errorf("%v", err)
	}
	if err := f.Free(t.Context(), "s4"); err != nil {
		t.Error(err)
	}
}
