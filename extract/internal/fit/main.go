// Command fit finds the weights of package evidence: one set for all languages
// and kinds of text. It reads what the evaluation recorded and prints the Go
// text of the weights, and, on stderr, how well weights do that were found on
// two thirds of the questions and tried on the rest.
//
//	go run ./bench/eval -set SET -runs DIR -out /dev/null    for each set below
//	go run ./extract/internal/fit DIR
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/extract/internal/evidence"
	"dossier/index"
	"dossier/lang"
)

// sets weigh a question of each set and part.
var sets = map[string]float64{"retrieval_xquad": 1, "retrieval_rurag_ru": 1, "qa_rgb_zh_en": 1}

const folds = 3

// example is a question with what was found for it.
type example struct {
	set, part string
	fold      int
	weight    float64
	read      *evidence.Reading
	units     [][evidence.UnitSize]float64
	right     []bool // by unit: it has the answer
	any       bool   // some unit has it
	missing   bool   // the answer was taken away

	// With the weights of units that were found:
	features [evidence.ReadSize]float64
	answered bool
	scratch  []float64
}

type weights map[string]float64

func (w weights) Weight(term string) float64 { return w[term] }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fit DIR")
		os.Exit(2)
	}
	var all []*example
	for set, weight := range sets {
		some, err := read(filepath.Join(os.Args[1], set+".jsonl"), set, weight)
		if err != nil {
			fmt.Fprintln(os.Stderr, "fit:", err)
			os.Exit(1)
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b *example) int { return strings.Compare(a.set+a.part, b.set+b.part) })
	var judged []verdict
	for fold := range folds {
		units, reads := fit(all, func(e *example) bool { return e.fold != fold })
		for _, e := range all {
			if e.fold == fold {
				judged = append(judged, judge(e, units, reads))
			}
		}
	}
	report(judged)
	units, reads := fit(all, func(*example) bool { return true })
	show("unit", units[:], evidence.UnitNames[:])
	show("read", reads[:], evidence.ReadNames[:])
}

func read(file, set string, weight float64) ([]*example, error) {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []*example
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var in struct {
			Part     string            `json:"part"`
			Group    string            `json:"group"`
			Question string            `json:"question"`
			Gold     [][]string        `json:"gold"`
			Passages []extract.Passage `json:"passages"`
			Weights  weights           `json:"weights"`
		}
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(in.Passages) == 0 {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(in.Group))
		e := &example{set: set, part: in.Part, fold: int(h.Sum32() % folds), weight: weight,
			missing: strings.HasPrefix(in.Part, "removed") || in.Part == "negative"}
		passages := make([]evidence.Passage, len(in.Passages))
		for i, p := range in.Passages {
			passages[i] = evidence.Passage{Above: append([]string{p.Title}, p.Headings...), Text: p.Text}
		}
		e.read = evidence.ReadAll(in.Question, passages, "", in.Weights)
		for i, page := range e.read.Pages {
			for j := range page.Units {
				if !page.Units[j].Quotable() {
					continue
				}
				right := holds(page.Units[j].In(passages[i].Text), in.Gold, e.read.Question.Lang)
				e.units = append(e.units, e.read.Units[i][j])
				e.right = append(e.right, right)
				e.any = e.any || right
			}
		}
		if e.missing && e.any && set == "qa_rgb_zh_en" {
			continue // documents that were thought to lack the answer have it
		}
		out = append(out, e)
	}
	return out, lines.Err()
}

// holds reports whether a sentence has all words of some part of the answer.
func holds(sentence string, gold [][]string, code lang.Code) bool {
	has := map[string]bool{}
	for _, t := range index.Tokens(sentence, code) {
		has[t.Term] = true
	}
	for _, forms := range gold {
		for _, form := range forms {
			all, some := true, false
			for _, t := range index.Tokens(form, code) {
				all, some = all && (has[t.Term] || t.Function), true
			}
			if all && some {
				return true
			}
		}
	}
	return false
}

const (
	rounds = 90
	rate   = 0.12
	decay  = 0.002 // L2, on all but the bias
)

// fit finds the weights of units, then those of readings.
func fit(all []*example, use func(*example) bool) (units [evidence.UnitSize]float64, reads [evidence.ReadSize]float64) {
	used := slices.DeleteFunc(slices.Clone(all), func(e *example) bool { return !use(e) })
	descend(units[:], used, func(e *example, w, g []float64) {
		// The log of the probability that what is chosen is right: a unit with
		// the answer, or none where there is none.
		p := choice(e, w)
		none, right := 1.0, 0.0
		for i := range p {
			none -= p[i]
			if e.right[i] {
				right += p[i]
			}
		}
		lost := e.missing || !e.any
		for i := range p {
			d := p[i]
			if !lost && e.right[i] {
				d -= p[i] / max(right, 1e-12)
			}
			for k, x := range e.units[i] {
				g[k] += e.weight * d * x
			}
		}
	})
	for _, e := range used {
		e.read.Weigh(&units)
		e.features, e.answered = e.read.Features(), !e.missing && among(e, units[:])
	}
	descend(reads[:], used, func(e *example, w, g []float64) {
		d := sigmoid(dot(w, e.features[:]))
		if e.answered {
			d--
		}
		for k, x := range e.features {
			g[k] += e.weight * d * x
		}
	})
	return units, reads
}

// choice returns the probability of each unit.
func choice(e *example, w []float64) []float64 {
	p := e.scratch[:0]
	sum := 1.0
	for i := range e.units {
		p = append(p, math.Exp(min(30, dot(w, e.units[i][:]))))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	e.scratch = p
	return p
}

// among reports whether the answer is in the few units that are chosen.
func among(e *example, w []float64) bool {
	for _, i := range order(choice(e, w))[:min(3, len(e.units))] {
		if e.right[i] {
			return true
		}
	}
	return false
}

func order(p []float64) []int {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch {
		case p[a] > p[b]:
			return -1
		case p[a] < p[b]:
			return 1
		}
		return 0
	})
	return at
}

// descend minimises a loss, whose gradient add adds, with Adam.
func descend(w []float64, examples []*example, add func(e *example, w, g []float64)) {
	total := 0.0
	for _, e := range examples {
		total += e.weight
	}
	m, v, g := make([]float64, len(w)), make([]float64, len(w)), make([]float64, len(w))
	for round := 1; round <= rounds; round++ {
		clear(g)
		for _, e := range examples {
			add(e, w, g)
		}
		step := rate * math.Min(1, 4*(1-float64(round)/rounds))
		for k := range w {
			grad := g[k] / total
			if k > 0 {
				grad += decay * w[k]
			}
			m[k] = 0.9*m[k] + 0.1*grad
			v[k] = 0.999*v[k] + 0.001*grad*grad
			mm := m[k] / (1 - math.Pow(0.9, float64(round)))
			vv := v[k] / (1 - math.Pow(0.999, float64(round)))
			w[k] -= step * mm / (math.Sqrt(vv) + 1e-9)
		}
	}
}

// verdict is how an example went that the weights had not seen.
type verdict struct {
	*example
	first      int // place of the first unit that is right, 0 if none is
	confidence float64
}

func judge(e *example, units [evidence.UnitSize]float64, reads [evidence.ReadSize]float64) verdict {
	v := verdict{example: e}
	for at, i := range order(choice(e, units[:])) {
		if e.right[i] {
			v.first = at + 1
			break
		}
	}
	e.read.Weigh(&units)
	f := e.read.Features()
	v.confidence = sigmoid(dot(reads[:], f[:]))
	return v
}

func report(judged []verdict) {
	parts := map[string][]verdict{}
	for _, v := range judged {
		parts[v.set+" "+v.part] = append(parts[v.set+" "+v.part], v)
	}
	var names []string
	for name := range parts {
		names = append(names, name)
	}
	slices.Sort(names)
	floors := []float64{0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6}
	fmt.Fprintf(os.Stderr, "%-32s %5s %6s %6s %6s %6s  refused at %v\n", "", "n", "@1", "@2", "@3", "any", floors)
	for _, name := range names {
		some := parts[name]
		var at [3]int
		holds := 0
		refused := make([]int, len(floors))
		for _, v := range some {
			for k := range at {
				if v.first > 0 && v.first <= k+1 {
					at[k]++
				}
			}
			if v.any {
				holds++
			}
			for k, floor := range floors {
				if v.confidence < floor {
					refused[k]++
				}
			}
		}
		n := float64(len(some))
		fmt.Fprintf(os.Stderr, "%-32s %5d %6.3f %6.3f %6.3f %6.3f ", name, len(some), float64(at[0])/n, float64(at[1])/n, float64(at[2])/n, float64(holds)/n)
		for _, r := range refused {
			fmt.Fprintf(os.Stderr, " %5.3f", float64(r)/n)
		}
		fmt.Fprintln(os.Stderr)
	}
	// Confidence beside how often the answer is there.
	var sum, right, count [10]float64
	for _, v := range judged {
		k := min(9, int(v.confidence*10))
		sum[k], count[k] = sum[k]+v.confidence, count[k]+1
		if !v.missing && v.first > 0 && v.first <= 3 {
			right[k]++
		}
	}
	for k := range count {
		fmt.Fprintf(os.Stderr, "confidence %.2f right %.2f n=%.0f\n", sum[k]/max(1, count[k]), right[k]/max(1, count[k]), count[k])
	}
}

func show(name string, w []float64, names []string) {
	fmt.Printf("\t%sWeights = [%sSize]float64{", name, strings.ToUpper(name[:1])+name[1:])
	for i, v := range w {
		if i > 0 {
			fmt.Print(", ")
		}
		fmt.Printf("%.3f", v)
	}
	fmt.Println("}")
	for i, v := range w {
		fmt.Fprintf(os.Stderr, "%s %-10s %7.2f\n", name, names[i], v)
	}
}

func dot(w, f []float64) float64 {
	sum := 0.0
	for i := range f {
		sum += w[i] * f[i]
	}
	return sum
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
