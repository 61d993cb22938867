package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	spelledFrom = 5   // bytes of a word that can be misspelt
	spelledLike = 0.6 // share of trigrams that two words have in common
	spelledMost = 3   // words that one can stand for
)

// trigrams of a word, each once, the first with the mark of a beginning.
func trigrams(word string) []string {
	word = "^" + word
	all := make([]string, 0, len(word))
	for i := 0; i+3 <= len(word); i++ {
		if g := word[i : i+3]; !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

func (x *Index) spell() {
	x.spelling = map[string][]string{}
	for _, w := range slices.Sorted(maps.Keys(x.words)) {
		if len(w) < spelledFrom {
			continue
		}
		for _, g := range trigrams(w) {
			x.spelling[g] = append(x.spelling[g], w)
		}
	}
}

// like is a word and how much another is like it.
type like struct {
	term  term
	share float64
}

// alike returns the words of the entries that are spelt nearly as word.
func (x *Index) alike(word string) []like {
	if len(word) < spelledFrom {
		return nil
	}
	grams := trigrams(word)
	common := map[string]int{}
	for _, g := range grams {
		for _, w := range x.spelling[g] {
			common[w]++
		}
	}
	type near struct {
		word  string
		share float64
	}
	var all []near
	for w, n := range common {
		// A word has about as many trigrams as bytes; that bounds the share.
		if float64(2*n)/float64(len(grams)+1) < spelledLike {
			continue
		}
		if share := 2 * float64(n) / float64(len(grams)+len(trigrams(w))); share >= spelledLike {
			all = append(all, near{w, share})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.word, b.word))
	})
	var best []like
	for _, n := range all[:min(spelledMost, len(all))] {
		best = append(best, like{x.words[n.word], n.share})
	}
	return best
}
