package sources

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// letterCounts is an embedder that counts a few letters.
type letterCounts struct{ vectors int }

func (letterCounts) Name() string { return "letters" }

func (l letterCounts) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if l.vectors < 0 {
		return nil, errors.New("no connection")
	}
	var out [][]float32
	for _, t := range texts {
		out = append(out, []float32{float32(strings.Count(t, "a")), float32(strings.Count(t, "b"))})
	}
	return out[:len(out)-l.vectors], nil
}

func TestMeaning(t *testing.T) {
	got, err := Meaning{letterCounts{}}.Rerank(t.Context(), "aaa", []string{"bb", "ab", "a", ""})
	if err != nil || !slices.Equal(byScore(got), []int{2, 1, 0, 3}) || math.Abs(got[1]-math.Sqrt2/2) > 1e-9 {
		t.Errorf("%v, %v", got, err)
	}
	for _, broken := range []int{-1, 1} {
		if _, err := (Meaning{letterCounts{broken}}).Rerank(t.Context(), "a", []string{"b"}); err == nil {
			t.Errorf("%d: no error", broken)
		}
	}
}
