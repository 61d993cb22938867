package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"dossier/internal/haiku"
)

// word is a word of a dictionary with the numbers of syllables that its
// pronunciations have.
type word struct {
	Word      string `json:"word"`
	Syllables counts `json:"syllables"`
	list      string
}

// counts are one number or several.
type counts []int

// UnmarshalJSON reads either form.
func (c *counts) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("[")) {
		return json.Unmarshal(raw, (*[]int)(c))
	}
	*c = make(counts, 1)
	return json.Unmarshal(raw, &(*c)[0])
}

func (w *word) right(n int) bool { return slices.Contains(w.Syllables, max(n, 1)) }

// learning is how rules are learned.
type learning struct {
	longest int     // letters of a rule, at most, beside C and V
	gain    int     // words that a rule has to put right, less those that it puts wrong
	share   float64 // of the words that it changes, those that it has to put right
}

// candidate is what a rule would do, if it added 1 or took 1 away.
type candidate struct {
	letters      string
	words        []int
	fixed, spoil [2]int
}

var adds = [2]int{1, -1}

// learn finds rules one after the other, each the one that puts most words right
// after those before it: what is called transformation-based learning.
func (l learning) learn(words []word) []haiku.Rule {
	counts := make([]int, len(words))
	has := make([][]int, len(words)) // candidates by word
	var all []candidate
	index := map[string]int{}
	for i, w := range words {
		for _, part := range haiku.Parts(w.Word) {
			counts[i] += haiku.Groups(part)
			for _, p := range l.stretches(part) {
				n, ok := index[p]
				if !ok {
					n = len(all)
					index[p] = n
					all = append(all, candidate{letters: p})
				}
				all[n].words = append(all[n].words, i)
				has[i] = append(has[i], n)
			}
		}
	}
	count := func(i, sign int) {
		w, now := &words[i], counts[i]
		for k, add := range adds {
			switch before, after := w.right(now), w.right(now+add); {
			case after && !before:
				for _, n := range has[i] {
					all[n].fixed[k] += sign
				}
			case before && !after:
				for _, n := range has[i] {
					all[n].spoil[k] += sign
				}
			}
		}
	}
	for i := range words {
		count(i, 1)
	}
	var rules []haiku.Rule
	for {
		best, chosen, gain := -1, 0, 0
		for n := range all {
			c := &all[n]
			for k, add := range adds {
				g := c.fixed[k] - c.spoil[k]
				if g < l.gain || float64(c.fixed[k]) < l.share*float64(c.fixed[k]+c.spoil[k]) {
					continue
				}
				if g > gain || g == gain && plainer(c.letters, all[best].letters) {
					best, chosen, gain = n, add, g
				}
			}
		}
		if best < 0 {
			return rules
		}
		rules = append(rules, haiku.Rule{Letters: all[best].letters, Add: chosen})
		for _, i := range all[best].words {
			count(i, -1)
			counts[i] += chosen
			count(i, 1)
		}
	}
}

// plainer orders rules that do equally much: the shorter ones first.
func plainer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

const vowels = "aeiouy"

// stretches are the letters of a word that a rule may be about.
func (l learning) stretches(parts string) []string {
	seen := map[string]bool{}
	for i := range parts {
		for j := i + 1; j <= min(len(parts), i+l.longest); j++ {
			p := parts[i:j]
			if !strings.ContainsAny(p, vowels) && !strings.HasSuffix(p, "m$") {
				continue
			}
			left, right := kind(parts, i-1), kind(parts, j)
			seen[p], seen[left+p], seen[p+right], seen[left+p+right] = true, true, true, true
			seen[shape(p)] = true
		}
	}
	out := make([]string, 0, len(seen))
	for p := range seen {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// shape is a stretch with C for its consonants.
func shape(p string) string {
	return strings.Map(func(r rune) rune {
		if r == '^' || r == '$' || strings.ContainsRune(vowels, r) {
			return r
		}
		return 'C'
	}, p)
}

// kind is C for a consonant, V for a vowel, and nothing at the ends.
func kind(parts string, i int) string {
	switch {
	case i < 0 || i >= len(parts) || parts[i] == '^' || parts[i] == '$':
		return ""
	case strings.IndexByte(vowels, parts[i]) >= 0:
		return "V"
	}
	return "C"
}
