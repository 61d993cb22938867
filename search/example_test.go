package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"dossier/search"
)

// shelf is an engine over a few books.
type shelf struct{ name, books string }

func (s shelf) Info() search.Info { return search.Info{Name: s.name} }

func (s shelf) Search(_ context.Context, q search.Query) ([]search.Hit, error) {
	if s.books == "" {
		return nil, &search.Error{Engine: s.name, Reason: search.RateLimited, RetryAfter: time.Minute}
	}
	var hits []search.Hit
	for book := range strings.SplitSeq(s.books, ",") {
		if strings.Contains(book, q.Text) {
			hits = append(hits, search.Hit{URL: "https://" + s.name + ".example/" + book + "?utm_source=shelf", Title: book, Engine: s.name})
		}
	}
	return hits, nil
}

// The whole stack: each engine has manners and a cache, the second is asked when
// the first can't answer, and what comes back is clean and wanted.
func Example() {
	kept, err := os.MkdirTemp("", "kept-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(kept)
	stand := func(e search.Engine) search.Engine {
		return search.Cached(search.Polite(e, search.Manners{Every: time.Second}), search.Dir(kept, 0), time.Hour)
	}
	engines := search.Fallback(stand(shelf{name: "busy"}), stand(shelf{"library", "bees,bees-and-wasps,ants,file:bees"}))
	all := search.Filtered(search.Clean(engines, nil), search.Rules{BlockedKeywords: []string{"wasps"}})

	trace := &search.Trace{}
	hits, err := all.Search(search.WithTrace(context.Background(), trace), search.Query{Text: "bees", Limit: 5})
	for _, h := range hits {
		fmt.Println(h.URL)
	}
	for _, a := range trace.Attempts() {
		fmt.Printf("%s: found %d, %q\n", a.Engine, a.Found, a.Reason)
	}
	for _, d := range trace.Drops() {
		fmt.Printf("%s: %s %s\n", d.Why, d.URL, d.Detail)
	}
	fmt.Println(err)
	// Output:
	// https://library.example/bees
	// https://library.example/file:bees
	// busy: found 0, "rate-limited"
	// library: found 3, ""
	// blocked-keyword: https://library.example/bees-and-wasps wasps
	// <nil>
}

// Whoever rests says so, and for how long.
func ExamplePolite() {
	polite := search.Polite(shelf{name: "busy"}, search.Manners{})
	for range 2 {
		_, err := polite.Search(context.Background(), search.Query{Text: "bees"})
		fault, _ := errors.AsType[*search.Error](err)
		fmt.Println(fault, fault.RetryAfter.Round(time.Second))
	}
	// Output:
	// busy: rate-limited 1m0s
	// busy: rate-limited: it is left alone for another 1m0s 1m0s
}
