package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPoliteKeepsThePace(t *testing.T) {
	for _, c := range []struct {
		burst int
		want  string
	}{
		{0, "[0s 1s 2s 3s 4s 5s]"},
		{3, "[0s 0s 0s 1s 2s 3s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := finding("e", "https://a.example/")
			p := Polite(e, Manners{Every: time.Second, Burst: c.burst})
			begin := time.Now()
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					if _, err := p.Search(t.Context(), Query{Text: "q"}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			var starts []time.Duration
			for _, at := range e.starts {
				starts = append(starts, at.Sub(begin))
			}
			if got := fmt.Sprint(starts); got != c.want {
				t.Errorf("burst %d: started at %s, not %s", c.burst, got, c.want)
			}
		})
	}
}

func TestPoliteIsFairToMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow("e", 100*time.Millisecond)
		p := Polite(e, Manners{Concurrent: 8, Timeout: time.Second})
		begin := time.Now()
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				if _, err := p.Search(t.Context(), Query{Text: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // so that they come in order
		}
		wg.Wait()
		if e.most != 8 {
			t.Errorf("%d calls at once", e.most)
		}
		for i, q := range e.calls { // 8 go out at one moment
			if n, _ := strconv.Atoi(q.Text); n/8 != i/8 {
				t.Fatalf("call %d was for %s", i, q.Text)
			}
		}
		if took := time.Since(begin); took != 6300*time.Millisecond { // 63 rounds of 8
			t.Errorf("it took %v", took)
		}
		if h := p.Health(); h.Asked != 500 || h.Failed != 0 || h.State != OK {
			t.Errorf("%+v", h)
		}
	})
}

func TestPoliteWaitsNoLongerThanItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow("e", 2*time.Second)
		p := Polite(e, Manners{Concurrent: 1, Every: 10 * time.Second})
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = p.Search(t.Context(), Query{}) })
		synctest.Wait()
		for _, patience := range []time.Duration{time.Second, 5 * time.Second} { // for the slot, for the pace
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				_, err := p.Search(ctx, Query{})
				if !errors.Is(err, context.DeadlineExceeded) || ReasonOf(err) != "" || time.Since(begin) != patience {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
			})
		}
		synctest.Wait()
		wg.Go(func() {
			if _, err := p.Search(t.Context(), Query{}); err != nil || time.Since(begin) != 12*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
		wg.Wait()
		if e.asked() != 2 {
			t.Errorf("asked %d times", e.asked())
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Search(gone, Query{}); !errors.Is(err, context.Canceled) || e.asked() != 2 {
			t.Errorf("%v, asked %d times", err, e.asked())
		}
	})
}

func TestPoliteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow("e", time.Minute)
		p := Polite(e, Manners{Timeout: 3 * time.Second})
		begin := time.Now()
		_, err := p.Search(t.Context(), Query{})
		if ReasonOf(err) != TooSlow || time.Since(begin) != 3*time.Second || !strings.Contains(err.Error(), "3s") {
			t.Errorf("%v after %v", err, time.Since(begin))
		}

		// Who gives up blames nobody.
		for range 5 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
			_, err := p.Search(ctx, Query{})
			cancel()
			if err == nil || err.Error() != "enough" {
				t.Error(err)
			}
		}
		if h := p.Health(); h.Asked != 1 || h.Failed != 1 || h.State != OK || !strings.Contains(h.LastError, "too slow") {
			t.Errorf("%+v", h)
		}
	})
}

func TestPoliteRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fault error = &Error{Engine: "e", Reason: RateLimited, Status: 429, Detail: "slow down", RetryAfter: 30 * time.Second}
		e := &fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) {
			time.Sleep(time.Second)
			return []Hit{{URL: "https://a.example"}}, fault
		}}
		p := Polite(e, Manners{Concurrent: 10})
		if hits, err := p.Search(t.Context(), Query{}); ReasonOf(err) != RateLimited || hits != nil {
			t.Fatal(hits, err)
		}
		h := p.Health()
		if h.State != Resting || h.Reason != RateLimited || time.Until(h.Until) != 30*time.Second {
			t.Errorf("%+v", h)
		}

		time.Sleep(10 * time.Second)
		begin := time.Now()
		for range 3 {
			_, err := p.Search(t.Context(), Query{})
			about, ok := errors.AsType[*Error](err)
			if !ok || about.Reason != RateLimited || about.RetryAfter != 20*time.Second || about.Detail != "it is left alone for another 20s after: slow down" {
				t.Errorf("%#v", err)
			}
		}
		if !time.Now().Equal(begin) || e.asked() != 1 {
			t.Errorf("it took %v, asked %d times", time.Since(begin), e.asked())
		}

		// The rest is over: one goes out, the others wait for what it tells.
		time.Sleep(20 * time.Second)
		fault = nil
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := p.Search(t.Context(), Query{}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if e.asked() != 2 {
			t.Errorf("%d went out to see", e.asked()-1)
		}
		wg.Wait()
		if h := p.Health(); h.State != OK || h.Reason != "" || !h.Until.IsZero() || h.Asked != 11 || h.Failed != 1 {
			t.Errorf("%+v", h)
		}
	})
}

func TestPoliteRestsLongerEachTime(t *testing.T) {
	for _, c := range []struct {
		reason Reason
		before int // failures until the first rest
		want   string
	}{
		{Blocked, 1, "[15s 30s 1m0s 2m0s 4m0s 8m0s 10m0s 10m0s]"},
		{RateLimited, 1, "[15s 30s 1m0s 2m0s 4m0s 8m0s 10m0s 10m0s]"},
		{Unreachable, 3, "[5s 10s 20s 40s 1m20s 2m0s 2m0s 2m0s]"},
		{TooSlow, 3, "[5s 10s 20s 40s 1m20s 2m0s 2m0s 2m0s]"},
		{Unavailable, 3, "[5s 10s 20s 40s 1m20s 2m0s 2m0s 2m0s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := failing("e", c.reason)
			p := Polite(e, Manners{})
			for i := range c.before {
				if h := p.Health(); h.State != OK {
					t.Errorf("%s: rests after %d", c.reason, i)
				}
				_, _ = p.Search(t.Context(), Query{})
			}
			var rests []time.Duration
			for range 8 {
				h := p.Health()
				if h.State != Resting {
					t.Fatalf("%s: does not rest", c.reason)
				}
				rests = append(rests, time.Until(h.Until))
				time.Sleep(time.Until(h.Until))
				if _, err := p.Search(t.Context(), Query{}); ReasonOf(err) != c.reason {
					t.Error(err)
				}
			}
			if got := fmt.Sprint(rests); got != c.want {
				t.Errorf("%s: %s, not %s", c.reason, got, c.want)
			}
			// A success makes up for everything.
			time.Sleep(time.Hour)
			good := e.fn
			e.fn = finding("e").fn
			if _, err := p.Search(t.Context(), Query{}); err != nil {
				t.Error(err)
			}
			e.fn = good
			for range c.before {
				_, _ = p.Search(t.Context(), Query{})
			}
			if h := p.Health(); h.State != Resting || time.Until(h.Until).Round(time.Second).String() != strings.Fields(c.want[1:])[0] {
				t.Errorf("%s: %+v", c.reason, h)
			}
		})
	}
}

func TestPoliteRestIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Polite(&fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) {
			return nil, &Error{Engine: "e", Reason: Unavailable, RetryAfter: 24 * time.Hour}
		}}, Manners{})
		_, _ = p.Search(t.Context(), Query{})
		if h := p.Health(); h.State != Resting || h.Asked != 1 || time.Until(h.Until) != time.Hour {
			t.Errorf("%+v", h)
		}
	})
}

func TestPoliteBlamesNotTheEngineForTheQuestion(t *testing.T) {
	for _, reason := range []Reason{Unauthorized, Rejected, Malformed} {
		e := failing("e", reason)
		p := Polite(e, Manners{})
		for range 10 {
			if _, err := p.Search(t.Context(), Query{}); ReasonOf(err) != reason {
				t.Error(err)
			}
		}
		if h := p.Health(); h.State != OK || h.Asked != 10 || h.Failed != 10 {
			t.Errorf("%+v", h)
		}
	}
}

// A storm of failures is one reason to rest, and sends those away who wait.
func TestPoliteStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) {
			time.Sleep(time.Second)
			return nil, &Error{Engine: "e", Reason: RateLimited}
		}}
		p := Polite(e, Manners{Concurrent: 4})
		begin := time.Now()
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				if _, err := p.Search(t.Context(), Query{}); ReasonOf(err) != RateLimited || time.Since(begin) != time.Second {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
			})
		}
		wg.Wait()
		if h := p.Health(); e.asked() != 4 || h.Asked != 4 || time.Until(h.Until) != 15*time.Second {
			t.Errorf("asked %d times: %+v", e.asked(), h)
		}
		// A success that was under way when the rest began does not end it.
		time.Sleep(15 * time.Second)
		gate := make(chan bool)
		e.fn = func(_ context.Context, q Query) ([]Hit, error) {
			if <-gate {
				return nil, nil
			}
			return nil, &Error{Engine: "e", Reason: Blocked, RetryAfter: time.Minute}
		}
		wg.Go(func() { _, _ = p.Search(t.Context(), Query{}) })
		synctest.Wait()
		gate <- true // the probe
		wg.Wait()
		for range 2 {
			wg.Go(func() { _, _ = p.Search(t.Context(), Query{}) })
		}
		synctest.Wait()
		gate <- false
		synctest.Wait()
		gate <- true
		wg.Wait()
		if h := p.Health(); h.State != Resting || h.Reason != Blocked || time.Until(h.Until) != time.Minute {
			t.Errorf("%+v", h)
		}
	})
}

func TestPoliteProbeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := failing("e", Blocked)
		p := Polite(e, Manners{})
		_, _ = p.Search(t.Context(), Query{})
		time.Sleep(time.Minute)
		e.fn = slow("e", time.Second).fn
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := p.Search(ctx, Query{}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := p.Search(t.Context(), Query{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		if h := p.Health(); e.asked() != 3 || h.State != OK {
			t.Errorf("asked %d times: %+v", e.asked(), h)
		}
	})
}

func TestPoliteRepeatsOnce(t *testing.T) {
	unavailable := &Error{Engine: "e", Reason: Unavailable, Status: 502}
	for name, c := range map[string]struct {
		fault error
		takes time.Duration // of the call that fails
		limit time.Duration // of the caller, 0 is none
		want  int           // calls
	}{
		"unavailable":         {unavailable, time.Second, 0, 2},
		"cut in the body":     {&Error{Reason: Unreachable, Status: 200}, 0, 0, 2},
		"cut before it":       {&Error{Reason: Unreachable, Err: fmt.Errorf("get: %w", io.EOF)}, 0, 0, 2},
		"no connection":       {&Error{Reason: Unreachable}, 0, 0, 1},
		"took too long":       {unavailable, 6 * time.Second, 0, 1},
		"no time":             {unavailable, time.Second, 2 * time.Second, 1},
		"time enough":         {unavailable, time.Second, 10 * time.Second, 2},
		"asks for peace":      {&Error{Reason: Unavailable, RetryAfter: time.Second}, 0, 0, 1},
		"rate-limited":        {&Error{Reason: RateLimited}, 0, 0, 1},
		"rejected":            {&Error{Reason: Rejected}, 0, 0, 1},
		"an unexpected error": {errors.New("https://e.example?key=secret"), 0, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &fake{name: "e"}
				e.fn = func(context.Context, Query) ([]Hit, error) {
					if e.asked() > 1 {
						return []Hit{{URL: "https://a.example"}}, nil
					}
					time.Sleep(c.takes)
					return nil, c.fault
				}
				p := Polite(e, Manners{Timeout: 10 * time.Second})
				trace := &Trace{}
				ctx := WithTrace(t.Context(), trace)
				if c.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, c.limit)
					defer cancel()
					ctx = limited
				}
				begin := time.Now()
				hits, err := p.Search(ctx, Query{})
				if e.asked() != c.want || (err == nil) != (c.want == 2) || len(hits) != c.want-1 {
					t.Errorf("asked %d times, %v, %v", e.asked(), hits, err)
				}
				if pause := time.Since(begin) - c.takes; c.want == 2 && (pause < retryPause/2 || pause >= 2*retryPause) {
					t.Errorf("repeated after %v", pause)
				}
				if a := trace.Attempts(); len(a) != 1 || a[0].Found != c.want-1 || strings.Contains(a[0].Detail, "secret") {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

func TestPolitePanic(t *testing.T) {
	p := Polite(&fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) { panic("oops") }}, Manners{Concurrent: 1})
	for range 3 { // its place is given back
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			_, _ = p.Search(t.Context(), Query{})
		}()
	}
}

func TestPoliteOpens(t *testing.T) {
	p := Polite(&reads{fake: finding("e"), page: "https://a.example/"}, Manners{})
	if hit, err := p.Open(t.Context(), "https://a.example/"); err != nil || hit.Text != "the page" {
		t.Error(hit, err)
	}
	for range 10 {
		if _, err := p.Open(t.Context(), "https://b.example/"); !errors.Is(err, ErrNotMine) {
			t.Error(err)
		}
	}
	if h := p.Health(); h.State != OK || h.Asked != 11 || h.Failed != 0 {
		t.Errorf("%+v", h)
	}
	if _, err := Polite(finding("e"), Manners{}).Open(t.Context(), "https://a.example/"); !errors.Is(err, ErrNotMine) {
		t.Error(err)
	}
}
