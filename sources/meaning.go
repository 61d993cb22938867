package sources

import (
	"context"
	"fmt"
	"math"

	"dossier/kb"
)

// Meaning ranks texts by how near their vectors are to that of the query.
type Meaning struct{ Embedder kb.Embedder }

// longestEmbedded is how many characters of a text are looked at.
const longestEmbedded = 2000

// Rerank implements search.Reranker.
func (m Meaning) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	all := []string{query}
	for _, t := range texts {
		all = append(all, cut(t, longestEmbedded))
	}
	vectors, err := m.Embedder.Embed(ctx, all)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(all) {
		return nil, fmt.Errorf("the model %s gave %d vectors for %d texts", m.Embedder.Name(), len(vectors), len(all))
	}
	scores := make([]float64, len(texts))
	for i := range texts {
		if scores[i], err = cosine(vectors[0], vectors[i+1]); err != nil {
			return nil, fmt.Errorf("the model %s: %w", m.Embedder.Name(), err)
		}
	}
	return scores, nil
}

func cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, fmt.Errorf("vectors of %d and %d numbers", len(a), len(b))
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0, nil
	}
	return dot / math.Sqrt(aa*bb), nil
}
