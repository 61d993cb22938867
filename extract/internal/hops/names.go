package hops

import (
	"html"
	"slices"
	"strings"
)

// mention is a name that stands in a text.
type mention struct {
	key      string
	from, to int // words
}

const (
	longestName  = 8  // words that are no grammar
	longestChars = 12 // of a script without spaces
)

// joints are words that a name may have between its capitals.
var joints = set(`of the de la le les du des del della di da do dos das von van der den zu bin ibn al el`)

// chars that part words in a script without spaces, and seldom stand in names.
const parting = "的了在是和与與于於有被把为為之其及而或从從由对對将將并並也但所则則以至到等"

var months = set(`january february march april may june july august september october november december
januar februar märz mai juni juli oktober dezember`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// names returns what may be names: runs of capitalised words, what stands in
// quotes, and in scripts without spaces, where nothing marks a name, the runs
// of characters between those of grammar.
func (t *text) names() []mention {
	var out []mention
	add := func(from, to int) {
		if t.named(from, to) {
			out = append(out, mention{t.key(from, to), from, to})
		}
	}
	t.capitals(add)
	t.runs(add)
	t.quotes(add)
	return out
}

// named reports whether a row of words will do as a name.
func (t *text) named(from, to int) bool {
	content, numbers, chars := 0, 0, 0
	month := false
	for _, w := range t.words[from:to] {
		if !w.function {
			content++
		}
		if w.number {
			numbers++
		}
		if w.char {
			chars++
		}
		month = month || months[strings.ToLower(t.raw[w.start:w.end])]
	}
	switch {
	case chars > 0:
		return chars > 1 && chars <= longestChars && content > 0
	case content <= numbers || content > longestName:
		return false
	case content-numbers == 1 && month:
		return false // a date
	}
	return to-from > 1 || t.words[from].end-t.words[from].start > 2
}

// capitals finds runs of capitalised words.
func (t *text) capitals(add func(from, to int)) {
	from, last := -1, -1
	flush := func() {
		if from >= 0 {
			// The first word of a sentence has its capital for that.
			for from <= last && t.words[from].function && t.opens(from) {
				from++
			}
			if from < last || from == last && (!t.opens(from) || t.insideToo(from)) {
				add(from, last+1)
			}
		}
		from, last = -1, -1
	}
	for i, w := range t.words {
		if from >= 0 && t.parted(i) {
			flush()
		}
		switch {
		case w.upper:
			if from < 0 {
				from = i
			}
			last = i
		case from >= 0 && w.number && last == i-1:
			last = i
		case from >= 0 && i-last <= 2 && joints[strings.ToLower(t.raw[w.start:w.end])]:
		default:
			flush()
		}
	}
	flush()
}

// parted reports whether something stands before a word that ends a name.
func (t *text) parted(i int) bool {
	before, w := t.words[i-1], t.words[i]
	if before.sentence != w.sentence {
		return true
	}
	gap := t.raw[before.end:w.start]
	if strings.HasPrefix(gap, ". ") && before.end-before.start > 3 {
		return true // and not after an initial
	}
	return strings.ContainsAny(gap, ",;:()[]\"“”«»—–|/!?\n")
}

// insideToo reports whether a word has its capital within a sentence as well.
func (t *text) insideToo(at int) bool {
	for i, w := range t.words {
		if i != at && w.upper && w.term == t.words[at].term && !t.opens(i) {
			return true
		}
	}
	return false
}

// runs finds runs of characters of a script without spaces.
func (t *text) runs(add func(from, to int)) {
	from := -1
	for i := 0; i <= len(t.words); i++ {
		inside := i < len(t.words) && t.words[i].char && !t.words[i].function &&
			!strings.Contains(parting, t.raw[t.words[i].start:t.words[i].end])
		if from >= 0 && (!inside || !slices.Contains([]string{"", "·", "・", "‧"}, t.raw[t.words[i-1].end:t.words[i].start])) {
			add(from, i)
			from = -1
		}
		if inside && from < 0 {
			from = i
		}
	}
}

// longestQuote is the number of bytes from which what stands in quotes is
// speech, not a name.
const longestQuote = 90

// quotes finds what stands in quotes.
func (t *text) quotes(add func(from, to int)) {
	for _, q := range [][2]string{{"《", "》"}, {"«", "»"}, {"“", "”"}, {"「", "」"}, {"『", "』"}, {`"`, `"`}} {
		for at := 0; ; {
			open := strings.Index(t.raw[at:], q[0])
			if open < 0 {
				break
			}
			open += at + len(q[0])
			size := strings.Index(t.raw[open:], q[1])
			if size < 0 {
				break
			}
			at = open + size + len(q[1])
			if size > longestQuote {
				continue
			}
			from, _ := slices.BinarySearchFunc(t.words, open, func(w word, at int) int { return w.start - at })
			to, _ := slices.BinarySearchFunc(t.words, open+size, func(w word, at int) int { return w.start - at })
			if from < to {
				add(from, to)
			}
		}
	}
}

// titles returns what a title may name: without what tells it from others of
// the same name, and without what a site adds.
func titles(title string) []string {
	title = strings.TrimSpace(html.UnescapeString(title))
	out := []string{title}
	if i := strings.IndexAny(title, "(（"); i > 0 {
		out[0] = strings.TrimSpace(title[:i])
	}
	for _, sep := range []string{" | ", " - ", " — ", " · ", "_"} {
		if head, _, ok := strings.Cut(out[0], sep); ok && head != "" {
			out = append(out, strings.TrimSpace(head))
			break
		}
	}
	return out
}
