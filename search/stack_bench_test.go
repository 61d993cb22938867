package search

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// fifty are hits as engines give them: every seventh is a copy of another, some
// have a URL that tracks, three languages.
func fifty(engine string, from int) []Hit {
	hits := make([]Hit, 50)
	for i := range hits {
		n := from + i
		text := []string{bees, mead, roofs}[n%3]
		if n%7 != 0 {
			text = fmt.Sprintf("No. %d of the sort %c%c: %s And the %d others, which %d people saw.", n, 'a'+n%26, 'a'+n/26, text[:len(text)/6*3], n*31%97, n*17%89)
		}
		hits[i] = Hit{
			URL:   fmt.Sprintf("https://www.site%d.example/Path/%d/?id=%d&utm_source=%s&utm_medium=x#top", n%9, n, n, engine),
			Title: fmt.Sprintf("Title %d — about %s", n, text[:20]), Snippet: text, Date: "2024-05-06", Engine: engine,
		}
	}
	return hits
}

// BenchmarkStack is the whole way of a search: two engines with manners and a
// cache, fused, cleaned and filtered. Cold is a question that nobody asked
// before.
func BenchmarkStack(b *testing.B) {
	stack := func() Searcher {
		var engines []Searcher
		for i, name := range []string{"a", "b"} {
			hits := fifty(name, 25*i)
			e := &fake{name: name, fn: func(context.Context, Query) ([]Hit, error) { return append([]Hit(nil), hits...), nil }}
			engines = append(engines, Cached(Polite(e, Manners{}), Dir(b.TempDir(), 64<<20), time.Hour))
		}
		return Filtered(Clean(Fused(0, engines...), nil), Rules{BlockedDomains: []string{"spam.example", "site8.example"}, BlockedKeywords: []string{"casino", "赌场", "ставки"}})
	}
	for _, c := range []struct {
		name string
		cold bool
	}{{"cold", true}, {"cached", false}} {
		b.Run(c.name, func(b *testing.B) {
			s := stack()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				q := Query{Text: "bees", Limit: 50, Lang: "en"}
				if n++; c.cold {
					q.Text = fmt.Sprint("bees ", n)
				}
				hits, err := s.Search(WithTrace(b.Context(), &Trace{}), q)
				if err != nil || len(hits) < 20 {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}

func BenchmarkClean(b *testing.B) {
	s := Clean(given(fifty("a", 0)), nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Search(b.Context(), Query{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFiltered(b *testing.B) {
	s := Filtered(given(fifty("a", 0)), Rules{BlockedKeywords: []string{"casino", "赌场", "ставки"}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Search(b.Context(), Query{Lang: "en"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalURL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NormalURL("https://www.site.example/Path/1/?id=7&utm_source=x&utm_medium=y#top"); err != nil {
			b.Fatal(err)
		}
	}
}
