package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"dossier/extract"
)

// counts is how much a claim of each kind weighs. Those of the set itself are
// what is wanted; what was removed is made up.
var counts = map[string]float64{
	answerable: 1, unanswerable: 3, passagesRemoved: 0.3, documentsRemoved: 0.7, elsewhere: 0.5, plainAsked: 0.3, plainRemoved: 0.3,
}

// learnConfidence fits a logistic model: the probability that what is quoted
// answers, by some signs of a claim, of which the first is the bias.
func learnConfidence(list []claim, size int, signs func(*claim) []float64) []float64 {
	w, mean, square := make([]float64, size), make([]float64, size), make([]float64, size)
	slope := make([]float64, size)
	for step := 1.0; step <= steps; step++ {
		clear(slope)
		n := 0.0
		for i := range list {
			c := &list[i]
			weight, x := counts[c.kind], signs(c)
			d := logistic(w, x)
			if c.right {
				d--
			}
			n += weight
			for k := range slope {
				slope[k] += weight * d * x[k]
			}
		}
		for k := range w {
			g := slope[k] / n
			if k > 0 { // all but the bias
				g += shrinkage * w[k]
			}
			mean[k] = momentum*mean[k] + (1-momentum)*g
			square[k] = memory*square[k] + (1-memory)*g*g
			w[k] -= rate * (mean[k] / (1 - math.Pow(momentum, step))) / (math.Sqrt(square[k]/(1-math.Pow(memory, step))) + 1e-8)
		}
	}
	return w
}

func logistic(w, x []float64) float64 {
	sum := 0.0
	for k := range w {
		sum += w[k] * x[k]
	}
	return 1 / (1 + math.Exp(-sum))
}

// words are the signs of a claim in what it says.
func words(c *claim) []float64 { return c.signs[:] }

const plainFolds = 6

// fold is what a claim is left out with.
func (c *claim) fold() string {
	if c.kind == plainAsked || c.kind == plainRemoved {
		h := fnv.New32a()
		h.Write([]byte(c.q.Folder))
		return fmt.Sprint(h.Sum32() % plainFolds)
	}
	return c.q.Folder
}

// reportConfidence prints how well the confidence tells answers from others.
func reportConfidence(out io.Writer, list []claim) []float64 {
	w := foldConfidence(out, list, len(extract.SignNames), words)
	fmt.Fprintln(out, extract.SignNames)
	fmt.Fprintln(out, "signWeights = [SignSize]float64"+text(w))
	return w
}

// foldConfidence prints how well signs tell right answers from others by weights
// that were fitted to other folders, and returns those that were fitted to all.
func foldConfidence(out io.Writer, list []claim, size int, signs func(*claim) []float64) []float64 {
	byFold := map[string][]float64{}
	for i := range list {
		if f := list[i].fold(); byFold[f] == nil {
			byFold[f] = learnConfidence(slices.DeleteFunc(slices.Clone(list), func(o claim) bool { return o.fold() == f }), size, signs)
		}
	}
	tellConfidence(out, "fitted to the other folders", list, func(c *claim) float64 { return logistic(byFold[c.fold()], signs(c)) })
	return learnConfidence(list, size, signs)
}

// text is weights as Go has them.
func text(w []float64) string {
	var b strings.Builder
	for _, v := range w {
		fmt.Fprintf(&b, ", %.2f", v)
	}
	return "{" + strings.TrimPrefix(b.String(), ", ") + "}"
}

// tellConfidence prints how well the confidence tells right answers from the
// other claims, what each floor lets through, and how many of those who have about
// the same confidence are right.
func tellConfidence(out io.Writer, name string, list []claim, confidence func(*claim) float64) {
	byKind := map[string][]float64{}
	var right, wrong []float64
	for i := range list {
		c := &list[i]
		p := confidence(c)
		byKind[c.kind] = append(byKind[c.kind], p)
		if c.kind == answerable && c.right {
			right = append(right, p)
		} else if c.kind == answerable {
			wrong = append(wrong, p)
		}
	}
	fmt.Fprintf(out, "confidence, %s: chance that a right answer has more than\n", name)
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(byKind)), func(kind string) bool { return kind == answerable })
	for _, kind := range kinds {
		fmt.Fprintf(out, "  %-18s %.3f  n=%d\n", kind, auc(right, byKind[kind]), len(byKind[kind]))
	}
	fmt.Fprintf(out, "  %-18s %.3f  n=%d\n", "a wrong answer", auc(right, wrong), len(wrong))
	fmt.Fprintf(out, "  chance that an answerable question has more than an unanswerable one %.3f\n", auc(byKind[answerable], byKind[unanswerable]))
	fmt.Fprint(out, "  floor  wrong-refusal  of right ones  reliability  let through:")
	for _, kind := range kinds {
		fmt.Fprintf(out, "  %s", kind)
	}
	fmt.Fprintln(out)
	for floor := 0.08; floor < 0.325; floor += 0.02 {
		answers := float64(above(right, floor) + above(wrong, floor) + above(byKind[unanswerable], floor))
		fmt.Fprintf(out, "  %.2f   %.3f          %.3f          %.3f                   ", floor,
			1-share(byKind[answerable], floor), 1-share(right, floor), float64(above(right, floor))/max(1, answers))
		for _, kind := range kinds {
			fmt.Fprintf(out, "  %*.3f", len(kind), share(byKind[kind], floor))
		}
		fmt.Fprintln(out)
	}
	asked := slices.Concat(right, wrong, byKind[unanswerable])
	fmt.Fprint(out, "  right by confidence:")
	for from := 0.0; from < 0.6; from += 0.1 {
		n := above(asked, from) - above(asked, from+0.1)
		fmt.Fprintf(out, "  %.1f-%.1f %.2f (n=%d)", from, from+0.1, float64(above(right, from)-above(right, from+0.1))/float64(max(1, n)), n)
	}
	fmt.Fprintln(out)
}

// above counts those at or above a floor, and share is their share.
func above(list []float64, floor float64) (n int) {
	for _, p := range list {
		if p >= floor {
			n++
		}
	}
	return n
}

func share(list []float64, floor float64) float64 {
	return float64(above(list, floor)) / float64(max(1, len(list)))
}

func auc(high, low []float64) float64 {
	sum := 0.0
	for _, h := range high {
		for _, l := range low {
			switch cmp.Compare(h, l) {
			case 1:
				sum++
			case 0:
				sum += 0.5
			}
		}
	}
	return sum / float64(max(1, len(high)*len(low)))
}
