package evidence

import (
	"math"
	"strings"
	"unicode/utf8"

	"dossier/lang"
)

// Features of a passage among those that a search found.
const (
	rankScore    = iota // of the search, beside the best
	rankCover           // share of the question's weight that it has with what stands above it
	rankText            // that its text has
	rankSentence        // that its best sentence has
	rankNear            // what that sentence's neighbours and headings add
	rankPairs           // neighbours in the question that stand near each other
	rankHeading         // share of the question that the heading right above it has
	rankNamed           // how much of that heading is the question
	rankTitle           // share of the question that the title has
	rankTitled          // how much of the title is the question
	rankFirst           // it is the first under a heading that has much of the question
	rankKeys            // names and numbers of the question that it has with what stands above
	rankLacks           // no sentence with words of the question has an answer of the wanted kind
	rankDocument        // what else of its document was found
	rankShort           // it is only a few words
	rankCode            // it is code or a list of signs for the most part
	rankForeign         // it is in another language than most
	rankTerm            // what it defines is in the question
	rankRare
	rankRare2
	rankWindow
	rankLead
	RankSize
)

// RankNames name them.
var RankNames = [RankSize]string{"score", "cover", "text", "sentence", "near", "pairs", "heading", "named", "title", "titled", "first", "keys",
	"lacks", "document", "short", "code", "foreign", "term", "rare", "rare2", "window", "lead"}

// Candidate is a passage that a search found.
type Candidate struct {
	Title    string
	Headings []string
	Text     string
	Score    float64 // of the search
	Document string
	Lang     lang.Code
	First    bool // under its heading
	Position int  // in its document
}

// Ranked is a candidate that was judged.
type Ranked struct {
	Page     *Page
	Best     int // unit, -1 if there is none to quote
	Features [RankSize]float64
}

// Judge reads candidates, the best of the search first, for a question.
func (q *Question) Judge(candidates []Candidate) []Ranked {
	out := make([]Ranked, len(candidates))
	most := tiny
	byDocument := map[string]float64{}
	languages := map[lang.Code]int{}
	for _, c := range candidates {
		most = max(most, c.Score)
		byDocument[c.Document] += c.Score
		languages[c.Lang]++
	}
	common := lang.Code("")
	for code, n := range languages {
		if n > languages[common] || n == languages[common] && code < common {
			common = code
		}
	}
	for i, c := range candidates {
		out[i] = q.judgeOne(c, most)
		f := &out[i].Features
		f[rankDocument] = math.Log1p((byDocument[c.Document] - c.Score) / most)
		if c.Lang != common {
			f[rankForeign] = 1
		}
	}
	return out
}

func (q *Question) judgeOne(c Candidate, most float64) Ranked {
	above := append([]string{c.Title}, c.Headings...)
	p := q.ReadPage(above, c.Text)
	r := Ranked{Page: p, Best: -1}
	f := &r.Features
	f[rankScore] = c.Score / most
	f[rankCover] = q.share(p.covered)
	text := make([]float64, len(q.Terms))
	lacks, words, best := true, 0, 0.0
	code := 0
	for i := range p.Units {
		u := &p.Units[i]
		words += u.Words
		if u.Kind == Debris {
			code += u.Words
		}
		if u.Kind == Heading {
			continue
		}
		for t, how := range u.own {
			text[t] = max(text[t], how)
		}
		own := q.share(q.has(p, u))
		near := q.share(q.window(p, i)) - own
		value := own + 0.5*near + 0.3*q.pairs(u.words)
		lack := q.lacks(u.In(c.Text), u.words)
		if own > 0 && !lack {
			lacks = false
		}
		if lack {
			value *= 0.7
		}
		if u.Kind != Debris && value > best || r.Best < 0 {
			best, r.Best = value, i
			f[rankSentence], f[rankNear] = own, near
		}
		f[rankPairs] = max(f[rankPairs], q.pairs(u.words))
	}
	f[rankText] = q.share(text)
	if lacks && q.Want != Anything {
		f[rankLacks] = 1
	}
	if n := len(c.Headings); n > 0 {
		f[rankHeading], f[rankNamed] = q.names(c.Headings[n-1])
	}
	f[rankTitle], f[rankTitled] = q.names(c.Title)
	if c.First {
		f[rankFirst] = max(f[rankHeading]*f[rankNamed], f[rankTitle]*f[rankTitled])
	}
	if a, b := q.telling(); a >= 0 {
		f[rankRare] = p.covered[a]
		if b >= 0 {
			f[rankRare2] = p.covered[b]
		} else {
			f[rankRare2] = p.covered[a]
		}
	}
	f[rankWindow] = f[rankSentence] + f[rankNear]
	f[rankLead] = f[rankTitle] * f[rankTitled] / float64(1+c.Position)
	f[rankKeys] = q.keyShare(p.covered)
	f[rankShort] = 1 / (1 + float64(words)/10)
	if words > 0 {
		f[rankCode] = float64(code) / float64(words)
	}
	if term, ok := defined(c.Text); ok {
		share, named := q.names(term)
		f[rankTerm] = share * named
	}
	return r
}

// names returns the share of the question that a line has, and how much of the
// line is the question.
func (q *Question) names(line string) (share, named float64) {
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
	if all > 0 {
		named = float64(had) / float64(all)
	}
	return q.share(marks), named
}

// defined returns the first line of a passage if the rest explains it.
func defined(text string) (string, bool) {
	line, rest, ok := strings.Cut(text, "\n")
	return line, ok && utf8.RuneCountInString(line) < 60 && strings.TrimSpace(rest) != ""
}

// Prior is the dot product of weights and features.
func (r *Ranked) Weigh(w *[RankSize]float64) float64 { return dot(w[:], r.Features[:]) }

// Window returns the best unit of a passage with as much of what stands around
// it as makes at most so many words.
func (r *Ranked) Window(text string, words int) string {
	if r.Best < 0 {
		return text
	}
	units := r.Page.Units
	from, to := r.Best, r.Best+1
	n := units[r.Best].Words
	for {
		grown := false
		if to < len(units) && n+units[to].Words <= words {
			n += units[to].Words
			to++
			grown = true
		}
		if from > 0 && units[from-1].Kind != Heading && n+units[from-1].Words <= words {
			from--
			n += units[from].Words
			grown = true
		}
		if !grown {
			break
		}
	}
	return text[units[from].Start:units[to-1].End]
}

// telling returns the two terms that weigh most, -1 where there are none.
func (q *Question) telling() (first, second int) {
	first, second = -1, -1
	for i := range q.Terms {
		switch {
		case first < 0 || q.Terms[i].Weight > q.Terms[first].Weight:
			first, second = i, first
		case second < 0 || q.Terms[i].Weight > q.Terms[second].Weight:
			second = i
		}
	}
	return first, second
}
