package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// word is a word of a query, or two neighbouring characters of a script
// without spaces.
type word struct {
	names []string // its terms: one, or one for each language that stems it in its own way
	span  Span
	kind  kind
	ask   bool // it says how something is asked, not what about
}

// weight is what the word counts beside others as rare.
func (w *word) weight() float32 {
	if w.ask {
		return askWeight
	}
	if w.kind == character {
		return characterWeight
	}
	return 1
}

// parsers hold what parsing a query needs for a while.
var parsers = sync.Pool{New: func() any { return new(parser) }}

type parser struct {
	scan  scanner
	stems stemmer
}

// parse cuts a query into words, in order. A Latin word gives a term for each
// language that the index holds.
func (x *Index) parse(text string) []word {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	out := make([]word, 0, 8)
	names := make([]string, 0, 8) // of all words
	p.scan.reset(text)
	for p.scan.next() {
		from := len(names)
		x.eachTerm(&p.stems, string(p.scan.surface), p.scan.kind, func(name string) {
			if !slices.Contains(names[from:], name) {
				names = append(names, name)
			}
		})
		out = append(out, word{
			names: names[from:len(names):len(names)],
			span:  Span{p.scan.start, p.scan.end},
			kind:  p.scan.kind,
			ask:   functional(p.scan.surface, p.scan.kind, x.tongues),
		})
	}
	p.scan.reset("")
	return out
}

// eachTerm calls yield with the terms that a surface has in the languages of
// the index.
func (x *Index) eachTerm(stems *stemmer, surface string, k kind, yield func(name string)) {
	if k != latin {
		yield(stems.term(surface, k, inEnglish))
		return
	}
	for t, set := tongue(0), x.tongues; set != 0; t, set = t+1, set>>1 {
		if set&1 != 0 {
			yield(stems.term(surface, k, t))
		}
	}
}

// term is a term of a query; one that comes twice counts twice.
type term struct {
	name   string
	weight float32
}

// terms returns the terms of words, each once.
func terms(words []word) []term {
	out := make([]term, 0, len(words))
	for i := range words {
		for _, name := range words[i].names {
			out = append(out, term{name, words[i].weight()})
		}
	}
	slices.SortStableFunc(out, func(a, b term) int { return cmp.Compare(a.name, b.name) })
	n := 0
	for _, t := range out {
		if n > 0 && t.name == out[n-1].name {
			out[n-1].weight += t.weight
			continue
		}
		out[n] = t
		n++
	}
	return out[:n]
}

// rarity is the inverse document frequency of a term that docs documents hold.
func (x *Index) rarity(docs int) float32 {
	n, d := float64(x.docs), float64(docs)
	return float32(math.Log(1 + max(0, n-d+0.5)/(d+0.5)))
}

// Span is a range of bytes in a text.
type Span struct{ Start, End int }

// Highlight returns where words of the query stand in text, in order and
// without overlap. Words that only ask are left out.
func (x *Index) Highlight(query, text string) []Span {
	known := map[string]bool{}
	words := x.parse(query)
	for _, w := range words {
		for _, name := range w.names {
			known[name] = known[name] || !w.ask
		}
	}
	var out []Span
	var scan scanner
	var stems stemmer
	scan.reset(text)
	for scan.next() {
		hit := false
		x.eachTerm(&stems, string(scan.surface), scan.kind, func(name string) { hit = hit || known[name] })
		if !hit {
			continue
		}
		if n := len(out); n > 0 && scan.start < out[n-1].End {
			out[n-1].End = scan.end // pairs of characters overlap
			continue
		}
		out = append(out, Span{scan.start, scan.end})
	}
	return out
}
