package cite

import (
	"cmp"
	"math"
	"slices"

	"dossier/index"
	"dossier/lang"
)

// sentenceIndex finds the sentences of a snapshot that share words with a
// claim.
type sentenceIndex struct {
	spans []lang.Span
	posts map[string][]int32 // sentences by term
	code  lang.Code
}

func indexSentences(text string) *sentenceIndex {
	x := &sentenceIndex{spans: lang.Sentences(text), posts: map[string][]int32{}, code: lang.Detect(text)}
	s := 0
	for _, t := range index.Tokens(text, x.code) {
		for s < len(x.spans)-1 && t.Start >= x.spans[s].End {
			s++
		}
		if t.Function {
			continue
		}
		list := x.posts[t.Term]
		if len(list) == 0 || list[len(list)-1] != int32(s) {
			x.posts[t.Term] = append(list, int32(s))
		}
	}
	return x
}

// around is how many sentences on either side a candidate takes in: what a
// pronoun refers to stands just before it.
const around = 1

// Candidates returns the spans of up to k windows of sentences that share the
// most telling words with the claim, best first and without overlap.
func (s *Snapshot) Candidates(claim string, k int) []lang.Span {
	x := s.sentences()
	scores := map[int32]float64{}
	seen := map[string]bool{}
	for _, t := range index.Tokens(claim, x.code) {
		if t.Function || seen[t.Term] {
			continue
		}
		seen[t.Term] = true
		list := x.posts[t.Term]
		idf := math.Log(1 + float64(len(x.spans))/float64(len(list)+1))
		for _, at := range list {
			scores[at] += idf
		}
	}
	type scored struct {
		at    int32
		score float64
	}
	order := make([]scored, 0, len(scores))
	for at, score := range scores {
		order = append(order, scored{at, score + 0.3*(scores[at-1]+scores[at+1])})
	}
	slices.SortFunc(order, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at))
	})
	var out []lang.Span
	taken := map[int32]bool{}
	for _, o := range order {
		if len(out) == k {
			break
		}
		if taken[o.at] {
			continue
		}
		first, last := max(0, int(o.at)-around), min(len(x.spans)-1, int(o.at)+around)
		for first < int(o.at) && taken[int32(first)] {
			first++
		}
		for last > int(o.at) && taken[int32(last)] {
			last--
		}
		for i := first; i <= last; i++ {
			taken[int32(i)] = true
		}
		out = append(out, lang.Span{Start: x.spans[first].Start, End: x.spans[last].End})
	}
	return out
}
