package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/llm/openai"
	"dossier/run"
)

// order is what a child process is told to do.
type order struct {
	Dir   string `json:"dir"`
	URL   string `json:"url"`
	Owner string `json:"owner"`
	// Runs is how many runs to keep going; new ones are made as runs end.
	// With Drain no new ones are made and the child ends with the last.
	Runs  int  `json:"runs"`
	Drain bool `json:"drain"`
	// Most bounds the number of runs that are made.
	Most int `json:"most"`
	// Boundary n stops the child at its n-th commit, before it is made or
	// After: the child says so and hangs until it is killed.
	Boundary int  `json:"boundary"`
	After    bool `json:"after"`
	// Sole says that no other worker is alive.
	Sole bool          `json:"sole"`
	TTL  time.Duration `json:"ttl"`
	// Search has the child search the web in Dir, and nothing else.
	Search *searching `json:"search,omitempty"`
	// Failing has the child work on runs whose world fails.
	Failing *failing `json:"failing,omitempty"`
	// Queued has the child queue runs on instances of an agent in Dir, and
	// nothing else.
	Queued *queueing `json:"queued,omitempty"`
	// Serve has the child be `dossier serve` over Dir, with these settings.
	Serve map[string]string `json:"serve,omitempty"`
	// SmallDisk has it do so on a disk of its own, mounted at Dir.
	SmallDisk bool `json:"small_disk,omitempty"`
}

// orderVar is the environment variable that makes a process a child.
const orderVar = "DOSSIER_KILLTEST_ORDER"

// What a child says on its standard output.
const (
	sayWorking  = "working"
	sayBoundary = "boundary"
	sayFenced   = "fenced"
	sayQueued   = "queued"
)

func childMain(raw string) error {
	var o order
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		return err
	}
	ctx := context.Background()
	if o.Search != nil {
		return searchMain(ctx, o.Dir, *o.Search)
	}
	if o.Serve != nil {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		if o.SmallDisk {
			if err := onSmallDisk(o.Dir); err != nil {
				return err
			}
		}
		return serveMain(ctx, o.Dir, o.Serve)
	}
	if o.Queued != nil {
		return queueMain(ctx, o.Dir, *o.Queued)
	}
	s, err := openStore(o.Dir)
	if err != nil {
		return err
	}
	if o.Sole {
		owners, err := s.Owners(ctx)
		for _, owner := range owners {
			err = errors.Join(err, s.Evict(ctx, owner))
		}
		if err != nil {
			return err
		}
	}
	if o.Failing != nil {
		return failingMain(ctx, o, s)
	}
	model, err := openai.New(openai.Config{BaseURL: o.URL, Model: "scripted"})
	if err != nil {
		return err
	}
	c := &child{order: o, store: s}
	c.exec = run.NewExecutor(run.ExecutorConfig{
		Journal: &boundary{Store: s, at: o.Boundary, after: o.After}, Owner: o.Owner, TTL: o.TTL,
		Program: (&worker{model: model}).program,
	})
	fmt.Println(sayWorking)
	if err := c.work(ctx); err != nil {
		return err
	}
	c.exec.Close()
	return s.Close()
}

// child is a worker process.
type child struct {
	order
	store *sqlite.Store
	exec  *run.Executor
}

// work takes up what earlier children left and starts new runs.
func (c *child) work(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, c.Runs)
	var mu sync.Mutex // guards the choice of the next run
	taken := make(map[string]bool)
	next := func() (string, error) {
		mu.Lock()
		defer mu.Unlock()
		all, err := c.store.List(ctx, store.Filter{Limit: c.Most + 1})
		if err != nil {
			return "", err
		}
		for _, rec := range all {
			if !rec.Status.Ended() && !taken[rec.ID] {
				taken[rec.ID] = true
				return rec.ID, nil
			}
		}
		if c.Drain || len(all) >= c.Most {
			return "", nil
		}
		rec := newRecord(len(all) + 1)
		taken[rec.ID] = true
		return rec.ID, c.store.Create(ctx, rec, nil, nil)
	}
	for i := range c.Runs {
		wg.Go(func() {
			for {
				id, err := next()
				if err != nil || id == "" {
					errs[i] = err
					return
				}
				if errs[i] = c.finish(ctx, id); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// finish works on a run to its end, answering what it asks.
func (c *child) finish(ctx context.Context, id string) error {
	for {
		status, err := c.exec.Execute(ctx, id)
		switch {
		case errors.Is(err, run.ErrFenced) || errors.Is(err, run.ErrLapsed):
			fmt.Println(sayFenced)
			return nil
		case errors.Is(err, run.ErrEnded):
			return nil
		case errors.Is(err, run.ErrLeased):
			time.Sleep(c.TTL / 10) // until the other worker's lease is over
		case err != nil:
			return err
		case status.Ended():
			return nil
		case status == run.Waiting:
			if err := c.store.Answer(ctx, id, "", "short"); err != nil && !errors.Is(err, store.ErrNotWaiting) {
				return err
			}
		}
	}
}

func newRecord(n int) run.Record {
	return run.Record{
		ID: fmt.Sprintf("run-%04d", n), Session: "killtest", Mode: "killtest",
		Request: json.RawMessage(fmt.Sprintf(`"topic %d"`, n)), Status: run.Queued, Created: time.Now(),
	}
}

// boundary stops the process at a commit.
type boundary struct {
	*sqlite.Store
	at    int
	after bool
	mu    sync.Mutex
	count int
}

// here says whether this is the commit to stop at.
func (b *boundary) here() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	return b.count == b.at
}

// Reopen implements store.Runs.
func (b *boundary) Reopen(ctx context.Context, id string, r run.Reopening) error {
	here := b.here()
	if here && !b.after {
		hang()
	}
	err := b.Store.Reopen(ctx, id, r)
	if here {
		hang()
	}
	return err
}

// Commit implements run.Journal.
func (b *boundary) Commit(batch *run.Batch, done func(error)) {
	switch here := b.here(); {
	case !here:
		b.Store.Commit(batch, done)
	case b.after:
		b.Store.Commit(batch, func(error) { hang() })
	default:
		hang()
	}
}

// hang says that the boundary is reached and waits for the end.
func hang() {
	fmt.Println(sayBoundary)
	_ = os.Stdout.Sync()
	select {}
}
