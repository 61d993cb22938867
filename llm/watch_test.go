package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/llm"
)

// told are the failures that a Watcher heard of.
type told []llm.Failure

func (t *told) CallFailed(f llm.Failure) { *t = append(*t, f) }

// watched returns a context and what is told with it.
func watched(ctx context.Context) (context.Context, *told) {
	heard := new(told)
	return &llm.Watched{Context: ctx, Watcher: heard}, heard
}

// broken is a model that only fails, and how often it was called.
func broken(err *llm.Error) (llm.Model, *int) {
	n := new(int)
	return modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		*n++
		return nil, err
	}), n
}

func TestEveryFailureIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := broken(&llm.Error{Kind: llm.ErrServer, Endpoint: "e", Status: 500})
		ctx, told := watched(t.Context())
		_, err := llm.NewGovernor(llm.GovernorConfig{Rand: seeded()}).Wrap(m).Stream(ctx, &llm.Request{}, nil)
		if err == nil || *n != 4 || len(*told) != 3 {
			t.Fatalf("%v, %d calls, told %+v", err, *n, *told)
		}
		for i, f := range *told {
			if f.Attempt != i+1 || f.Then != llm.ThenRepeated || f.Wait <= 0 || llm.KindOf(f.Err) != llm.ErrServer {
				t.Errorf("told %+v", f)
			}
		}
	})
}

func TestAnotherWayOfAskingIsTold(t *testing.T) {
	ctx, told := watched(t.Context())
	m := script(t, func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Status: 400, Unsupported: "response_format"}
	}, text(`{"reasoning":1`), text(goodAnswer))
	if _, _, err := llm.Object[sampleAnswer](ctx, m, ask("q"), llm.ObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(*told) != 2 || (*told)[0].Then != llm.ThenOtherWay || (*told)[1].Then != llm.ThenAgain || !errors.Is((*told)[1].Err, llm.ErrNoObject) {
		t.Errorf("told %+v", *told)
	}
}

// TestNobodyWaitsForWhatCanBeReplaced holds that calls which rules can stand in
// for cost no more time once an endpoint is known to be down.
func TestNobodyWaitsForWhatCanBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := broken(down)
		g := llm.NewGovernor(llm.GovernorConfig{Rand: seeded()}).Wrap(m)
		began := time.Now()
		for range 20 {
			_, err := g.Stream(llm.Replaceable(t.Context()), &llm.Request{}, nil)
			if llm.KindOf(err) != llm.ErrUnreachable || !strings.Contains(err.Error(), "connection refused") {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 10*time.Second || *n > 8 {
			t.Errorf("%d calls in %v", *n, took)
		}
	})
}

func TestAWaitBeyondTheDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := broken(&llm.Error{Kind: llm.ErrRateLimited, Status: 429, RetryAfter: time.Minute})
		ctx, cancel := context.WithTimeout(llm.Replaceable(t.Context()), 10*time.Second)
		defer cancel()
		began := time.Now()
		_, err := llm.NewGovernor(llm.GovernorConfig{}).Wrap(m).Stream(ctx, &llm.Request{}, nil)
		if llm.KindOf(err) != llm.ErrRateLimited || *n != 1 || time.Since(began) != 0 {
			t.Errorf("%v after %d calls and %v", err, *n, time.Since(began))
		}
	})
}

// TestNoCallLastsForEver holds the bound for a whole call: an endpoint that
// only says "later", and a reply without end.
func TestNoCallLastsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, e := range map[string]*llm.Error{
			"429": {Kind: llm.ErrRateLimited, Status: 429}, "429 with a time": {Kind: llm.ErrRateLimited, Status: 429, RetryAfter: time.Minute},
		} {
			m, _ := broken(e)
			ctx, told := watched(t.Context())
			began := time.Now()
			_, err := llm.NewGovernor(llm.GovernorConfig{}).Wrap(m).Stream(ctx, &llm.Request{}, nil)
			if llm.KindOf(err) != llm.ErrRateLimited || time.Since(began) != 10*time.Minute || len(*told) == 0 {
				t.Errorf("%s: %v after %v, told %d times", name, err, time.Since(began), len(*told))
			}
		}
		endless := modelFunc(func(ctx context.Context, _ *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
			for ctx.Err() == nil {
				sink(llm.Chunk{Text: "a"})
				time.Sleep(time.Second)
			}
			return nil, ctx.Err()
		})
		began := time.Now()
		_, err := llm.NewGovernor(llm.GovernorConfig{Endpoint: "e"}).Wrap(endless).Stream(t.Context(), &llm.Request{Model: "m"}, func(llm.Chunk) {})
		if llm.KindOf(err) != llm.ErrTimeout || time.Since(began) > 10*time.Minute+time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// timedModel bounds its own replies.
type timedModel struct {
	modelFunc
	limit time.Duration
}

func (m timedModel) ReplyLimit() time.Duration { return m.limit }

// TestTheGovernorsClock holds who bounds an attempt: a model that does so
// itself its first one, the governor every other.
func TestTheGovernorsClock(t *testing.T) {
	for name, c := range map[string]struct {
		limit time.Duration
		want  []bool
	}{
		"bounds itself":    {time.Minute, []bool{false, true}},
		"does not":         {0, []bool{true, true}},
		"bounds too late":  {time.Hour, []bool{true, true}},
		"bounds just then": {10 * time.Minute, []bool{false, true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var bounded []bool
			m := timedModel{limit: c.limit, modelFunc: func(ctx context.Context, _ *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
				_, ok := ctx.Deadline()
				if bounded = append(bounded, ok); len(bounded) == 1 {
					return nil, &llm.Error{Kind: llm.ErrServer, Status: 500}
				}
				return &llm.Response{}, nil
			}}
			if _, err := llm.NewGovernor(llm.GovernorConfig{}).Wrap(m).Stream(t.Context(), &llm.Request{}, nil); err != nil || !slices.Equal(bounded, c.want) {
				t.Errorf("%s: %v, %v; want %v", name, err, bounded, c.want)
			}
		})
	}
}
