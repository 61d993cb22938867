package search

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Fallback asks engines in order. The first that finds something wins; one that
// fails or finds nothing passes the question to the next. If all fail, the error
// is an *ExhaustedError; if some fail and the others find nothing, nothing was
// found, and the trace tells the rest.
func Fallback(engines ...Engine) Searcher { return fallback(engines) }

type fallback []Engine

func (f fallback) Search(ctx context.Context, q Query) ([]Hit, error) {
	tried := outcomes{query: q.Text}
	for _, e := range f {
		hits, err := e.Search(ctx, q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && len(hits) > 0 {
			return hits, nil
		}
		tried.add(e, err)
	}
	return nil, tried.err()
}

// Tiers asks searchers in order until there are enough different hits, and
// returns them all, those of earlier tiers first. A page that several tiers find
// is one hit. Failures are as with Fallback.
func Tiers(enough int, searchers ...Searcher) Searcher {
	return tiers{max(1, enough), searchers}
}

type tiers struct {
	enough    int
	searchers []Searcher
}

func (t tiers) Search(ctx context.Context, q Query) ([]Hit, error) {
	tried := outcomes{query: q.Text}
	var found pages
	for _, s := range t.searchers {
		hits, err := s.Search(ctx, q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		tried.add(s, err)
		tellRepeated(TraceOf(ctx), hits)
		for _, h := range hits {
			found.add(h)
		}
		if len(found.hits) >= t.enough {
			break
		}
	}
	if len(found.hits) == 0 {
		return nil, tried.err()
	}
	return found.hits, nil
}

// outcomes are how those who were asked answered.
type outcomes struct {
	query    string
	failed   []*Error
	answered bool
}

func (o *outcomes) add(s Searcher, err error) {
	if err == nil {
		o.answered = true
		return
	}
	o.failed = append(o.failed, faults(nameOf(s), err)...)
}

// err is nil if any answered.
func (o *outcomes) err() error {
	if o.answered {
		return nil
	}
	return &ExhaustedError{Query: o.query, Tried: o.failed}
}

// faults are the failures in err, one for each engine.
func faults(name string, err error) []*Error {
	if all, ok := errors.AsType[*ExhaustedError](err); ok {
		return all.Tried
	}
	if one, ok := errors.AsType[*Error](err); ok {
		return []*Error{one}
	}
	return []*Error{unexpected(name, err)}
}

// pages are hits, each page once.
type pages struct {
	hits []Hit
	at   map[string]int // of a page in hits
}

// add adds a hit, or what it has to say to the hit of its page. It returns the
// place of that hit.
func (p *pages) add(h Hit) (at int, fresh bool) {
	page := pageOf(h.URL)
	at, known := p.at[page]
	if known {
		p.hits[at].merge(h)
		return at, false
	}
	if p.at == nil {
		p.at = map[string]int{}
	}
	at = len(p.hits)
	p.at[page] = at
	p.hits = append(p.hits, h)
	return at, true
}

// tellRepeated tells of the hits of a list whose page stands further up in it:
// joined with other lists they become one, and nobody sees them any more.
func tellRepeated(trace *Trace, hits []Hit) {
	var found pages
	for _, h := range hits {
		if at, fresh := found.add(h); !fresh {
			trace.Dropped(Drop{URL: shownURL(h.URL), Engine: oneLine(h.Engine, mostName), Why: SameURL, Detail: shownURL(found.hits[at].URL)})
		}
	}
}

// merge adds what another hit says about the same page: the longest of the
// texts, and the rest where it is missing. The engines of both are named.
func (h *Hit) merge(o Hit) {
	if strings.HasPrefix(h.URL, "http:") && strings.HasPrefix(o.URL, "https:") {
		h.URL = o.URL
	}
	longer(&h.Snippet, o.Snippet)
	longer(&h.Text, o.Text)
	missing(&h.Title, o.Title)
	missing(&h.Author, o.Author)
	missing(&h.Date, o.Date)
	missing(&h.Site, o.Site)
	missing(&h.Lang, o.Lang)
	for name := range strings.SplitSeq(o.Engine, ",") {
		switch {
		case name == "" || slices.Contains(strings.Split(h.Engine, ","), name):
		case h.Engine == "":
			h.Engine = name
		default:
			h.Engine += "," + name
		}
	}
}

func longer(known *string, other string) {
	if len(other) > len(*known) {
		*known = other
	}
}

func missing[T ~string](known *T, other T) {
	if *known == "" {
		*known = other
	}
}
