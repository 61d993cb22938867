package search

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/lang"
)

func TestCachedAsksOnce(t *testing.T) {
	e := finding("e", "https://a.example/", "https://b.example/")
	c := Cached(Polite(e, Manners{}), Dir(t.TempDir(), 0), time.Hour)
	for i := range 5 {
		trace := &Trace{}
		hits, err := c.Search(WithTrace(t.Context(), trace), Query{Text: "Bees  in the city", Limit: 5})
		if err != nil || len(hits) != 2 || hits[0].Title != "Title of https://a.example/" {
			t.Fatal(hits, err)
		}
		hits[0].Title = "changed by who got it"
		want := []Attempt{{Engine: "e", Found: 2, Cached: i > 0}}
		if got := trace.Attempts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
	if s := c.Stats(); e.asked() != 1 || s != (CacheStats{Hits: 4, Misses: 1}) {
		t.Errorf("asked %d times: %+v", e.asked(), s)
	}
	if c.Info().Name != "e" {
		t.Error(c.Info())
	}
}

func TestQueryKey(t *testing.T) {
	base := Query{Text: "Bees in the city", Limit: 5, Lang: lang.English, Sites: []string{"a.example", "b.example"}, Since: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}
	with := func(change func(*Query)) Query {
		q := base
		change(&q)
		return q
	}
	for name, q := range map[string]Query{
		"spaces and case": with(func(q *Query) { q.Text = " bees\tIN the\n City " }),
		"order of sites":  with(func(q *Query) { q.Sites = []string{"B.example ", "a.example", "b.example"} }),
		"hour":            with(func(q *Query) { q.Since = q.Since.Add(time.Hour) }),
	} {
		if queryKey("e", q) != queryKey("e", base) {
			t.Errorf("%s makes a difference", name)
		}
	}
	keys := map[string]string{queryKey("e", base): "base", queryKey("other", base): "engine"}
	for name, q := range map[string]Query{
		"text":  with(func(q *Query) { q.Text = "bees in a city" }),
		"limit": with(func(q *Query) { q.Limit = 6 }),
		"lang":  with(func(q *Query) { q.Lang = lang.Russian }),
		"since": with(func(q *Query) { q.Since = q.Since.AddDate(0, 0, 1) }),
		"until": with(func(q *Query) { q.Since, q.Until = q.Until, q.Since }),
		"sites": with(func(q *Query) { q.Sites = nil }),
	} {
		key := queryKey("e", q)
		if same, ok := keys[key]; ok {
			t.Errorf("%s is like %s", name, same)
		}
		keys[key] = name
	}
	if len(base.Sites) != 2 || base.Sites[0] != "a.example" {
		t.Errorf("the query was changed: %v", base.Sites)
	}
	// A field that is added to Query must find its way into the key.
	if n := reflect.TypeFor[Query]().NumField(); n != 6 {
		t.Errorf("Query has %d fields; does queryKey know them all?", n)
	}
}

func TestCachedForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := finding("e", "https://a.example/")
		c := Cached(e, Dir(t.TempDir(), 0), 5*time.Hour)
		at := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			if _, err := c.Search(t.Context(), Query{Text: "q"}); err != nil || e.asked() != want {
				t.Errorf("%v, asked %d times, not %d", err, e.asked(), want)
			}
		}
		at(0, 1)
		at(4*time.Hour, 1)
		at(2*time.Hour, 2)
		// That there is nothing is believed for ten minutes, a failure never.
		e.fn = finding("e").fn
		at(6*time.Hour, 3)
		at(9*time.Minute, 3)
		at(2*time.Minute, 4)
		e.fn = failing("e", Blocked).fn
		for i := range 3 {
			time.Sleep(time.Hour)
			trace := &Trace{}
			_, err := c.Search(WithTrace(t.Context(), trace), Query{Text: "q"})
			want := []Attempt{{Engine: "e", Reason: Blocked, Detail: "for a test"}}
			if ReasonOf(err) != Blocked || e.asked() != 5+i || !reflect.DeepEqual(trace.Attempts(), want) {
				t.Errorf("%v, asked %d times, %+v", err, e.asked(), trace.Attempts())
			}
		}
	})
}

func TestCachedSharesAFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow("e", time.Second)
		c := Cached(Polite(e, Manners{}), Dir(t.TempDir(), 0), time.Hour)
		trace := &Trace{}
		ctx := WithTrace(t.Context(), trace)
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				hits, err := c.Search(ctx, Query{Text: "q"})
				if err != nil || len(hits) != 1 {
					t.Error(hits, err)
				}
				hits[0].URL = "changed"
			})
		}
		wg.Wait()
		if s := c.Stats(); e.asked() != 1 || s.Misses != 1 || s.Shared != 499 {
			t.Errorf("asked %d times: %+v", e.asked(), s)
		}
		if a := trace.Attempts(); len(a) != 500 || a[0].Found != 1 {
			t.Errorf("%d attempts", len(a))
		}
	})
}

func TestCachedGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := 0
		e := &fake{name: "e", fn: func(ctx context.Context, _ Query) ([]Hit, error) {
			select {
			case <-ctx.Done():
				stopped++
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
				return []Hit{{URL: "https://a.example/"}}, nil
			}
		}}
		c := Cached(e, Dir(t.TempDir(), 0), time.Hour)
		var wg sync.WaitGroup
		search := func(patience time.Duration) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				trace := &Trace{}
				hits, err := c.Search(WithTrace(ctx, trace), Query{Text: "q"})
				if patience < 10*time.Second {
					want := []Attempt{{Engine: "e", Reason: Stopped}}
					if !errors.Is(err, context.DeadlineExceeded) || !reflect.DeepEqual(trace.Attempts(), want) {
						t.Errorf("%v, %+v", err, trace.Attempts())
					}
				} else if err != nil || len(hits) != 1 {
					t.Errorf("%v, %v", hits, err)
				}
			})
			synctest.Wait()
		}
		// The first gives up; the flight goes on for the second.
		search(time.Second)
		search(time.Minute)
		wg.Wait()
		if e.asked() != 1 || stopped != 0 {
			t.Errorf("asked %d times, stopped %d times", e.asked(), stopped)
		}
		// All give up: so does the flight, and who comes then has a new one.
		c = Cached(e, Dir(t.TempDir(), 0), time.Hour)
		search(time.Second)
		search(2 * time.Second)
		wg.Wait()
		synctest.Wait()
		if e.asked() != 2 || stopped != 1 {
			t.Errorf("asked %d times, stopped %d times", e.asked(), stopped)
		}
		search(time.Minute)
		wg.Wait()
		if e.asked() != 3 {
			t.Errorf("asked %d times", e.asked())
		}
	})
}

func TestCachedOddEngines(t *testing.T) {
	for name, c := range map[string]struct {
		fn   func(context.Context, Query) ([]Hit, error)
		want Reason
	}{
		"panics":              {func(context.Context, Query) ([]Hit, error) { panic("oops") }, Malformed},
		"says it was stopped": {func(context.Context, Query) ([]Hit, error) { return nil, context.Canceled }, Unavailable},
		"scores with no number": {func(context.Context, Query) ([]Hit, error) {
			return []Hit{{URL: "https://a.example", Score: math.NaN()}, {URL: "https://b.example\xff", Score: math.Inf(1)}}, nil
		}, ""},
	} {
		hits, err := Cached(&fake{name: "e", fn: c.fn}, Dir(t.TempDir(), 0), time.Hour).Search(t.Context(), Query{Text: "q"})
		if ReasonOf(err) != c.want || (err == nil) != (c.want == "") || err == nil && (len(hits) != 2 || hits[0].Score != 0) {
			t.Errorf("%s: %v, %v", name, hits, err)
		}
	}
}

// broken is a cache that keeps something else than was put.
type broken struct{}

func (broken) Get(string) ([]byte, bool)         { return []byte(`[{"url":7}]`), true }
func (broken) Put(string, []byte, time.Duration) {}

func TestCachedReadsNoNonsense(t *testing.T) {
	e := finding("e", "https://a.example/")
	for i := range 3 {
		hits, err := Cached(e, broken{}, time.Hour).Search(t.Context(), Query{Text: "q"})
		if err != nil || len(hits) != 1 || e.asked() != i+1 {
			t.Error(hits, err, e.asked())
		}
	}
}

func TestCachedOpens(t *testing.T) {
	e := &reads{fake: finding("e"), page: "https://a.example/"}
	c := Cached(Polite(e, Manners{}), Dir(t.TempDir(), 0), time.Hour)
	for range 3 {
		if hit, err := c.Open(t.Context(), "https://a.example/"); err != nil || hit.Text != "the page" {
			t.Error(hit, err)
		}
	}
	if e.opened != 1 {
		t.Errorf("opened %d times", e.opened)
	}
	for i := range 2 {
		if _, err := c.Open(t.Context(), "https://b.example/"); !errors.Is(err, ErrNotMine) || e.opened != 2+i {
			t.Error(err, e.opened)
		}
	}
	if _, err := Cached(finding("e"), Dir(t.TempDir(), 0), 1).Open(t.Context(), "https://a.example/"); !errors.Is(err, ErrNotMine) {
		t.Error(err)
	}
}

// One attempt, whatever the stack.
func TestAttemptsAreToldOnce(t *testing.T) {
	hour := time.Hour
	for name, stack := range map[string]func(Engine) Engine{
		"polite":         func(e Engine) Engine { return Polite(e, Manners{}) },
		"cached":         func(e Engine) Engine { return Cached(e, Dir(t.TempDir(), 0), hour) },
		"cached, polite": func(e Engine) Engine { return Cached(Polite(e, Manners{}), Dir(t.TempDir(), 0), hour) },
	} {
		for want, e := range map[Attempt]Engine{
			{Engine: "e", Found: 1}: finding("e", "https://a.example/"),
			{Engine: "e"}:           finding("e"),
			{Engine: "e", Reason: Unauthorized, Detail: "HTTP 401: no key"}: &fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) {
				return nil, &Error{Engine: "e", Reason: Unauthorized, Status: 401, Detail: "no key"}
			}},
			{Engine: "e", Reason: Malformed, Detail: "HTTP 200"}: &fake{name: "e", fn: func(context.Context, Query) ([]Hit, error) {
				return nil, &Error{Engine: "e", Reason: Malformed, Status: 200}
			}},
		} {
			trace := &Trace{}
			_, _ = stack(e).Search(WithTrace(t.Context(), trace), Query{Text: "q"})
			if got := trace.Attempts(); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %+v, not %+v", name, got, want)
			}
			ctx, cancel := context.WithCancel(WithTrace(t.Context(), trace))
			cancel()
			_, err := stack(&fake{name: "e", fn: func(ctx context.Context, _ Query) ([]Hit, error) { return nil, ctx.Err() }}).Search(ctx, Query{Text: "q"})
			if got := trace.Attempts(); !errors.Is(err, context.Canceled) || len(got) != 2 || got[1] != (Attempt{Engine: "e", Reason: Stopped}) {
				t.Errorf("%s, stopped: %v, %+v", name, err, got)
			}
		}
	}
}

func TestHealthJSON(t *testing.T) {
	data, err := json.Marshal(Health{Name: "e", State: OK, Asked: 2})
	if want := `{"name":"e","state":"ok","asked":2,"failed":0}`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}
