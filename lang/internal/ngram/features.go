// Package ngram is the small linear model behind language detection: how a
// word is cut into features, and the compact table that scores them. The
// generator that trains the table and the detector that reads it share this
// code, so that both cut words the same way.
package ngram

import "unicode"

// maxN is the longest n-gram that is a feature; longer words add one feature
// for the word as a whole.
const maxN = 5

const (
	boundary  = '\x01' // stands before the first and after the last letter
	wholeSalt = 0x9e3779b97f4a7c15
	offset    = 0xcbf29ce484222325
	prime     = 0x100000001b3
)

// Fold returns the letter that stands for r in features: its lower case, and е
// for ё, which Russian writes or leaves out as it pleases.
func Fold(r rune) rune {
	if r = unicode.ToLower(r); r == 'ё' {
		return 'е'
	}
	return r
}

// Append appends the hashes of the features of word to dst: all n-grams of one
// to five letters of the word between two boundary marks, and the whole word
// when no n-gram covers it. The letters must be folded by Fold.
func Append(dst []uint64, word []rune) []uint64 {
	return AppendFragment(dst, word, true, true)
}

// AppendFragment is Append for a part of a word: left and right say whether
// the part begins and ends where the word does. Only a complete word has the
// whole-word feature, which is the last one appended.
func AppendFragment(dst []uint64, part []rune, left, right bool) []uint64 {
	n := len(part)
	start, end := 0, n
	if left {
		start = -1
	}
	if right {
		end = n + 1
	}
	at := func(i int) rune {
		if i < 0 || i >= n {
			return boundary
		}
		return part[i]
	}
	for i := start; i < end; i++ {
		h := uint64(offset)
		for j := i; j < end && j < i+maxN; j++ {
			h = step(h, at(j))
			if j == i && (i < 0 || i >= n) {
				continue // a boundary alone says nothing
			}
			dst = append(dst, mix(h))
		}
	}
	if left && right && n+2 > maxN {
		h := uint64(offset ^ wholeSalt)
		for _, r := range part {
			h = step(h, r)
		}
		dst = append(dst, mix(h))
	}
	return dst
}

func step(h uint64, r rune) uint64 { return (h ^ uint64(r)) * prime }

// mix spreads the entropy of h over all bits: the table takes the bucket from
// the high bits and the check from the low ones.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
