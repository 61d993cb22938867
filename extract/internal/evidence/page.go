package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// Page is a passage read for a question.
type Page struct {
	Units   []Unit
	heads   []float64 // by term: how surely title or headings have it
	covered []float64 // by term: how surely any of it has it
	rows    []float64 // by term: how surely a row of a table has it; nil without one
}

// Kind says what a unit is.
type Kind uint8

// The kinds of units. Headings, debris and junk are not quoted.
const (
	Prose   Kind = iota
	Item         // of a list
	Row          // of a table
	Heading      //
	Debris       // code, navigation, rules
	Junk         // what tells nothing, see Reading.Drop
)

// Unit is a sentence of a passage, or a piece of a very long one.
type Unit struct {
	lang.Span
	Kind Kind
	// Lead is the unit that the unit leans on, -1 for none: the line above a
	// list, the first row of a table, the sentence before one that opens with
	// a pronoun.
	Lead  int
	Words int // as readers count them
	// Opens says that it is the first row of a table: it names what the others
	// have.
	Opens bool

	words []word
	own   []float64 // by term
	heads []float64 // by term: the heading in the text that it stands under, and its lead
	asks  bool      // it is a question itself
	cells bool      // a row of a table without the bars at its ends
	term  bool      // a heading by its looks alone: maybe what the next unit defines
}

type word struct {
	name       string
	start, end int // in the unit
	number     bool
	function   bool
	term       int // of the question, or -1
	how        float64
}

// longUnit is the number of words from which a sentence is cut into pieces:
// nobody reads a quotation of a hundred words.
const longUnit = 70

// ReadPage reads a passage with what stands above it.
func (q *Question) ReadPage(above []string, text string) *Page {
	p := &Page{heads: make([]float64, len(q.Terms)), covered: make([]float64, len(q.Terms))}
	for _, line := range above {
		q.mark(p.heads, q.words(line))
	}
	copy(p.covered, p.heads)
	all := q.words(text)
	code := false
	for _, span := range lang.Sentences(text) {
		kind := kindOf(span.In(text))
		if fence := strings.HasPrefix(span.In(text), "```"); code || fence {
			// A fence may open and close within what counts as one sentence.
			code = code != (strings.Count(span.In(text), "```")%2 == 1)
			kind = Debris
		}
		var mine []word
		for len(all) > 0 && all[0].start < span.End {
			mine, all = append(mine, all[0]), all[1:]
		}
		for _, piece := range pieces(text, span) {
			u := Unit{Span: piece, Kind: kind, Lead: -1, Words: lang.Words(piece.In(text)), own: make([]float64, len(q.Terms))}
			for len(mine) > 0 && mine[0].start < piece.End {
				w := mine[0]
				w.start, w.end = w.start-piece.Start, min(w.end, piece.End)-piece.Start
				u.words, mine = append(u.words, w), mine[1:]
			}
			if u.Kind == Prose && len(u.words) == 0 {
				u.Kind = Debris
			}
			u.cells = kind == Row || strings.Contains(piece.In(text), " | ")
			u.asks = strings.ContainsAny(lastRune(piece.In(text)), "?？")
			q.mark(u.own, u.words)
			if u.Kind != Debris {
				q.mark(p.covered, u.words)
			}
			p.Units = append(p.Units, u)
		}
	}
	p.arrange(above, text)
	return p
}

// words reads the words of a text that count.
func (q *Question) words(text string) []word {
	tokens := index.TokensAndNames(text, q.Lang)
	out := make([]word, 0, len(tokens))
	seen := map[string]word{}
	for _, t := range tokens {
		if lone(text[t.Start:t.End]) && !t.Number {
			continue
		}
		w, known := seen[t.Term]
		if !known {
			w = word{name: t.Term, number: t.Number, term: -1}
			if !t.Function {
				w.term, w.how = q.Match(t.Term, t.Number, t.Pair)
			}
			seen[t.Term] = w
		}
		w.start, w.end, w.function = t.Start, t.End, t.Function
		out = append(out, w)
	}
	return out
}

func (q *Question) mark(terms []float64, words []word) {
	for _, w := range words {
		if w.term >= 0 {
			terms[w.term] = max(terms[w.term], w.how)
		}
	}
	q.Complete(terms)
}

// Complete marks pairs of characters that stand for no word of their own: both
// of their characters belong to pairs that are there.
func (q *Question) Complete(terms []float64) {
	for t := 1; t+1 < len(terms); t++ {
		if terms[t] == 0 && q.Terms[t].linked && q.Terms[t+1].linked && terms[t-1] == 1 && terms[t+1] == 1 {
			terms[t] = between
		}
	}
}

// between is what such a pair counts.
const between = 0.7

// arrange finds which units are headings and which lean on others. What stands
// above the passage may stand at its head as well.
func (p *Page) arrange(above []string, text string) {
	headings := make(map[string]bool, len(above))
	for _, line := range above {
		headings[bare(line)] = true
	}
	prose := false
	for i := range p.Units {
		prose = prose || p.Units[i].Kind == Prose && closed(p.Units[i].In(text))
	}
	heading, lead, row := -1, -1, -1
	for i := range p.Units {
		u := &p.Units[i]
		s := u.In(text)
		alone := (u.Start == 0 || text[u.Start-1] == '\n') && (u.End == len(text) || strings.HasPrefix(strings.TrimLeft(text[u.End:], " \t\r"), "\n"))
		if alone && headings[bare(s)] && !strings.ContainsAny(lastRune(s), ".。!！…") && len(p.Units) > 1 {
			u.Kind = Heading
		}
		if u.Kind == Prose && prose && alone && u.Words <= 10 && !closed(s) && !strings.ContainsAny(s, ":：,，") {
			u.Kind, u.term = Heading, true
		}
		u.Opens = u.cells && i+1 < len(p.Units) && rule(p.Units[i+1].In(text))
		switch u.Kind {
		case Heading:
			heading, lead, row = i, -1, -1
			continue
		case Item:
			u.Lead, row = lead, -1
		case Row:
			if u.Opens {
				row = i
			} else {
				u.Lead = row
			}
			if p.rows == nil {
				p.rows = make([]float64, len(u.own))
			}
			for t, how := range u.own {
				p.rows[t] = max(p.rows[t], how)
			}
		case Prose:
			lead, row = -1, -1
			if i > 0 && p.Units[i-1].Kind == Prose && pronoun(s) {
				u.Lead = i - 1
			}
			if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") {
				lead = i
			}
		}
		if heading >= 0 || u.Lead >= 0 {
			u.heads = make([]float64, len(u.own))
			for _, above := range []int{heading, u.Lead} {
				if above >= 0 {
					for t, how := range p.Units[above].own {
						u.heads[t] = max(u.heads[t], how)
					}
				}
			}
		}
	}
}

// rule reports whether a line is the one between the head of a table and its
// rows.
func rule(s string) bool {
	return strings.HasPrefix(s, "|") && strings.Contains(s, "--") && strings.Trim(s, "|-: \t\n") == ""
}

// bare is a line without the signs of a heading, spacing and case.
func bare(line string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Trim(line, "#=* \t\n")), " "))
}

// Quoted returns the part of a unit to quote: without the sign of a list item
// and the bars at the ends of a row.
func (u *Unit) Quoted(text string) lang.Span {
	s := u.In(text)
	start, end := 0, len(s)
	switch u.Kind {
	case Item:
		rest := strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("-*+•–—●▪.)、 \t", r) })
		// A number that the sentence itself begins with stays.
		if first, size := utf8.DecodeRuneInString(s); strings.ContainsRune("-*+•–—●▪", first) {
			rest = strings.TrimLeft(s[size:], " \t")
		}
		start = len(s) - len(rest)
	case Row:
		trimmed := strings.TrimLeft(s, "| \t")
		start = len(s) - len(trimmed)
		end = start + len(strings.TrimRight(trimmed, "| \t"))
	}
	if start >= end {
		return u.Span
	}
	return lang.Span{Start: u.Start + start, End: u.Start + end}
}

// pieces cuts a long sentence where a clause, or at least a word, ends.
func pieces(text string, s lang.Span) []lang.Span {
	if s.End-s.Start < longUnit || lang.Words(s.In(text)) <= longUnit {
		return []lang.Span{s}
	}
	var out []lang.Span
	words, start, clause, space := 0, s.Start, -1, -1
	inWord := false
	for i := s.Start; i < s.End; {
		r, size := utf8.DecodeRuneInString(text[i:])
		han := r >= 0x2e80 && unicode.IsLetter(r)
		letter := !han && !unicode.IsSpace(r)
		if han || letter && !inWord {
			words++
		}
		inWord = letter
		i += size
		switch {
		case strings.ContainsRune("；;，。·", r), strings.ContainsRune(",:", r) && i < s.End && text[i] == ' ', r == '\n':
			clause = i
		case unicode.IsSpace(r) || han && i < s.End && words >= longUnit:
			space = i
		}
		if words < longUnit*3/4 {
			clause = -1
		}
		at := clause
		if at < 0 && words >= longUnit {
			at = space
		}
		if at > start && at < s.End {
			if piece, ok := trimmed(text, start, at); ok {
				out = append(out, piece)
			}
			start, words, clause, space = at, 0, -1, -1
		}
	}
	if piece, ok := trimmed(text, start, s.End); ok {
		out = append(out, piece)
	}
	return out
}

func trimmed(text string, start, end int) (lang.Span, bool) {
	part := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(part)
	end = start + len(strings.TrimRightFunc(part, unicode.IsSpace))
	return lang.Span{Start: start, End: end}, start < end
}

// kindOf tells what a sentence is by its own looks.
func kindOf(s string) Kind {
	letters, signs, runes := 0, 0, 0
	for _, r := range s {
		runes++
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		case strings.ContainsRune(`{}<>=;\_$|/[]`, r):
			signs++
		}
	}
	first, size := utf8.DecodeRuneInString(s)
	switch {
	case letters == 0:
		return Debris
	case strings.HasPrefix(s, "#") && strings.Contains(s[:min(len(s), 8)], "# "), strings.HasPrefix(s, "==") && strings.HasSuffix(s, "=="):
		return Heading
	case first == '|':
		return Row
	case 5*signs > runes || keyed(s) || !strings.ContainsAny(s, " \t\n") && strings.Contains(s, "://"):
		return Debris
	case strings.ContainsRune("-*+•–—●▪", first) && strings.HasPrefix(s[size:], " "):
		return Item
	case numbered(s):
		return Item
	}
	return Prose
}

// keyed reports whether a text consists of keys and values, like data that was
// made lines of, rather than of words.
func keyed(s string) bool {
	words, keys := 0, 0
	for w := range strings.FieldsSeq(s) {
		words++
		inner := strings.Trim(w, ".,;:!?()\"'`")
		if strings.ContainsAny(inner, "$[]{}=") || strings.Count(inner, ".") > 1 && strings.ContainsFunc(inner, unicode.IsLetter) {
			keys++
		}
	}
	return words > 3 && 5*keys > 2*words
}

// numbered reports whether s begins like "3. " or "3) ".
func numbered(s string) bool {
	rest := strings.TrimLeftFunc(s, unicode.IsDigit)
	n := len(s) - len(rest)
	return n > 0 && n < 4 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ") || strings.HasPrefix(rest, "、"))
}

// closed reports whether a line ends like a sentence does.
func closed(s string) bool { return strings.ContainsAny(lastRune(s), ".!?…。！？:：;；") }

// lastRune returns the last character before closing quotes and brackets.
func lastRune(s string) string {
	s = strings.TrimRight(s, `"'”’»)]」』）】》`)
	_, size := utf8.DecodeLastRuneInString(s)
	return s[len(s)-size:]
}

var pronouns = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`he she it they this that these those his her its their such there then however therefore thus
он она оно они это этот эта эти его ее её их такой такая такие там тогда однако поэтому затем при
er sie es dies diese dieser dieses dort jedoch daher sein ihr ihre il elle ils elles cela él ella ellos esto`) {
		m[w] = true
	}
	return m
}()

// pronoun reports whether a sentence opens with a word that points back.
func pronoun(s string) bool {
	for _, han := range []string{"他", "她", "它", "这", "這", "那", "该", "該", "此", "其", "因此", "但", "随后", "之后"} {
		if strings.HasPrefix(s, han) {
			return true
		}
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	return end > 0 && pronouns[strings.ToLower(s[:end])]
}
