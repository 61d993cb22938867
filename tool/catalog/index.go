// Package catalog finds tools: an index over names, descriptions, arguments
// and examples with a confidence that says when none fits, and the catalog of
// what an agent may use, with the health and the use of each tool kept in a
// store.
package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"dossier/index"
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Index searches entries. It does not change and is safe for concurrent use.
type Index struct {
	entries []Entry
	// Terms are words, pairs of neighbouring words, and the concepts of
	// associations.txt, numbered in the order in which they were met.
	words    map[string]term
	pairs    map[[2]term]term
	concepts map[int32]term
	rarity   []float64 // inverse document frequency of a term
	starts   []int32   // where a term's postings begin; one more than terms
	postings []posting
	// spelling finds words by their trigrams, for those that no entry has.
	spelling map[string][]string
	origin   []int32 // of an entry, numbered
	origins  int
	profiles []profile
	// Of a word, and nothing for other terms: the concepts that it belongs to,
	// what it counts for confidence, and whether its letters are Latin.
	conceptsOf [][]term
	judged     []float64
	latin      []bool

	embedder Embedder
	vectors  *index.Vectors
}

type term int32

// posting is what a term adds to the score of an entry, before its rarity.
type posting struct {
	entry  int32
	impact float32
}

// field is a part of an entry.
type field uint8

const (
	inName field = iota
	inDescription
	inArgument
	inArgumentText
	inValues
	inTags
	inPlace
	inAbout
	inExamples
	fieldCount
)

// How much a word counts by where it stands, as in BM25 over weighted fields.
var fieldWeights = [fieldCount]float64{
	inName: 3, inDescription: 2, inArgument: 1, inArgumentText: 1, inValues: 0.5,
	inTags: 1, inPlace: 1, inAbout: 1, inExamples: 1,
}

const (
	saturation = 1.0 // k1 of BM25
	lengthNorm = 0.5 // b of BM25
	nameBonus  = 0.4 // for being in the name at all
)

// NewIndex makes an index of entries. With an embedder, meaning counts beside
// words. An index whose entries could not be embedded is returned with the
// error and finds by words alone.
func NewIndex(ctx context.Context, entries []Entry, e Embedder) (*Index, error) {
	x := build(slices.Clone(entries))
	if e == nil || len(entries) == 0 {
		return x, nil
	}
	if err := x.embed(ctx, e); err != nil {
		return x, fmt.Errorf("embed %d tools: %w", len(entries), err)
	}
	return x, nil
}

// embedBatch is how many texts an embedder gets at once.
const embedBatch = 64

func (x *Index) embed(ctx context.Context, e Embedder) error {
	var b *index.VectorBuilder
	for from := 0; from < len(x.entries); from += embedBatch {
		batch := x.entries[from:min(from+embedBatch, len(x.entries))]
		texts := make([]string, len(batch))
		for i := range batch {
			texts[i] = strings.TrimSpace(spread(batch[i].Name) + ": " + batch[i].Description + "\n" + strings.Join(batch[i].Examples, "\n"))
		}
		vectors, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if len(vectors) != len(texts) {
			return fmt.Errorf("%d vectors came for %d texts", len(vectors), len(texts))
		}
		if b == nil {
			b = index.NewVectorBuilder(len(vectors[0]))
		}
		for i, v := range vectors {
			if err := b.Add(entryID(from+i), v); err != nil {
				return err
			}
		}
	}
	vectors, err := index.OpenVectors(b.Bytes())
	if err != nil {
		return err
	}
	x.embedder, x.vectors = e, vectors
	return nil
}

// entryID names an entry in rankings: names are not unique among servers.
func entryID(i int) string { return fmt.Sprintf("%08d", i) }

// Len returns how many entries there are.
func (x *Index) Len() int { return len(x.entries) }

func (x *Index) postingsOf(t term) []posting { return x.postings[x.starts[t]:x.starts[t+1]] }

// rarityOf is the inverse document frequency of a term that so many of n
// entries have.
func rarityOf(entries, n int) float64 {
	return math.Log(1 + (float64(n)-float64(entries)+0.5)/(float64(entries)+0.5))
}
