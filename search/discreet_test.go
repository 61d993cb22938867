package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dossier/search"
)

// hush masks one word.
type hush string

func (h hush) Mask(s string) string   { return strings.ReplaceAll(s, string(h), "***") }
func (h hush) Redact(s string) string { return h.Mask(s) }

// parrot repeats its key in all that it says.
type parrot struct{ err error }

const parrotKey = "key-0f-the-parrot"

func (parrot) Info() search.Info { return search.Info{Name: "parrot"} }

func (p parrot) Search(context.Context, search.Query) ([]search.Hit, error) {
	return []search.Hit{{URL: "http://a.example/?k=" + parrotKey}, {URL: "http://b.example/", Title: parrotKey, Snippet: "no " + parrotKey, Text: parrotKey}}, p.err
}

func (p parrot) Open(context.Context, string) (search.Hit, error) {
	return search.Hit{URL: "http://b.example/", Text: parrotKey}, p.err
}

func (p parrot) Rerank(context.Context, string, []string) ([]float64, error) {
	return []float64{1}, p.err
}

func TestDiscreet(t *testing.T) {
	e := search.Discreet(parrot{}, hush(parrotKey))
	hits, err := e.Search(t.Context(), search.Query{})
	if err != nil || len(hits) != 1 || hits[0].Title != "***" || hits[0].Snippet != "no ***" || hits[0].Text != "***" {
		t.Errorf("found %+v, %v", hits, err)
	}
	if h, err := e.(search.Opener).Open(t.Context(), "http://b.example/"); err != nil || h.Text != "***" {
		t.Errorf("opened %+v, %v", h, err)
	}
	said := &search.Error{Engine: "parrot", Reason: search.Unauthorized, Status: 401, Detail: "no such key: " + parrotKey, Err: errors.New(parrotKey)}
	e = search.Discreet(parrot{said}, hush(parrotKey))
	_, searched := e.Search(t.Context(), search.Query{})
	_, opened := e.(search.Opener).Open(t.Context(), "http://b.example/")
	_, ranked := search.DiscreetReranker(parrot{said}, hush(parrotKey)).Rerank(t.Context(), "q", nil)
	for _, err := range []error{searched, opened, ranked} {
		if search.ReasonOf(err) != search.Unauthorized || strings.Contains(err.Error()+errors.Unwrap(err).Error(), parrotKey) || !strings.Contains(err.Error(), "no such key") {
			t.Errorf("%v, caused by %v", err, errors.Unwrap(err))
		}
	}
	if said.Detail != "no such key: "+parrotKey {
		t.Error("the engine's own error was changed")
	}
	if _, err := search.Discreet(parrot{context.Canceled}, hush(parrotKey)).Search(t.Context(), search.Query{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
