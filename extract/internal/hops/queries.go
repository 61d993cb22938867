package hops

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const (
	mostQueries = 3
	mostRest    = 5 // words of the question in a query beside a name
)

// Order returns the places of the passages, in the order in which they were
// found first, the best first.
func (t *Trail) Order() []int { return slices.Clone(t.order) }

// front is the number of pages that are expected to answer together.
const front = 5

// Step is a page that the trail goes over.
type Step struct {
	Page  int      // its place, as in Order
	Names []string // that lead to it, and from it to other steps
}

// stepShare is what a page that a name leads to must be worth beside the first one
// to be a step. On the three collections of score.go half leaves out three in ten
// of the pages, and hardly any that is needed; with more many of these go too.
const stepShare = 0.5

// Steps returns those among the first n pages that the trail goes over: the first
// one, those that the question names, and those that names in others lead to and
// that are worth it.
func (t *Trail) Steps(n int) []Step {
	var out []Step
	for i, at := range t.order[:min(n, len(t.order))] {
		if g := t.pages[at]; i == 0 || g.named || g.from >= 0 && g.score >= stepShare*t.pages[t.order[0]].score {
			out = append(out, Step{Page: at})
		}
	}
	for i := range out {
		own := t.pages[out[i].Page]
		if own.from >= 0 {
			out[i].Names = append(out[i].Names, own.via)
		}
		for _, other := range out {
			if g := t.pages[other.Page]; g.from == own.place && !slices.Contains(out[i].Names, g.via) {
				out[i].Names = append(out[i].Names, g.via)
			}
		}
	}
	return out
}

// Missing is the share of the question that the pages at the front lack: the
// first one, those that the question names, and those that these lead to. The
// words of names that were found are not counted.
func (t *Trail) Missing() float64 {
	has := make([]float64, len(t.terms.Terms))
	for i, at := range t.order[:min(front, len(t.order))] {
		if g := t.pages[at]; i == 0 || g.named || g.from >= 0 {
			for term, how := range g.cover {
				has[term] = max(has[term], how)
			}
		}
	}
	missing, all := 0.0, 0.0
	for i, term := range t.terms.Terms {
		if !t.spent[i] {
			all += term.Weight
			missing += term.Weight * (1 - has[i])
		}
	}
	if all == 0 {
		return 0
	}
	return missing / all
}

// Queries returns up to three queries that may find what is missing: names of
// the question that nothing found has, and names that stand in what was found
// with the words of the question that stand not there.
func (t *Trail) Queries() []string {
	var out []string
	var keys []string
	add := func(key, query string) {
		if len(out) < mostQueries && !slices.Contains(keys, key) && !t.askedFor(key) {
			out, keys = append(out, query), append(keys, key)
		}
	}
	for _, m := range t.text.names() {
		if m.from > 0 && !slices.ContainsFunc(t.pages, func(g *page) bool { return g.has(m.key) }) {
			add(m.key, t.text.in(m.from, m.to))
		}
	}
	type lead struct {
		from *page
		name *name
	}
	var leads []lead
	for _, at := range t.order[:min(sources, len(t.order))] {
		a := t.pages[at]
		t.readLinks(a)
		for i := range a.names {
			leads = append(leads, lead{a, &a.names[i]})
		}
	}
	worth := func(l lead) float64 {
		return l.from.score * l.name.salience * (1 + l.name.rarity)
	}
	slices.SortStableFunc(leads, func(a, b lead) int { return cmp.Compare(worth(b), worth(a)) })
	for _, l := range leads {
		if foreign(l.name.surface, t.text.raw) {
			continue // with words of the question it would be a query in no language
		}
		add(l.name.key, strings.Join(append([]string{l.name.surface}, t.rest(l.from)...), " "))
	}
	return out
}

// foreign reports whether a name is written in a script of its own, which is neither
// that of the question nor Latin, in which names are written everywhere.
func foreign(name, question string) bool {
	for _, script := range []*unicode.RangeTable{unicode.Cyrillic, unicode.Han} {
		has := func(r rune) bool { return unicode.Is(script, r) }
		if strings.ContainsFunc(name, has) && !strings.ContainsFunc(question, has) {
			return true
		}
	}
	return false
}

func (g *page) has(key string) bool {
	return g.text.has(key) || slices.ContainsFunc(g.titles, func(x *text) bool { return x.has(key) })
}

// askedFor reports whether a query began with a name.
func (t *Trail) askedFor(key string) bool {
	return slices.ContainsFunc(t.asked, func(flat string) bool { return strings.HasPrefix(flat, " "+key+" ") })
}

// rest are the words of the question that a page lacks, without those of the
// names that were found, the most telling ones if there are many.
func (t *Trail) rest(g *page) []string {
	var missing []int
	for i := range t.terms.Terms {
		if !t.spent[i] && g.cover[i] == 0 {
			missing = append(missing, i)
		}
	}
	slices.SortStableFunc(missing, func(a, b int) int { return cmp.Compare(t.terms.Terms[b].Weight, t.terms.Terms[a].Weight) })
	missing = missing[:min(mostRest, len(missing))]
	var out []string
	end := -1 // word after the last one taken
	taken := map[int]bool{}
	for _, h := range t.text.hits {
		if h.how < 1 || taken[h.term] || !slices.Contains(missing, h.term) {
			continue
		}
		taken[h.term] = true
		from, to := h.at, h.at+1
		if t.text.words[h.at].char {
			to++ // a pair
		}
		if from < end { // that shares a character with the one before
			out[len(out)-1] += t.text.in(end, to)
		} else {
			out = append(out, t.text.in(from, to))
		}
		end = to
	}
	return out
}
