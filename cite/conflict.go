package cite

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"dossier/cite/internal/entail"
	"dossier/index"
	"dossier/lang"
)

// Statement is a number that a source gives, with the sentence around it.
type Statement struct {
	Passage Passage `json:"passage"`
	Date    string  `json:"date,omitempty"` // of the source
	Quote   string  `json:"quote"`
	Value   string  `json:"value"` // as it is written
}

// Conflict is a disagreement of two independent sources about one quantity or
// date. A is of the source with the lower number.
type Conflict struct {
	A Statement `json:"a"`
	B Statement `json:"b"`
}

const (
	// sameSubject is the share of the shorter sentence's words that both must
	// have for their numbers to be about one thing.
	sameSubject = 0.6
	// subjectWords is how many words they must share at least; pairs of
	// characters count half.
	subjectWords = 3
	// maxStatements bounds the sentences that are compared with each other.
	maxStatements = 400
	// rounding is how far apart two values may be and still be one.
	rounding = 0.015
)

// statement is a sentence with numbers.
type statement struct {
	source  Source
	passage Passage
	quote   string
	terms   map[string]bool
	names   map[string]bool // terms that are written with a capital inside the sentence
	pairs   bool
	numbers []entail.Number
}

// Conflicts finds the numbers and dates on which sources disagree: sentences
// of the passages that say much the same with another number of the same unit.
// Copies of one article don't disagree with each other. Passages outside their
// snapshots are left out.
func Conflicts(ledger *Ledger, snapshots Snapshots, passages []Passage) []Conflict {
	var all []statement
	seen := map[[3]int]bool{}
	for _, p := range passages {
		source, ok := ledger.Source(p.Source)
		snap := snapshots[source.Snapshot]
		if !ok || snap == nil {
			continue
		}
		text, err := p.Quote(snap)
		if err != nil {
			continue
		}
		for _, span := range lang.Sentences(text) {
			at := lang.Span{Start: p.Start + span.Start, End: p.Start + span.End}
			key := [3]int{p.Source, at.Start, at.End}
			numbers := entail.Numbers(span.In(text))
			if seen[key] || len(numbers) == 0 || len(all) == maxStatements {
				continue
			}
			seen[key] = true
			s := statement{source: source, passage: snap.PassageAt(p.Source, at), quote: span.In(text), numbers: numbers, terms: map[string]bool{}, names: map[string]bool{}}
			for i, t := range index.Tokens(s.quote, source.Lang) {
				if t.Function || t.Number {
					continue
				}
				s.terms[t.Term] = true
				s.pairs = s.pairs || t.Pair
				if first, _ := utf8.DecodeRuneInString(s.quote[t.Start:]); i > 0 && unicode.IsUpper(first) {
					s.names[t.Term] = true
				}
			}
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b statement) int { return a.source.Number - b.source.Number })
	var out []Conflict
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			a, b := &all[i], &all[j]
			if a.source.represents() == b.source.represents() || !about(a, b) {
				continue
			}
			if x, y, ok := disagree(a.numbers, b.numbers); ok {
				out = append(out, Conflict{a.state(x), b.state(y)})
			}
		}
	}
	return out
}

func (s *statement) state(n entail.Number) Statement {
	return Statement{Passage: s.passage, Date: s.source.Date, Quote: s.quote, Value: s.quote[n.Start:n.End]}
}

// about reports whether two sentences have one subject: they share most of
// their words, and not each names something that the other doesn't.
func about(a, b *statement) bool {
	if a.namesBeside(b) && b.namesBeside(a) {
		return false
	}
	common := 0
	for t := range a.terms {
		if b.terms[t] {
			common++
		}
	}
	least := subjectWords
	if a.pairs {
		least *= 2
	}
	return common >= least && float64(common) >= sameSubject*float64(min(len(a.terms), len(b.terms)))
}

// namesBeside reports whether s names something that o doesn't have.
func (s *statement) namesBeside(o *statement) bool {
	for name := range s.names {
		if !o.terms[name] {
			return true
		}
	}
	return false
}

// disagree returns numbers of one unit that differ when the two have none of
// that unit in common. Sentences that differ in numbers of several units tell
// of different things.
func disagree(a, b []entail.Number) (x, y entail.Number, ok bool) {
	differ := map[string]bool{}
	for _, n := range a {
		unit := unitOf(n)
		match, other := false, -1
		for k, m := range b {
			if unitOf(m) != unit {
				continue
			}
			if near(n.Value, m.Value, unit) {
				match = true
			} else if other < 0 {
				other = k
			}
		}
		// Another number of a may be the one that b gives.
		agreed := slices.ContainsFunc(a, func(o entail.Number) bool {
			return unitOf(o) == unit && slices.ContainsFunc(b, func(m entail.Number) bool {
				return unitOf(m) == unit && near(o.Value, m.Value, unit)
			})
		})
		if unit == yearUnit && (severalYears(a) || severalYears(b)) {
			continue // it tells a course of things, not when one happened
		}
		if !match && !agreed && other >= 0 {
			if len(differ) == 0 {
				x, y = n, b[other]
			}
			differ[unit] = true
		}
	}
	return x, y, len(differ) == 1
}

const yearUnit = "year"

func severalYears(numbers []entail.Number) bool {
	n := 0
	for _, m := range numbers {
		if m.Year {
			n++
		}
	}
	return n > 1
}

// unitOf names what a number counts, in a form that inflection doesn't change.
func unitOf(n entail.Number) string {
	if n.Year {
		return yearUnit
	}
	if tokens := index.Tokens(n.Unit, lang.Unknown); len(tokens) > 0 {
		return tokens[0].Term
	}
	return n.Unit
}

func near(a, b float64, unit string) bool {
	if unit == yearUnit {
		return a == b
	}
	return math.Abs(a-b) <= rounding*math.Max(math.Abs(a), math.Abs(b))
}
