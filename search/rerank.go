package search

import "context"

// Reranker says how well texts answer a query.
type Reranker interface {
	// Rerank returns one score for each of texts, in their order; higher is
	// better. Scores of one call can be compared with each other, no others. An
	// error is an *Error or ctx's. It is safe for concurrent use.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
