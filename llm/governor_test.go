package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dossier/llm"
)

// modelFunc is a Model made of a function.
type modelFunc func(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error)

func (f modelFunc) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	return f(ctx, req, sink)
}

var down = &llm.Error{Kind: llm.ErrUnreachable, Endpoint: "localhost", Message: "connection refused"}

func TestGovernorRetries(t *testing.T) {
	cases := []struct {
		name  string
		errs  []error // of the attempts; then success
		calls int
		fails bool
	}{
		{"none", nil, 1, false},
		{"server error", []error{&llm.Error{Kind: llm.ErrServer, Status: 500}}, 2, false},
		{"three passing failures", []error{&llm.Error{Kind: llm.ErrTimeout}, &llm.Error{Kind: llm.ErrCut}, &llm.Error{Kind: llm.ErrMalformed}}, 4, false},
		{"four passing failures", slices.Repeat([]error{&llm.Error{Kind: llm.ErrServer}}, 4), 4, true},
		{"many 429s", slices.Repeat([]error{&llm.Error{Kind: llm.ErrRateLimited}}, 30), 31, false},
		{"429s don't count", append(slices.Repeat([]error{&llm.Error{Kind: llm.ErrRateLimited}}, 9), &llm.Error{Kind: llm.ErrServer}, &llm.Error{Kind: llm.ErrServer}), 12, false},
		{"bad request", []error{&llm.Error{Kind: llm.ErrBadRequest}}, 1, true},
		{"quota", []error{&llm.Error{Kind: llm.ErrQuota}}, 1, true},
		{"key", []error{&llm.Error{Kind: llm.ErrAuth}}, 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				m := llm.NewGovernor(llm.GovernorConfig{Rand: seeded()}).Wrap(modelFunc(
					func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
						n++
						if n <= len(c.errs) {
							return nil, c.errs[n-1]
						}
						return &llm.Response{}, nil
					}))
				_, err := m.Stream(t.Context(), &llm.Request{}, nil)
				if n != c.calls || (err != nil) != c.fails {
					t.Errorf("%d calls, error %v; want %d calls, failure %v", n, err, c.calls, c.fails)
				}
				if c.fails && llm.KindOf(err) != llm.KindOf(c.errs[0]) {
					t.Errorf("kind lost: %v", err)
				}
			})
		})
	}
}

func TestGovernorRestartsBrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := llm.NewGovernor(llm.GovernorConfig{}).Wrap(modelFunc(
			func(_ context.Context, _ *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
				n++
				if n == 1 {
					return nil, &llm.Error{Kind: llm.ErrServer} // nothing was delivered: no restart
				}
				sink(llm.Chunk{Text: "one "})
				if n == 2 {
					return nil, &llm.Error{Kind: llm.ErrCut}
				}
				sink(llm.Chunk{Text: "two"})
				return &llm.Response{Message: llm.Message{Content: "one two"}}, nil
			}))
		var seen []string
		text := ""
		_, err := m.Stream(t.Context(), &llm.Request{}, func(c llm.Chunk) {
			if c.Restart {
				seen = append(seen, "restart")
				text = ""
				return
			}
			seen = append(seen, c.Text)
			text += c.Text
		})
		if err != nil || text != "one two" {
			t.Errorf("text %q, error %v", text, err)
		}
		if want := []string{"one ", "restart", "one ", "two"}; !slices.Equal(seen, want) {
			t.Errorf("chunks %q, want %q", seen, want)
		}
	})
}

func TestRetryAfterHoldsForTheWholeEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var times []time.Duration
		m := llm.NewGovernor(llm.GovernorConfig{}).Wrap(modelFunc(
			func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
				mu.Lock()
				times = append(times, time.Since(start))
				first := len(times) == 1
				mu.Unlock()
				if first {
					return nil, &llm.Error{Kind: llm.ErrRateLimited, Status: 429, RetryAfter: 7 * time.Second}
				}
				return &llm.Response{}, nil
			}))
		var wg sync.WaitGroup
		wg.Go(func() { m.Stream(t.Context(), &llm.Request{}, nil) })
		synctest.Wait()
		for range 5 {
			wg.Go(func() { m.Stream(t.Context(), &llm.Request{}, nil) })
		}
		wg.Wait()
		if len(times) != 7 {
			t.Fatalf("calls at %v", times)
		}
		for _, at := range times[1:] {
			if at < 7*time.Second {
				t.Errorf("a call went out after %v", at)
			}
		}
	})
}

func TestRetryAfterBeyondReason(t *testing.T) {
	n := 0
	gov := llm.NewGovernor(llm.GovernorConfig{})
	m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		n++
		if n == 1 {
			return nil, &llm.Error{Kind: llm.ErrRateLimited, Status: 429, RetryAfter: 24 * time.Hour}
		}
		return &llm.Response{}, nil
	}))
	if _, err := m.Stream(t.Context(), &llm.Request{}, nil); llm.KindOf(err) != llm.ErrRateLimited || n != 1 {
		t.Errorf("%v after %d calls", err, n)
	}
	if _, err := m.Stream(t.Context(), &llm.Request{}, nil); err != nil {
		t.Errorf("the gate stayed closed: %v", err)
	}
}

func TestGovernorsAreShared(t *testing.T) {
	var gs llm.Governors
	if gs.For("a", "k") != gs.For("a", "k") {
		t.Error("two governors for one endpoint and key")
	}
	if gs.For("a", "k") == gs.For("a", "other") || gs.For("a", "k") == gs.For("b", "k") {
		t.Error("one governor for two")
	}
}

func TestHalfOpenLetsOneProbeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var calls, busy, most atomic.Int32
		healthy := 20 * time.Second
		gov := llm.NewGovernor(llm.GovernorConfig{Rand: seeded(), StartConcurrency: 32, BreakerWait: time.Hour, MaxRetries: 100})
		m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			calls.Add(1)
			if gov.Stats().State == llm.BreakerHalfOpen {
				most.Store(max(most.Load(), busy.Add(1)))
				defer busy.Add(-1)
			}
			time.Sleep(100 * time.Millisecond)
			if time.Since(start) < healthy {
				return nil, down
			}
			return &llm.Response{}, nil
		}))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := m.Stream(t.Context(), &llm.Request{}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		if s := gov.Stats(); s.State != llm.BreakerOpen {
			t.Errorf("after the first wave the breaker is %s", s.State)
		}
		wg.Wait()
		if most.Load() != 1 {
			t.Errorf("%d probes at once", most.Load())
		}
		// The first wave of 32, the 4 that take the place of failed ones until
		// the breaker opens, probes after 1, 2, 4, 8 and 16 s, and the 49 calls
		// that the successful one lets through.
		if n := calls.Load(); n > 32+4+5+49 {
			t.Errorf("%d calls", n)
		}
		if s := gov.Stats(); s.State != llm.BreakerClosed {
			t.Errorf("breaker is %s at the end", s.State)
		}
	})
}

func TestOpenBreakerFails(t *testing.T) {
	for _, wait := range []time.Duration{-1, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			gov := llm.NewGovernor(llm.GovernorConfig{Endpoint: "models.example", Rand: seeded(), BreakerWait: wait, BreakerAfter: 2, MaxRetries: -1, BreakerCooldown: 10 * time.Second})
			m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
				return nil, down
			}))
			for range 2 {
				m.Stream(t.Context(), &llm.Request{}, nil)
			}
			start := time.Now()
			_, err := m.Stream(t.Context(), &llm.Request{}, nil)
			if waited := time.Since(start); waited != max(0, wait) {
				t.Errorf("failed after %v, want %v", waited, wait)
			}
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != llm.ErrUnreachable || e.Endpoint != "models.example" ||
				!strings.Contains(e.Message, "2 calls in a row") || e.RetryAfter <= 0 {
				t.Errorf("error %v", err)
			}
		})
	}
}

// An aborted probe says nothing, so the next caller probes.
func TestCancelledProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gov := llm.NewGovernor(llm.GovernorConfig{Rand: seeded(), BreakerAfter: 1, MaxRetries: -1})
		hang := false
		fail := true
		m := gov.Wrap(modelFunc(func(ctx context.Context, _ *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
			if fail {
				return nil, down
			}
			if hang {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &llm.Response{}, nil
		}))
		m.Stream(t.Context(), &llm.Request{}, nil)
		fail, hang = false, true
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := m.Stream(ctx, &llm.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		hang = false
		if _, err := m.Stream(t.Context(), &llm.Request{}, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gov := llm.NewGovernor(llm.GovernorConfig{StartConcurrency: 1, MaxConcurrency: 1})
		var order []string
		m := gov.Wrap(modelFunc(func(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
			time.Sleep(time.Second)
			order = append(order, req.Model)
			if len(order) == 1 {
				// The first call comes again, before those that came later.
				return nil, &llm.Error{Kind: llm.ErrRateLimited, RetryAfter: time.Second}
			}
			return &llm.Response{}, nil
		}))
		var wg sync.WaitGroup
		var want []string
		for i := range 8 {
			name := string(rune('a' + i))
			want = append(want, name)
			wg.Go(func() { m.Stream(t.Context(), &llm.Request{Model: name}, nil) })
			synctest.Wait()
		}
		wg.Wait()
		if want := append([]string{"a"}, want...); !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestCancelLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gov := llm.NewGovernor(llm.GovernorConfig{StartConcurrency: 1, MaxConcurrency: 1})
		m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			time.Sleep(time.Minute)
			return &llm.Response{}, nil
		}))
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { m.Stream(t.Context(), &llm.Request{}, nil) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			wg.Go(func() {
				if _, err := m.Stream(ctx, &llm.Request{}, nil); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if d := time.Since(start); d != time.Second {
					t.Errorf("left after %v", d)
				}
			})
		}
		synctest.Wait()
		if s := gov.Stats(); s.Waiting != 3 || s.InFlight != 1 {
			t.Errorf("stats %+v", s)
		}
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		if s := gov.Stats(); s.Waiting != 0 {
			t.Errorf("%d still wait", s.Waiting)
		}
		wg.Wait()
		if s := gov.Stats(); s.InFlight != 0 || s.Successes != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// An endpoint that never refuses is soon used to the full.
func TestNoLimitIsFoundFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gov := llm.NewGovernor(llm.GovernorConfig{})
		m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			time.Sleep(50 * time.Millisecond)
			return &llm.Response{}, nil
		}))
		start := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				for range 10 {
					m.Stream(t.Context(), &llm.Request{}, nil)
				}
			})
		}
		wg.Wait()
		if d := time.Since(start); d > 650*time.Millisecond { // 500 ms without a governor
			t.Errorf("took %v", d)
		}
	})
}

func TestPanicGivesTheSlotBack(t *testing.T) {
	gov := llm.NewGovernor(llm.GovernorConfig{StartConcurrency: 1, MaxConcurrency: 1})
	m := gov.Wrap(modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		panic("broken provider")
	}))
	func() {
		defer func() { recover() }()
		m.Stream(t.Context(), &llm.Request{}, nil)
	}()
	if s := gov.Stats(); s.InFlight != 0 {
		t.Errorf("stats %+v", s)
	}
}

type embedFunc func(ctx context.Context, model string, texts []string) (*llm.Embeddings, error)

func (f embedFunc) Embed(ctx context.Context, model string, texts []string) (*llm.Embeddings, error) {
	return f(ctx, model, texts)
}

func TestGovernedEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		e := llm.NewGovernor(llm.GovernorConfig{}).WrapEmbedder(embedFunc(func(context.Context, string, []string) (*llm.Embeddings, error) {
			n++
			if n == 1 {
				return nil, &llm.Error{Kind: llm.ErrRateLimited}
			}
			return &llm.Embeddings{Vectors: [][]float32{{1}}}, nil
		}))
		out, err := e.Embed(t.Context(), "", []string{"a"})
		if err != nil || len(out.Vectors) != 1 || n != 2 {
			t.Errorf("%v, %v after %d calls", out, err, n)
		}
	})
}

func BenchmarkGovernor(b *testing.B) {
	resp := &llm.Response{}
	bare := modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) { return resp, nil })
	req := &llm.Request{}
	sink := func(llm.Chunk) {}
	for _, bench := range []struct {
		name string
		sink func(llm.Chunk)
	}{{"plain", nil}, {"stream", sink}} {
		b.Run(bench.name, func(b *testing.B) {
			m := llm.NewGovernor(llm.GovernorConfig{}).Wrap(bare)
			b.ReportAllocs()
			for b.Loop() {
				m.Stream(b.Context(), req, bench.sink)
			}
		})
	}
}
