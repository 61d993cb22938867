package evidence

import (
	"strings"

	"dossier/index"
	"dossier/lang"
)

// Passage is a text with what stands above it.
type Passage struct {
	Above []string
	Text  string
}

// Reading is passages read for a question.
type Reading struct {
	Question *Question
	Pages    []*Page
	texts    []string
}

// ReadAll reads ranked passages.
func ReadAll(question string, passages []Passage, code lang.Code, w Weights, groups ...index.Group) *Reading {
	if code == "" {
		code = language(question, passages)
	}
	q := Read(question, code, w, groups...)
	r := &Reading{Question: q, Pages: make([]*Page, len(passages)), texts: make([]string, len(passages))}
	for i, p := range passages {
		r.Pages[i], r.texts[i] = q.ReadPage(p.Above, p.Text), p.Text
	}
	return r
}

const tiny = 1e-9

// language finds the language of what was found, in which the question is
// stemmed too: a question alone is often too short to tell.
func language(question string, passages []Passage) lang.Code {
	const sample = 600
	var text strings.Builder
	text.WriteString(question)
	for _, p := range passages {
		text.WriteString("\n" + p.Text[:min(sample, len(p.Text))])
		if text.Len() > 2*sample {
			break
		}
	}
	return lang.Detect(text.String())
}

// Top returns the unit of a page that says most about the question, -1 for
// none, and the share of the question that it has with what is around it.
func (r *Reading) Top(page int) (unit int, share float64) {
	p := r.Pages[page]
	if unit = r.Question.best(p, r.texts[page]); unit >= 0 {
		share = r.Question.share(r.Question.window(p, unit))
	}
	return unit, share
}

// Drop makes a unit of a page one that is not quoted.
func (r *Reading) Drop(page, unit int) { r.Pages[page].Units[unit].Kind = Junk }

// Best returns the page and unit that say most about the question, -1 if none
// says anything.
func (r *Reading) Best() (page, unit int) {
	page, unit = -1, -1
	most := 0.0
	for i := range r.Pages {
		if at, share := r.Top(i); at >= 0 && share > most {
			page, unit, most = i, at, share
		}
	}
	return page, unit
}

// has is what a unit has by itself. A row of a table is read with what the
// table is about: its heading and its first row say what the cells mean. But
// when the question names something that another row has, a row without it is
// about something else.
func (q *Question) has(p *Page, u *Unit) []float64 {
	if u.Kind != Row || u.Opens || q.elsewhere(p, u) {
		return u.own
	}
	out := make([]float64, len(u.own))
	for t, how := range u.own {
		out[t] = max(how, fromHeads*p.heads[t])
		if u.heads != nil {
			out[t] = max(out[t], fromHeads*u.heads[t])
		}
	}
	return out
}

// elsewhere reports whether the question names something that a row lacks and
// another row has.
func (q *Question) elsewhere(p *Page, u *Unit) bool {
	for t := range q.Terms {
		if q.Terms[t].Key && u.own[t] == 0 && p.rows[t] > 0 {
			return true
		}
	}
	return false
}

// share is the weight of the terms that are had.
func (q *Question) share(terms []float64) float64 {
	sum := 0.0
	for t, how := range terms {
		sum += q.Terms[t].Weight * how
	}
	return sum
}

// keyShare is the same among names and numbers, 1 where there is none.
func (q *Question) keyShare(terms []float64) float64 {
	sum, all := 0.0, 0.0
	for t := range q.Terms {
		if q.Terms[t].Key {
			all += q.Terms[t].Weight
			sum += q.Terms[t].Weight * terms[t]
		}
	}
	if all == 0 {
		return 1
	}
	return sum / all
}

// What a term counts that a unit has only through what stands around it.
const (
	fromHeads = 0.7
	fromNext  = 0.6
)

// window is what a unit has together with its context.
func (q *Question) window(p *Page, at int) []float64 {
	u := &p.Units[at]
	out := make([]float64, len(q.Terms))
	copy(out, u.own)
	if u.Kind == Row && q.elsewhere(p, u) {
		return out
	}
	add := func(terms []float64, count float64) {
		for t, how := range terms {
			out[t] = max(out[t], how*count)
		}
	}
	add(p.heads, fromHeads)
	add(u.heads, fromHeads)
	if u.Kind == Row {
		return out // the rows beside it tell of something else
	}
	for _, next := range []int{at - 1, at + 1} {
		if next >= 0 && next < len(p.Units) && p.Units[next].Kind != Debris {
			add(p.Units[next].own, fromNext)
		}
	}
	return out
}

// pairReach is how many words apart two terms count as near.
const pairReach = 4

// pairs is the share of neighbouring terms of the question that stand near
// each other in the unit, weighed by the lighter of the two.
func (q *Question) pairs(words []word) float64 {
	if len(q.Terms) < 2 {
		return 0
	}
	had := make([]bool, len(q.Terms))
	for i, a := range words {
		if a.term < 0 {
			continue
		}
		for j := i + 1; j < len(words) && j <= i+pairReach; j++ {
			switch b := words[j].term; {
			case b < 0:
			case b == a.term+1:
				had[a.term] = true
			case b == a.term-1:
				had[b] = true
			}
		}
	}
	sum, all := 0.0, 0.0
	for t := range len(q.Terms) - 1 {
		weight := min(q.Terms[t].Weight, q.Terms[t+1].Weight)
		all += weight
		if had[t] {
			sum += weight
		}
	}
	return sum / all
}

// Alike reports whether two units say the same: most words of the shorter one
// are in the other.
func Alike(a, b *Unit) bool {
	if len(a.words) > len(b.words) {
		a, b = b, a
	}
	if len(a.words) == 0 {
		return true
	}
	has := map[string]bool{}
	for _, w := range b.words {
		has[w.name] = true
	}
	same := 0
	for _, w := range a.words {
		if has[w.name] {
			same++
		}
	}
	return float64(same) >= 0.8*float64(len(a.words))
}

func dot(w, f []float64) float64 {
	sum := 0.0
	for i := range f {
		sum += w[i] * f[i]
	}
	return sum
}
