package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dossier/bench/internal/asked"
	"dossier/extract"
	"dossier/index"
)

type fitCase struct {
	q      *asked.Question
	units  []*unit
	f      [][extract.RankSize]float64
	right  []bool
	quotes []string
	text   string
	ix     *index.Index
	// unknown is the share of the question that the collection does not have
	unknown float64
}

type weights = [extract.RankSize]float64

// learn fits a softmax over the candidates of each question.
func learn(cases []fitCase, l2 float64) weights {
	var w weights
	w[0] = 3
	var m, v weights
	for step := 1; step <= 400; step++ {
		var g weights
		n := 0.0
		for _, c := range cases {
			if !slices.Contains(c.right, true) {
				continue
			}
			n++
			p := make([]float64, len(c.f))
			top := math.Inf(-1)
			for i := range c.f {
				p[i] = dot(&w, &c.f[i])
				top = max(top, p[i])
			}
			all, good := 0.0, 0.0
			for i := range p {
				p[i] = math.Exp(p[i] - top)
				all += p[i]
				if c.right[i] {
					good += p[i]
				}
			}
			for i := range p {
				d := p[i] / all
				if c.right[i] {
					d -= p[i] / good
				}
				for k := range w {
					g[k] += d * c.f[i][k]
				}
			}
		}
		for k := range w {
			gk := g[k]/n + l2*w[k]
			m[k] = 0.9*m[k] + 0.1*gk
			v[k] = 0.99*v[k] + 0.01*gk*gk
			w[k] -= 0.05 * (m[k] / (1 - math.Pow(0.9, float64(step)))) / (math.Sqrt(v[k]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
		}
	}
	return w
}

func dot(w, f *weights) float64 {
	s := 0.0
	for k := range w {
		s += w[k] * f[k]
	}
	return s
}

// order ranks the candidates.
func order(c *fitCase, w *weights) []int {
	o := make([]int, len(c.f))
	s := make([]float64, len(c.f))
	for i := range o {
		o[i] = i
		s[i] = dot(w, &c.f[i])
	}
	slices.SortStableFunc(o, func(a, b int) int { return cmp.Compare(s[b], s[a]) })
	return o
}

func answer(c *fitCase, w *weights) asked.Answer {
	var a asked.Answer
	for _, i := range order(c, w) {
		if len(a.Quotes) >= 5 {
			break
		}
		a.Quotes = append(a.Quotes, c.quotes[i])
	}
	return a
}

func score(cases []fitCase, w func(c *fitCase) *weights) (s [5]float64) {
	n := 0.0
	for i := range cases {
		c := &cases[i]
		if c.q.Unanswerable() {
			continue
		}
		n++
		wt := w(c)
		r := asked.Judge(c.q, answer(c, wt))
		for k, ok := range []bool{r.In100, r.In1, r.In2, r.InAll} {
			if ok {
				s[k]++
			}
		}
		if slices.Contains(c.right, true) {
			s[4]++
		}
	}
	for k := range s {
		s[k] /= n
	}
	return s
}

func print(name string, s [5]float64) {
	fmt.Printf("%-16s 100w %.3f  @1 %.3f  @2 %.3f  @5 %.3f  among %.3f\n", name, s[0], s[1], s[2], s[3], s[4])
}

func report(cases []fitCase) weights {
	base := weights{1}
	print("search", score(cases, func(*fitCase) *weights { return &base }))
	all := learn(cases, *l2)
	print("fitted", score(cases, func(*fitCase) *weights { return &all }))
	fold := func(c *fitCase) string { return c.q.Folder }
	byFold := map[string]*weights{}
	for _, c := range cases {
		k := fold(&c)
		if byFold[k] != nil {
			continue
		}
		var rest []fitCase
		for _, o := range cases {
			if fold(&o) != k {
				rest = append(rest, o)
			}
		}
		w := learn(rest, *l2)
		byFold[k] = &w
	}
	print("folds", score(cases, func(c *fitCase) *weights { return byFold[fold(c)] }))
	refusals(cases, func(c *fitCase) *weights { return byFold[fold(c)] })
	groups(cases, func(c *fitCase) *weights { return byFold[fold(c)] })
	if *show != "" {
		for i := range cases {
			c := &cases[i]
			if c.q.Unanswerable() || !strings.Contains(*show, c.q.Folder) {
				continue
			}
			w := byFold[fold(c)]
			a := answer(c, w)
			if asked.Judge(c.q, a).In100 {
				continue
			}
			o := order(c, w)
			rank := -1
			for p, k := range o {
				if c.right[k] {
					rank = p
					break
				}
			}
			fmt.Printf("\n== %s [%s] %v %s\n   gold %s\n   rank of a right unit %d (search %d)\n", c.q.ID, c.q.Type, c.q.History, c.q.Question, c.q.Gold[0].File+": "+cutTo(c.q.Gold[0].Quote, 200), rank, slices.Index(c.right, true))
			for p, k := range o[:min(2, len(o))] {
				fmt.Printf("   %d %s %v: %s\n", p, c.units[k].doc.File, c.units[k].headings, cutTo(strings.Join(strings.Fields(c.quotes[k]), " "), 250))
			}
		}
	}
	for k := range all {
		fmt.Printf("%s %.2f  ", extract.RankNames[k], all[k])
	}
	fmt.Println()
	return all
}

func groups(cases []fitCase, w func(*fitCase) *weights) {
	if !*long {
		return
	}
	byGroup := map[string][]fitCase{}
	for _, c := range cases {
		byGroup[c.q.Folder] = append(byGroup[c.q.Folder], c)
		byGroup[c.q.Type] = append(byGroup[c.q.Type], c)
		byGroup[c.q.Lang] = append(byGroup[c.q.Lang], c)
	}
	for _, k := range slices.Sorted(maps.Keys(byGroup)) {
		if k != "unanswerable" {
			print(fmt.Sprint(k, " ", len(byGroup[k])), score(byGroup[k], w))
		}
	}
}

// window is at most sixty words around the best sentence.
func window(text string, j *extract.Judged) string {
	return j.Window(text, *words)
}

var words = flag.Int("words", 80, "")
var long = flag.Bool("long", false, "")
var l2 = flag.Float64("l2", 0.003, "")
var show = flag.String("show", "", "folders")

func cutTo(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
