package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/internal/store"
	"dossier/run"
)

// sketch is the least that can be said about a run: what any adapter must agree with.
type sketch struct {
	epoch   int64
	owner   string
	until   time.Time
	status  run.Status
	entries []string
	places  []string
	signals int64
}

// modelTest drives a store with random calls and compares it with a sketch.
func modelTest(t *testing.T, open Open) {
	f := newFixture(t, open) // one for all checks: each has runs of its own
	check := 0
	rapid.Check(t, func(rt *rapid.T) {
		check++
		model := map[string]*sketch{}
		ids := []string{fmt.Sprint(check, "a"), fmt.Sprint(check, "b"), fmt.Sprint(check, "c")}
		anyRun := rapid.SampledFrom(ids)
		keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 3, rapid.ID[int])
		expect := func(what string, err, want error) {
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				rt.Fatalf("%s: got %v, want %v", what, err, want)
			}
		}
		leased := func(m *sketch) bool { return m.owner != "" && f.clock.Now().Before(m.until) }

		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				id := anyRun.Draw(rt, "run")
				var want error
				if model[id] != nil {
					want = store.ErrExists
				} else {
					model[id] = &sketch{status: run.Queued}
				}
				expect("create "+id, f.store.Create(f.ctx, run.Record{ID: id, Session: "s"}, nil, nil), want)
			},
			"acquire": func(rt *rapid.T) {
				id, owner := anyRun.Draw(rt, "run"), rapid.SampledFrom([]string{"w1", "w2"}).Draw(rt, "owner")
				_, err := f.store.Acquire(f.ctx, id, owner, ttl)
				switch m := model[id]; {
				case m == nil:
					expect("acquire", err, run.ErrUnknownRun)
				case m.status.Ended():
					expect("acquire", err, run.ErrEnded)
				case leased(m):
					expect("acquire", err, run.ErrLeased)
				default:
					expect("acquire", err, nil)
					m.epoch, m.owner, m.until, m.status = m.epoch+1, owner, f.clock.Now().Add(ttl), run.Running
				}
			},
			"commit": func(rt *rapid.T) {
				id := anyRun.Draw(rt, "run")
				m := model[id]
				b := run.Batch{Run: id, Epoch: int64(rapid.IntRange(0, 3).Draw(rt, "epoch"))}
				var last int64
				if m != nil {
					last = int64(len(m.places))
					if rapid.IntRange(0, 4).Draw(rt, "current") > 0 {
						b.Epoch = m.epoch
					}
				}
				if rapid.IntRange(0, 9).Draw(rt, "gap") == 0 {
					last++
				}
				var want error
				var entries, places []string
				for _, k := range keys.Draw(rt, "keys") {
					key := fmt.Sprint("k", k)
					b.Entries = append(b.Entries, step(key, `1`))
					entries = append(entries, key)
					if m != nil && slices.Contains(m.entries, key) {
						want = store.ErrExists
					}
				}
				for i, k := range keys.Draw(rt, "places") {
					place := fmt.Sprint("p", k)
					b.Events = append(b.Events, note(last+1+int64(i), place, ""))
					places = append(places, place)
					if m != nil && slices.Contains(m.places, place) {
						want = store.ErrExists
					}
				}
				if m != nil && len(b.Events) > 0 && last != int64(len(m.places)) {
					want = store.ErrSequence
				}
				switch {
				case m == nil:
					want = run.ErrUnknownRun
				case m.epoch != b.Epoch || m.owner == "":
					want = run.ErrFenced
				}
				if rapid.IntRange(0, 3).Draw(rt, "end") == 0 {
					b.State = &run.State{Status: rapid.SampledFrom([]run.Status{run.Waiting, run.Paused, run.Failed, run.Done}).Draw(rt, "status")}
					b.Release = true
				}
				expect("commit", f.commit(b), want)
				if want != nil {
					return
				}
				m.entries, m.places = append(m.entries, entries...), append(m.places, places...)
				if b.State != nil {
					m.status, m.owner, m.until = b.State.Status, "", time.Time{}
				}
			},
			"renew": func(rt *rapid.T) {
				owner := rapid.SampledFrom([]string{"w1", "w2"}).Draw(rt, "owner")
				mark := int64(rapid.IntRange(0, 2).Draw(rt, "mark"))
				held := map[string]int64{}
				var signalled, lost []string
				for _, id := range ids {
					held[id] = mark
					m := model[id]
					if m == nil || m.owner != owner {
						lost = append(lost, id)
						continue
					}
					m.until = f.clock.Now().Add(ttl)
					if m.signals > mark {
						signalled = append(signalled, id)
					}
				}
				gotSignalled, gotLost, err := f.store.Renew(f.ctx, owner, ttl, held)
				expect("renew", err, nil)
				if !reflect.DeepEqual(gotSignalled, signalled) || !reflect.DeepEqual(gotLost, lost) {
					rt.Fatalf("renew: got %v and %v, want %v and %v", gotSignalled, gotLost, signalled, lost)
				}
			},
			"steer": func(rt *rapid.T) {
				id := anyRun.Draw(rt, "run")
				err := f.store.Signal(f.ctx, id, run.Signal{Kind: run.SignalSteer})
				switch m := model[id]; {
				case m == nil:
					expect("steer", err, run.ErrUnknownRun)
				case m.status.Ended():
					expect("steer", err, run.ErrEnded)
				default:
					expect("steer", err, nil)
					m.signals++
				}
			},
			"reopen": func(rt *rapid.T) {
				id := anyRun.Draw(rt, "run")
				m := model[id]
				r := run.Reopening{Event: note(1, "@reopen", "")}
				if m != nil {
					if r.LastSeq = int64(len(m.places)); r.LastSeq > 0 {
						r.Void = m.places[r.LastSeq-1:]
					}
					r.Epoch = m.epoch - int64(rapid.IntRange(0, 1).Draw(rt, "behind"))
					r.Event.Seq, r.Event.Place = r.LastSeq+1, fmt.Sprint("@reopen/", m.epoch)
				}
				err := f.store.Reopen(f.ctx, id, r)
				switch {
				case m == nil:
					expect("reopen", err, run.ErrUnknownRun)
				case leased(m):
					expect("reopen", err, store.ErrBusy)
				case r.Epoch != m.epoch:
					expect("reopen", err, run.ErrChanged)
				default:
					expect("reopen", err, nil)
					m.places = slices.Clone(m.places)
					if last := len(m.places) - 1; last >= 0 {
						m.places[last] = run.VoidPlace(m.places[last], m.epoch)
					}
					m.places = append(m.places, r.Event.Place)
					m.status, m.owner, m.until = run.Queued, "", time.Time{}
					m.epoch++
				}
			},
			"delete": func(rt *rapid.T) {
				id := anyRun.Draw(rt, "run")
				err := f.store.Delete(f.ctx, id)
				switch m := model[id]; {
				case m == nil:
					expect("delete", err, run.ErrUnknownRun)
				case leased(m):
					expect("delete", err, store.ErrBusy)
				default:
					expect("delete", err, nil)
					delete(model, id)
				}
			},
			"wait": func(rt *rapid.T) {
				f.clock.Advance(ttl * time.Duration(rapid.IntRange(1, 3).Draw(rt, "halves")) / 2)
			},
			"": func(rt *rapid.T) {
				for _, id := range ids {
					m := model[id]
					h, err := f.store.History(f.ctx, id)
					if m == nil {
						expect("history", err, run.ErrUnknownRun)
						continue
					}
					expect("history", err, nil)
					got := sketch{epoch: h.Record.Epoch, owner: h.Record.Owner, until: h.Record.LeaseUntil, status: h.Record.Status, signals: int64(len(h.Signals))}
					for _, e := range h.Entries {
						got.entries = append(got.entries, e.Key)
					}
					events, err := f.store.Events(f.ctx, id, 0, 0)
					expect("events", err, nil)
					for i, e := range events {
						if e.Seq != int64(i)+1 || h.Places[e.Place] != e.Seq {
							rt.Fatalf("run %s: event %d at %q has sequence %d, placed at %d", id, i, e.Place, e.Seq, h.Places[e.Place])
						}
						got.places = append(got.places, e.Place)
					}
					if !reflect.DeepEqual(got, *m) {
						rt.Fatalf("run %s:\ngot  %+v\nwant %+v", id, got, *m)
					}
				}
			},
		})
	})
}
