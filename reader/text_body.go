package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// markLength is how long the mark of a list's entry at the start of a line is,
// with the blanks after it; 0 if there is none.
func markLength(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	i := 0
	switch {
	case strings.ContainsRune("-*+•·–—▪●○‣■□◆", r):
		i = n
	case r == 'o' && strings.HasPrefix(s, "o  "):
		i = 1
	case r == '(' || r == '[':
		j := strings.IndexAny(s, ")]")
		if j < 2 || j > 6 || r == '(' && s[j] != ')' {
			return 0
		}
		for _, c := range s[1:j] {
			if !unicode.IsDigit(c) && c != '.' && !(c >= 'a' && c <= 'z') && !(r == '[' && c >= 'A' && c <= 'Z') {
				return 0
			}
		}
		if r == '(' && j > 4 || r == '[' && !isDigit(s[1]) {
			return 0
		}
		i = j + 1
	case r >= '0' && r <= '9':
		for i < len(s) && (isDigit(s[i]) || s[i] == '.' && i+1 < len(s) && isDigit(s[i+1])) {
			i++
		}
		if i > 8 || i >= len(s) || s[i] != '.' && s[i] != ')' && s[i] != ']' {
			if strings.HasPrefix(s[min(i, len(s)):], "、") {
				return i + len("、")
			}
			return 0
		}
		i++
	case r >= 'a' && r <= 'z' && len(s) > 2 && (s[1] == ')' || s[1] == '.' && s[2] == ' '):
		i = 2
	case r >= 'A' && r <= 'Z' && len(s) > 2 && s[1] == ')':
		i = 2
	default:
		return 0
	}
	j := i
	for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		j++
	}
	if j == i || j == len(s) {
		return 0
	}
	return j
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readRest reads a chunk that is neither heading nor table nor definition:
// entries of a list, code, or a paragraph, and paragraphs that lead up to one
// of them without an empty line.
func (t *textReader) readRest(i int) {
	c := t.chunks[i]
	// Where entries of a list begin.
	from := c.from
	marked := markLength(t.of(&t.lines[from])) > 0
	for at := c.from; at < c.to; at++ {
		l := &t.lines[at]
		if markLength(t.of(l)) == 0 || at > c.from && !marked && !t.beginsList(at) || marked && at > c.from && !t.nextEntry(c, at) {
			continue
		}
		if at > from {
			t.readPart(i, chunk{from, at}, markLength(t.of(&t.lines[from])) > 0)
		}
		from, marked = at, true
	}
	t.readPart(i, chunk{from, c.to}, marked)
}

// beginsList says that an entry at a line begins a list below the lines before
// it: it is indented, or they lead up to it.
func (t *textReader) beginsList(at int) bool {
	before := t.of(&t.lines[at-1])
	return t.lines[at].indent > t.lines[at-1].indent || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：")
}

// nextEntry says that a line that begins like an entry is one: entries of a
// list stand in one column.
func (t *textReader) nextEntry(c chunk, at int) bool {
	indent := t.lines[at].indent
	for i := at - 1; i >= c.from; i-- {
		l := &t.lines[i]
		if n := markLength(t.of(l)); n > 0 && (l.indent == indent || indent >= l.indent+n) {
			return true
		}
	}
	return false
}

func (t *textReader) readPart(i int, c chunk, entry bool) {
	l := &t.lines[c.from]
	hanging := c.to-c.from == 1 || t.lines[c.from+1].indent >= l.indent || len(t.lists) > 0 && t.lists[len(t.lists)-1] == l.indent
	if entry && hanging && !t.literal(c) {
		for len(t.lists) > 0 && t.lists[len(t.lists)-1] > l.indent+1 {
			t.lists = t.lists[:len(t.lists)-1]
		}
		if len(t.lists) == 0 || t.lists[len(t.lists)-1] < l.indent-1 {
			t.lists = append(t.lists, l.indent)
		}
		s := t.of(l)
		t.itemText = l.indent + columns(s[:markLength(s)])
		t.emit(Item, min(len(t.lists), 8), c.from, c.to)
		return
	}
	if !entry && t.deeper(c) {
		return
	}
	switch {
	case t.isCode(c):
		t.code(i, c)
	case t.def >= 0 && l.indent >= t.def-1:
		t.emit(Definition, 1, c.from, c.to)
	case len(t.lists) > 0 && l.indent >= t.itemText-1 && l.indent > t.lists[len(t.lists)-1]:
		t.emit(Item, min(len(t.lists), 8), c.from, c.to)
	default:
		if len(t.lists) > 0 && l.indent <= t.lists[0] {
			t.lists = t.lists[:0]
		}
		t.emit(Paragraph, 0, c.from, c.to)
	}
}

// deeper reads lines that lead up to indented ones below them.
func (t *textReader) deeper(c chunk) bool {
	for at := c.from + 1; at < c.to; at++ {
		before := &t.lines[at-1]
		if t.lines[at].indent < before.indent+2 || !strings.HasSuffix(t.of(before), ":") {
			continue
		}
		end := at + 1
		for end < c.to && t.lines[end].indent > before.indent {
			end++
		}
		rest := chunk{at, end}
		t.emit(t.paragraphKind(c.from), 0, c.from, at)
		if t.isCode(rest) {
			t.code(-1, rest)
		} else {
			t.emit(t.paragraphKind(at), 0, at, end)
		}
		if end < c.to {
			t.readPart(-1, chunk{end, c.to}, false)
		}
		return true
	}
	return false
}

// paragraphKind is what a paragraph that begins at a line is: part of a
// definition, or one of its own.
func (t *textReader) paragraphKind(at int) Kind {
	if t.def >= 0 && t.lines[at].indent >= t.def-1 {
		return Definition
	}
	return Paragraph
}

// code marks a chunk as code; chunks of code that follow each other are one.
func (t *textReader) code(i int, c chunk) {
	blocks := t.b.page.Blocks
	if n := len(blocks); i > 0 && t.lastCode == n-1 && n > 0 && t.lastChunk == i-1 && !t.pageBetween(t.chunks[i-1].to, c.from) {
		blocks[n-1].End = t.offset + t.lines[c.to-1].end
		t.lastChunk = i
		return
	}
	t.emit(Code, 0, c.from, c.to)
	t.lastCode, t.lastChunk, t.lead = len(t.b.page.Blocks)-1, i, false
}

func (t *textReader) pageBetween(from, to int) bool {
	for i := from; i < to; i++ {
		if t.lines[i].running || t.lines[i].breaks {
			return true
		}
	}
	return false
}

// isCode says that lines are to be read as they stand: they are indented and
// no prose, or a drawing.
func (t *textReader) isCode(c chunk) bool {
	indent := t.base
	if t.def >= 0 {
		indent = t.def
	}
	last := t.of(&t.lines[c.to-1])
	if len(t.lists) > 0 && t.def < 0 && (c.to-c.from == 1 || sentenceEnd(last) || t.prose(c)) {
		indent = max(indent, t.itemText)
	}
	if t.literal(c) {
		return true
	}
	deep := t.lines[c.from].indent >= indent+2
	if c.to-c.from == 1 && !t.lead && onlyWords(t.of(&t.lines[c.from])) {
		return false
	}
	if deep && t.lead && c.to-c.from == 1 && !sentenceEnd(last) && last[0] < utf8.RuneSelf {
		return true // a command or the like, though it is words
	}
	return (deep || t.lead && !t.soft && t.ragged(c) && t.ascii(c)) && !t.prose(c)
}

// ascii says that lines have no letters but those that code has.
func (t *textReader) ascii(c chunk) bool {
	s := t.text[t.lines[c.from].start:t.lines[c.to-1].end]
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }) < 0
}

// onlyWords says that a line has nothing but letters on it.
func onlyWords(s string) bool {
	s = strings.TrimRight(s, ".,;!?")
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '(' && r != ')' }) < 0
}

// literal says that lines are drawn: boxes, diagrams.
func (t *textReader) literal(c chunk) bool {
	marks, all := 0, 0
	for i := c.from; i < c.to; i++ {
		for _, r := range t.of(&t.lines[i]) {
			if r == ' ' {
				continue
			}
			all++
			if strings.ContainsRune("+-|=_/\\<>^~*#{}[]$─│┌┐└┘├┤┬┴┼", r) {
				marks++
			}
		}
	}
	return c.to-c.from > 1 && marks*10 > all*3
}

// ragged says that the lines end where they like, as those of code do: no
// program filled them.
func (t *textReader) ragged(c chunk) bool {
	for i := c.from; i < c.to-1; i++ {
		if l := &t.lines[i]; l.indent+l.width > t.width*8/10 {
			return false
		}
	}
	return true
}

// prose says that lines are sentences.
func (t *textReader) prose(c chunk) bool {
	words, plain, wide, marks := 0, 0, 0, 0
	for i := c.from; i < c.to; i++ {
		for w := range strings.FieldsSeq(t.of(&t.lines[i])) {
			words++
			w = strings.TrimRight(strings.TrimLeft(w, `("'“«[`), `.,;:!?)"'”»]`)
			letters := w != ""
			for _, r := range w {
				switch {
				case r >= 0x2e80:
					wide++
				case !unicode.IsLetter(r) && r != '-' && r != '\'' && r != '’':
					letters = false
				}
				if strings.ContainsRune("{}<>|=$\\#@_", r) {
					marks++
				}
			}
			if letters {
				plain++
			}
		}
	}
	if wide >= 6 {
		return marks*10 < wide
	}
	return words >= 4 && plain*4 >= words*3 && marks*3 < words
}

// readDefinition reads a term and, indented below it or in a column beside it,
// the text that explains it.
func (t *textReader) readDefinition(c chunk) bool {
	first := &t.lines[c.from]
	n := c.to - c.from
	s := t.of(first)
	if t.beside(c) {
		return true
	}
	if n < 2 || t.soft {
		return false
	}
	// Terms may stand below each other.
	at := c.from + 1
	for at < c.to && t.lines[at].indent == first.indent && at-c.from < 6 && isOption(t.of(&t.lines[at])) {
		at++
	}
	if at == c.to || t.lines[at].indent < first.indent+2 {
		return false
	}
	indent := t.lines[at].indent
	for i := at + 1; i < c.to; i++ {
		if t.lines[i].indent < first.indent+2 {
			return false
		}
		indent = min(indent, t.lines[i].indent)
	}
	if markLength(s) > 0 && strings.ContainsAny(s[:1], "-*+•o(") || first.width > 70 || !t.man && first.width > t.width*3/4 {
		return false
	}
	if !isOption(s) {
		if sentenceEnd(s) || strings.HasSuffix(s, ",") || strings.HasSuffix(s, ":") && (first.width > 40 || !t.prose(chunk{at, c.to})) {
			return false
		}
		if markLength(t.of(&t.lines[at])) > 0 || !t.man && !t.prose(chunk{at, c.to}) && !sentenceEnd(t.of(&t.lines[c.to-1])) {
			return false
		}
	}
	for i := c.from; i < at; i++ {
		t.emit(Term, 1, i, i+1)
	}
	t.term, t.def, t.lists = first.indent, indent, t.lists[:0]
	t.readRestOf(chunk{at, c.to})
	return true
}

// readTerm reads a term with an empty line between it and the indented text
// that explains it.
func (t *textReader) readTerm(i int) bool {
	c := t.chunks[i]
	l := &t.lines[c.from]
	s := t.of(l)
	if c.to-c.from > 1 || i+1 >= len(t.chunks) || t.soft || l.width > 50 || l.indent < t.base || sentenceEnd(s) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, ",") || markLength(s) > 0 || t.lead {
		return false
	}
	next := t.chunks[i+1]
	below := &t.lines[next.from]
	if below.indent < l.indent+2 || below.indent > l.indent+8 || t.centred(l) || next.to-next.from == 1 && below.width < 40 || markLength(t.of(below)) > 0 || !t.prose(next) {
		return false
	}
	t.emit(Term, 1, c.from, c.to)
	t.term, t.def, t.lists = l.indent, below.indent, t.lists[:0]
	return true
}

// readRestOf reads the lines under a term.
func (t *textReader) readRestOf(c chunk) {
	if !t.prose(c) && t.lines[c.from].indent >= t.def+2 {
		t.emit(Code, 0, c.from, c.to)
		return
	}
	for at := c.from + 1; at < c.to; at++ { // a list or code in it
		if l := &t.lines[at]; l.indent >= t.lines[at-1].indent+2 && strings.HasSuffix(t.of(&t.lines[at-1]), ":") || markLength(t.of(l)) > 0 && t.beginsList(at) {
			t.emit(Definition, 1, c.from, at)
			t.chunks = append(t.chunks, chunk{at, c.to})
			t.readRest(len(t.chunks) - 1)
			t.chunks = t.chunks[:len(t.chunks)-1]
			return
		}
	}
	t.emit(Definition, 1, c.from, c.to)
}

// isOption says that a line names an option of a command.
func isOption(s string) bool {
	return len(s) > 1 && (s[0] == '-' || s[0] == '+') && s[1] != ' ' && !drawn(s)
}

// beside reads a term with its text in a column right of it.
func (t *textReader) beside(c chunk) bool {
	first := &t.lines[c.from]
	s := t.of(first)
	gap := strings.Index(s, "  ")
	if gap <= 0 || gap > 30 || markLength(s) > 0 || sentenceEnd(s[:gap]) {
		return false
	}
	text := gap
	for text < len(s) && s[text] == ' ' {
		text++
	}
	column := first.indent + columns(s[:text])
	if c.to-c.from == 1 {
		if !t.man || column != first.indent+7 || first.indent < t.base || t.lead && !isOption(s) {
			return false
		}
	}
	for i := c.from + 1; i < c.to; i++ {
		if t.lines[i].indent != column {
			return false
		}
	}
	if !isOption(s) && !t.prose(c) {
		return false
	}
	t.span(Term, 1, first.start, first.start+gap)
	t.term, t.def, t.lists = first.indent, column, t.lists[:0]
	t.span(Definition, 1, first.start+text, t.lines[c.to-1].end)
	return true
}
