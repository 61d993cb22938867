package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"dossier/bench/internal/asked"
	"dossier/extract"
)

type vector = [len(extract.FeatureNames)]float64

// How weights are found: by Adam, on the probability that a passage is chosen
// which shows a fact, with a little shrinkage.
const (
	steps     = 400
	rate      = 0.05
	shrinkage = 0.003
	momentum  = 0.9
	memory    = 0.99
)

// learn returns the weights that choose right passages.
func learn(list []example) (w vector) {
	w[0] = 3 // begin as the search has it
	var mean, square vector
	for step := 1.0; step <= steps; step++ {
		var slope vector
		n := 0.0
		for i := range list {
			if slices.Contains(list[i].right, true) {
				n++
				list[i].addSlope(&slope, &w)
			}
		}
		for k := range w {
			g := slope[k]/n + shrinkage*w[k]
			mean[k] = momentum*mean[k] + (1-momentum)*g
			square[k] = memory*square[k] + (1-memory)*g*g
			w[k] -= rate * (mean[k] / (1 - math.Pow(momentum, step))) / (math.Sqrt(square[k]/(1-math.Pow(memory, step))) + 1e-8)
		}
	}
	return w
}

// addSlope adds that of the loss of a question: the chance that a softmax over
// its passages misses those that are right.
func (e *example) addSlope(slope, w *vector) {
	p := make([]float64, len(e.features))
	most := math.Inf(-1)
	for i := range p {
		p[i] = dot(w, &e.features[i])
		most = max(most, p[i])
	}
	all, right := 0.0, 0.0
	for i := range p {
		p[i] = math.Exp(p[i] - most)
		all += p[i]
		if e.right[i] {
			right += p[i]
		}
	}
	for i := range p {
		d := p[i] / all
		if e.right[i] {
			d -= p[i] / right
		}
		for k := range slope {
			slope[k] += d * e.features[i][k]
		}
	}
}

func dot(w, f *vector) float64 {
	sum := 0.0
	for k := range w {
		sum += w[k] * f[k]
	}
	return sum
}

// report prints the figures by cross-validation over folders, and the weights.
func report(out io.Writer, list []example) (all vector, ofFolder func(string) *vector) {
	search := vector{1}
	tell(out, "as the search has them", list, func(e *example) asked.Answer { return e.answer(&search) })
	byFolder := map[string]*vector{}
	for _, e := range list {
		if byFolder[e.q.Folder] == nil {
			w := learn(slices.DeleteFunc(slices.Clone(list), func(o example) bool { return o.q.Folder == e.q.Folder }))
			byFolder[e.q.Folder] = &w
		}
	}
	fold := func(e *example) asked.Answer { return e.answer(byFolder[e.q.Folder]) }
	tell(out, "fitted to the other folders", list, fold)
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		tell(out, "  "+folder, slices.DeleteFunc(slices.Clone(list), func(o example) bool { return o.q.Folder != folder }), fold)
	}
	w := learn(list)
	tell(out, "fitted to all", list, func(e *example) asked.Answer { return e.answer(&w) })
	fmt.Fprintln(out, extract.FeatureNames)
	fmt.Fprintln(out, "rankWeights = [RankSize]float64"+text(w[:]))
	return w, func(folder string) *vector { return byFolder[folder] }
}

// tell prints how well the questions are answered that can be.
func tell(out io.Writer, name string, list []example, answer func(*example) asked.Answer) {
	var n, in100, in1, in2, in5, found float64
	for i := range list {
		e := &list[i]
		if e.q.Unanswerable() {
			continue
		}
		n++
		r := asked.Judge(e.q, answer(e))
		for _, count := range []struct {
			to    *float64
			holds bool
		}{{&in100, r.In100}, {&in1, r.In1}, {&in2, r.In2}, {&in5, r.InAll}, {&found, slices.Contains(e.right, true)}} {
			if count.holds {
				*count.to++
			}
		}
	}
	fmt.Fprintf(out, "%-28s n=%-4.0f answered@100w %.3f  @1 %.3f  @2 %.3f  @5 %.3f  among the %d found %.3f\n",
		name, n, in100/n, in1/n, in2/n, in5/n, depth, found/n)
}
