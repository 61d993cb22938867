package search

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestFallback(t *testing.T) {
	for name, c := range map[string]struct {
		engines []Engine
		want    string // what is found, or each failure
		asked   []int
	}{
		"the first wins":      {[]Engine{finding("a", "u"), finding("b", "v")}, "[u]", []int{1, 0}},
		"one fails":           {[]Engine{failing("a", Blocked), finding("b", "v")}, "[v]", []int{1, 1}},
		"one finds nothing":   {[]Engine{finding("a"), finding("b", "v"), finding("c", "w")}, "[v]", []int{1, 1, 0}},
		"all fail":            {[]Engine{failing("a", Blocked), failing("b", TooSlow)}, "no search engine answered: a: blocked: for a test; b: too slow: for a test", []int{1, 1}},
		"none, and a failure": {[]Engine{failing("a", Blocked), finding("b")}, "[]", []int{1, 1}},
		"a failure, and none": {[]Engine{finding("a"), failing("b", Blocked)}, "[]", []int{1, 1}},
		"no engine":           {nil, "no search engine is configured", nil},
	} {
		hits, err := Fallback(c.engines...).Search(t.Context(), Query{Text: "q"})
		got := fmt.Sprint(urls(hits))
		if err != nil {
			got = err.Error()
			if all, ok := errors.AsType[*ExhaustedError](err); !ok || all.Query != "q" || len(all.Tried) != len(c.engines) {
				t.Errorf("%s: %#v", name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
		for i, e := range c.engines {
			if n := e.(*fake).asked(); n != c.asked[i] {
				t.Errorf("%s: engine %d was asked %d times", name, i, n)
			}
		}
	}
}

func TestCombinationsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, late := finding("quick"), slow("late", time.Minute)
		deaf := &fake{name: "deaf", fn: func(context.Context, Query) ([]Hit, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}}
		for name, s := range map[string]Searcher{
			"fallback": Fallback(quick, late, quick), "tiers": Tiers(1, quick, late, quick),
			"fused": Fused(0, quick, late, finding("x", "u")), "fused with who does not hear": Fused(0, quick, deaf),
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			hits, err := s.Search(ctx, Query{Text: "q"})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || ReasonOf(err) != "" || hits != nil || time.Since(begin) != time.Second {
				t.Errorf("%s: %v, %v after %v", name, hits, err, time.Since(begin))
			}
		}
		time.Sleep(time.Hour) // until the deaf one is done
	})
}

func TestTiers(t *testing.T) {
	a, b, c := finding("a", "https://u.example/", "https://v.example/"), finding("b", "http://www.v.example", "https://w.example/"), finding("c", "https://x.example/")
	down := failing("down", Unreachable)
	for _, test := range []struct {
		enough int
		tiers  []Searcher
		want   string
	}{
		{0, []Searcher{a, b}, "[https://u.example/ https://v.example/]"},
		{2, []Searcher{a, b}, "[https://u.example/ https://v.example/]"},
		{3, []Searcher{a, b, c}, "[https://u.example/ https://v.example/ https://w.example/]"},
		{9, []Searcher{a, down, b, c}, "[https://u.example/ https://v.example/ https://w.example/ https://x.example/]"},
		{9, []Searcher{down, finding("e")}, "[]"},
		{9, []Searcher{down, Fallback(down, down)}, "no search engine answered: " + strings.Repeat("down: unreachable: for a test; ", 2) + "down: unreachable: for a test"},
		{9, nil, "no search engine is configured"},
	} {
		hits, err := Tiers(test.enough, test.tiers...).Search(t.Context(), Query{Text: "q"})
		got := fmt.Sprint(urls(hits))
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d of %d tiers: %s, not %s", test.enough, len(test.tiers), got, test.want)
		}
	}
}

func TestFused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := slow("late", time.Second)
		begin := time.Now()
		s := Fused(60, finding("a", "https://u.example/", "https://v.example/"), failing("down", Blocked), late, late)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				hits, err := s.Search(t.Context(), Query{Text: "q"})
				if want := "[https://slow.example/q https://u.example/ https://v.example/]"; err != nil || fmt.Sprint(urls(hits)) != want {
					t.Error(urls(hits), err)
				}
			})
		}
		wg.Wait()
		if time.Since(begin) != time.Second {
			t.Errorf("it took %v", time.Since(begin))
		}
	})
	panics := &fake{name: "panics", fn: func(context.Context, Query) ([]Hit, error) { panic("oops") }}
	strange := &fake{name: "strange", fn: func(context.Context, Query) ([]Hit, error) { return nil, errors.New("?key=secret") }}
	_, err := Fused(60, failing("a", Blocked), Fallback(failing("b", TooSlow)), panics, strange).Search(t.Context(), Query{Text: "q"})
	all, ok := errors.AsType[*ExhaustedError](err)
	if !ok || len(all.Tried) != 4 || all.Tried[1].Reason != TooSlow || all.Tried[2].Engine != "panics" || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if hits, err := Fused(60, failing("a", Blocked), finding("b")).Search(t.Context(), Query{}); err != nil || len(hits) != 0 {
		t.Error(hits, err)
	}
}

func TestFuse(t *testing.T) {
	a := []Hit{
		{URL: "https://one.example/", Title: "One", Snippet: "short", Engine: "a", Score: 9},
		{URL: "http://two.example/x/", Snippet: "two", Engine: "a", Lang: "en"},
		{URL: "http://two.example/x", Snippet: "twice in one list", Engine: "a"},
	}
	b := []Hit{
		{URL: "https://www.two.example/x?utm_source=b", Title: "Two", Snippet: "the longest snippet of all", Engine: "b", Date: "2024-05", Author: "Ann", Site: "Two", Text: "text", Lang: "ru"},
		{URL: "not a URL", Engine: "b"},
		{URL: "https://one.example/", Title: "Other", Date: "2023", Engine: "a"},
	}
	got := Fuse(0, a, nil, b)
	first, second, third := 1.0/61, 1.0/62, 1.0/63 // sums of constants would be exact
	want := []Hit{
		{URL: "https://www.two.example/x?utm_source=b", Title: "Two", Snippet: "the longest snippet of all", Text: "text", Author: "Ann", Date: "2024-05", Site: "Two", Lang: "en", Engine: "a,b", Score: second + first},
		{URL: "https://one.example/", Title: "One", Snippet: "short", Date: "2023", Engine: "a", Score: first + third},
		{URL: "not a URL", Engine: "b", Score: second},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if a[0].Score != 9 || a[1].Title != "" {
		t.Errorf("the lists were changed: %+v", a)
	}
	if got := Fuse(60); len(got) != 0 {
		t.Error(got)
	}
}

// What is fused is the union of the lists, each page once, and a page that is
// better or equal in every list stands before another.
func TestFuseIsAPermutationOfTheUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page := rapid.Custom(func(t *rapid.T) Hit {
			return Hit{URL: fmt.Sprintf("https://%d.example/", rapid.IntRange(0, 12).Draw(t, "page")), Engine: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "engine")}
		})
		lists := rapid.SliceOfN(rapid.SliceOfN(page, 0, 10), 0, 4).Draw(t, "lists")
		k := rapid.Float64Range(0, 100).Draw(t, "k")
		var want []string
		ranks := map[string][]int{}
		for l, hits := range lists {
			for rank, h := range hits {
				if ranks[h.URL] == nil {
					want = append(want, h.URL)
					ranks[h.URL] = slices.Repeat([]int{99}, len(lists))
				}
				ranks[h.URL][l] = min(ranks[h.URL][l], rank)
			}
		}
		fused := Fuse(k, lists...)
		got := urls(fused)
		for i, u := range got {
			for _, v := range got[:i] {
				worse := true
				for l := range lists {
					worse = worse && ranks[v][l] > ranks[u][l]
				}
				if worse {
					t.Fatalf("%s before %s: %v", v, u, lists)
				}
			}
			if i > 0 && fused[i].Score > fused[i-1].Score {
				t.Fatalf("scores out of order: %+v", fused)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}

// Who joins lists makes one hit of a page that an engine gave twice, and tells.
// That two engines agree is no drop.
func TestRepeatedHitsAreTold(t *testing.T) {
	twice := finding("twice", "https://u.example/", "https://u.example/?utm_source=letter", "https://v.example/")
	again := finding("again", "https://v.example/")
	for name, s := range map[string]Searcher{"tiers": Tiers(9, twice, again), "fused": Fused(60, twice, again), "both": Tiers(9, Fused(60, twice, again))} {
		trace := &Trace{}
		hits, err := s.Search(WithTrace(t.Context(), trace), Query{Text: "q"})
		want := []Drop{{URL: "https://u.example/?utm_source=letter", Engine: "twice", Why: SameURL, Detail: "https://u.example/"}}
		if got := trace.Drops(); err != nil || len(hits) != 2 || !slices.Equal(got, want) {
			t.Errorf("%s: %d hits, %v, dropped %+v", name, len(hits), err, got)
		}
	}
}
