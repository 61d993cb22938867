package main

import (
	"flag"
	"fmt"
	"math"
	"slices"

	"dossier/bench/internal/asked"
	"dossier/extract"
)

// what tells whether the best passages answer
type trust []float64

var trustNames = []string{"bias", "cover", "cover3", "sentence", "near", "keys", "lacks", "headed", "unknown", "margin", "best", "pairs", "named", "rare", "rare2", "rareAll", "conf"}

func feature(c *fitCase, i int, name string) float64 {
	return c.f[i][slices.Index(extract.RankNames[:], name)]
}

func trustOf(c *fitCase, w *weights, skip func(i int) bool) trust {
	var o []int
	for _, i := range order(c, w) {
		if !skip(i) {
			o = append(o, i)
		}
	}
	t := make(trust, len(trustNames))
	t[0] = 1
	if len(o) == 0 {
		return t
	}
	f := func(name string) float64 { return feature(c, o[0], name) }
	t[1] = f("cover")
	for _, i := range o[:min(3, len(o))] {
		t[2] = max(t[2], feature(c, i, "cover"))
	}
	t[3] = f("sentence")
	t[4] = f("near")
	t[5] = f("keys")
	t[6] = f("lacks")
	t[7] = max(f("heading"), f("title"))
	t[8] = c.unknown
	if len(o) > 5 {
		t[9] = (dot(w, &c.f[o[0]]) - dot(w, &c.f[o[5]]))
	}
	t[10] = dot(w, &c.f[o[0]]) / 10
	t[11] = f("pairs")
	t[12] = f("named")
	t[13] = f("rare")
	t[14] = f("rare2")
	for _, i := range o[:min(3, len(o))] {
		t[16] = confidence(c, o)
		t[15] = max(t[15], feature(c, i, "rare")*feature(c, i, "rare2"))
	}
	return t
}

func confidence(c *fitCase, o []int) float64 {
	var ps []extract.Passage
	for _, i := range o[:min(6, len(o))] {
		u := c.units[i]
		ps = append(ps, extract.Passage{Title: u.doc.name(), Headings: u.headings, Text: u.text})
	}
	return extract.Select(c.text, ps, c.ix, extract.Options{}).Confidence
}

type example struct {
	t     trust
	right bool
	fold  string
	c     *fitCase
	real  bool // not made by leaving out what answers
}

func examples(cases []fitCase, w func(*fitCase) *weights) []example {
	var out []example
	for i := range cases {
		c := &cases[i]
		wt := w(c)
		e := example{t: trustOf(c, wt, func(int) bool { return false }), fold: c.q.Folder, c: c, real: true}
		if !c.q.Unanswerable() {
			e.right = asked.Judge(c.q, answer(c, wt)).InAll || *can
			gold := map[string]bool{}
			for _, g := range c.q.Gold {
				gold[g.File] = true
			}
			for j, r := range c.right {
				if r {
					gold[c.units[j].doc.File] = true
				}
			}
			out = append(out, example{t: trustOf(c, wt, func(i int) bool { return gold[c.units[i].doc.File] }), fold: c.q.Folder, c: c})
		}
		out = append(out, e)
	}
	return out
}

func logistic(list []example) trust {
	w := make(trust, len(trustNames))
	for step := 0; step < 3000; step++ {
		g := make(trust, len(w))
		for _, e := range list {
			d := sigmoid(w, e.t)
			if e.right {
				d--
			}
			for k := range g {
				g[k] += d * e.t[k]
			}
		}
		for k := range w {
			w[k] -= 0.5 * (g[k]/float64(len(list)) + 0.002*w[k])
		}
	}
	return w
}

func sigmoid(w, t trust) float64 {
	s := 0.0
	for k := range w {
		s += w[k] * t[k]
	}
	return 1 / (1 + math.Exp(-s))
}

func refusals(cases []fitCase, w func(*fitCase) *weights) {
	list := examples(cases, w)
	byFold := map[string]trust{}
	for _, e := range list {
		if byFold[e.fold] == nil {
			var rest []example
			for _, o := range list {
				if o.fold != e.fold {
					rest = append(rest, o)
				}
			}
			byFold[e.fold] = logistic(rest)
		}
	}
	for _, floor := range []float64{0.1, 0.12, 0.15, 0.18, 0.2, 0.22, 0.25, 0.28, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65} {
		var can, refused, cannot, answered, made, answeredMade, right, claimed, in100 float64
		for _, e := range list {
			p := sigmoid(byFold[e.fold], e.t)
			switch {
			case !e.real:
				made++
				if p >= floor {
					answeredMade++
				}
			case e.c.q.Unanswerable():
				cannot++
				if p >= floor {
					answered++
					claimed++
				}
			default:
				can++
				if p < floor {
					refused++
				} else {
					claimed++
					if e.right {
						right++
					}
					if asked.Judge(e.c.q, answer(e.c, w(e.c))).In100 {
						in100++
					}
				}
			}
		}
		fmt.Printf("floor %.2f: wrong-refusal %.3f false-answer %.3f (made %.3f) reliability %.3f 100w %.3f\n", floor, refused/can, answered/cannot, answeredMade/made, right/claimed, in100/can)
	}
	for _, floor := range []float64{0.1, 0.15, 0.2, 0.25, 0.32, 0.4, 0.5, 0.6} {
		var can, refused, cannot, answered float64
		for _, e := range list {
			p := e.t[16]
			switch {
			case !e.real:
			case e.c.q.Unanswerable():
				cannot++
				if p >= floor {
					answered++
				}
			default:
				can++
				if p < floor {
					refused++
				}
			}
		}
		fmt.Printf("conf %.2f: wrong-refusal %.3f false-answer %.3f\n", floor, refused/can, answered/cannot)
	}
	all := logistic(list)
	for k, n := range trustNames {
		fmt.Printf("%s %.2f  ", n, all[k])
	}
	fmt.Println()
}

var can = flag.Bool("can", false, "")
