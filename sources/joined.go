package sources

import (
	"context"
	"fmt"
	"strings"

	"dossier/index"
	"dossier/search"
)

// Join makes one corpus of several: what they find is put together by rank,
// because their scores are not of one scale. One that can't be searched costs
// its part; that none can is an error.
func Join(parts ...Corpus) Corpus {
	if len(parts) == 1 {
		return parts[0]
	}
	return joined(parts)
}

type joined []Corpus

// Name implements Corpus.
func (j joined) Name() string {
	names := make([]string, len(j))
	for i, c := range j {
		names[i] = c.Name()
	}
	return strings.Join(names, "+")
}

// Engines implements Choice.
func (j joined) Engines() []search.Info {
	var out []search.Info
	for _, c := range j {
		if choice, ok := c.(Choice); ok {
			out = append(out, choice.Engines()...)
		}
	}
	return out
}

// Find implements Corpus.
func (j joined) Find(ctx context.Context, q Query) (Finding, error) {
	type part struct {
		Finding
		err error
	}
	found := make([]part, len(j))
	done := make(chan struct{}, len(j))
	for i, c := range j {
		go func() {
			defer func() { done <- struct{}{} }()
			found[i].Finding, found[i].err = c.Find(ctx, q)
		}()
	}
	for range j {
		<-done
	}
	if ctx.Err() != nil {
		return Finding{}, context.Cause(ctx)
	}
	var (
		all      Finding
		failed   error
		answered bool
		rankings []index.Ranking
		byID     = make(map[string]Lead)
	)
	for i, p := range found {
		if p.err != nil {
			failed = p.err
			fault := faultOf(p.err)
			all.Engines = append(all.Engines, search.Attempt{Engine: j[i].Name(), Reason: search.Reason(fault.Code), Detail: fault.Message})
			continue
		}
		answered = true
		r := index.Ranking{Weight: 1}
		for _, l := range p.Leads {
			l.Corpus = i + 1
			byID[l.ID] = l
			r.Hits = append(r.Hits, index.Hit{ID: l.ID, Score: l.Ranking})
		}
		rankings = append(rankings, r)
		if len(p.Engines) == 0 {
			p.Engines = []search.Attempt{{Engine: j[i].Name(), Found: len(p.Leads)}}
		}
		all.Engines = append(all.Engines, p.Engines...)
		all.Dropped = append(all.Dropped, p.Dropped...)
	}
	if !answered {
		return Finding{}, failed
	}
	for _, h := range first(index.Fuse(fuseK, rankings...), q.Limit) {
		l := byID[h.ID]
		l.Ranking = h.Score
		all.Leads = append(all.Leads, l)
	}
	return all, nil
}

// Read implements Corpus.
func (j joined) Read(ctx context.Context, lead Lead) (Document, error) {
	if lead.Corpus < 1 || lead.Corpus > len(j) {
		return Document{}, fmt.Errorf("%s is of no part of what is searched", lead.URI)
	}
	return j[lead.Corpus-1].Read(ctx, lead)
}

// Weights implements Corpus: those of the last part, which is the largest, and
// none where that has none.
func (j joined) Weights(ctx context.Context) (Weights, error) { return j[len(j)-1].Weights(ctx) }
