package main

import (
	"math"
	"testing"

	"dossier/bench/internal/asked"
)

func TestAUC(t *testing.T) {
	for _, c := range []struct {
		high, low []float64
		want      float64
	}{
		{[]float64{3, 4}, []float64{1, 2}, 1},
		{[]float64{1, 2}, []float64{3, 4}, 0},
		{[]float64{1, 3}, []float64{1, 2}, 0.625},
		{nil, []float64{1}, 0},
	} {
		if got := auc(c.high, c.low); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v over %v: %v, want %v", c.high, c.low, got, c.want)
		}
	}
}

// TestLearnConfidence holds that a sign that goes with right answers gets the
// weight, one that does not tells nothing, and that the confidence is a share.
func TestLearnConfidence(t *testing.T) {
	var list []claim
	for i := range 40 {
		c := claim{q: &asked.Question{}, kind: answerable, right: i%2 == 0}
		c.signs[0] = 1
		c.signs[2] = float64(i / 2 % 2)
		if c.right != (i%8 < 2) { // three of four
			c.signs[1] = 1
		}
		list = append(list, c)
	}
	w := learnConfidence(list, len(list[0].signs), words)
	if w[1] <= 0.5 || math.Abs(w[2]) > w[1]/2 {
		t.Errorf("the weights are %.2f", w)
	}
	sum := 0.0
	for i := range list {
		sum += logistic(w, words(&list[i]))
	}
	if math.Abs(sum-20) > 1 {
		t.Errorf("%.1f of 40 are expected to be right, and 20 are", sum)
	}
}
