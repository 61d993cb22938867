package asked

import (
	"maps"
	"slices"
)

// Figure is a share of questions, or a mean over them.
type Figure struct {
	Name  string
	Value float64
	N     int
}

// Figures are those of all questions and, with suffixes, of each folder,
// language and type.
func Figures(results []Result) []Figure {
	groups := map[string][]Result{}
	for _, r := range results {
		for _, of := range []string{"", "." + r.Question.Folder, "." + r.Question.Lang, "." + r.Question.Type} {
			groups[of] = append(groups[of], r)
		}
	}
	var out []Figure
	for _, of := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, figures(of, groups[of])...)
	}
	return out
}

func figures(of string, results []Result) []Figure {
	var can, cannot []Result
	for _, r := range results {
		if r.Question.Unanswerable() {
			cannot = append(cannot, r)
		} else {
			can = append(can, r)
		}
	}
	// Reliability: of the answers that claim to be one, how many are right.
	claimed := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Refused })
	share := func(name string, of []Result, holds func(r Result) bool) (out []Figure) {
		n := 0
		for _, r := range of {
			if holds(r) {
				n++
			}
		}
		if len(of) > 0 {
			out = append(out, Figure{name, float64(n) / float64(len(of)), len(of)})
		}
		return out
	}
	all := slices.Concat(
		share("answered@100w"+of, can, func(r Result) bool { return r.In100 }),
		share("answered@1"+of, can, func(r Result) bool { return r.In1 }),
		share("answered@2"+of, can, func(r Result) bool { return r.In2 }),
		share("answered@all"+of, can, func(r Result) bool { return r.InAll }),
		share("wrong-refusal"+of, can, func(r Result) bool { return r.Refused }),
		share("false-answer"+of, cannot, func(r Result) bool { return !r.Refused }),
		share("reliability"+of, claimed, func(r Result) bool { return r.InAll }),
	)
	noise, n := 0, 0
	for _, r := range can {
		if r.Noise >= 0 {
			noise, n = noise+r.Noise, n+1
		}
	}
	if n > 0 {
		all = append(all, Figure{"noise" + of, float64(noise) / float64(n), n})
	}
	return all
}
