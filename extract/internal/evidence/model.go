package evidence

import "math"

// Features of a unit.
const (
	unitBias     = iota
	unitOwn      // share of the question's weight that the unit has
	unitNear     // what its neighbours and heading add to that
	unitPage     // share that the whole passage has
	unitPairs    // neighbours in the question that stand near each other
	unitBears    // it has an answer of the wanted kind
	unitLacks    // it has none
	unitNews     // words that the question lacks
	unitRank     // of the passage
	unitBestHere // its share beside the best of the passage
	unitBestAll  // and beside the best of all
	unitProper   // names and numbers of the question that it or its context has
	unitAsks     // it is a question
	unitOpening  // it opens the passage
	unitFragment // it is a list item, a row or no closed sentence
	UnitSize
)

// UnitNames name the features.
var UnitNames = [UnitSize]string{"bias", "own", "near", "page", "pairs", "bears", "lacks", "news", "rank", "best-here", "best-all",
	"proper", "asks", "opening", "fragment"}

// Features of a reading, which tell whether it answers.
const (
	readBias    = iota
	readBest    // probability of the best unit, in logits
	readOwn     // share of the question that it has
	readWindow  // with its neighbours and heading
	readPage    // its passage
	readMissing // weight of the heaviest term that its passage lacks
	readProper  // share of names and numbers of the question that its passage has
	readBears   // it has an answer of the wanted kind
	readLacks   //
	readMargin  // what the passage has more than others
	readShort   // the question has few terms
	ReadSize
)

// ReadNames name them.
var ReadNames = [ReadSize]string{"bias", "best", "own", "window", "page", "missing", "proper", "bears", "lacks", "margin", "short"}

// Reading is all passages read for a question.
type Reading struct {
	Pages []*Page
	Units [][]([UnitSize]float64) // by page and unit
	P     [][]float64             // probability of each unit to have the answer
	q     *Question
	near  [][]float64
}

// Weigh judges every unit. The pages come in their rank.
func (q *Question) Weigh(texts []string, pages []*Page) *Reading {
	r := &Reading{Pages: pages, q: q}
	bestAll := 1e-9
	for _, p := range pages {
		for i := range p.Units {
			bestAll = max(bestAll, q.share(p.Units[i].own))
		}
	}
	for rank, p := range pages {
		features := make([][UnitSize]float64, len(p.Units))
		probs := make([]float64, len(p.Units))
		nears := make([]float64, len(p.Units))
		bestHere, page := 1e-9, q.share(p.covered)
		for i := range p.Units {
			bestHere = max(bestHere, q.share(p.Units[i].own))
		}
		for i := range p.Units {
			u := &p.Units[i]
			own := q.share(u.own)
			window := q.window(p, i)
			nears[i] = q.share(window)
			f := &features[i]
			f[unitBias] = 1
			f[unitOwn] = own
			f[unitNear] = nears[i] - own
			f[unitPage] = page
			f[unitPairs] = q.pairs(u.words)
			switch b := q.bears(u.In(texts[rank]), u.words); {
			case b > 0:
				f[unitBears] = 1
			case b < 0:
				f[unitLacks] = 1
			}
			f[unitNews] = math.Log1p(float64(u.news()))
			f[unitRank] = 1 / float64(rank+1)
			f[unitBestHere] = own / bestHere
			f[unitBestAll] = own / bestAll
			f[unitProper] = q.properShare(window)
			if u.asks {
				f[unitAsks] = 1
			}
			f[unitOpening] = 1 / float64(i+1)
			if u.Kind != Prose || !closed(u.In(texts[rank])) {
				f[unitFragment] = 1
			}
			if u.Kind != Heading && u.Kind != Debris {
				probs[i] = sigmoid(dot(unitWeights[:], f[:]))
			}
		}
		r.Units, r.P, r.near = append(r.Units, features), append(r.P, probs), append(r.near, nears)
	}
	return r
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
		f[readBest], f[readMissing] = -8, 1
		return f
	}
	u := &r.Units[i][j]
	page := r.q.share(r.Pages[i].covered)
	p := r.P[i][j]
	f[readBest] = math.Log(p / (1 - p))
	f[readOwn] = u[unitOwn]
	f[readWindow] = r.near[i][j]
	f[readPage] = page
	for t, how := range r.Pages[i].covered {
		f[readMissing] = max(f[readMissing], r.q.Terms[t].Weight*(1-how))
	}
	f[readProper] = r.q.properShare(r.Pages[i].covered)
	f[readBears], f[readLacks] = u[unitBears], u[unitLacks]
	second := 0.0
	for k, other := range r.Pages {
		if k != i {
			second = max(second, r.q.share(other.covered))
		}
	}
	f[readMargin] = page - second
	f[readShort] = 1 / float64(1+len(r.q.Terms))
	return f
}

// Confidence is the probability that the best units have the answer.
func (r *Reading) Confidence() float64 {
	if i, _ := r.Best(); i < 0 || len(r.q.Terms) == 0 {
		return 0
	}
	f := r.Features()
	return sigmoid(dot(readWeights[:], f[:]))
}

// share is the weight of the terms that are had.
func (q *Question) share(terms []float64) float64 {
	sum := 0.0
	for t, how := range terms {
		sum += q.Terms[t].Weight * how
	}
	return sum
}

// properShare is the same of names and numbers, 1 where the question has none.
func (q *Question) properShare(terms []float64) float64 {
	sum, all := 0.0, 0.0
	for t := range q.Terms {
		if q.Terms[t].Proper {
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
	add := func(terms []float64, count float64) {
		for t, how := range terms {
			out[t] = max(out[t], how*count)
		}
	}
	add(p.heads, fromHeads)
	add(u.heads, fromHeads)
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

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
