// Package hops follows names from passage to passage: a question may name one
// thing and ask about another, which only a passage about the first one names.
//
// All that it goes by is the text of what was found. A passage is worth what
// it has of the question, the more if the question names it by its title; and
// it is worth something for being named in a passage that is, the more if it
// has words of the question that the other one lacks.
package hops

import (
	"math"
	"slices"
	"strings"

	"dossier/extract/internal/evidence"
	"dossier/index"
	"dossier/lang"
)

// Passage is a text that was found.
type Passage struct {
	ID, Title, Headings, Text string
}

// Found is what one query found, the best first.
type Found struct {
	Query    string
	Passages []Passage
}

// Trail is what was found for a question.
type Trail struct {
	code    lang.Code
	weights evidence.Weights
	rarest  float64 // weight of a term that nothing has
	terms   *evidence.Question
	text    *text // of the question
	spent   []bool
	asked   []string // by query: the terms of its words, a space around each
	pages   []*page
	order   []int
}

// page is a passage that was found.
type page struct {
	place  int
	titles []*text // of what its title may name
	text   *text
	heads  []float64 // by term of the question: how surely title or headings have it
	cover  []float64 // by term: how surely any of it has it
	rank   int       // among what the question itself found, -1 if it did not
	other  int       // the best among what other queries found, -1 if none did
	named  bool      // the question has its title

	base  float64 // what it is worth by itself
	score float64
	path  []float64 // by term: how surely it or what led to it has it
	from  int       // the page that names it, -1 for none
	via   string    // the name, as it stands there

	read  bool // names and links are set
	names []name
	links []link
}

// Read reads what queries found, the question's own words first.
func Read(question string, found []Found, weights evidence.Weights) *Trail {
	t := &Trail{code: language(question, found), weights: weights}
	var passages []Passage
	at := map[string]int{}
	var ranks [][2]int // as page.rank and page.other
	for i, f := range found {
		t.asked = append(t.asked, read(f.Query, t.code, nil).flat)
		for r, p := range f.Passages {
			n, known := at[p.ID]
			if !known {
				n = len(passages)
				at[p.ID] = n
				passages = append(passages, p)
				ranks = append(ranks, [2]int{-1, -1})
			}
			if best := &ranks[n][min(i, 1)]; *best < 0 || r < *best {
				*best = r
			}
		}
	}
	if t.weights == nil {
		t.weights = weigh(passages, t.code)
	}
	t.rarest = max(t.weights.Weight("\x00"), math.SmallestNonzeroFloat64)
	t.terms = evidence.Read(question, t.code, t.weights)
	t.text = read(question, t.code, t.match)
	for i, p := range passages {
		t.pages = append(t.pages, t.readPage(i, p, ranks[i]))
	}
	t.findNamed()
	t.score()
	return t
}

func (t *Trail) match(k index.Token) (term int, how float64) {
	return t.terms.Match(k.Term, k.Number, k.Pair)
}

func (t *Trail) readPage(place int, p Passage, ranks [2]int) *page {
	g := &page{place: place, rank: ranks[0], other: ranks[1], from: -1, text: read(p.Text, t.code, t.match)}
	heads := []*text{read(p.Headings, t.code, t.match)}
	for _, title := range titles(p.Title) {
		g.titles = append(g.titles, read(title, t.code, t.match))
	}
	g.heads = t.covered(append(heads, g.titles...)...)
	g.cover = t.covered(append(append(heads, g.titles...), g.text)...)
	return g
}

// covered is what texts have of the question's terms.
func (t *Trail) covered(texts ...*text) []float64 {
	out := make([]float64, len(t.terms.Terms))
	for _, x := range texts {
		for _, h := range x.hits {
			out[h.term] = max(out[h.term], h.how)
		}
	}
	t.terms.Complete(out)
	return out
}

// language is that of what was found: a question is often too short to tell.
func language(question string, found []Found) lang.Code {
	const sample, enough = 500, 1500
	var b strings.Builder
	b.WriteString(question)
	for _, f := range found {
		for _, p := range f.Passages {
			if b.Len() > enough {
				return lang.Detect(b.String())
			}
			b.WriteString("\n" + p.Text[:min(sample, len(p.Text))])
		}
	}
	return lang.Detect(b.String())
}

// pool weighs terms by how many of the passages found have them.
type pool struct {
	docs int
	held map[string]int
}

func weigh(passages []Passage, code lang.Code) pool {
	p := pool{len(passages), map[string]int{}}
	for _, passage := range passages {
		seen := map[string]bool{}
		for _, k := range index.Tokens(passage.Title+"\n"+passage.Text, code) {
			if !seen[k.Term] {
				seen[k.Term] = true
				p.held[k.Term]++
			}
		}
	}
	return p
}

// Weight implements evidence.Weights.
func (p pool) Weight(term string) float64 {
	held := float64(p.held[term])
	return math.Log(1 + (float64(p.docs)-held+0.5)/(held+0.5))
}

// rarity is what the rarest word of a row weighs beside a word that nothing
// has; of a script without spaces, the rarest pair of characters.
func (t *Trail) rarity(x *text, from, to int) float64 {
	most := 0.0
	for i, w := range x.words[from:to] {
		switch {
		case w.function:
		case !w.char:
			most = max(most, t.weights.Weight(w.term))
		case from+i+1 < to && x.words[from+i+1].char:
			most = max(most, t.weights.Weight(w.term+x.words[from+i+1].term))
		}
	}
	return min(1, most/t.rarest)
}

// findNamed finds the pages that the question names by their titles. A title
// that stands within a longer one is not meant. The terms of those titles are
// spent: other pages that have them have them by chance.
func (t *Trail) findNamed() {
	type spot struct {
		page     *page
		from, to int
	}
	var spots []spot
	for _, g := range t.pages {
		for _, title := range g.titles {
			n := len(title.words)
			for _, at := range t.text.spots(title.key(0, n)) {
				if t.names(at, at+n) {
					spots = append(spots, spot{g, at, at + n})
				}
			}
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return (b.to - b.from) - (a.to - a.from) })
	t.spent = make([]bool, len(t.terms.Terms))
	longest := make([]int, len(t.text.words)) // title that has the word
	for _, s := range spots {
		if slices.ContainsFunc(longest[s.from:s.to], func(n int) bool { return n > s.to-s.from }) {
			continue
		}
		s.page.named = true
		for i := s.from; i < s.to; i++ {
			longest[i] = s.to - s.from
		}
	}
	for _, h := range t.text.hits {
		if longest[h.at] > 0 {
			t.spent[h.term] = true
		}
	}
}

// names reports whether a row of the question's words, which is a title, names
// something there: by its capital or else by being rare.
func (t *Trail) names(from, to int) bool {
	chars, content := 0, 0
	for i := from; i < to; i++ {
		w := t.text.words[i]
		if w.upper && !t.text.opens(i) && !w.function {
			return true
		}
		if w.char {
			chars++
		}
		if !w.function && !w.number {
			content++
		}
	}
	return (chars > 1 || content > 1) && t.rarity(t.text, from, to) >= rareTitle
}

// rareTitle is the rarity from which a title without capitals is a name.
const rareTitle = 0.5
