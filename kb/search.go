package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/reader"
)

// Route is how chunks are found.
type Route string

// The routes. Without one it is Hybrid where there are vectors, else BM25.
const (
	BM25   Route = "bm25"   // by words
	Dense  Route = "dense"  // by meaning
	Hybrid Route = "hybrid" // by both
)

// Query asks for chunks. A field that is 0 has the library's default.
type Query struct {
	Text     string  `json:"text"`
	Limit    int     `json:"limit,omitempty"` // how many; 10
	Route    Route   `json:"route,omitempty"`
	TopBM25  int     `json:"top_bm25,omitempty"`
	TopDense int     `json:"top_dense,omitempty"`
	K        float64 `json:"k,omitempty"`
	Filter   Filter  `json:"filter,omitzero"`
	// Rerank says whether words that stand together count; nil for what the
	// library's Options say.
	Rerank *bool `json:"rerank,omitempty"`
}

// Passage is a chunk, or several in a row, with where it stands.
type Passage struct {
	ID       string        `json:"id"` // of the chunk; of a whole document its number
	Document int64         `json:"document"`
	Chunk    int           `json:"chunk"` // the first one
	Path     string        `json:"path"`
	Title    string        `json:"title"` // the file's name if it has none
	Author   string        `json:"author,omitempty"`
	Date     string        `json:"date,omitempty"`
	Lang     lang.Code     `json:"lang,omitempty"`
	Format   reader.Format `json:"format,omitempty"`
	Headings []string      `json:"headings,omitempty"`
	Page     int           `json:"page,omitempty"`
	Start    int           `json:"start"` // bytes of the document's text
	End      int           `json:"end"`
	Text     string        `json:"text"`
}

// Hit is a chunk that was found.
type Hit struct {
	Passage
	// Score orders the hits of one result; it means nothing between routes.
	Score float64 `json:"score"`
	// Lexical and Dense are the places in the two rankings, from 1; 0 where
	// it was not found.
	Lexical int `json:"lexical,omitempty"`
	Dense   int `json:"dense,omitempty"`
	// Near is how near the chunk comes by its meaning: where it stands between
	// the last of those that were found by meaning, 0, and the query itself, 1.
	// It is 0 for all where there are too few chunks to tell.
	Near float64 `json:"near,omitempty"`
}

// Result is what a search found.
type Result struct {
	Hits  []Hit `json:"hits"`
	Route Route `json:"route"` // that was taken
	// Note says why vectors were not used, where they were not.
	Note     string `json:"note,omitempty"`
	Revision int64  `json:"revision"` // of the collection
}

// Search returns the best chunks of a collection for a query. It works on the
// index as it was when it began; documents that went meanwhile are left out.
// It fails with ErrNoCollection.
func (l *Library) Search(ctx context.Context, name string, q Query) (Result, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return Result{}, err
	}
	r, err := l.search(ctx, c, q)
	if err != nil {
		return Result{}, fmt.Errorf("search %q: %w", c.Name, err)
	}
	return r, nil
}

func (l *Library) search(ctx context.Context, c Collection, q Query) (Result, error) {
	q.Limit = cmp.Or(q.Limit, 10)
	q.TopBM25 = max(q.Limit, cmp.Or(q.TopBM25, l.opts.TopBM25))
	q.TopDense = max(q.Limit, cmp.Or(q.TopDense, l.opts.TopDense))
	q.K = cmp.Or(q.K, l.opts.K)
	switch q.Route {
	case "", BM25, Dense, Hybrid:
	default:
		return Result{}, fmt.Errorf("there is no route %q: use %s, %s or %s", q.Route, BM25, Dense, Hybrid)
	}
	v, err := l.view(ctx, c)
	if err != nil {
		return Result{}, err
	}
	key, named := keyOf(c.ID, v.revision, q)
	if known, ok := l.results.get(key); named && ok {
		return known, nil
	}
	out := Result{Route: q.Route, Revision: v.revision}
	out.Note = l.whyNoVectors(v)
	switch {
	case out.Note == "" && q.Route == "":
		out.Route = Hybrid
	case out.Note != "" && q.Route == Dense:
		return Result{}, fmt.Errorf("cannot search by meaning: %s", out.Note)
	case out.Note != "" || q.Route == "":
		out.Route = BM25
	}
	s := &searching{l: l, ctx: ctx, c: c, v: v, q: q}
	if err := s.prepareFilter(); err != nil {
		return Result{}, err
	}
	var lexical, dense []index.Hit
	if out.Route != Dense {
		if lexical, err = s.lexical(); err != nil {
			return Result{}, err
		}
	}
	if out.Route != BM25 {
		if dense, err = s.dense(); err != nil {
			if out.Route == Dense || ctx.Err() != nil {
				return Result{}, err
			}
			// The words are still there.
			out.Route, out.Note = BM25, "the embedder failed: "+err.Error()
		}
	}
	lasting := named
	if out.Route == BM25 && out.Note != "" && out.Note != l.whyNoVectors(v) {
		lasting = false // the embedder may answer the next time
	}
	var fused []index.Hit
	switch out.Route {
	case BM25:
		fused = lexical
	case Dense:
		fused = dense
	default:
		fused = index.Fuse(q.K, index.Ranking{Hits: lexical}, index.Ranking{Hits: dense})
	}
	if out.Hits, err = s.hits(fused, lexical, dense); err == nil && lasting {
		l.results.put(key, out)
	}
	return out, err
}

// whyNoVectors says why a view cannot be searched by meaning; it is empty if
// it can.
func (l *Library) whyNoVectors(v *view) string {
	if l.embedder == nil {
		return "no embedder is configured"
	}
	for _, p := range v.parts {
		if p.vectors != nil && p.Embedder == l.embedder.Name() {
			return ""
		}
	}
	return "no chunk has a vector of " + l.embedder.Name() + " yet: sync the collection"
}

// searching is one search under way.
type searching struct {
	l      *Library
	ctx    context.Context
	c      Collection
	v      *view
	q      Query
	filter func(id string) bool // nil if all chunks count
	err    error                // of the filter
}

func (s *searching) lexical() ([]index.Hit, error) {
	groups, err := s.l.words(s.v).Rephrase(s.q.Text)
	if err != nil {
		return nil, err
	}
	q := index.Query{Text: s.q.Text, Limit: s.q.TopBM25, Filter: s.filter, Groups: groups}
	rerank := !s.l.opts.NoRerank
	if s.q.Rerank != nil {
		rerank = *s.q.Rerank
	}
	if rerank {
		return extract.Search(s.v.index, q, s.candidates)
	}
	hits, err := s.v.index.Search(q)
	return hits, errors.Join(err, s.err)
}

// SearchText finds chunks of a document that is in no collection, of which there
// is an index, as those of a collection are found by words.
func (l *Library) SearchText(ix *index.Index, d *Document, text string, limit int) ([]index.Hit, error) {
	groups, err := (&Words{ix, l.opts.Terms}).Rephrase(text)
	if err != nil {
		return nil, err
	}
	q := index.Query{Text: text, Limit: max(limit, l.opts.TopBM25), Groups: groups}
	hits, err := extract.Search(ix, q, func(hits []index.Hit) ([]extract.Candidate, error) {
		out := make([]extract.Candidate, 0, len(hits))
		for _, h := range hits {
			if _, n, ok := ParseChunkID(h.ID); ok && n < len(d.Chunks) {
				c := Candidate(d, n)
				c.Score = h.Score
				out = append(out, c)
			}
		}
		return out, nil
	})
	return hits[:min(len(hits), limit)], err
}

// candidates reads the chunks that were found. Their texts are copies, so that
// they don't hold their documents; what is gone is left out.
func (s *searching) candidates(hits []index.Hit) ([]extract.Candidate, error) {
	if s.err != nil {
		return nil, s.err
	}
	out := make([]extract.Candidate, 0, len(hits))
	const atOnce = 16 // a document may have megabytes
	for some := range slices.Chunk(hits, atOnce) {
		numbers := make([]int64, len(some))
		for i, h := range some {
			numbers[i], _, _ = ParseChunkID(h.ID)
		}
		docs, err := s.l.documents(s.ctx, s.c.ID, numbers...)
		if err != nil {
			return nil, err
		}
		for i, h := range some {
			_, chunk, _ := ParseChunkID(h.ID)
			if d := docs[numbers[i]]; d != nil && chunk < len(d.Chunks) {
				c := Candidate(d, chunk)
				c.Text, c.Score = strings.Clone(c.Text), h.Score
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func (s *searching) dense() ([]index.Hit, error) {
	vectors, err := s.l.embedder.Embed(s.ctx, []string{s.q.Text})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("embedder %s gave %d vectors for one text", s.l.embedder.Name(), len(vectors))
	}
	var all []index.Hit
	for _, p := range s.v.parts {
		if p.vectors == nil || p.Embedder != s.l.embedder.Name() {
			continue
		}
		filter := s.filter
		if p.index.Deleted() > 0 {
			filter = func(id string) bool { return p.index.Has(id) && (s.filter == nil || s.filter(id)) }
		}
		hits, err := p.vectors.Nearest(vectors[0], s.q.TopDense, filter)
		if err != nil {
			return nil, err
		}
		all = append(all, hits...)
	}
	slices.SortFunc(all, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return all[:min(len(all), s.q.TopDense)], s.err
}

// hits reads the best of a ranking. Of equals the newer comes first.
func (s *searching) hits(ranked, lexical, dense []index.Hit) ([]Hit, error) {
	place := func(hits []index.Hit) map[string]int {
		m := make(map[string]int, len(hits))
		for i, h := range hits {
			m[h.ID] = i + 1
		}
		return m
	}
	byWords, byMeaning := place(lexical), place(dense)
	near := Nearness(dense, s.q.TopDense)
	var out []Hit
	for len(ranked) > 0 && len(out) < s.q.Limit {
		// Equals at the end of the list are looked at, too.
		end := min(len(ranked), s.q.Limit-len(out))
		for end < len(ranked) && ranked[end].Score == ranked[end-1].Score {
			end++
		}
		var numbers []int64
		for _, h := range ranked[:end] {
			n, _, _ := ParseChunkID(h.ID)
			numbers = append(numbers, n)
		}
		docs, err := s.l.documents(s.ctx, s.c.ID, numbers...)
		if err != nil {
			return nil, err
		}
		for i, h := range ranked[:end] {
			_, chunk, _ := ParseChunkID(h.ID)
			if d := docs[numbers[i]]; d != nil && chunk < len(d.Chunks) {
				hit := Hit{Passage: passage(d, chunk, chunk), Score: h.Score, Lexical: byWords[h.ID], Dense: byMeaning[h.ID], Near: near[h.ID]}
				out = append(out, hit)
			}
		}
		ranked = ranked[end:]
	}
	slices.SortStableFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(b.Date, a.Date))
	})
	return out[:min(len(out), s.q.Limit)], nil
}

// Nearness is Hit.Near of chunks that were found by meaning, if there are as many
// as were looked for. Models give cosines of their own kind, some all above 0.6:
// what they say of a chunk shows beside those of others.
func Nearness(dense []index.Hit, wanted int) map[string]float64 {
	if len(dense) < wanted || wanted == 0 {
		return nil
	}
	last := dense[len(dense)-1].Score
	out := make(map[string]float64, len(dense))
	for _, h := range dense {
		if h.Score > last && last < 1 {
			out[h.ID] = min(1, (h.Score-last)/(1-last))
		}
	}
	return out
}

// passage is the chunks first to last of a document.
func passage(d *Document, first, last int) Passage {
	c, end := d.Chunks[first], d.Chunks[last].End
	return Passage{ID: ChunkID(d.N, first), Document: d.N, Chunk: first, Path: d.Path, Title: titleOf(d),
		Author: d.Author, Date: d.Date, Lang: d.Lang, Format: d.Format, Headings: c.Headings, Page: c.Page,
		Start: c.Start, End: end, Text: d.Text[c.Start:end]}
}
