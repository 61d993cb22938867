package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"dossier/internal/store"
)

// faults kills children whose model, search engine and effects fail too, in
// phases: runs fail and are resumed, budgets are spent and raised, and of
// effects nobody knows whether they took place.
func (t *test) faults(ctx context.Context) (bool, error) {
	fmt.Fprintf(t.out, "killing a worker %d times in a world that fails, seed %d\n", t.cycles, t.seed)
	killed := filepath.Join(t.dir, "failing")
	k, err := t.failing(ctx, killed)
	if err != nil {
		return false, fmt.Errorf("seed %d: %w", t.seed, err)
	}
	calm := filepath.Join(t.dir, "calm")
	if err := t.calmly(ctx, killed, calm); err != nil {
		return false, err
	}
	want, err := answers(ctx, calm)
	if err != nil {
		return false, err
	}
	v, err := checkFailing(ctx, killed, want)
	if err != nil {
		return false, err
	}
	for _, line := range v.trouble {
		fmt.Fprintln(t.out, line)
	}
	fmt.Fprintf(t.out, "%d runs, %d steps, %d calls of which %d failed; runs were resumed %d times, %d of them with more to spend; %d replayed\n",
		v.runs, v.steps, v.calls, k.faults, v.reopened, v.raised, v.replayed)
	fmt.Fprintf(t.out, "%d recorded steps were done again beside a branch that failed\n", v.beside)
	fmt.Fprintf(t.out, "%d effects, of which %d after an answer, %d runs in which two in a row were uncertain, %d skipped\n",
		v.effects, v.retried, v.twice, v.skipped)
	fmt.Fprintf(t.out, "kills: %d at random moments, %d before a commit, %d after one, %d in the middle of an effect\n", k.random, k.before, k.after, k.inEffect)
	fmt.Fprintf(t.out, "lost=%d duplicated=%d repeated_calls=%d gaps=%d answers_equal=%t effects_repeated=%d cycles=%d\n",
		v.lost, v.duplicated, v.repeated, v.gaps, len(v.unequal) == 0, v.effectsRepeated, k.total())
	ok := v.ok() && v.beside == 0 && v.effectsRepeated == 0 && k.total() == t.cycles
	if !ok {
		fmt.Fprintf(t.out, "the seed was %d\n", t.seed)
	}
	return ok, nil
}

// failingKills are kills in a world that fails.
type failingKills struct {
	kills
	inEffect, faults int
}

func (k failingKills) total() int { return k.kills.total() + k.inEffect }

// failing kills children until there were enough kills, and lets a last one
// finish everything in a world that is well again.
func (t *test) failing(ctx context.Context, dir string) (k failingKills, err error) {
	w, err := newWorld(dir, t.seed, false)
	if err != nil {
		return k, err
	}
	defer w.close()
	rnd := rand.New(rand.NewPCG(t.seed, 1))
	for tries := 0; k.total() < t.cycles; tries++ {
		if tries > 4*t.cycles+20 {
			return k, errors.New("the children end before they can be killed")
		}
		o := order{Dir: dir, URL: w.url, Owner: fmt.Sprintf("child-%d", tries), Runs: concurrent, Most: 1 << 20, Sole: true, Failing: &failing{Seed: rnd.Uint64()}}
		var patience time.Duration
		counter := &k.random
		switch tries % 3 {
		case 0:
			patience = time.Duration(rnd.Int64N(int64(150 * time.Millisecond)))
		case 1, 2:
			o.Boundary, o.After = 1+rnd.IntN(90), tries%3 == 2
			counter = &k.before
			if o.After {
				counter = &k.after
			}
		}
		inEffect, err := t.killFailing(ctx, w, o, patience)
		if err != nil {
			return k, err
		}
		open, _, err := unfinished(ctx, dir)
		if err != nil {
			return k, err
		}
		switch {
		case inEffect:
			k.inEffect++
		case open > 0:
			*counter++
		}
		if k.total()%20 == 0 {
			fmt.Fprintf(t.errs, "\r%d kills", k.total())
		}
	}
	fmt.Fprintf(t.errs, "\r%d kills\n", k.total())
	k.faults = w.faults
	w.heal()
	return k, t.finish(ctx, order{Dir: dir, URL: w.url, Owner: "last", Runs: concurrent, Most: 1 << 20, Drain: true, Sole: true, Failing: &failing{Seed: rnd.Uint64()}})
}

// killFailing is kill, at the latest in the middle of an effect that is to be
// uncertain; it says whether it was.
func (t *test) killFailing(ctx context.Context, w *world, o order, patience time.Duration) (inEffect bool, err error) {
	dead := w.mortal()
	defer dead()
	cmd, said, err := t.start(ctx, o)
	if err != nil {
		return false, err
	}
	wanted := sayWorking
	if o.Boundary > 0 {
		wanted = sayBoundary
	}
	var moment <-chan time.Time // never, while the child does not work
	for inEffect = false; ; {
		select {
		case <-w.held:
			inEffect = true
		case <-moment:
		case line, alive := <-said:
			if !alive || line != wanted {
				if alive {
					continue
				}
				return false, errors.Join(errors.New("the child ended by itself"), cmd.Wait())
			}
			if o.Boundary == 0 {
				moment = time.After(patience) // the moment is what is random here
				continue
			}
		}
		break
	}
	return inEffect, kill(cmd)
}

// calmly has a child work through the same requests, with the limits that they
// were given at last, in peace.
func (t *test) calmly(ctx context.Context, from, dir string) error {
	s, err := openStore(from)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return err
	}
	requests := make([]json.RawMessage, len(all))
	for _, rec := range all {
		whole, err := s.Run(ctx, rec.ID)
		if err != nil {
			return err
		}
		n := number(rec.ID)
		if n < 1 || n > len(all) {
			return fmt.Errorf("%d runs, and among them %s", len(all), rec.ID)
		}
		requests[n-1] = whole.Request
	}
	w, err := newWorld(dir, t.seed, true)
	if err != nil {
		return err
	}
	defer w.close()
	raw, err := json.Marshal(requests)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "requests.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return err
	}
	return t.finish(ctx, order{Dir: dir, URL: w.url, Owner: "calm", Runs: concurrent, Most: len(requests), Sole: true, Failing: &failing{Requests: path}})
}
