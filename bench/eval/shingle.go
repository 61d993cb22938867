package main

import "unicode"

// shingleSize is the length of the word sequences that texts are compared by.
const shingleSize = 4

// words splits a text as the article extraction benchmark does: runs of
// letters, digits and underscores. With split, each ideograph, kana or Thai
// letter is a word of its own, as such texts do not part their words.
func words(s string, split bool) []string {
	var all []string
	start := -1
	end := func(i int) {
		if start >= 0 {
			all = append(all, s[start:i])
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case split && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			all = append(all, string(r))
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r) && split:
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(s))
	return all
}

// shingles counts the word sequences of a text; a text of fewer words than
// one sequence has is one sequence.
func shingles(words []string) map[[shingleSize]string]int {
	counts := map[[shingleSize]string]int{}
	for i := range max(1, len(words)-shingleSize+1) {
		var key [shingleSize]string
		copy(key[:], words[i:min(i+shingleSize, len(words))])
		if key[0] != "" {
			counts[key]++
		}
	}
	return counts
}

// overlap sums over pages, each of which counts the same.
type overlap struct {
	precision, recall   float64
	predicted, expected int // pages with a predicted text, with an expected one
	f1                  float64
	pages               int
}

// add compares one page and returns its F1.
func (o *overlap) add(want, got []string) float64 {
	expected, predicted := shingles(want), shingles(got)
	var tp, fp, fn float64
	for k, n := range predicted {
		m := expected[k]
		tp += float64(min(n, m))
		fp += float64(max(0, n-m))
	}
	for k, n := range expected {
		fn += float64(max(0, n-predicted[k]))
	}
	o.pages++
	precision, recall := 0.0, 0.0
	if tp+fp > 0 {
		precision = tp / (tp + fp)
		o.predicted++
		o.precision += precision
	}
	if tp+fn > 0 {
		recall = tp / (tp + fn)
		o.expected++
		o.recall += recall
	}
	f1 := 0.0
	switch {
	case tp+fp+fn == 0:
		f1 = 1
	case precision+recall > 0:
		f1 = 2 * precision * recall / (precision + recall)
	}
	o.f1 += f1
	return f1
}

// means returns precision and recall as the article extraction benchmark
// takes them (each over the pages where it is defined) and their F1.
func (o *overlap) means() (f1, precision, recall float64) {
	if o.predicted > 0 {
		precision = o.precision / float64(o.predicted)
	}
	if o.expected > 0 {
		recall = o.recall / float64(o.expected)
	}
	if precision+recall > 0 {
		f1 = 2 * precision * recall / (precision + recall)
	}
	return f1, precision, recall
}
