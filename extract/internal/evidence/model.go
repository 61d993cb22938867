package evidence

import (
	"math"
	"strings"

	"dossier/index"
	"dossier/lang"
)

// Features of a unit.
const (
	unitBias     = iota
	unitOwn      // share of the question's weight that the unit has
	unitNear     // what its neighbours and heading add to that
	unitPage     // share that the whole passage has
	unitPairs    // neighbours in the question that stand near each other
	unitLacks    // it has no answer of the wanted kind
	unitNews     // words that the question lacks
	unitRank     // of the passage
	unitBestHere // its share beside the best of the passage
	unitBestAll  // and beside the best of all
	unitKeys     // names and numbers of the question that it or its context has
	unitAsks     // it is a question
	UnitSize
)

// UnitNames name the features.
var UnitNames = [UnitSize]string{"bias", "own", "near", "page", "pairs", "lacks", "news", "rank", "best-here", "best-all",
	"keys", "asks"}

// Features of a reading, which tell whether it answers.
const (
	readBias     = iota
	readOwn      // share of the question that the best unit has
	readRank     // of its passage
	readWindow   // with its neighbours and heading
	readPage     // its passage
	readKeys     // share of names and numbers of the question that its passage has
	readKeysNear // that it has with its neighbours and heading
	readLacks    // the best unit has no answer of the wanted kind
	readShort    // the question has few terms
	ReadSize
)

// ReadNames name them.
var ReadNames = [ReadSize]string{"bias", "own", "rank", "window", "page", "keys", "keys-near", "lacks", "short"}

// Passage is a text with what stands above it.
type Passage struct {
	Above []string
	Text  string
}

// Reading is passages read for a question.
type Reading struct {
	Question *Question
	Pages    []*Page
	Units    [][][UnitSize]float64 // features by page and unit
	// P is the probability of each unit to be what answers; what the sum lacks
	// to 1 is the probability that none does.
	P [][]float64
}

// ReadAll reads ranked passages and judges every unit of theirs.
func ReadAll(question string, passages []Passage, code lang.Code, w Weights, groups ...index.Group) *Reading {
	if code == "" {
		code = language(question, passages)
	}
	q := Read(question, code, w, groups...)
	r := &Reading{Question: q, Pages: make([]*Page, len(passages)), Units: make([][][UnitSize]float64, len(passages))}
	most := tiny
	for i, p := range passages {
		r.Pages[i] = q.ReadPage(p.Above, p.Text)
		most = max(most, r.Pages[i].most(q))
	}
	for i, p := range passages {
		r.Units[i] = q.judge(r.Pages[i], p.Text, i, most)
	}
	r.Weigh(&unitWeights)
	return r
}

const tiny = 1e-9

// most is the greatest share that a unit has.
func (p *Page) most(q *Question) float64 {
	most := tiny
	for i := range p.Units {
		most = max(most, q.share(q.has(p, &p.Units[i])))
	}
	return most
}

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

// judge returns the features of a page's units.
func (q *Question) judge(p *Page, text string, rank int, bestAll float64) [][UnitSize]float64 {
	out := make([][UnitSize]float64, len(p.Units))
	bestHere, page := p.most(q), q.share(p.covered)
	for i := range p.Units {
		u, f := &p.Units[i], &out[i]
		own := q.share(q.has(p, u))
		window := q.window(p, i)
		f[unitBias] = 1
		f[unitOwn] = own
		f[unitNear] = q.share(window) - own
		f[unitPage] = page
		f[unitPairs] = q.pairs(u.words)
		if q.lacks(u.In(text), u.words) {
			f[unitLacks] = 1
		}
		f[unitNews] = math.Log1p(float64(u.news()))
		f[unitRank] = 1 / float64(rank+1)
		f[unitBestHere] = own / bestHere
		f[unitBestAll] = own / bestAll
		f[unitKeys] = q.keyShare(window)
		if u.asks {
			f[unitAsks] = 1
		}
	}
	return out
}

// Quotable reports whether a unit may be quoted for itself.
func (u *Unit) Quotable() bool { return u.Kind != Heading && u.Kind != Debris && !u.Opens }

// Weigh sets the probabilities: those of a choice between all units and none.
func (r *Reading) Weigh(weights *[UnitSize]float64) {
	r.P = make([][]float64, len(r.Pages))
	sum := 1.0
	for i, p := range r.Pages {
		r.P[i] = make([]float64, len(p.Units))
		for j := range p.Units {
			if p.Units[j].Quotable() {
				r.P[i][j] = math.Exp(min(30, dot(weights[:], r.Units[i][j][:])))
				sum += r.P[i][j]
			}
		}
	}
	for i := range r.P {
		for j := range r.P[i] {
			r.P[i][j] /= sum
		}
	}
}

// Top returns the unit of a page that says most about the question, -1 for
// none, and the share of the question that it has with what is around it.
func (r *Reading) Top(page int, text string) (unit int, share float64) {
	p := r.Pages[page]
	if unit = r.Question.best(p, text); unit >= 0 {
		share = r.Question.share(r.Question.window(p, unit))
	}
	return unit, share
}

// Best returns the page and unit that most likely has the answer, -1 if there
// is none.
func (r *Reading) Best() (page, unit int) {
	page, unit = -1, -1
	most := 0.0
	for i, probs := range r.P {
		for j, p := range probs {
			if p > most {
				page, unit, most = i, j, p
			}
		}
	}
	return page, unit
}

// Features tells what speaks for an answer.
func (r *Reading) Features() (f [ReadSize]float64) {
	f[readBias] = 1
	i, j := r.Best()
	if i < 0 {
		return f
	}
	u, q := &r.Units[i][j], r.Question
	f[readOwn], f[readRank] = u[unitOwn], u[unitRank]
	f[readWindow] = u[unitOwn] + u[unitNear]
	f[readPage] = u[unitPage]
	f[readKeys] = q.keyShare(r.Pages[i].covered)
	f[readKeysNear] = u[unitKeys]
	f[readLacks] = u[unitLacks]
	f[readShort] = 1 / float64(1+len(q.Terms))
	return f
}

// Confidence is the probability that the best units have the answer.
func (r *Reading) Confidence() float64 {
	if i, _ := r.Best(); i < 0 || len(r.Question.Terms) == 0 {
		return 0
	}
	f := r.Features()
	return 1 / (1 + math.Exp(-dot(readWeights[:], f[:])))
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

// news counts the different words that the question does not have.
func (u *Unit) news() int {
	seen := map[string]bool{}
	for _, w := range u.words {
		if w.term < 0 && !w.function {
			seen[w.name] = true
		}
	}
	return len(seen)
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
