package dispatch_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/dispatch"
	"dossier/internal/store/memory"
	"dossier/run"
)

var (
	seeds = flag.Int("seeds", 1000, "how many seeds TestChaos tries")
	alone = flag.Int64("seed", -1, "the only seed that TestChaos tries")
)

// Runs with parallel branches, messages and questions are worked on by several
// workers, of which each may lose its storage at any moment, for a while or for
// ever, while answers, pauses and steering come in, in virtual time. Whatever
// the order: each run ends with the same answer, nothing that was recorded is
// done again, the log has no gap, and it can be replayed.
//
//	go test ./internal/dispatch -run TestChaos -seeds 10000
//	go test ./internal/dispatch -run TestChaos -seed 4711
func TestChaos(t *testing.T) {
	first, last := int64(0), int64(*seeds)
	if *alone >= 0 {
		first, last = *alone, *alone+1
	}
	for seed := first; seed < last && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			c := newChaos(t, seed)
			c.run()
			if t.Failed() {
				t.Errorf("to see it alone: go test ./internal/dispatch -run TestChaos -seed %d", seed)
			}
		})
	}
}

const (
	chaosRuns    = 3
	chaosWorkers = 3
	chaosTTL     = 9 * time.Second
)

type chaos struct {
	*testing.T
	rand  *rand.Rand
	store *memory.Store

	// slots of an instance that all runs belong to; 0 where they belong to none.
	slots int

	mu   sync.Mutex
	done map[string]int // how often each step's function came to its end
	at   map[string]int // how many steps of each run are under way
}

func newChaos(t *testing.T, seed int64) *chaos {
	return &chaos{
		T: t, rand: rand.New(rand.NewPCG(uint64(seed), 1)), store: memory.New(memory.Options{}),
		done: make(map[string]int), at: make(map[string]int),
	}
}

// work is a step that takes its time.
func (c *chaos) work(ctx context.Context, s *run.Scope, name string) (string, error) {
	return run.Step(ctx, s, name, func(ctx context.Context, s *run.Scope) (string, error) {
		if h, err := c.store.History(context.Background(), s.Record().ID); err == nil {
			for _, e := range h.Entries {
				if e.Kind == run.EntryStep && e.Key == s.Path() {
					c.Errorf("%s of %s is done again", s.Path(), s.Record().ID)
				}
			}
		}
		defer c.began(s.Record().ID)()
		// How long it takes follows from where it is, not from when.
		h := 0
		for _, b := range s.Record().ID + s.Path() {
			h = h*31 + int(b)
		}
		select {
		case <-time.After(time.Duration(h%12000) * time.Millisecond):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		c.mu.Lock()
		c.done[s.Record().ID+" "+s.Path()]++
		c.mu.Unlock()
		s.Charge(run.Spent{Calls: 1})
		return name, s.Emit(event.NoteAdded{Text: "did " + name})
	})
}

// program has parallel branches that send what they found to one that waits
// for it, and a question.
func (c *chaos) program(ctx context.Context, s *run.Scope) error {
	inbox := run.NewMailbox[string](s, "inbox")
	var tasks []*run.Task
	for i := range 3 {
		tasks = append(tasks, run.Go(ctx, s, fmt.Sprint("branch-", i), func(ctx context.Context, s *run.Scope) error {
			for k := range 2 {
				v, err := c.work(ctx, s, fmt.Sprint("look-", k))
				if err != nil {
					return err
				}
				if err := inbox.Send(s, s.Path()+"/"+v); err != nil {
					return err
				}
			}
			if i > 0 {
				return nil
			}
			a, err := s.Ask(ctx, run.Question{Questions: []string{"which?"}})
			if err != nil {
				return err
			}
			return inbox.Send(s, "said "+a.Text)
		}))
	}
	var got []string
	for range 7 {
		v, err := inbox.Receive(ctx)
		if err != nil {
			return err
		}
		if _, err := s.Steer(); err != nil {
			return err
		}
		got = append(got, v)
		if err := s.Emit(event.NoteAdded{Text: v}); err != nil {
			return err
		}
	}
	if err := run.All(ctx, tasks...); err != nil {
		return err
	}
	end, err := c.work(ctx, s, "write")
	if err != nil {
		return err
	}
	return s.Emit(event.Message{Role: "assistant", Text: fmt.Sprint(end, " ", len(got), " ", strings.Contains(strings.Join(got, "|"), "said this"))})
}

// shaky is a handle whose connection to the store can be cut.
type shaky struct {
	*memory.Store
	cut  atomic.Bool
	deaf atomic.Bool // only renewals are lost
}

var errCut = errors.New("the store can't be reached")

func (s *shaky) Acquire(ctx context.Context, id, owner string, ttl time.Duration) (*run.History, error) {
	if s.cut.Load() {
		return nil, errCut
	}
	return s.Store.Acquire(ctx, id, owner, ttl)
}

func (s *shaky) Commit(b *run.Batch, done func(error)) {
	if s.cut.Load() {
		done(errCut)
		return
	}
	s.Store.Commit(b, done)
}

func (s *shaky) Renew(ctx context.Context, owner string, ttl time.Duration, held map[string]int64) ([]string, []string, error) {
	if s.cut.Load() || s.deaf.Load() {
		return nil, nil, errCut
	}
	return s.Store.Renew(ctx, owner, ttl, held)
}

func (s *shaky) Orphans(ctx context.Context, home string) ([]string, error) {
	if s.cut.Load() {
		return nil, errCut
	}
	return s.Store.Orphans(ctx, home)
}

func (c *chaos) run() {
	ctx, cancel := context.WithTimeout(c.Context(), time.Hour) // of virtual time
	defer cancel()
	if c.slots = c.rand.IntN(3); c.slots > 0 {
		office(c.T, c.store, c.slots)
	}
	var workers []*dispatch.Local
	var links []*shaky
	for i := range chaosWorkers {
		link := &shaky{Store: c.store.Handle()}
		links = append(links, link)
		o := dispatch.Options{
			Store: link, Owner: fmt.Sprint("w", i), TTL: chaosTTL, Workers: c.rand.IntN(3), Adopt: true,
			Program: func(run.Record) (run.Func, run.Limits, error) { return c.program, run.Limits{}, nil },
		}
		if c.slots > 0 {
			o.Turns = seats{link}
		}
		workers = append(workers, dispatch.NewLocal(o))
	}
	var actors sync.WaitGroup
	for r := range chaosRuns {
		id := fmt.Sprint("r", r)
		if err := c.store.Create(ctx, run.Record{ID: id, Session: "s", Created: time.Now()}, nil, nil); err != nil {
			c.Fatal(err)
		}
		if first := c.rand.IntN(chaosWorkers + 1); first < chaosWorkers { // else a sweep finds it
			_ = workers[first].Enqueue(ctx, id, dispatch.Fresh)
		}
		seed := c.rand.Uint64()
		actors.Go(func() { c.user(ctx, id, workers, rand.New(rand.NewPCG(seed, 2))) })
	}
	actors.Go(func() { c.faults(ctx, links) })
	actors.Wait()
	if c.slots > 0 {
		c.vacated(ctx)
	}
	for r := range chaosRuns {
		c.check(fmt.Sprint("r", r))
	}
	for _, w := range workers {
		w.Close()
	}
}

// faults cuts workers off from the store, one after the other. In the end all
// are connected.
func (c *chaos) faults(ctx context.Context, links []*shaky) {
	r := rand.New(rand.NewPCG(c.rand.Uint64(), 3))
	for range r.IntN(6) {
		link := links[r.IntN(len(links))]
		time.Sleep(time.Duration(r.IntN(8000)) * time.Millisecond)
		fault := &link.cut
		if r.IntN(2) == 0 {
			fault = &link.deaf
		}
		fault.Store(true)
		time.Sleep(time.Duration(r.IntN(20000)) * time.Millisecond)
		fault.Store(false)
		if ctx.Err() != nil {
			return
		}
	}
}

// user follows a run through one worker, and answers, steers and pauses it
// through others.
func (c *chaos) user(ctx context.Context, id string, workers []*dispatch.Local, r *rand.Rand) {
	anyone := func() *dispatch.Local { return workers[r.IntN(len(workers))] }
	var busy sync.WaitGroup
	defer busy.Wait()
	if r.IntN(2) == 0 {
		pause := time.Duration(r.IntN(15000)) * time.Millisecond
		by, next := anyone(), anyone()
		busy.Go(func() {
			time.Sleep(pause)
			if by.Signal(ctx, id, run.Signal{Kind: run.SignalPause}) != nil {
				return // it was over
			}
			c.resume(ctx, id, next)
		})
	}
	if r.IntN(2) == 0 {
		steer, by := time.Duration(r.IntN(15000))*time.Millisecond, anyone()
		busy.Go(func() {
			time.Sleep(steer)
			_ = by.Signal(ctx, id, run.Signal{Kind: run.SignalSteer, Text: "faster"})
		})
	}
	wait, by := time.Duration(r.IntN(20000))*time.Millisecond, anyone()
	busy.Go(func() {
		time.Sleep(wait)
		for c.store.Answer(ctx, id, "", "this") != nil && ctx.Err() == nil { // it has not asked yet
			time.Sleep(time.Second)
		}
		_ = by.Wake(ctx, id)
	})
	var last int64
	for ev, err := range anyone().Follow(ctx, id, 0) {
		if err != nil {
			if _, stopped := errors.AsType[*dispatch.StoppedError](err); stopped {
				break // the worker's storage failed; the log is whole all the same
			}
			c.Errorf("following %s: %v", id, err)
			return
		}
		if ev.Seq != 0 && ev.Seq != last+1 {
			c.Errorf("%s: event %d follows %d", id, ev.Seq, last)
		}
		last = max(last, ev.Seq)
	}
	for ctx.Err() == nil {
		if rec, err := c.store.Run(ctx, id); err == nil && rec.Status.Ended() {
			return
		}
		time.Sleep(time.Second)
	}
}

// resume ends a pause once it has taken effect.
func (c *chaos) resume(ctx context.Context, id string, w *dispatch.Local) {
	for ctx.Err() == nil {
		time.Sleep(time.Second)
		h, err := c.store.History(ctx, id)
		if err != nil || h.Record.Status.Ended() {
			return
		}
		if h.Record.Status != run.Paused {
			continue
		}
		r, err := run.Reopen(h, run.ReopenOptions{})
		if err == nil {
			err = c.store.Reopen(ctx, id, r)
		}
		if err == nil {
			_ = w.Enqueue(ctx, id, dispatch.Resumed)
			return
		}
	}
}

// check holds a run that is over against what it had to do.
func (c *chaos) check(id string) {
	ctx := context.Background()
	h, err := c.store.History(ctx, id)
	if err != nil {
		c.Error(err)
		return
	}
	log, err := c.store.Events(ctx, id, 0, 0)
	if err != nil || h.Record.Status != run.Done {
		c.Errorf("%s is %s: %+v, %v", id, h.Record.Status, h.Record.Failure, err)
		return
	}
	answer := ""
	for i, p := range log {
		if p.Seq != int64(i)+1 {
			c.Errorf("%s: event %d has sequence %d", id, i, p.Seq)
		}
		if m, ok := p.Data.(event.Message); ok {
			answer += m.Text
		}
	}
	if answer != "write 7 true" {
		c.Errorf("%s answers %q", id, answer)
	}
	steps := 0
	for _, e := range h.Entries {
		if e.Kind == run.EntryStep {
			steps++
		}
	}
	if steps != 7 || h.Record.Spent.Calls != 7 {
		c.Errorf("%s has %d steps and %d calls", id, steps, h.Record.Spent.Calls)
	}
	fn := func(ctx context.Context, s *run.Scope) error { return c.program(ctx, s) }
	if _, err := run.Replay(ctx, h, log, fn, run.Limits{}); err != nil {
		c.Errorf("%s: %v", id, err)
	}
}
