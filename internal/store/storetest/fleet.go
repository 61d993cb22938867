package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/run"
)

// template makes a template with a version per document.
func (f *fixture) template(name string, documents ...string) {
	f.Helper()
	f.ok(f.store.CreateTemplate(f.ctx, name, fleet.Version{Template: name, Note: "first", Author: "me", Created: at, Document: documents[0]}))
	for _, d := range documents[1:] {
		_, _, err := f.store.AddTemplateVersion(f.ctx, name, fleet.Version{Created: at, Document: d})
		f.ok(err)
	}
}

// instances adds open instances of a template whose ids are their names with
// "id-" before them.
func (f *fixture) instances(template string, names ...string) {
	f.Helper()
	var list []fleet.Instance
	for _, name := range names {
		list = append(list, fleet.Instance{ID: "id-" + name, Name: name, Template: template, Slots: 4, Queue: 100, State: fleet.Ready, Created: at})
	}
	f.ok(f.store.AddInstances(f.ctx, list))
}

// instance reads an instance.
func (f *fixture) instance(key string) fleet.Instance {
	f.Helper()
	i, err := f.store.Instance(f.ctx, key)
	f.ok(err)
	return i
}

// equal fails the test unless got is want.
func (f *fixture) equal(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("got\n%+v\nwant\n%+v", got, want)
	}
}

var templateTests = []test{
	{"a template comes back", func(f *fixture) {
		long := strings.Repeat("описание: ½\n", 1000) // long enough to be packed
		f.template("writer", "a: 1", long)
		f.template("reader", "b: 1")
		f.is(f.store.CreateTemplate(f.ctx, "writer", fleet.Version{Document: "c"}), fleet.ErrExists)

		first := fleet.Version{Template: "writer", N: 1, State: fleet.Draft, Note: "first", Author: "me", Created: at}
		second := fleet.Version{Template: "writer", N: 2, State: fleet.Draft, Created: at}
		got, err := f.store.Template(f.ctx, "writer")
		f.ok(err)
		f.equal(got, fleet.Template{Name: "writer", Latest: 2, Created: at, Updated: at, Versions: []fleet.Version{first, second}})

		for n, want := range map[int]fleet.Version{0: second, 1: first, 2: second} {
			want.Document = map[int]string{1: "a: 1", 2: long}[want.N]
			v, err := f.store.TemplateVersion(f.ctx, "writer", n)
			f.ok(err)
			f.equal(v, want)
		}
		list, err := f.store.Templates(f.ctx)
		f.ok(err)
		f.equal(list, []fleet.Template{
			{Name: "reader", Latest: 1, Created: at, Updated: at}, {Name: "writer", Latest: 2, Created: at, Updated: at},
		})
	}},
	{"what is not there", func(f *fixture) {
		f.template("writer", "a")
		_, err := f.store.Template(f.ctx, "Writer")
		f.is(err, fleet.ErrNoTemplate)
		_, err = f.store.TemplateVersion(f.ctx, "nobody", 0)
		f.is(err, fleet.ErrNoTemplate)
		_, _, err = f.store.AddTemplateVersion(f.ctx, "nobody", fleet.Version{Document: "b"})
		f.is(err, fleet.ErrNoTemplate)
		f.is(f.store.PublishVersion(f.ctx, "nobody", 1, at), fleet.ErrNoTemplate)
		f.is(f.store.DeprecateVersion(f.ctx, "nobody", 0, at), fleet.ErrNoTemplate)
		f.is(f.store.DeleteTemplate(f.ctx, "nobody"), fleet.ErrNoTemplate)
		f.is(f.store.EachOutcome(f.ctx, "nobody", nil), fleet.ErrNoTemplate)
		for _, n := range []int{-1, 2} {
			_, err = f.store.TemplateVersion(f.ctx, "writer", n)
			f.is(err, fleet.ErrNoVersion)
			f.is(f.store.PublishVersion(f.ctx, "writer", n, at), fleet.ErrNoVersion)
			f.is(f.store.DeprecateVersion(f.ctx, "writer", n, at), fleet.ErrNoVersion)
		}
		f.is(f.store.PublishVersion(f.ctx, "writer", 0, at), fleet.ErrNoVersion)
	}},
	{"the same document is no new version", func(f *fixture) {
		f.template("writer", "a", "b")
		v, added, err := f.store.AddTemplateVersion(f.ctx, "writer", fleet.Version{Document: "b", Note: "again"})
		f.ok(err)
		f.equal(added, false)
		f.equal(v, fleet.Version{Template: "writer", N: 2, State: fleet.Draft, Created: at, Document: "b"})
		v, added, err = f.store.AddTemplateVersion(f.ctx, "writer", fleet.Version{Document: "a", Note: "back", Created: at})
		f.ok(err)
		f.equal(added, true)
		f.equal(v, fleet.Version{Template: "writer", N: 3, State: fleet.Draft, Note: "back", Created: at, Document: "a"})
	}},
	{"publishing and deprecating", func(f *fixture) {
		f.template("writer", "a", "b", "c")
		states := func(published int, deprecated bool, want ...fleet.VersionState) {
			f.Helper()
			t, err := f.store.Template(f.ctx, "writer")
			f.ok(err)
			var got []fleet.VersionState
			for _, v := range t.Versions {
				got = append(got, v.State)
			}
			f.equal(got, want)
			f.equal([]any{t.Published, t.Deprecated}, []any{published, deprecated})
		}
		published := func(n int) {
			f.Helper()
			v, err := f.store.TemplateVersion(f.ctx, "writer", 0)
			f.ok(err)
			f.equal(v.N, n)
		}
		published(3)
		f.ok(f.store.PublishVersion(f.ctx, "writer", 2, at))
		published(2)
		f.ok(f.store.PublishVersion(f.ctx, "writer", 2, at.Add(time.Hour))) // nothing happens
		f.ok(f.store.PublishVersion(f.ctx, "writer", 3, at.Add(time.Minute)))
		f.ok(f.store.DeprecateVersion(f.ctx, "writer", 2, at))
		states(3, false, fleet.Draft, fleet.Deprecated, fleet.Published)
		f.ok(f.store.PublishVersion(f.ctx, "writer", 2, at.Add(2*time.Minute)))
		states(2, false, fleet.Draft, fleet.Published, fleet.Published)
		f.ok(f.store.DeprecateVersion(f.ctx, "writer", 0, at))
		states(2, true, fleet.Deprecated, fleet.Deprecated, fleet.Deprecated)
		published(2)
		f.ok(f.store.DeprecateVersion(f.ctx, "writer", 1, at))
		states(2, true, fleet.Deprecated, fleet.Deprecated, fleet.Deprecated)
		f.ok(f.store.PublishVersion(f.ctx, "writer", 2, at.Add(3*time.Minute)))
		states(2, false, fleet.Deprecated, fleet.Published, fleet.Deprecated)
		t, err := f.store.Template(f.ctx, "writer")
		f.ok(err)
		f.equal(t.Publications, []fleet.Publication{{Version: 2, At: at}, {Version: 3, At: at.Add(time.Minute)},
			{Version: 2, At: at.Add(2 * time.Minute)}, {Version: 2, At: at.Add(3 * time.Minute)}})
		f.equal(t.Updated, at.Add(3*time.Minute))
	}},
	{"a template in use stays", func(f *fixture) {
		f.template("writer", "a")
		f.instances("writer", "w")
		f.ok(f.store.PutOutcome(f.ctx, fleet.Outcome{Run: "r", Template: "writer", Version: 1, Status: run.Done, At: at}))
		f.is(f.store.DeleteTemplate(f.ctx, "writer"), fleet.ErrInUse)
		f.ok(f.store.RemoveInstance(f.ctx, "id-w"))
		f.ok(f.store.DeleteTemplate(f.ctx, "writer"))
		_, err := f.store.Template(f.ctx, "writer")
		f.is(err, fleet.ErrNoTemplate)
		f.template("writer", "other")
		f.equal(f.outcomes("writer"), []fleet.Outcome(nil))
		f.ok(f.store.Check(f.ctx))
	}},
	{"versions that are added at once are numbered without gaps", func(f *fixture) {
		f.template("writer", "a")
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				_, added, err := f.store.AddTemplateVersion(f.ctx, "writer", fleet.Version{Document: fmt.Sprint(i), Created: at})
				if err != nil || !added {
					f.Error(added, err)
				}
			})
		}
		wg.Wait()
		t, err := f.store.Template(f.ctx, "writer")
		f.ok(err)
		f.equal([]int{t.Latest, len(t.Versions), t.Versions[30].N}, []int{31, 31, 31})
	}},
}

// outcomes returns the outcomes of a template by run.
func (f *fixture) outcomes(template string) []fleet.Outcome {
	f.Helper()
	var list []fleet.Outcome
	f.ok(f.store.EachOutcome(f.ctx, template, func(o fleet.Outcome) error {
		list = append(list, o)
		return nil
	}))
	slices.SortFunc(list, func(a, b fleet.Outcome) int { return strings.Compare(a.Run, b.Run) })
	return list
}

var instanceTests = []test{
	{"an instance comes back", func(f *fixture) {
		f.template("writer", "a")
		full := fleet.Instance{ID: "i1", Name: "one", Template: "writer", Version: 3, Slots: 2, Queue: -1, State: fleet.Draining,
			Labels: []string{"быстрый", ""}, Created: at, LastUsed: at.Add(time.Hour), Served: 7}
		bare := fleet.Instance{ID: "i2", Name: "i2", Template: "writer", Slots: 4, Queue: 100, State: fleet.Ready, Created: at}
		f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{full, bare}))
		for key, want := range map[string]fleet.Instance{"i1": full, "one": full, "i2": bare} {
			f.equal(f.instance(key), want)
		}
		_, err := f.store.Instance(f.ctx, "i3")
		f.is(err, fleet.ErrNoInstance)
	}},
	{"all instances are added or none", func(f *fixture) {
		f.template("writer", "a")
		f.instances("writer", "a", "b")
		fresh := func(id, name, template string) fleet.Instance {
			return fleet.Instance{ID: id, Name: name, Template: template, State: fleet.Ready}
		}
		for what, list := range map[string][]fleet.Instance{
			"name taken":           {fresh("x1", "c", "writer"), fresh("x2", "b", "writer")},
			"id taken":             {fresh("x1", "c", "writer"), fresh("id-a", "d", "writer")},
			"name is an id":        {fresh("x1", "id-a", "writer")},
			"id is a name":         {fresh("a", "c", "writer")},
			"name twice":           {fresh("x1", "c", "writer"), fresh("x2", "c", "writer")},
			"id twice":             {fresh("x1", "c", "writer"), fresh("x1", "d", "writer")},
			"name is another's id": {fresh("x1", "c", "writer"), fresh("x2", "x1", "writer")},
		} {
			if err := f.store.AddInstances(f.ctx, list); !errors.Is(err, fleet.ErrExists) {
				f.Errorf("%s: %v", what, err)
			}
		}
		f.is(f.store.AddInstances(f.ctx, []fleet.Instance{fresh("x1", "c", "writer"), fresh("x2", "d", "nobody")}), fleet.ErrNoTemplate)
		n, err := f.store.CountInstances(f.ctx, fleet.Filter{})
		f.ok(err)
		f.equal(n, 2)
		f.ok(f.store.AddInstances(f.ctx, nil))
	}},
	{"instances are listed by name", func(f *fixture) {
		f.template("reader", "a")
		f.template("writer", "a")
		f.instances("writer", "w3", "w1", "B_2", "a-b")
		f.instances("reader", "w2", "r1", "a")
		f.ok(f.store.SetInstanceState(f.ctx, "id-w1", fleet.Draining))
		f.ok(f.store.SetInstanceState(f.ctx, "id-r1", fleet.Stopped))
		for _, c := range []struct {
			filter fleet.Filter
			want   string
		}{
			{fleet.Filter{}, "B_2 a a-b r1 w1 w2 w3"},
			{fleet.Filter{Limit: 2}, "B_2 a"},
			{fleet.Filter{Limit: 2, After: "a"}, "a-b r1"},
			{fleet.Filter{After: "w3"}, ""},
			{fleet.Filter{Prefix: "w"}, "w1 w2 w3"},
			{fleet.Filter{Prefix: "w", After: "w1", Limit: 1}, "w2"},
			{fleet.Filter{Prefix: "a"}, "a a-b"},
			{fleet.Filter{Prefix: "\xff"}, ""},
			{fleet.Filter{Template: "writer"}, "B_2 a-b w1 w3"},
			{fleet.Filter{Template: "writer", Prefix: "w"}, "w1 w3"},
			{fleet.Filter{Template: "nobody"}, ""},
			{fleet.Filter{State: fleet.Ready}, "B_2 a a-b w2 w3"},
			{fleet.Filter{State: fleet.Stopped}, "r1 w1"},
			{fleet.Filter{State: fleet.Stopped, Template: "writer"}, "w1"},
		} {
			list, err := f.store.InstanceList(f.ctx, c.filter)
			f.ok(err)
			var names []string
			for _, i := range list {
				names = append(names, i.Name)
			}
			if got := strings.Join(names, " "); got != c.want {
				f.Errorf("%+v: got %s, want %s", c.filter, got, c.want)
			}
			c.filter.Limit = 0
			all, err := f.store.InstanceList(f.ctx, c.filter)
			f.ok(err)
			n, err := f.store.CountInstances(f.ctx, c.filter)
			f.ok(err)
			if n != len(all) {
				f.Errorf("%+v: %d counted, %d listed", c.filter, n, len(all))
			}
		}
	}},
	{"an instance changes and goes", func(f *fixture) {
		f.template("writer", "a")
		f.instances("writer", "w")
		f.ok(f.store.SetInstanceState(f.ctx, "id-w", fleet.Stopped))
		f.ok(f.store.SetInstanceState(f.ctx, "id-w", fleet.Draining)) // it is more than that
		f.ok(f.store.SetInstanceVersion(f.ctx, "id-w", 5))
		i := f.instance("w")
		f.equal([]any{i.State, i.Version}, []any{fleet.Stopped, 5})
		f.ok(f.store.SetInstanceState(f.ctx, "id-w", fleet.Ready))
		f.equal(f.instance("w").State, fleet.Ready)
		f.ok(f.store.RemoveInstance(f.ctx, "id-w"))
		f.is(f.store.SetInstanceState(f.ctx, "id-w", fleet.Ready), fleet.ErrNoInstance)
		f.is(f.store.SetInstanceVersion(f.ctx, "id-w", 1), fleet.ErrNoInstance)
		f.is(f.store.RemoveInstance(f.ctx, "id-w"), fleet.ErrNoInstance)
	}},
	{"a session belongs to who used it first", func(f *fixture) {
		f.template("writer", "a")
		f.instances("writer", "v", "w")
		n := 0
		claim := func(session, instance, owner string) {
			f.Helper()
			n++
			_, err := f.store.Enter(f.ctx, fleet.Seat{Instance: instance, Session: session, Run: fmt.Sprint("r", n)}, fleet.Fresh)
			if owner == "" {
				f.ok(err)
				return
			}
			var foreign *fleet.SessionError
			if !errors.As(err, &foreign) || *foreign != (fleet.SessionError{Session: session, Instance: instance, Owner: owner}) {
				f.Fatalf("%v, want that it is %s's", err, owner)
			}
		}
		claim("s1", "id-v", "")
		claim("s1", "id-v", "")
		claim("s1", "id-w", "id-v")
		claim("s2", "id-w", "")
		claim("", "id-v", "")
		claim("", "id-w", "") // nobody's runs are not a session
		for session, want := range map[string]string{"s1": "id-v", "s2": "id-w", "s3": "", "": ""} {
			owner, err := f.store.SessionOwner(f.ctx, session)
			f.ok(err)
			f.equal(owner, want)
		}
		f.equal(f.instance("v").LastUsed, f.clock.Now())
		_, err := f.store.Enter(f.ctx, fleet.Seat{Instance: "nobody", Session: "s3", Run: "r"}, fleet.Fresh)
		f.is(err, fleet.ErrNoInstance)
		f.is(f.store.RemoveInstance(f.ctx, "id-v"), fleet.ErrInUse)
		for i := range n {
			_, err := f.store.Leave(f.ctx, fmt.Sprint("r", i+1))
			f.ok(err)
		}
		f.ok(f.store.RemoveInstance(f.ctx, "id-v"))
		claim("s1", "id-w", "")
	}},
	{"an outcome replaces itself", func(f *fixture) {
		f.template("writer", "a")
		f.template("reader", "a")
		f.instances("writer", "w")
		failed := fleet.Outcome{Run: "r1", Template: "writer", Version: 2, Instance: "id-w", Status: run.Failed, Tokens: 1 << 40, Cost: 0.25, Time: time.Hour, At: at}
		f.ok(f.store.PutOutcome(f.ctx, failed))
		done := failed
		done.Status, done.Coverage, done.At = run.Done, new(0.0), at.Add(time.Hour)
		f.ok(f.store.PutOutcome(f.ctx, done))
		plain := fleet.Outcome{Run: "r2", Template: "writer", Version: 1, Instance: "gone", Status: run.Cancelled, At: at}
		f.ok(f.store.PutOutcome(f.ctx, plain))
		f.ok(f.store.PutOutcome(f.ctx, fleet.Outcome{Run: "r3", Template: "reader", Version: 1, Status: run.Done, At: at}))
		f.is(f.store.PutOutcome(f.ctx, fleet.Outcome{Run: "r4", Template: "nobody", Status: run.Done}), fleet.ErrNoTemplate)
		f.equal(f.outcomes("writer"), []fleet.Outcome{done, plain})
		i := f.instance("w")
		f.equal([]any{i.Served, i.LastUsed}, []any{int64(1), at})
		stop := errors.New("enough")
		f.is(f.store.EachOutcome(f.ctx, "writer", func(fleet.Outcome) error { return stop }), stop)
	}},
	{"runs that are over without an outcome", func(f *fixture) {
		unrecorded := func(mode string, since time.Time, want ...string) {
			f.Helper()
			got, err := f.store.Unrecorded(f.ctx, mode, since)
			f.ok(err)
			if !slices.Equal(got, want) {
				f.Fatalf("%q, want %q", got, want)
			}
		}
		f.template("writer", "a")
		ends := func(id string, status run.Status) {
			epoch := f.start(id)
			f.ok(f.commit(run.Batch{Run: id, Epoch: epoch, State: &run.State{Status: status}}))
		}
		ends("r1", run.Done)
		f.create("queued", "")
		f.clock.Advance(time.Hour)
		later := f.clock.Now()
		ends("r2", run.Failed)
		ends("r3", run.Cancelled)
		ends("parked", run.Waiting)
		unrecorded("chat", time.Time{}, "r1", "r2", "r3")
		unrecorded("chat", later, "r2", "r3")
		unrecorded("agent", time.Time{})
		f.ok(f.store.PutOutcome(f.ctx, fleet.Outcome{Run: "r2", Template: "writer", Version: 1, Status: run.Failed, At: at}))
		unrecorded("chat", time.Time{}, "r1", "r3")
	}},
	{"after Close nothing works", func(f *fixture) {
		f.template("writer", "a")
		f.ok(f.store.Close())
		_, err := f.store.Template(f.ctx, "writer")
		closed := []error{err, f.store.CreateTemplate(f.ctx, "x", fleet.Version{}), f.store.AddInstances(f.ctx, nil),
			f.store.PutOutcome(f.ctx, fleet.Outcome{}), f.store.RemoveInstance(f.ctx, "x")}
		_, err = f.store.Instance(f.ctx, "x")
		for i, err := range append(closed, err) {
			if !errors.Is(err, store.ErrClosed) {
				f.Errorf("%d: %v", i, err)
			}
		}
	}},
}
