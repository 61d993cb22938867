package main

import (
	"maps"
	"slices"

	"dossier/llm/jsonrepair"
)

// repaired is a scored case with where it comes from.
type repaired struct {
	source string
	right  func(leftOut ...jsonrepair.Rule) bool
}

// guesses reports how much of the cases is recovered without what only they
// have taught: for the cases of each source, the guesses at what a writer meant
// are left out that no case of another source needs. Of one source there is nothing to say. Rules for spellings that
// are written down elsewhere stay.
func (e *Env) guesses(cases []repaired) {
	needs := map[jsonrepair.Rule]map[string]int{} // cases of each source that a rule alone decides
	sources := map[string]int{}
	for _, c := range cases {
		sources[c.source]++
	}
	if len(sources) < 2 {
		return
	}
	for _, r := range jsonrepair.Rules() {
		needs[r] = map[string]int{}
		for _, c := range cases {
			if c.right() && !c.right(r) {
				needs[r][c.source]++
			}
		}
	}
	all := 0
	for _, fold := range slices.Sorted(maps.Keys(sources)) {
		var leftOut []jsonrepair.Rule
		for _, r := range jsonrepair.Rules() {
			elsewhere := 0
			for s, n := range needs[r] {
				if s != fold {
					elsewhere += n
				}
			}
			if r.Written() == "" && elsewhere == 0 {
				leftOut = append(leftOut, r)
			}
		}
		right := 0
		for _, c := range cases {
			if c.source == fold && c.right(leftOut...) {
				right++
			}
		}
		all += right
		e.Ratio("recovered.cv."+fold, right, sources[fold])
	}
	e.Ratio("recovered.cv", all, len(cases))
	// How many sources need each rule, and how many of their cases.
	for _, r := range jsonrepair.Rules() {
		n := 0
		for _, cases := range needs[r] {
			n += cases
		}
		if n > 0 {
			e.Count("rule."+r.String(), len(needs[r]), n)
		}
	}
}
