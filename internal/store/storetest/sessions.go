package storetest

import (
	"fmt"
	"reflect"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// messages returns the texts of a session's messages.
func (f *fixture) messages(session, before string, limit int) []string {
	f.Helper()
	messages, err := f.store.Messages(f.ctx, session, before, limit)
	f.ok(err)
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Role+" "+m.Text)
	}
	return texts
}

var sessionTests = []test{
	{"a session is made with its first run", func(f *fixture) {
		_, err := f.store.Session(f.ctx, "s1")
		f.is(err, store.ErrNotFound)
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s1", Title: "first", Created: at}, nil, nil))
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r2", Session: "s1", Title: "second"}, nil, nil))
		got, err := f.store.Session(f.ctx, "s1")
		f.ok(err)
		if want := (store.Session{ID: "s1", Title: "first", Created: at, Runs: 2, Last: "r2", Updated: f.clock.Now()}); !reflect.DeepEqual(got, want) {
			f.Fatalf("got %+v, want %+v", got, want)
		}
		f.ok(f.store.Delete(f.ctx, "r1"))
		got, err = f.store.Session(f.ctx, "s1")
		f.ok(err)
		if got.Runs != 1 || got.Title != "first" {
			f.Fatalf("got %+v", got)
		}
		f.ok(f.store.Delete(f.ctx, "r2"))
		_, err = f.store.Session(f.ctx, "s1")
		f.is(err, store.ErrNotFound)
	}},
	{"a run may have no session", func(f *fixture) {
		f.create("r1", "")
		list, err := f.store.SessionList(f.ctx, store.SessionFilter{})
		f.ok(err)
		if len(list) != 0 {
			f.Fatalf("sessions: %+v", list)
		}
		f.ok(f.store.Delete(f.ctx, "r1"))
	}},
	{"sessions are listed by their newest run", func(f *fixture) {
		for i, session := range []string{"a", "b", "", "c", "a"} {
			f.create(fmt.Sprint("r", i), session)
		}
		for limit, want := range map[int][]string{0: {"a", "c", "b"}, 2: {"a", "c"}} {
			list, err := f.store.SessionList(f.ctx, store.SessionFilter{Limit: limit})
			f.ok(err)
			var ids []string
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			if !reflect.DeepEqual(ids, want) {
				f.Fatalf("limit %d: got %v, want %v", limit, ids, want)
			}
			if list[0].Runs != 2 {
				f.Fatalf("session: %+v", list[0])
			}
		}
	}},
	{"messages come in the order of the runs", func(f *fixture) {
		epochs := map[string]int64{}
		for _, id := range []string{"r1", "r2", "other", "r3"} {
			session := "s1"
			if id == "other" {
				session = "s2"
			}
			f.create(id, session)
			epochs[id] = f.acquire(id, "worker")
		}
		// The runs are at work at the same time, and the last one is first.
		for _, id := range []string{"r3", "r1", "other", "r2"} {
			f.ok(f.commit(run.Batch{Run: id, Epoch: epochs[id], Events: []run.PlacedEvent{
				message(1, "p1", "user", "asks "+id), note(2, "p2", "not a message"), message(3, "p3", "assistant", "answers "+id),
			}}))
		}
		all := []string{"user asks r1", "assistant answers r1", "user asks r2", "assistant answers r2", "user asks r3", "assistant answers r3"}
		for _, c := range []struct {
			before string
			limit  int
			want   []string
		}{
			{"", 0, all},
			{"", 100, all},
			{"", 3, all[3:]},
			{"", 1, all[5:]},
			{"r3", 0, all[:4]},
			{"r3", 3, all[1:4]},
			{"r2", 3, all[:2]},
			{"r1", 3, nil},
			{"other", 2, all[2:4]},
			{"nobody", 2, all[4:]},
		} {
			if got := f.messages("s1", c.before, c.limit); !reflect.DeepEqual(got, c.want) {
				f.Fatalf("before %q limit %d:\ngot  %v\nwant %v", c.before, c.limit, got, c.want)
			}
		}
		if got := f.messages("s3", "", 5); got != nil {
			f.Fatalf("messages of no session: %v", got)
		}
		if got := f.messages("", "", 5); got != nil {
			f.Fatalf("messages of the empty session: %v", got)
		}
	}},
	{"a message comes back whole", func(f *fixture) {
		want := event.Message{Role: "assistant", Text: "t", Reasoning: "r", KeyPoints: []string{"a", "b"}, Model: "m", Extractive: true}
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1", Session: "s1"}, nil,
			[]run.PlacedEvent{{Place: "p", Event: event.Event{Seq: 1, Time: at, Data: want}}}))
		got, err := f.store.Messages(f.ctx, "s1", "", 0)
		f.ok(err)
		if !reflect.DeepEqual(got, []event.Message{want}) {
			f.Fatalf("got %+v", got)
		}
	}},
}
