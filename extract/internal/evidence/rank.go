package evidence

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Features of a passage among those that a search found. They are few: of twice
// as many, those that told nothing about documents which the weights were not
// fitted to are gone.
const (
	rankScore  = iota // of the search, beside the best
	rankCover         // share of the question's weight that it has with what stands above it
	rankWindow        // that one sentence has with its neighbours and what stands above
	rankTitle         // that the title and the file's name have
	rankTitled        // how much of these is the question
	rankFirst         // it is the first under a heading or title that the question names
	rankLead          // it stands at the head of a document that the question names
	rankTerm          // what it defines is in the question
	rankLacks         // no sentence has an answer of the wanted kind
	rankShort         // it is only a few words
	RankSize
)

// RankNames name them.
var RankNames = [RankSize]string{"score", "cover", "window", "title", "titled", "first", "lead", "term", "lacks", "short"}

// Candidate is a passage that a search found.
type Candidate struct {
	Passage
	Title    string  // with the name of the file, if it is one
	Score    float64 // of the search
	Position int     // in its document, from 0
	First    bool    // under its heading
}

// Judged is a candidate that was read for a question.
type Judged struct {
	Page     *Page
	Best     int // the unit that says most, -1 if there is none
	Features [RankSize]float64
}

// Judge reads candidates for a question.
func (q *Question) Judge(candidates []Candidate) []Judged {
	most := tiny
	for i := range candidates {
		most = max(most, candidates[i].Score)
	}
	out := make([]Judged, len(candidates))
	for i := range candidates {
		out[i] = q.judgeOne(&candidates[i], most)
	}
	return out
}

// Worth is what the weights make of the features: of two candidates for one
// question the one that is worth more comes first.
func (j *Judged) Worth(weights *[RankSize]float64) float64 { return dot(weights[:], j.Features[:]) }

// RankWeights are the weights of the features, as they were fitted.
func RankWeights() [RankSize]float64 { return rankWeights }

func (q *Question) judgeOne(c *Candidate, most float64) Judged {
	p := q.ReadPage(append([]string{c.Title}, c.Above...), c.Text)
	j := Judged{Page: p, Best: q.best(p, c.Text)}
	f := &j.Features
	f[rankScore] = c.Score / most
	f[rankCover] = q.share(p.covered)
	words := 0
	lacks := q.Want != Anything
	for i := range p.Units {
		u := &p.Units[i]
		words += u.Words
		if u.Kind != Heading && lacks && q.share(u.own) > 0 && !q.lacks(u.In(c.Text), u.words) {
			lacks = false
		}
	}
	if j.Best >= 0 {
		f[rankWindow] = q.share(q.window(p, j.Best))
	}
	if lacks {
		f[rankLacks] = 1
	}
	f[rankTitle], f[rankTitled] = q.names(c.Title)
	named := f[rankTitle] * f[rankTitled]
	row := j.Best >= 0 && p.Units[j.Best].cells // what is above a table does not name each of its rows
	if !row {
		f[rankLead] = named / float64(1+c.Position)
	}
	if c.First && !row {
		f[rankFirst] = named
		if n := len(c.Above); n > 0 {
			share, how := q.names(c.Above[n-1])
			f[rankFirst] = max(named, share*how)
		}
	}
	f[rankShort] = 1 / (1 + float64(words)/10)
	if term, ok := defined(c.Above, c.Text); ok {
		share, how := q.names(term)
		f[rankTerm] = share * how
	}
	return j
}

// What counts of a sentence that has no answer of the wanted kind, and what
// stands around it and in the order of the question.
const (
	lackingCounts = 0.7
	nearCounts    = 0.5
	pairsCount    = 0.3
)

// best returns the unit of a page that says most about the question, -1 for
// none.
func (q *Question) best(p *Page, text string) int {
	best, most := -1, -1.0
	for i := range p.Units {
		u := &p.Units[i]
		if u.Kind == Heading || u.Kind == Junk || u.Opens || u.Kind == Debris && best >= 0 {
			continue
		}
		own := q.share(q.has(p, u))
		value := own + nearCounts*(q.share(q.window(p, i))-own) + pairsCount*q.pairs(u.words)
		if q.lacks(u.In(text), u.words) {
			value *= lackingCounts
		}
		if value > most || best >= 0 && p.Units[best].Kind == Debris {
			best, most = i, value
		}
	}
	return best
}

// names returns the share of the question that a line has, and how much of the
// line is the question.
func (q *Question) names(line string) (share, how float64) {
	words := q.words(line)
	marks := make([]float64, len(q.Terms))
	q.mark(marks, words)
	all, had := 0, 0
	for _, w := range words {
		if w.function {
			continue
		}
		all++
		if w.term >= 0 {
			had++
		}
	}
	if all == 0 {
		return 0, 0
	}
	return q.share(marks), float64(had) / float64(all)
}

// longestTerm is how many letters what is defined has for the most.
const longestTerm = 60

// defined returns the first line of a passage, after its headings, if the rest
// may explain it.
func defined(above []string, text string) (string, bool) {
	line, rest, ok := strings.Cut(text, "\n")
	for ok && slices.ContainsFunc(above, func(h string) bool { return bare(h) == bare(line) }) {
		line, rest, ok = strings.Cut(strings.TrimLeft(rest, "\n \t"), "\n")
	}
	return line, ok && utf8.RuneCountInString(line) < longestTerm && strings.TrimSpace(rest) != ""
}

// Around returns the units around one that make a quote of at most so many
// words: what follows comes before what precedes. A quote stays within what
// belongs together: a row has the head of its table with it and no other rows
// behind, a list its first line, code the sentence before it.
func (p *Page) Around(text string, unit, words int) (from, to int) {
	from, to = unit, unit+1
	n := p.Units[unit].Words
	if lead := p.Units[unit].Lead; lead >= 0 && lead < unit {
		all := 0
		for i := lead; i < unit; i++ {
			all += p.Units[i].Words
		}
		if n+all <= words {
			from, n = lead, n+all
		}
	}
	if p.Units[unit].cells {
		return from, to
	}
	for grown := true; grown; {
		grown = false
		if to < len(p.Units) && p.follows(to) && (n < fewWords || p.joined(text, to)) && n+p.Units[to].Words <= words {
			n += p.Units[to].Words
			to++
			grown = true
		}
		if from > 0 && p.precedes(from) && (n < fewWords || p.joined(text, from)) && n+p.Units[from-1].Words <= words {
			from--
			n += p.Units[from].Words
			grown = true
		}
	}
	return from, to
}

// fewWords is what a quote has at least where there is more to be had: another
// paragraph than that of its sentence is quoted only to come to that.
const fewWords = 40

// joined says whether a unit stands in one paragraph with the one before it, or
// in one list or piece of code.
func (p *Page) joined(text string, at int) bool {
	a, b := &p.Units[at-1], &p.Units[at]
	return a.term || b.Kind == Debris || a.Kind == Item && b.Kind == Item || b.Lead == at-1 || !strings.Contains(text[a.End:b.Start], "\n\n")
}

// follows says whether a unit may be quoted with the one before it.
func (p *Page) follows(at int) bool {
	before := p.Units[at-1].Kind
	switch p.Units[at].Kind {
	case Heading, Row:
		return false
	case Debris: // code goes with what introduces it
		return before == Prose || before == Debris
	}
	return true
}

// precedes says whether the unit before one may be quoted with it.
func (p *Page) precedes(at int) bool {
	switch u := &p.Units[at-1]; u.Kind {
	case Heading: // by its looks it may be what is defined here
		return u.term && p.Units[at].Kind != Heading
	case Row:
		return false
	case Debris:
		return p.Units[at].Kind == Debris
	}
	return true
}
