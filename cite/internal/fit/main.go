// Command fit finds the weights of the lexical support check: one set for all
// languages and kinds of text. It reads what the evaluation recorded and
// prints the Go text of the weights.
//
//	go run ./bench/eval -set 'verify_*' -runs DIR -out /dev/null
//	go run ./bench/eval -set retrieval_scifact_en -runs DIR -out /dev/null
//	go run ./cite/internal/fit DIR >weights.txt
//
// Each set counts as sets says, and within a set each label counts the same,
// so that the probabilities are those of classes that are equally likely
// beforehand.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"dossier/cite/internal/entail"
	"dossier/lang"
)

// sets weigh what is like our work (a sentence, the page that it cites) most.
// Where vague is true, a label other than supported doesn't say whether the
// claim is contradicted.
var sets = map[string]struct {
	weight float64
	vague  bool
}{
	"retrieval_scifact_en":       {1.5, false},
	"verify_attributionbench_en": {2, true},
	"verify_averitec_en":         {0.3, false},
	"verify_climatefever_en":     {0.3, false},
	"verify_covidfact_en":        {0.7, true},
	"verify_factcheckgpt_en":     {1, false},
	"verify_faithbench_en":       {0.5, true},
	"verify_healthver_en":        {0.7, false},
	"verify_ocnli_zh":            {1.2, false},
	"verify_runli_ru":            {0.5, true},
	"verify_uhgeval_zh":          {0.3, true},
	"verify_wice_en":             {2, true},
	"verify_xnli_ru":             {1.2, false},
}

type example struct {
	features [entail.Size]float64
	allowed  [entail.Classes]bool // the classes that its label may stand for
	weight   float64
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fit DIR")
		os.Exit(2)
	}
	examples, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
	w := descend(examples)
	for c, name := range []string{"Supported", "Neutral", "Contradicted"} {
		fmt.Printf("\t%s: {", name)
		for i, v := range w[c] {
			if i > 0 {
				fmt.Print(", ")
			}
			fmt.Printf("%.3f", v)
		}
		fmt.Println("},")
	}
	for i, name := range entail.Names {
		fmt.Fprintf(os.Stderr, "%-20s %7.2f %7.2f %7.2f\n", name, w[0][i], w[1][i], w[2][i])
	}
}

func read(dir string) ([]example, error) {
	var all []example
	for set, how := range sets {
		f, err := os.Open(filepath.Join(dir, set+".jsonl"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		var examples []example
		var labels []string
		var claims []*entail.Claim
		var about [][]*entail.Passage
		var copied []string
		counts := map[string]float64{}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var in struct {
				Claim    string   `json:"claim"`
				Passages []string `json:"passages"`
				Label    string   `json:"label"`
			}
			if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
				return nil, fmt.Errorf("%s: %w", set, err)
			}
			if in.Label == "" {
				continue // a line about something else
			}
			var passages []*entail.Passage
			for _, p := range in.Passages {
				passages = append(passages, entail.ReadPassage(p, ""))
			}
			var e example
			claim := entail.ReadClaim(in.Claim, lang.Detect(in.Claim))
			e.features, _ = entail.Features(claim, passages)
			claims, about, copied = append(claims, claim), append(about, passages), append(copied, sentenceOf(in.Passages))
			switch {
			case in.Label == "supported":
				e.allowed[entail.Supported] = true
			case in.Label == "partial" || how.vague:
				e.allowed[entail.Neutral], e.allowed[entail.Contradicted] = true, true
			case in.Label == "contradicted":
				e.allowed[entail.Contradicted] = true
			default:
				e.allowed[entail.Neutral] = true
			}
			examples = append(examples, e)
			labels = append(labels, in.Label)
			counts[in.Label]++
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", set, err)
		}
		// Supported weighs as much as everything else, or a third of three.
		others := float64(len(counts) - 1)
		supported := 1 / (1 + others)
		if how.vague || strings.Contains(set, "wice") {
			supported = 0.5
		}
		for i := range examples {
			share := (1 - supported) / others
			if labels[i] == "supported" {
				share = supported
			}
			examples[i].weight = how.weight * share / counts[labels[i]]
		}
		all = append(all, examples...)
		all = append(all, made(claims, about, copied, how.weight)...)
	}
	return all, nil
}

// The sets have no claims about something else altogether and few that are
// copied, which are what a check of citations sees most of. Both can be made:
// a claim with the passages of another case, and a sentence of the passages.
const (
	strange = 0.12 // of the set's weight
	copies  = 0.08
	every   = 3 // of the cases
	away    = 7 // cases, to be about something else
)

func made(claims []*entail.Claim, about [][]*entail.Passage, copied []string, weight float64) []example {
	var out []example
	n := float64((len(claims) + every - 1) / every)
	for i := 0; i < len(claims); i += every {
		e := example{weight: weight * strange / n}
		e.features, _ = entail.Features(claims[i], about[(i+len(about)/away)%len(about)])
		e.allowed[entail.Neutral] = true
		out = append(out, e)
		if copied[i] == "" {
			continue
		}
		e = example{weight: weight * copies / n}
		e.features, _ = entail.Features(entail.ReadClaim(copied[i], lang.Detect(copied[i])), about[i])
		e.allowed[entail.Supported] = true
		out = append(out, e)
	}
	return out
}

// sentenceOf returns a sentence of the passages, of a claim's length.
func sentenceOf(passages []string) string {
	for _, p := range passages {
		spans := lang.Sentences(p)
		for k := range spans {
			s := spans[(k+len(spans)/2)%len(spans)].In(p)
			if words := lang.Words(s); words >= 6 && words <= 60 {
				return s
			}
		}
	}
	return ""
}

const (
	rounds = 600
	rate   = 0.05
	decay  = 0.0004 // L2
)

// descend minimises the weighted log loss with Adam.
func descend(examples []example) *[entail.Classes][entail.Size]float64 {
	var w, m, v, g [entail.Classes][entail.Size]float64
	total := 0.0
	for _, e := range examples {
		total += e.weight
	}
	for round := 1; round <= rounds; round++ {
		g = [entail.Classes][entail.Size]float64{}
		loss := 0.0
		for i := range examples {
			e := &examples[i]
			p := entail.Softmax(&w, e.features)
			right := 0.0
			for c, ok := range e.allowed {
				if ok {
					right += p[c]
				}
			}
			loss -= e.weight * math.Log(right)
			for c := range p {
				d := p[c]
				if e.allowed[c] {
					d -= p[c] / right
				}
				d *= e.weight / total
				for k, x := range e.features {
					g[c][k] += d * x
				}
			}
		}
		if round%250 == 0 {
			fmt.Fprintf(os.Stderr, "round %d: loss %.4f\n", round, loss/total)
		}
		step := rate * math.Min(1, 4*(1-float64(round)/rounds))
		for c := range w {
			for k := range w[c] {
				grad := g[c][k] + decay*w[c][k]
				m[c][k] = 0.9*m[c][k] + 0.1*grad
				v[c][k] = 0.999*v[c][k] + 0.001*grad*grad
				mm := m[c][k] / (1 - math.Pow(0.9, float64(round)))
				vv := v[c][k] / (1 - math.Pow(0.999, float64(round)))
				w[c][k] -= step * mm / (math.Sqrt(vv) + 1e-9)
			}
		}
	}
	return &w
}
