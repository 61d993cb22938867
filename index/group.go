package index

import (
	"math"
	"slices"
)

// Group is a part of a query that can be said in other ways: in another
// language, say. Of those that a document has, the best one counts.
type Group struct {
	Start, End   int // bytes of Query.Text
	Alternatives []Alternative
}

// Alternative is another way to say a part of a query: a word, or several that
// belong together.
type Alternative struct {
	Text   string
	Weight float64 // in (0, 1]: how sure it is that this is meant
}

// option is an alternative as the index knows it.
type option struct {
	weight float32
	parts  []part
}

// part is a word of an alternative.
type part struct {
	names []string // one for each language that stems it in its own way
	lists [][]list // by name and segment
	docs  int
}

// choice is a group with what the index has of it.
type choice struct {
	options []option
	worth   float32 // inverse document frequency, common to all
}

// choices parses the groups of a query. What only asks, and what no document
// has, is left out; so are groups of which nothing is left.
func (x *Index) choices(q Query) ([]choice, error) {
	if len(q.Groups) == 0 {
		return nil, nil
	}
	words := x.parse(q.Text)
	out := make([]choice, 0, len(q.Groups))
	for _, g := range q.Groups {
		if asks(words, g) {
			continue
		}
		var c choice
		docs := 0.0
		for _, a := range g.Alternatives {
			o, held, err := x.option(a)
			if err != nil {
				return nil, err
			}
			if held > 0 {
				c.options = append(c.options, o)
				docs += a.Weight * float64(held)
			}
		}
		if len(c.options) > 0 {
			c.worth = x.rarity(min(x.docs, int(math.Ceil(docs))))
			out = append(out, c)
		}
	}
	return out, nil
}

// asks reports whether the words of a group only ask.
func asks(words []word, g Group) bool {
	some := false
	for _, w := range words {
		if w.span.Start >= g.Start && w.span.End <= g.End {
			if !w.ask {
				return false
			}
			some = true
		}
	}
	return some
}

// option finds the words of an alternative and how many documents have it, or
// at least could. Function words are left out where others remain.
func (x *Index) option(a Alternative) (option, int, error) {
	words := x.parse(a.Text)
	if len(words) > 1 {
		words = slices.DeleteFunc(words, func(w word) bool { return w.ask || w.kind == character })
	}
	o := option{weight: float32(min(1, a.Weight))}
	least := math.MaxInt
	for _, w := range words {
		p := part{names: w.names}
		if w.ask {
			return option{}, 0, nil
		}
		for _, name := range w.names {
			lists := make([]list, len(x.segments))
			for i, s := range x.segments {
				l, err := s.find(name)
				if err != nil {
					return option{}, 0, err
				}
				lists[i] = l
				p.docs += l.docs
			}
			p.lists = append(p.lists, lists)
		}
		least = min(least, p.docs)
		o.parts = append(o.parts, p)
	}
	if len(o.parts) == 0 || least == 0 || o.weight <= 0 {
		return option{}, 0, nil
	}
	return o, least, nil
}

// seed gives the documents of a segment what the choices are worth in them.
func (x *Index) seed(w *work, seg int, choices []choice) bool {
	s := x.segments[seg]
	for _, c := range choices {
		w.reached = w.reached[:0]
		for _, o := range c.options {
			if !x.weigh(w, s, seg, o) {
				return false
			}
		}
		for _, doc := range w.reached {
			if w.score[doc] == 0 {
				w.touched = append(w.touched, doc)
			}
			w.score[doc] += c.worth * w.chosen[doc]
			w.chosen[doc] = 0
		}
	}
	return true
}

// weigh raises the documents that have an alternative to what it gives them. Of
// several words each gives its share, and all must be there.
func (x *Index) weigh(w *work, s *Segment, seg int, o option) bool {
	share := o.weight / float32(len(o.parts))
	w.part = w.part[:0]
	for n, p := range o.parts {
		for _, lists := range p.lists {
			l := &lists[seg]
			for block := range l.blocks() {
				count, ok := l.decode(block, s.docs, &w.block)
				if !ok {
					return false
				}
				for i, doc := range w.block.docs[:count] {
					gain := share * x.gain[int(w.block.counts[i]&(countCodes-1))<<8|int(s.parts[secLengths][doc])]
					switch h := &w.held[doc]; {
					case h.parts == n:
						if n == 0 {
							w.part = append(w.part, doc)
						}
						h.parts, h.gain, h.last = n+1, h.gain+gain, gain
					case h.parts == n+1 && gain > h.last: // another stem of the same word
						h.gain, h.last = h.gain+gain-h.last, gain
					}
				}
			}
		}
	}
	for _, doc := range w.part {
		if h := w.held[doc]; h.parts == len(o.parts) && h.gain > w.chosen[doc] {
			if w.chosen[doc] == 0 {
				w.reached = append(w.reached, doc)
			}
			w.chosen[doc] = h.gain
		}
		w.held[doc] = holding{}
	}
	return true
}

// holding is how far a document has the words of an alternative.
type holding struct {
	parts      int
	gain, last float32
}
