package cite

import (
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"dossier/cite/internal/entail"
	"dossier/index"
	"dossier/lang"
)

const (
	// ofQuestion is the share of the question's words that a sentence must have,
	// with the title of its source, to speak of what is asked; of one that asks for
	// a number or a date it is all of them, since every sentence has numbers.
	ofQuestion = 0.75
	// ofPairs is that of pairs of characters, of which those over the ends of
	// words are lost when they stand in another order.
	ofPairs = 0.5
	// slotGap is how many words of grammar may stand between a word of the
	// question and what is said of it: "directed by the …".
	slotGap = 2
	// valueGap is how many bytes a number may be away from a word of the question.
	valueGap = 40
)

// asked is a question as sentences are held against it.
type asked struct {
	terms map[string]bool // it is about
	names map[string]bool // those of them that are written as names
	// number and date say that it asks for one; else it asks for a name, if for
	// anything that can be compared.
	number, date bool
	share        float64 // of the terms that a sentence must have
}

// Words that ask for a date and for a number, by themselves or in a row; for
// Chinese, characters that the question contains.
var (
	asksDate   = pattern(`(?i)(?:^|\P{L})(?:when|(?:what|which) (?:year|date|day|century)|когда|(?:как\p{L}+) (?:год\p{L}*|веке|числа|дат\p{L}))(?:\P{L}|$)|什么时候|什麼時候|何时|何時|哪年|哪一年|何年|哪天|日期`)
	asksNumber = pattern(`(?i)(?:^|\P{L})(?:how (?:many|much|long|old|far|large|big|tall|high|often)|population|percent\p{L}*|number|сколько|какова? (?:длина|высота|площадь|численность)|численность|процент\p{L}*)(?:\P{L}|$)|多少|几个|幾個|几名|几次|多大|多长|多高|多久|人口|数量|人数`)
)

// reply is a sentence that speaks of what is asked.
type reply struct {
	statement
	// slots are what stands right behind words of the question, by word.
	slots map[string]lang.Span
	words map[string][]string // terms in the slots
	// verbs are where words of the question stand that name nothing.
	verbs []lang.Span
}

// Disagreements finds sentences of independent sources that answer one question
// differently: each has nearly all of its words and all that it names. Where it
// asks for a number or a date, each gives one, of the same year if they name
// years, and they differ; else another name stands behind the same word of the
// question, as in "directed by".
func Disagreements(question string, ledger *Ledger, snapshots Snapshots, passages []Passage) []Conflict {
	q := asked{terms: map[string]bool{}, names: map[string]bool{}, share: ofQuestion}
	q.date = asksDate().MatchString(question)
	q.number = !q.date && asksNumber().MatchString(question)
	for i, t := range index.Tokens(question, lang.Detect(question)) {
		if t.Function {
			continue
		}
		q.terms[t.Term] = true
		if t.Pair {
			q.share = ofPairs
		}
		if first, _ := utf8.DecodeRuneInString(question[t.Start:]); i > 0 && unicode.IsUpper(first) {
			q.names[t.Term] = true
		}
	}
	if (q.number || q.date) && q.share == ofQuestion {
		q.share = 1
	}
	if len(q.terms) < subjectWords-1 {
		return nil
	}
	var all []reply
	for _, p := range passages {
		source, ok := ledger.Source(p.Source)
		snap := snapshots[source.Snapshot]
		if !ok || snap == nil || len(all) == maxStatements {
			continue
		}
		text, err := p.Quote(snap)
		if err != nil {
			continue
		}
		for _, span := range lang.Sentences(text) {
			at := lang.Span{Start: p.Start + span.Start, End: p.Start + span.End}
			if r, ok := q.read(source, span.In(text)); ok {
				r.passage = snap.PassageAt(p.Source, at)
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b reply) int { return a.source.Number - b.source.Number })
	var out []Conflict
	told := map[[2]int]bool{} // of two sources one disagreement is enough
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			a, b := &all[i], &all[j]
			pair := [2]int{a.source.represents(), b.source.represents()}
			if pair[0] == pair[1] || told[pair] {
				continue
			}
			if c, ok := q.differ(a, b); ok {
				told[pair] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// read reads a sentence for a question; ok is false if it speaks of something
// else.
func (q *asked) read(source Source, sentence string) (r reply, ok bool) {
	had := map[string]bool{}
	for _, t := range index.Tokens(source.Title, source.Lang) {
		if q.terms[t.Term] {
			had[t.Term] = true
		}
	}
	titled := len(had)
	r = reply{statement: statement{source: source, quote: sentence}, slots: map[string]lang.Span{}, words: map[string][]string{}}
	tokens := index.Tokens(sentence, source.Lang)
	own := 0
	for i, t := range tokens {
		if !q.terms[t.Term] {
			continue
		}
		had[t.Term] = true
		own++
		if q.names[t.Term] {
			continue
		}
		r.verbs = append(r.verbs, lang.Span{Start: t.Start, End: t.End})
		if !t.Pair && r.words[t.Term] == nil {
			q.fill(&r, t.Term, sentence, tokens[i+1:])
		}
	}
	for name := range q.names {
		if !had[name] {
			return r, false
		}
	}
	r.numbers = entail.Numbers(sentence)
	// What the title says is what the document is about; the rest has to stand in
	// the sentence itself.
	beyond := float64(len(q.terms) - titled)
	return r, own > 0 && float64(len(had)-titled) >= q.share*beyond
}

// fill keeps the name that stands right behind a word of the question.
func (q *asked) fill(r *reply, term, sentence string, after []index.Token) {
	gap := 0
	var span lang.Span
	for _, t := range after {
		first, _ := utf8.DecodeRuneInString(sentence[t.Start:])
		// Where there are no articles and cases do the work of prepositions, a name
		// may follow at once.
		adjacent := gap == 0 && len(r.words[term]) == 0 && !unicode.Is(unicode.Cyrillic, first)
		name := unicode.IsUpper(first) && !t.Function && !q.terms[t.Term] && !adjacent
		switch {
		case name && (len(r.words[term]) == 0 || t.Start-span.End <= 2):
			if len(r.words[term]) == 0 {
				span.Start = t.Start
			}
			span.End = t.End
			r.words[term] = append(r.words[term], t.Term)
			continue
		case len(r.words[term]) == 0 && t.Function && gap < slotGap:
			gap++
			continue
		}
		break
	}
	if len(r.words[term]) > 0 {
		r.slots[term] = span
	}
}

// differ says in what two replies differ, if they do.
func (q *asked) differ(a, b *reply) (Conflict, bool) {
	if q.date || q.number {
		x, ok := q.nearest(a)
		y, too := q.nearest(b)
		if ok && too && unitOf(x) == unitOf(y) && !near(x.Value, y.Value, unitOf(x)) && (q.date || oneTime(a.numbers, b.numbers)) {
			return Conflict{a.state(x), b.state(y)}, true
		}
		return Conflict{}, false
	}
	for _, term := range slices.Sorted(maps.Keys(a.words)) {
		x, y := a.words[term], b.words[term]
		if len(y) > 0 && !slices.ContainsFunc(x, func(w string) bool { return slices.Contains(y, w) }) {
			return Conflict{a.say(a.slots[term]), b.say(b.slots[term])}, true
		}
	}
	return Conflict{}, false
}

// oneTime reports that two sentences do not tell of different years.
func oneTime(a, b []entail.Number) bool {
	dated := func(n entail.Number) bool { return n.Year }
	if !slices.ContainsFunc(a, dated) || !slices.ContainsFunc(b, dated) {
		return true
	}
	return slices.ContainsFunc(a, func(x entail.Number) bool {
		return x.Year && slices.ContainsFunc(b, func(y entail.Number) bool { return y.Year && x.Value == y.Value })
	})
}

func (r *reply) say(at lang.Span) Statement {
	return Statement{Passage: r.passage, Date: r.source.Date, Quote: r.quote, Value: at.In(r.quote)}
}

// nearest returns the year, or the number where that is asked for, that stands
// nearest to what is asked of it: "built in 1911 and listed in 1983".
func (q *asked) nearest(r *reply) (n entail.Number, ok bool) {
	least := valueGap + 1
	for _, m := range r.numbers {
		if m.Year != q.date {
			continue
		}
		for _, v := range r.verbs {
			gap := m.Start - v.End
			if gap < 0 {
				gap = 2 * (v.Start - m.End) // what is said of a word mostly follows it
			}
			if gap >= 0 && gap < least {
				n, ok, least = m, true, gap
			}
		}
	}
	return n, ok
}
