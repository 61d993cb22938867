package cite

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// OfOneThing returns those of the conflicts whose two values are of the same
// thing, as far as their sentences, and the titles of their sources, tell.
// Numbers of sections are of none. Not of one thing are sentences that each name
// something which the other does not, one whose name is longer (the Lesser
// General Public License), those of editions of one document, and those of
// documents that are each about something else by their titles, unless both have
// the name of what they speak of. Of two values the first conflict is enough,
// however many sources give them.
func OfOneThing(conflicts []Conflict, ledger *Ledger, snapshots Snapshots) []Conflict {
	documents := map[int]*document{}
	read := func(s Statement) subject {
		source, _ := ledger.Source(s.Passage.Source)
		d := documents[source.Number]
		if d == nil {
			d = readDocument(source, snapshots)
			documents[source.Number] = d
		}
		return d.subject(s)
	}
	var out []Conflict
	told := map[[2]string]bool{}
	for _, c := range conflicts {
		values := [2]string{min(c.A.Value, c.B.Value), max(c.A.Value, c.B.Value)}
		if !told[values] && !c.A.label() && !c.B.label() && oneThing(read(c.A), read(c.B)) {
			told[values] = true
			out = append(out, c)
		}
	}
	return out
}

func oneThing(a, b subject) bool {
	switch {
	case editions(a.document, b.document):
		return false
	case a.pairs || b.pairs: // nothing tells names in such a script
		return true
	case longer(a.words, b.words), longer(b.words, a.words):
		return false
	case shared(a, b):
		return true
	case a.names.beside(b.text) && b.names.beside(a.text):
		return false
	}
	return !a.topics.beside(b.title) || !b.topics.beside(a.title)
}

// label reports whether the value is the number of a place in a text, or of a
// version ("section 4", "第4章"), or tells which thing a sentence is about ("Box
// 101 of the archive").
func (s Statement) label() bool {
	at := strings.Index(s.Quote, s.Value)
	if at < 0 {
		return false
	}
	before, after := s.Quote[:at], s.Quote[at+len(s.Value):]
	if strings.Trim(before, " \t(#*-") == "" && strings.IndexAny(after, ".)、") == 0 {
		return true // of a heading, or of an item of a list
	}
	return labelBefore().MatchString(before) || labelAfter().MatchString(after) || numberedThing(before, after)
}

// numberedThing reports whether a sentence begins with a word and its number,
// which is no amount of anything.
func numberedThing(before, after string) bool {
	begins := index.Tokens(before, lang.Unknown)
	if len(begins) == 0 || len(begins) > 2 || begins[len(begins)-1].Function || !strings.HasSuffix(before, " ") {
		return false
	}
	follows := index.Tokens(after, lang.Unknown)
	return len(follows) > 0 && follows[0].Function
}

var (
	labelBefore = pattern(`(?i)(?:^|\P{L})(?:sections?|sec\.?|chapters?|ch\.|articles?|clauses?|paragraphs?|parts?|appendix|figures?|fig\.?|tables?|pages?|pp?\.|steps?|lines?|items?|notes?|versions?|v\.?|releases?|` +
		`раздел\p{L}*|глав\p{L}*|стать\p{L}*|пункт\p{L}*|п\.|параграф\p{L}*|част[ьи]|рис\.|рисун\p{L}*|табл\.|таблиц\p{L}*|стр\.|страниц\p{L}*|шаг\p{L}*|строк\p{L}*|верси\p{L}*|§+)[ \t\x{a0}]*$`)
	// numbered are words of titles that only say that there are many.
	numbered   = pattern(`(?i)^(?:documents?|doc|files?|pages?|parts?|chapters?|sections?|volumes?|papers?|untitled|документ|файл|страница|часть|глава|раздел|том|文档|文件)$`)
	labelAfter = pattern(`^ ?(?:章|节|節|条|條|款|页|頁|版|步|部分)`)
)

// terms is a set of them.
type terms map[string]bool

// beside reports whether one of them is not among others.
func (t terms) beside(others terms) bool {
	for term := range t {
		if !others[term] {
			return true
		}
	}
	return false
}

// document is what a source is about.
type document struct {
	lang    lang.Code
	count   map[string]int // of the terms of its text
	text    terms          // of the text and the title
	title   terms
	edition []string // numbers of the title
	topics  terms    // of the title, that the text has too if it has any
	common  terms    // that the text has in lower case
}

func readDocument(source Source, snapshots Snapshots) *document {
	title, text := source.Title, ""
	if snap := snapshots[source.Snapshot]; snap != nil {
		text = snap.Text
	}
	if begins(text, title) {
		title = ""
	}
	d := &document{lang: source.Lang, count: map[string]int{}, text: terms{}, title: terms{}, topics: terms{}, common: terms{}}
	for _, t := range index.Tokens(text, source.Lang) {
		d.text[t.Term] = true
		d.count[t.Term]++
		if first, _ := utf8.DecodeRuneInString(text[t.Start:]); !unicode.IsUpper(first) {
			d.common[t.Term] = true
		}
	}
	for _, t := range index.Tokens(title, source.Lang) {
		d.text[t.Term] = true
		switch {
		case t.Function || numbered().MatchString(title[t.Start:t.End]):
		case t.Number:
			d.edition = append(d.edition, t.Term)
		default:
			d.title[t.Term] = true
			if d.count[t.Term] > 1 {
				d.topics[t.Term] = true
			}
		}
	}
	if len(d.topics) == 0 {
		d.topics = d.title // the name of a file
	}
	return d
}

// begins reports whether a text begins with its title as with a sentence: it has
// no title, and somebody took what there is.
func begins(text, title string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), strings.TrimRight(title, " .…"))
	rest = strings.TrimLeft(rest, " \t")
	return ok && title != "" && rest != "" && rest[0] != '\n'
}

// editions reports whether two documents have one title but for its numbers.
func editions(a, b *document) bool {
	return len(a.title) > 0 && len(a.edition) > 0 && len(b.edition) > 0 && maps.Equal(a.title, b.title) && !slices.Equal(a.edition, b.edition)
}

// subject is what a sentence of a document is about.
type subject struct {
	*document
	own   []string // terms in order
	words []string // the same, those of names in capitals
	names terms
	pairs bool
}

func (d *document) subject(s Statement) subject {
	sentence := s.Quote
	value := strings.Index(sentence, s.Value)
	out := subject{document: d, names: terms{}}
	for i, t := range index.Tokens(sentence, d.lang) {
		if value >= 0 && t.Start >= value && t.End <= value+len(s.Value) {
			continue // it is said of the subject
		}
		out.pairs = out.pairs || t.Pair
		first, _ := utf8.DecodeRuneInString(sentence[t.Start:])
		name := unicode.IsUpper(first)
		if i == 0 { // every sentence begins with a capital: that one does not tells something
			name = unicode.IsLower(first) || d.topics[t.Term] || d.count[t.Term] > 1 && !d.common[t.Term]
		}
		name = !t.Function && !t.Number && (name || written(wordAround(sentence, t.Start, t.End)))
		term := t.Term
		if name {
			out.names[t.Term] = true
			term = strings.ToUpper(term)
		}
		out.own, out.words = append(out.own, t.Term), append(out.words, term)
	}
	return out
}

// wordAround is the word, up to spaces, that a span is of.
func wordAround(text string, start, end int) string {
	from := strings.LastIndexFunc(text[:start], unicode.IsSpace) + 1
	to := len(text)
	if n := strings.IndexFunc(text[end:], unicode.IsSpace); n >= 0 {
		to = end + n
	}
	return strings.Trim(text[from:to], `.,;:!?()[]"'“”«»`)
}

// written reports whether a word is written as no word of a language is:
// max_connections, PostgreSQL, net.core.
func written(word string) bool {
	inner := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	if strings.ContainsAny(inner, "_/.") {
		return true
	}
	lower := false
	for _, r := range inner {
		if unicode.IsUpper(r) && lower {
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}

// shared reports whether both have a name, in the sentence or in the title: one
// that the text has and never in lower case, and no abbreviation, which many
// things share.
func shared(a, b subject) bool {
	for _, name := range slices.Concat(a.own, slices.Collect(maps.Keys(a.title))) {
		if (slices.Contains(b.own, name) || b.title[name]) && a.real(name) && b.real(name) {
			return true
		}
	}
	return false
}

func (d *document) real(name string) bool {
	return d.count[name] > 0 && !d.common[name] && utf8.RuneCountInString(name) > shortName
}

// shortName is how many letters an abbreviation has: TCP, HTTP.
const shortName = 4

// longer reports whether a name of b goes on before one of a: at least two words
// of it follow what a does not have.
func longer(a, b []string) bool {
	isName := func(w string) bool { return w != strings.ToLower(w) }
	for i := 0; i+2 < len(b); i++ {
		if !isName(b[i]) || !isName(b[i+1]) || !isName(b[i+2]) {
			continue
		}
		has, follows := false, false
		for j, w := range a {
			has = has || w == b[i]
			follows = follows || j+1 < len(a) && w == b[i+1] && a[j+1] == b[i+2]
		}
		if follows && !has {
			return true
		}
	}
	return false
}
