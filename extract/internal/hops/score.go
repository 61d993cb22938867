package hops

import (
	"cmp"
	"math"
	"slices"
)

// What a page is worth. Each was chosen on three collections of questions that
// need several passages, and holds within a wide range; see bench/eval.
const (
	rankShare  = 0.5  // of its rank in what it is worth; the rest is what it has of the question
	rankHalf   = 2.0  // places after which a rank counts half
	otherRank  = 0.4  // what a rank counts for another query than the question itself
	titleBonus = 0.5  // for being named by the question
	unspent    = 0.2  // of the worth is left to a page that has spent terms only
	linkWeight = 3.0  // of a link beside all that
	plainLink  = 0.4  // what a link counts that leads to no more of the question
	textLink   = 0.6  // of a link to a page that is not about the name but has it
	partTitle  = 0.5  // share of a title's weight that a name must have to stand for it
	below      = 0.95 // of what its source is worth is the most that a link can give
	sources    = 5    // pages whose names are followed
	steps      = 2    // of links from what the question finds
	nearTerms  = 8.0  // words over which a term stops to count as near a name
	farShare   = 0.5  // what a term counts in another sentence
	plainName  = 0.5  // what a name counts that is near no term of the question
	nearName   = 12.0 // words over which a term stops to count as said of a name
	titleBase  = 0.6  // what a word of a title weighs beside its rarity
	mostNames  = 60   // of a page
)

// name is a name that a page has and the question has not.
type name struct {
	key      string
	surface  string
	words    int
	salience float64 // how near the question's terms it stands
	rarity   float64
}

// link is a page that has a name.
type link struct {
	to     int
	name   int
	titled float64 // how much of its title the name is; 0 where only its text has it
	near   []float64
}

// score sets what pages are worth and their order.
func (t *Trail) score() {
	for _, g := range t.pages {
		g.base = t.base(g)
		g.score, g.path = g.base, g.cover
	}
	t.sort()
	for range steps {
		type state struct {
			score float64
			path  []float64
		}
		before := make([]state, len(t.pages))
		for i, g := range t.pages {
			before[i] = state{g.score, g.path}
		}
		for _, at := range t.order[:min(sources, len(t.order))] {
			a := t.pages[at]
			t.readLinks(a)
			for _, l := range a.links {
				b := t.pages[l.to]
				worth := linkWeight * min(1, before[at].score) * t.strength(a, l, before[at].path)
				score := min(b.base+worth, max(b.base, below*before[at].score))
				if score <= b.score {
					continue
				}
				b.score, b.from, b.via = score, at, a.names[l.name].surface
				b.path = slices.Clone(before[at].path)
				for i, how := range b.cover {
					b.path[i] = max(b.path[i], how)
				}
			}
		}
		t.sort()
	}
}

func (t *Trail) sort() {
	if t.order == nil {
		t.order = make([]int, len(t.pages))
		for i := range t.order {
			t.order[i] = i
		}
	}
	slices.SortFunc(t.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.pages[b].score, t.pages[a].score), cmp.Compare(a, b))
	})
}

// base is what a page is worth by itself.
func (t *Trail) base(g *page) float64 {
	rank := 0.0
	if g.rank >= 0 {
		rank = 1 / (1 + float64(g.rank)/rankHalf)
	}
	if g.other >= 0 {
		rank = max(rank, otherRank/(1+float64(g.other)/rankHalf))
	}
	all, own := 0.0, 0.0
	for i, how := range g.cover {
		all += how * t.terms.Terms[i].Weight
		if !t.spent[i] {
			own += how * t.terms.Terms[i].Weight
		}
	}
	worth := (1-rankShare)*all + rankShare*rank
	switch {
	case g.named:
		worth += titleBonus
	case all > 0:
		worth *= unspent + (1-unspent)*own/all
	}
	return worth
}

// strength is how much a link says, at most 1: how near the question's terms
// the name stands at its source, how much the page is about it, and what the
// page has of the question that the path to it lacks.
func (t *Trail) strength(a *page, l link, path []float64) float64 {
	n := &a.names[l.name]
	about, has := l.titled, t.pages[l.to].cover
	if about == 0 {
		about, has = textLink*n.rarity, l.near
	}
	return about * n.salience * (plainLink + (1-plainLink)*t.gain(path, has))
}

// gain is the share of the terms that the path lacks which a page has. Spent
// ones are not missed.
func (t *Trail) gain(path, has []float64) float64 {
	sum, all := 0.0, 0.0
	for i, term := range t.terms.Terms {
		lacks := term.Weight * (1 - path[i])
		sum += lacks * has[i]
		if t.spent[i] {
			lacks *= has[i]
		}
		all += lacks
	}
	if all < 0.01 {
		return 0.5 // nothing to tell by
	}
	return sum / all
}

// readLinks finds the names of a page and the pages that have them.
func (t *Trail) readLinks(a *page) {
	if a.read {
		return
	}
	a.read = true
	t.readNames(a)
	for _, b := range t.pages {
		if b == a {
			continue
		}
		best := make(map[bool]link) // by whether the name is the title
		strength := make(map[bool]float64)
		for i := range a.names {
			l := link{to: b.place, name: i, titled: t.titled(b, a.names[i].key)}
			if l.titled == 0 {
				spots := b.text.spots(a.names[i].key)
				if len(spots) == 0 {
					continue
				}
				l.near = t.near(b, spots, a.names[i].words)
			}
			_, known := best[l.titled > 0]
			if s := t.strength(a, l, a.cover); !known || s > strength[l.titled > 0] {
				best[l.titled > 0], strength[l.titled > 0] = l, s
			}
		}
		for _, titled := range []bool{true, false} {
			if l, ok := best[titled]; ok {
				a.links = append(a.links, l)
			}
		}
	}
}

// readNames finds the names of a page that the question does not have.
func (t *Trail) readNames(a *page) {
	mentions := a.text.names()
	for _, b := range t.pages { // what has a page of its own is a name
		if b == a {
			continue
		}
		for _, title := range b.titles {
			n := len(title.words)
			for _, at := range a.text.spots(title.key(0, n)) {
				if w := a.text.words[at]; (w.upper || w.char) && a.text.named(at, at+n) {
					mentions = append(mentions, mention{title.key(0, n), at, at + n})
				}
			}
		}
	}
	known := map[string]int{}
	for _, m := range mentions {
		if t.text.has(m.key) || slices.ContainsFunc(a.titles, func(x *text) bool { return x.has(m.key) }) || !t.fresh(a.text, m) {
			continue
		}
		at, ok := known[m.key]
		if !ok {
			at = len(a.names)
			known[m.key] = at
			a.names = append(a.names, name{
				key: m.key, surface: a.text.in(m.from, m.to), words: m.to - m.from, rarity: t.rarity(a.text, m.from, m.to),
			})
		}
		a.names[at].salience = max(a.names[at].salience, t.salience(a, m))
	}
	slices.SortStableFunc(a.names, func(x, y name) int { return cmp.Compare(y.salience*y.rarity, x.salience*x.rarity) })
	a.names = a.names[:min(len(a.names), mostNames)]
}

// fresh reports whether a name has a word that the question lacks.
func (t *Trail) fresh(x *text, m mention) bool {
	known := map[int]bool{}
	for _, h := range x.hits {
		if h.at >= m.from && h.at < m.to && h.how == 1 {
			known[h.at] = true
			known[h.at+1] = known[h.at+1] || x.words[h.at].char
		}
	}
	for i := m.from; i < m.to; i++ {
		if !x.words[i].function && !known[i] {
			return true
		}
	}
	return false
}

// salience is how near a name stands to terms of the question that are not
// those of the page's title.
func (t *Trail) salience(a *page, m mention) float64 {
	near := make([]float64, len(t.terms.Terms))
	for _, h := range a.text.hits {
		if h.at >= m.from && h.at < m.to {
			continue
		}
		v := h.how * math.Exp(-float64(distance(h.at, m.from, m.to))/nearTerms)
		if a.text.words[h.at].sentence != a.text.words[m.from].sentence {
			v *= farShare
		}
		near[h.term] = max(near[h.term], v)
	}
	sum, all := 0.0, 0.0
	for i, term := range t.terms.Terms {
		weight := term.Weight * (1 - a.heads[i])
		sum += weight * near[i]
		all += weight
	}
	if all > 0 {
		sum /= all
	}
	return plainName + (1-plainName)*min(1, 2*sum)
}

// near is what a page has of the question's terms around some words of its
// text, and in its title.
func (t *Trail) near(b *page, spots []int, words int) []float64 {
	out := slices.Clone(b.heads)
	for _, h := range b.text.hits {
		for _, at := range spots {
			v := h.how * math.Exp(-float64(distance(h.at, at, at+words))/nearName)
			out[h.term] = max(out[h.term], v)
		}
	}
	return out
}

// distance is the number of words from one to a row of words.
func distance(at, from, to int) int {
	switch {
	case at < from:
		return from - at
	case at >= to:
		return at - to + 1
	}
	return 0
}

// titled is the share of a title's weight that a name has, 0 if it is less
// than half.
func (t *Trail) titled(b *page, key string) float64 {
	most := 0.0
	for _, title := range b.titles {
		spots := title.spots(key)
		if len(spots) == 0 {
			continue
		}
		if len(key) == len(title.flat)-2 {
			return 1
		}
		has, all := 0.0, 0.0
		end := len(" "+key) + title.at[spots[0]]
		for i, w := range title.words {
			if w.function && !w.char {
				continue
			}
			weight := titleBase + t.weights.Weight(w.term)
			all += weight
			if i >= spots[0] && title.at[i] < end {
				has += weight
			}
		}
		if all > 0 && has/all >= partTitle {
			most = max(most, has/all)
		}
	}
	return most
}
