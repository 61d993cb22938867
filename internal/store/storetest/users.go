package storetest

import (
	"fmt"
	"reflect"
	"time"

	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/kb"
	"dossier/run"
)

// ids returns those of the runs that a filter finds.
func (f *fixture) ids(filter store.Filter) []string {
	f.Helper()
	list, err := f.store.List(f.ctx, filter)
	f.ok(err)
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

var userTests = []test{
	{"a run, its session and lists of both know whose they are", func(f *fixture) {
		for i, user := range []string{"", "ann", "bob", "ann"} {
			f.ok(f.store.Create(f.ctx, run.Record{ID: fmt.Sprint("r", i), Session: fmt.Sprint("s", i), User: user, Title: "t", Created: at}, nil, nil))
		}
		if r := f.record("r1"); r.User != "ann" {
			f.Fatalf("got %+v", r)
		}
		f.listed(store.Filter{User: "ann"}, "r3", "r1")
		f.listed(store.Filter{User: "ann", Before: "r3"}, "r1")
		f.listed(store.Filter{User: "nobody"})
		f.listed(store.Filter{}, "r3", "r2", "r1", "r0")
		sessions := func(filter store.SessionFilter, want ...string) {
			f.Helper()
			list, err := f.store.SessionList(f.ctx, filter)
			f.ok(err)
			var ids []string
			for _, s := range list {
				ids = append(ids, s.ID+" "+s.User)
			}
			if !reflect.DeepEqual(ids, want) {
				f.Fatalf("%+v: got %v, want %v", filter, ids, want)
			}
		}
		sessions(store.SessionFilter{User: "ann"}, "s3 ann", "s1 ann")
		sessions(store.SessionFilter{User: "ann", Limit: 1}, "s3 ann")
		sessions(store.SessionFilter{Before: "s2"}, "s1 ann", "s0 ")
		_, err := f.store.SessionList(f.ctx, store.SessionFilter{Before: "none"})
		f.is(err, store.ErrNotFound)
	}},
	{"a session takes runs of its own user only", func(f *fixture) {
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s1", User: "ann"}, nil, nil))
		for _, user := range []string{"bob", ""} {
			f.is(f.store.Create(f.ctx, run.Record{ID: "r2", Session: "s1", User: user}, nil, nil), store.ErrNotFound)
			_, err := f.store.Run(f.ctx, "r2")
			f.is(err, run.ErrUnknownRun)
		}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r2", Session: "s1", User: "ann"}, nil, nil))
		f.create("r3", "s3")
		f.is(f.store.Create(f.ctx, run.Record{ID: "r4", Session: "s3", User: "ann"}, nil, nil), store.ErrNotFound)
	}},
	{"a session is renamed", func(f *fixture) {
		f.create("r1", "s1")
		f.ok(f.store.RenameSession(f.ctx, "s1", "other"))
		got, err := f.store.Session(f.ctx, "s1")
		f.ok(err)
		if got.Title != "other" {
			f.Fatalf("got %+v", got)
		}
		f.is(f.store.RenameSession(f.ctx, "none", "x"), store.ErrNotFound)
	}},
	{"runs are counted by status", func(f *fixture) {
		f.create("r1", "")
		f.create("r2", "")
		f.start("r3")
		got, err := f.store.CountRuns(f.ctx)
		f.ok(err)
		if want := map[run.Status]int{run.Queued: 2, run.Running: 1}; !reflect.DeepEqual(got, want) {
			f.Fatalf("got %v, want %v", got, want)
		}
	}},
	{"collections, templates and instances know whose they are", func(f *fixture) {
		f.ok(f.store.CreateCollection(f.ctx, kb.Collection{ID: "c1", Name: "one", User: "ann", Roots: []string{"/x"}}))
		c, err := f.store.Collection(f.ctx, "one")
		f.ok(err)
		f.ok(f.store.CreateTemplate(f.ctx, "t", fleet.Version{Template: "t", Document: "a", Created: at, User: "ann"}))
		tpl, err := f.store.Template(f.ctx, "t")
		f.ok(err)
		if c.User != "ann" || tpl.User != "ann" {
			f.Fatalf("got %+v and %+v", c, tpl)
		}
		for i, user := range []string{"ann", "bob", ""} {
			name := fmt.Sprint("i", i)
			f.ok(f.store.AddInstances(f.ctx, []fleet.Instance{{ID: name, Name: name, User: user, Template: "t", State: fleet.Ready, Slots: 1, Created: at}}))
		}
		list, err := f.store.InstanceList(f.ctx, fleet.Filter{User: "ann"})
		f.ok(err)
		if len(list) != 2 || list[0].ID != "i0" || list[0].User != "ann" || list[1].ID != "i2" {
			f.Fatalf("got %+v", list)
		}
	}},
	{"a template takes versions of its user and of the operator", func(f *fixture) {
		f.ok(f.store.CreateTemplate(f.ctx, "t", fleet.Version{Template: "t", Document: "a", Created: at, User: "ann"}))
		_, _, err := f.store.AddTemplateVersion(f.ctx, "t", fleet.Version{Document: "b", Created: at, User: "bob"})
		f.is(err, fleet.ErrExists)
		for _, user := range []string{"ann", ""} {
			v, added, err := f.store.AddTemplateVersion(f.ctx, "t", fleet.Version{Document: "by " + user, Created: at, User: user})
			f.ok(err)
			if !added || v.User != "" {
				f.Fatalf("got %+v", v)
			}
		}
	}},
}

var wordTests = []test{
	{"runs are found by what was asked, answered, reported and noted", func(f *fixture) {
		put := func(id, user string, data ...event.Data) {
			f.Helper()
			events := make([]run.PlacedEvent, len(data))
			for i, d := range data {
				events[i] = run.PlacedEvent{Place: fmt.Sprint("p", i), Event: event.Event{Seq: int64(i + 1), Time: at, Data: d}}
			}
			f.ok(f.store.Create(f.ctx, run.Record{ID: id, User: user, Title: "title of " + id, Mode: "chat", Created: at}, nil, events))
		}
		put("r1", "", event.Message{Role: "user", Text: "Why do heat pumps freeze?"}, event.NoteAdded{Text: "Defrosting costs energy."})
		put("r2", "ann", event.Message{Role: "user", Text: "Почему тепловые насосы замерзают?"}, event.ReportSection{Title: "Итог", Text: "Оттаивание."})
		put("r3", "", event.Message{Role: "user", Text: "热泵为什么会结冰？"}, event.SearchStarted{Query: "unmentioned"})
		for text, want := range map[string][]string{
			"heat pump": {"r1"}, "pumps FREEZING": {"r1"}, "defrost": {"r1"}, "why": {"r1"}, "heat насос": nil, "насос": {"r2"}, "оттаивания": {"r2"}, "итог": {"r2"},
			"热泵": {"r3"}, "title": {"r3", "r2", "r1"}, "the title of": {"r3", "r2", "r1"}, "unmentioned": nil, `"?*()`: nil, `a" OR "b`: nil, "": {"r3", "r2", "r1"},
		} {
			if got := f.ids(store.Filter{Text: text}); !reflect.DeepEqual(got, want) {
				f.Errorf("%q finds %v, want %v", text, got, want)
			}
		}
		f.listed(store.Filter{Text: "title", User: "ann"}, "r2")
		f.listed(store.Filter{Text: "title", Limit: 1}, "r3")
		f.listed(store.Filter{Text: "title", Limit: 1, Before: "r3"}, "r2")
	}},
	{"what a run says later is found, and what is gone is not", func(f *fixture) {
		f.create("r1", "")
		epoch := f.acquire("r1", "worker")
		f.listed(store.Filter{Text: "walrus"})
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{message(1, "p1", "user", "Where do walruses sleep?")}}))
		f.listed(store.Filter{Text: "walrus"}, "r1")
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Events: []run.PlacedEvent{message(2, "p2", "assistant", "On ice.")}, State: &run.State{Status: run.Done}, Release: true}))
		f.listed(store.Filter{Text: "walrus ice"}, "r1")
		h := f.history("r1")
		f.ok(f.store.Reopen(f.ctx, "r1", run.Reopening{
			Cut: run.Cut{Void: []string{"p2"}}, Epoch: h.Record.Epoch, LastSeq: 2,
			Event: run.PlacedEvent{Place: "@reopened", Event: event.Event{Seq: 3, Time: at, Data: event.RunReopened{}}},
		}))
		f.listed(store.Filter{Text: "ice"})
		f.listed(store.Filter{Text: "walrus"}, "r1")
		f.ok(f.store.Delete(f.ctx, "r1"))
		f.listed(store.Filter{Text: "walrus"})
		f.ok(f.store.Check(f.ctx))
	}},
	{"lists are narrowed by mode and time", func(f *fixture) {
		for i := range 4 {
			mode := []string{"chat", "kb"}[i%2]
			f.ok(f.store.Create(f.ctx, run.Record{ID: fmt.Sprint("r", i), Mode: mode, Created: at.Add(time.Duration(i) * time.Hour)}, nil, nil))
		}
		f.listed(store.Filter{Mode: "kb"}, "r3", "r1")
		f.listed(store.Filter{Since: at.Add(time.Hour)}, "r3", "r2", "r1")
		f.listed(store.Filter{Until: at.Add(time.Hour)}, "r1", "r0")
		f.listed(store.Filter{Since: at.Add(time.Hour), Until: at.Add(2 * time.Hour), Mode: "chat"}, "r2")
	}},
}

var tokenTests = []test{
	{"a token comes back whole, until it is removed", func(f *fixture) {
		one := access.Token{
			ID: "one", User: "ann", Scopes: []access.Scope{access.Read, access.Run}, Note: "laptop", Hash: []byte{1, 0, 255},
			Created: at, Expires: at.Add(time.Hour),
		}
		two := access.Token{ID: "two", Scopes: access.Scopes, Hash: []byte{2}, Created: at}
		f.ok(f.store.AddToken(f.ctx, one))
		f.ok(f.store.AddToken(f.ctx, two))
		f.is(f.store.AddToken(f.ctx, access.Token{ID: "one", Scopes: access.Usual, Hash: []byte{3}}), access.ErrTokenExists)
		got, err := f.store.Token(f.ctx, "one")
		f.ok(err)
		f.same(got, one)
		f.ok(f.store.TokenUsed(f.ctx, "one", at.Add(time.Minute)))
		f.ok(f.store.TokenUsed(f.ctx, "none", at))
		one.Used = at.Add(time.Minute)
		all, err := f.handles[1].Tokens(f.ctx)
		f.ok(err)
		f.same(all, []access.Token{one, two})
		f.ok(f.store.RemoveToken(f.ctx, "one"))
		f.is(f.store.RemoveToken(f.ctx, "one"), access.ErrNoToken)
		_, err = f.handles[1].Token(f.ctx, "one")
		f.is(err, access.ErrNoToken)
	}},
}
