package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/internal/schedule"
	"dossier/internal/webhook"
	"dossier/run"
)

// planned adds a schedule that is due at a moment.
func (f *fixture) planned(id, user string, next time.Time) schedule.Schedule {
	f.Helper()
	s := schedule.Schedule{
		ID: id, Name: "name of " + id, User: user, Cron: "0 7 * * *", Zone: "Asia/Shanghai", Request: json.RawMessage(`{"question":"` + strings.Repeat("why? ", 2000) + `"}`),
		Created: at, Next: next, From: at, Revision: 1, Paused: next.IsZero(),
	}
	f.ok(f.store.AddSchedule(f.ctx, s))
	return s
}

func scheduleIDs(list []schedule.Schedule) string {
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

var scheduleTests = []test{
	{"a schedule is kept as it is, found, changed and removed", func(f *fixture) {
		s := f.planned("s1", "ann", at.Add(time.Hour))
		f.is(f.store.AddSchedule(f.ctx, s), schedule.ErrExists)
		got, err := f.store.Schedule(f.ctx, "s1")
		f.ok(err)
		if !reflect.DeepEqual(got, s) {
			f.Fatalf("got %+v, want %+v", got, s)
		}
		_, err = f.store.Schedule(f.ctx, "none")
		f.is(err, schedule.ErrNone)
		s.Name, s.Cron, s.Zone, s.Paused, s.Next, s.From, s.Request = "other", "@daily", "", true, time.Time{}, at.Add(time.Minute), json.RawMessage(`{}`)
		was := s
		s.User, s.Created = "bob", at.Add(time.Hour) // these stay
		f.ok(f.store.ChangeSchedule(f.ctx, s))
		f.is(f.store.ChangeSchedule(f.ctx, s), schedule.ErrChanged)
		was.Revision++
		if got, err = f.store.Schedule(f.ctx, "s1"); err != nil || !reflect.DeepEqual(got, was) {
			f.Fatalf("got %+v, %v, want %+v", got, err, was)
		}
		f.ok(f.store.RemoveSchedule(f.ctx, "s1"))
		f.is(f.store.RemoveSchedule(f.ctx, "s1"), schedule.ErrNone)
		f.is(f.store.ChangeSchedule(f.ctx, was), schedule.ErrNone)
	}},
	{"lists are of a user or of all, and by what is due", func(f *fixture) {
		f.planned("s1", "ann", at.Add(3*time.Hour))
		f.planned("s2", "", at.Add(time.Hour))
		f.planned("s3", "bob", time.Time{})
		f.planned("s4", "ann", at.Add(2*time.Hour))
		for user, want := range map[string]string{"": "s1 s2 s3 s4", "ann": "s1 s4", "eve": ""} {
			list, err := f.store.Schedules(f.ctx, user)
			f.ok(err)
			if got := scheduleIDs(list); got != want {
				f.Errorf("of %q: %q, want %q", user, got, want)
			}
		}
		for limit, want := range map[int]string{10: "s2 s4 s1", 2: "s2 s4"} {
			list, err := f.store.Upcoming(f.ctx, limit)
			f.ok(err)
			if got := scheduleIDs(list); got != want {
				f.Errorf("the first %d: %q, want %q", limit, got, want)
			}
		}
	}},
	{"firings are kept with the change that claims them, and settled once", func(f *fixture) {
		s := f.planned("s1", "", at)
		s.Next = at.Add(time.Hour)
		first := schedule.Firing{Schedule: "s1", Run: "r1", Due: at, At: at.Add(time.Second), State: schedule.Claimed}
		f.ok(f.store.Fire(f.ctx, s, first))
		f.is(f.store.Fire(f.ctx, s, schedule.Firing{Run: "r2", State: schedule.Claimed}), schedule.ErrChanged)
		s.Revision++
		second := schedule.Firing{Schedule: "s1", Run: "r1", Due: at.Add(time.Hour), At: at.Add(time.Hour), ByHand: true, State: schedule.Skipped}
		f.ok(f.store.Fire(f.ctx, s, second))
		open, err := f.store.OpenFirings(f.ctx)
		f.ok(err)
		if !reflect.DeepEqual(open, []schedule.Firing{first}) {
			f.Fatalf("open: %+v", open)
		}
		first.State, first.Error = schedule.Failed, "no room"
		f.ok(f.store.SettleFiring(f.ctx, first))
		f.ok(f.store.SettleFiring(f.ctx, schedule.Firing{Run: "r1", State: schedule.Started}))
		f.ok(f.store.SettleFiring(f.ctx, schedule.Firing{Run: "none", State: schedule.Started}))
		got, err := f.store.Firings(f.ctx, "s1", 10)
		f.ok(err)
		if !reflect.DeepEqual(got, []schedule.Firing{second, first}) {
			f.Fatalf("got %+v", got)
		}
		f.ok(f.store.RemoveSchedule(f.ctx, "s1"))
		if got, err = f.store.Firings(f.ctx, "s1", 10); err != nil || len(got) != 0 {
			f.Fatalf("after the schedule: %+v, %v", got, err)
		}
	}},
	{"the last firings are kept", func(f *fixture) {
		s, other := f.planned("s1", "", at), f.planned("s2", "", at)
		f.ok(f.store.Fire(f.ctx, other, schedule.Firing{Schedule: "s2", Run: "o"}))
		for i := range schedule.KeepFirings + 3 {
			f.ok(f.store.Fire(f.ctx, s, schedule.Firing{Schedule: "s1", Run: fmt.Sprint("r", i), State: schedule.Started}))
			s.Revision++
		}
		got, err := f.store.Firings(f.ctx, "s1", 1000)
		f.ok(err)
		if len(got) != schedule.KeepFirings || got[0].Run != fmt.Sprint("r", schedule.KeepFirings+2) || got[len(got)-1].Run != "r3" {
			f.Fatalf("%d firings, from %+v to %+v", len(got), got[0], got[len(got)-1])
		}
		if got, err = f.store.Firings(f.ctx, "s2", 1000); err != nil || len(got) != 1 {
			f.Fatalf("of the other: %+v, %v", got, err)
		}
	}},
	{"of many who fire one does", func(f *fixture) {
		s := f.planned("s1", "", at)
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				switch err := f.handles[i%handles].Fire(f.ctx, s, schedule.Firing{Schedule: "s1", Run: fmt.Sprint("r", i), State: schedule.Claimed}); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, schedule.ErrChanged):
					f.Error(err)
				}
			})
		}
		wg.Wait()
		open, err := f.store.OpenFirings(f.ctx)
		f.ok(err)
		if won.Load() != 1 || len(open) != 1 {
			f.Fatalf("%d fired, and there are %+v", won.Load(), open)
		}
	}},
}

// ended creates a run and brings it to a status.
func (f *fixture) ended(id string, status run.Status) {
	f.Helper()
	epoch := f.start(id)
	f.ok(f.commit(run.Batch{Run: id, Epoch: epoch, Events: notes(1, 2), State: &run.State{Status: status}, Release: true}))
}

// delivery is one to the hook "ops".
func delivery(id string, next time.Time) webhook.Delivery {
	return webhook.Delivery{ID: id, Hook: "ops", Event: webhook.Done, Run: "r", Body: []byte(`{"of":"` + id + `"}`), Created: at, State: webhook.Pending, Next: next}
}

func (f *fixture) claimed(now time.Time, limit int) string {
	f.Helper()
	list, err := f.store.ClaimDeliveries(f.ctx, "ops", now, now.Add(time.Minute), now.Add(12*time.Hour), limit)
	f.ok(err)
	var ids []string
	for _, d := range list {
		if string(d.Body) != `{"of":"`+d.ID+`"}` {
			f.Errorf("%s has the body %q", d.ID, d.Body)
		}
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

var webhookTests = []test{
	{"each end of a run is news, with its commit", func(f *fixture) {
		f.ended("r1", run.Done)
		f.ended("r2", run.Paused)
		f.ended("r3", run.Waiting)
		f.ended("r4", run.Failed)
		epoch := f.start("r5")
		f.ok(f.commit(run.Batch{Run: "r5", Epoch: epoch, Entries: []run.Entry{step("s", "1")}}))
		f.is(f.commit(run.Batch{Run: "r5", Epoch: epoch + 1, State: &run.State{Status: run.Done}}), run.ErrFenced)
		news, err := f.store.News(f.ctx, 10)
		f.ok(err)
		var got []string
		for _, n := range news {
			if !n.At.Equal(f.clock.Now()) {
				f.Errorf("%s is of %v", n.Run, n.At)
			}
			got = append(got, fmt.Sprint(n.Run, " ", n.Status, " ", n.Seq))
		}
		if want := []string{"r1 done 2", "r3 waiting 2", "r4 failed 2"}; !reflect.DeepEqual(got, want) {
			f.Fatalf("got %v, want %v", got, want)
		}
		if first, err := f.store.News(f.ctx, 1); err != nil || len(first) != 1 || first[0] != news[0] {
			f.Fatalf("the first: %+v, %v", first, err)
		}
	}},
	{"what was told is no news, and what came meanwhile is", func(f *fixture) {
		f.ended("r1", run.Done)
		news, err := f.store.News(f.ctx, 10)
		f.ok(err)
		f.ok(f.store.Tell(f.ctx, news[0].N, []webhook.Delivery{delivery("d1", at)}))
		f.ended("r2", run.Done)
		again := delivery("d1", at.Add(time.Hour)) // by one who was slower
		again.Body = []byte("other")
		f.ok(f.store.Tell(f.ctx, news[0].N, []webhook.Delivery{again}))
		if news, err = f.store.News(f.ctx, 10); err != nil || len(news) != 1 || news[0].Run != "r2" {
			f.Fatalf("news: %+v, %v", news, err)
		}
		if got := f.claimed(at, 10); got != "d1" {
			f.Fatalf("claimed %q", got)
		}
	}},
	{"deliveries are claimed when they are due, by one", func(f *fixture) {
		far := delivery("d4", at.Add(100*24*time.Hour)) // from before the clock was set back
		foreign := delivery("d5", at)
		foreign.Hook = "other"
		f.ok(f.store.Tell(f.ctx, 0, []webhook.Delivery{delivery("d1", at), delivery("d2", at.Add(time.Second)), delivery("d3", at), far, foreign}))
		for _, c := range []struct {
			now   time.Duration
			limit int
			want  string
		}{{0, 2, "d1 d3"}, {0, 10, "d4"}, {0, 10, ""}, {time.Second, 10, "d2"}, {time.Minute, 10, "d1 d3 d4"}} {
			if got := f.claimed(at.Add(c.now), c.limit); got != c.want {
				f.Errorf("after %v: %q, want %q", c.now, got, c.want)
			}
		}
		var claims atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				now := at.Add(time.Hour)
				list, err := f.handles[i%handles].ClaimDeliveries(f.ctx, "ops", now, now.Add(time.Minute), now.Add(12*time.Hour), 10)
				if err != nil {
					f.Error(err)
				}
				claims.Add(int64(len(list)))
			})
		}
		wg.Wait()
		if claims.Load() != 4 {
			f.Errorf("4 deliveries were claimed %d times", claims.Load())
		}
	}},
	{"what became of deliveries is known, counted and removed in time", func(f *fixture) {
		old := delivery("d0", at)
		old.Created = at.Add(-time.Hour)
		f.ok(f.store.Tell(f.ctx, 0, []webhook.Delivery{old, delivery("d1", at), delivery("d2", at)}))
		d, err := f.store.Delivery(f.ctx, "d1")
		f.ok(err)
		d.State, d.Attempts, d.At, d.Next, d.Status, d.Error = webhook.GivenUp, 3, at.Add(time.Minute), time.Time{}, 410, "gone"
		f.ok(f.store.RecordAttempt(f.ctx, d))
		f.ok(f.store.RecordAttempt(f.ctx, webhook.Delivery{ID: "none", State: webhook.Delivered}))
		got, err := f.store.Delivery(f.ctx, "d1")
		f.ok(err)
		if !reflect.DeepEqual(got, d) {
			f.Fatalf("got %+v, want %+v", got, d)
		}
		_, err = f.store.Delivery(f.ctx, "none")
		f.is(err, webhook.ErrNone)
		d.Body = nil
		for _, c := range []struct {
			filter webhook.Filter
			want   string
		}{{webhook.Filter{}, "d2 d1 d0"}, {webhook.Filter{Limit: 1}, "d2"}, {webhook.Filter{State: webhook.GivenUp}, "d1"}, {webhook.Filter{Hook: "other"}, ""}, {webhook.Filter{Run: "r", State: webhook.Pending}, "d2 d0"}} {
			list, err := f.store.Deliveries(f.ctx, c.filter)
			f.ok(err)
			var ids []string
			for _, d := range list {
				ids = append(ids, d.ID)
			}
			if strings.Join(ids, " ") != c.want {
				f.Errorf("%+v: %v, want %q", c.filter, ids, c.want)
			}
		}
		counts, err := f.store.CountDeliveries(f.ctx)
		f.ok(err)
		if want := map[webhook.State]int{webhook.Pending: 2, webhook.GivenUp: 1}; !reflect.DeepEqual(counts, want) {
			f.Errorf("counted %v", counts)
		}
		n, err := f.store.TidyDeliveries(f.ctx, at)
		f.ok(err)
		if _, gone := f.store.Delivery(f.ctx, "d0"); n != 1 || !errors.Is(gone, webhook.ErrNone) {
			f.Errorf("removed %d, %v", n, gone)
		}
	}},
}
