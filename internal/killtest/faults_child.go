package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/llm/openai"
	"dossier/run"
)

// failing is what a child is told whose world fails.
type failing struct {
	Seed uint64 `json:"seed"`
	// Requests names a file with the requests of the runs to make; without it
	// they are those of newErrand.
	Requests string `json:"requests,omitempty"`
}

// failingChild works on runs that fail, and resumes them.
type failingChild struct {
	order
	store    *boundary
	exec     *run.Executor
	program  run.Program
	requests []json.RawMessage

	mu     sync.Mutex // guards the choice of the next run, and chance
	chance *rand.Rand
	taken  map[string]bool
}

func failingMain(ctx context.Context, o order, s *sqlite.Store) error {
	model, err := openai.New(openai.Config{BaseURL: o.URL + "/v1", Model: "scripted"})
	if err != nil {
		return err
	}
	c := &failingChild{
		order: o, store: &boundary{Store: s, at: o.Boundary, after: o.After},
		program: (&errands{model: model, world: o.URL, http: http.DefaultClient}).program,
		chance:  rand.New(rand.NewPCG(o.Failing.Seed, 3)), taken: make(map[string]bool),
	}
	if o.Failing.Requests != "" {
		raw, err := os.ReadFile(o.Failing.Requests)
		if err == nil {
			err = json.Unmarshal(raw, &c.requests)
		}
		if err != nil {
			return err
		}
	}
	c.exec = run.NewExecutor(run.ExecutorConfig{Journal: c.store, Owner: o.Owner, TTL: o.TTL, Program: c.program})
	fmt.Println(sayWorking)
	errs := make([]error, o.Runs)
	var wg sync.WaitGroup
	for i := range o.Runs {
		wg.Go(func() { errs[i] = c.work(ctx) })
	}
	wg.Wait()
	c.exec.Close()
	return errors.Join(errors.Join(errs...), s.Close())
}

func (c *failingChild) work(ctx context.Context) error {
	for {
		id, err := c.next(ctx)
		if err != nil || id == "" {
			return err
		}
		if err := c.bringToItsEnd(ctx, id); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
}

// next is the oldest run that is not settled and that nobody is on, or a new
// one.
func (c *failingChild) next(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.store.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	for _, rec := range slices.Backward(all) {
		if c.taken[rec.ID] {
			continue
		}
		if rec.Status == run.Done {
			_, err := c.store.Setting(ctx, settledBucket, rec.ID)
			if err == nil {
				c.taken[rec.ID] = true
				continue
			}
			if !errors.Is(err, store.ErrNotFound) {
				return "", err
			}
		}
		c.taken[rec.ID] = true
		return rec.ID, nil
	}
	if c.Drain || len(all) >= c.Most {
		return "", nil
	}
	rec := newRecord(len(all) + 1)
	c.taken[rec.ID] = true
	if c.requests != nil {
		rec.Request = c.requests[len(all)]
	} else if rec.Request, err = json.Marshal(newErrand(len(all) + 1)); err != nil {
		return "", err
	}
	return rec.ID, c.store.Create(ctx, rec, nil, nil)
}

// settledBucket has the runs of which nothing is left to do.
const settledBucket = "killtest"

// mostAttempts is after how many of them a run counts as one that does not come
// to its end.
const mostAttempts = 300

// bringToItsEnd works on a run, answers it and resumes it until it is done and
// has got all the budget that it gets. Now and then it leaves one that failed to
// the next child.
func (c *failingChild) bringToItsEnd(ctx context.Context, id string) error {
	for range mostAttempts {
		rec, err := c.store.Run(ctx, id)
		if err != nil {
			return err
		}
		switch rec.Status {
		case run.Done, run.Failed:
			if rec.Status == run.Failed && !c.Drain && c.lucky(4) {
				return nil
			}
			again, err := c.resume(ctx, id)
			if err != nil {
				return err
			}
			if !again {
				return c.store.SetSetting(ctx, settledBucket, id, []byte("{}"))
			}
			continue
		case run.Waiting:
			if err := c.answer(ctx, id); err != nil {
				return err
			}
		}
		switch _, err := c.exec.Execute(ctx, id); {
		case err == nil, errors.Is(err, run.ErrEnded):
		case errors.Is(err, run.ErrLeased):
			time.Sleep(10 * time.Millisecond) // another worker's, which there is none of
		default:
			return err
		}
	}
	rec, err := c.store.Run(ctx, id)
	return errors.Join(err, fmt.Errorf("it does not come to its end: %s, %+v", rec.Status, rec.Failure))
}

// lucky is true once in n times.
func (c *failingChild) lucky(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chance.IntN(n) == 0
}

func (c *failingChild) answer(ctx context.Context, id string) error {
	open, err := c.store.Asks(ctx, id)
	for _, ask := range open {
		text := "short"
		if strings.Contains(ask.Key, "publish@") {
			text = onUnknown(id)
		}
		if err := c.store.Answer(ctx, id, ask.Key, text); err != nil {
			return err
		}
	}
	return err
}

// resume is what the engine does to resume a run, after the run was replayed. It
// says whether there is anything left to do.
func (c *failingChild) resume(ctx context.Context, id string) (again bool, err error) {
	h, err := replayed(ctx, c.store, id, c.program)
	if err != nil {
		return false, err
	}
	var o run.ReopenOptions
	if done := recordedSteps(h); h.Record.Status == run.Failed && len(done) > 0 && c.lucky(6) {
		o.From = done[c.pick(len(done))]
	}
	r, err := run.Reopen(h, o)
	if spent, ok := errors.AsType[*run.SpentError](err); ok {
		var q errandRequest
		if err := json.Unmarshal(h.Record.Request, &q); err != nil {
			return false, err
		}
		if q.Limits, o.Raised, err = q.Limits.Raise(q.raised(spent.What)); err != nil {
			return false, err
		}
		if len(o.Raised) == 0 {
			return false, nil // it ends with what there is
		}
		if o.Request, err = json.Marshal(q); err != nil {
			return false, err
		}
		r, err = run.Reopen(h, o)
		if err != nil {
			return false, fmt.Errorf("with more to spend: %w", err)
		}
	}
	if errors.Is(err, run.ErrEnded) {
		return false, nil
	}
	if err == nil {
		err = c.store.Reopen(ctx, id, r)
	}
	return true, err
}

func (c *failingChild) pick(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chance.IntN(n)
}

func recordedSteps(h *run.History) (keys []string) {
	for _, e := range h.Entries {
		if e.Kind == run.EntryStep {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// replayed is the history of a run that is over, which was replayed from its
// journal and is identical.
func replayed(ctx context.Context, s store.Store, id string, program run.Program) (*run.History, error) {
	h, err := s.History(ctx, id)
	if err != nil {
		return nil, err
	}
	log, err := s.Events(ctx, id, 0, 0)
	if err != nil {
		return nil, err
	}
	fn, limits, err := program(h.Record)
	if err != nil {
		return nil, err
	}
	made, err := run.Replay(ctx, h, log, fn, limits)
	if err != nil {
		return nil, err
	}
	want := make([]event.Event, len(log))
	for i := range log {
		want[i] = log[i].Event
	}
	if !reflect.DeepEqual(made, want) {
		return nil, errors.New("the replay differs from the log")
	}
	return h, nil
}

// openStore opens the database of a directory.
func openStore(dir string) (*sqlite.Store, error) {
	return sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
}
