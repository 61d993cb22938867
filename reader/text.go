package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain text shows its structure by where its lines stand: empty lines part
// what belongs apart, indents make lists, definitions and code. The text of
// the page stays the source, so that its lines are the file's; blocks are
// spans of it.

// textLine is a line of a text without the white space around it.
type textLine struct {
	start, end int // in the text
	indent     int // columns
	width      int // columns of what is on it
	breaks     bool
	running    bool // heads or foots a page
}

// chunk is lines between empty ones.
type chunk struct{ from, to int }

// textReader finds the blocks of a plain text.
type textReader struct {
	b      *builder
	text   string
	lines  []textLine
	chunks []chunk
	base   int  // indent of most lines
	width  int  // of most lines
	man    bool // a page of the manual of a Unix system
	soft   bool // lines are whole paragraphs

	titles     map[int]int // levels of headings that stand close to their text, by their lines
	inContents int         // indent of the heading of a table of contents, -1 outside
	term, def  int         // indents of a definition and its term, -1 outside
	lists      []int       // indents of the lists that are open
	itemText   int         // indent of the text of the last item
	lead       bool        // the last block leads up to something: it ends in a colon
	lastCode   int         // index of the last block if code can be added to it, else -1
	lastChunk  int         // the chunk of that block
	titled     bool        // the page's title was found
	offset     int         // of the text in the page's
	inner      bool        // it is a part of a document: it has no headings
}

// readText reads plain text.
func (b *builder) readText(text string) {
	t := newTextReader(b, b.source(lines(text)))
	t.findRunning()
	t.readAll()
	t.numberPages()
	if b.page.Title == "" && len(b.page.Blocks) > 0 {
		first := b.page.Blocks[0]
		if s := t.text[first.Start:first.End]; len(s) < 120 && !strings.Contains(s, "\n") {
			b.page.Title = s
		}
	}
	b.md.WriteString(escapeMarkdown(t.text))
}

// numberPages says on which page blocks are, of a text that has pages: form
// feeds end them, as in RFCs and in what is taken out of a PDF. None stands in a
// block.
func (t *textReader) numberPages() {
	if strings.IndexByte(t.text, '\f') < 0 {
		return
	}
	page, at := 1, 0
	for i := range t.b.page.Blocks {
		b := &t.b.page.Blocks[i]
		page += strings.Count(t.text[at:b.Start], "\f")
		b.Page, at = page, b.Start
	}
}

func newTextReader(b *builder, text string) *textReader {
	return &textReader{b: b, text: text, lines: splitLines(text), inContents: -1, term: -1, def: -1, lastCode: -1}
}

func (t *textReader) readAll() {
	t.measure()
	t.group()
	for i := range t.chunks {
		t.read(i)
	}
}

const (
	longPre   = 3000 // bytes of preformatted text that may be more than code
	fewChunks = 8
)

// preformatted appends text whose lines stand as they are: code, or a whole
// document of plain text, which some manuals put into their pages.
func (b *builder) preformatted(text string) {
	text = strings.Trim(lines(text), "\n")
	t := newTextReader(b, text)
	if len(text) > longPre && !b.full {
		t.inner, t.titled = true, true
		t.measure()
		t.group()
		prose := 0
		for _, c := range t.chunks {
			if t.prose(c) {
				prose++
			}
		}
		if len(t.chunks) >= fewChunks && prose*5 > len(t.chunks)*2 && b.text.Len()+len(text)+2 < b.limit {
			text = norm.NFC.String(printable(strings.ToValidUTF8(text, "\uFFFD")))
			if b.text.Len() > 0 {
				b.text.WriteString("\n\n")
				b.md.WriteString("\n\n")
			}
			t = newTextReader(b, text)
			t.inner, t.titled, t.offset = true, true, b.text.Len()
			b.text.WriteString(text)
			b.md.WriteString(escapeMarkdown(text))
			t.readAll()
			b.lastKind = Paragraph
			return
		}
	}
	b.code(text)
}

func (t *textReader) of(l *textLine) string { return t.text[l.start:l.end] }

// splitLines finds the lines of a text.
func splitLines(s string) []textLine {
	var lines []textLine
	for at := 0; at < len(s); {
		next := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		l := textLine{start: at, end: next}
		for l.start < l.end {
			r, n := utf8.DecodeRuneInString(s[l.start:l.end])
			switch {
			case r == '\t':
				l.indent = (l.indent/8 + 1) * 8
			case r == '\f':
				l.breaks, l.indent = true, 0
			case r == '\u3000':
				l.indent += 2
			case unicode.IsSpace(r) || r == '\ufeff':
				l.indent++
			default:
				n = 0
			}
			if n == 0 {
				break
			}
			l.start += n
		}
		l.end = l.start + len(strings.TrimRightFunc(s[l.start:l.end], unicode.IsSpace))
		l.width = columns(s[l.start:l.end])
		lines = append(lines, l)
		at = next
	}
	return lines
}

// columns is how wide a text is shown.
func columns(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x2e80 && r < 0xfb00 {
			n++
		}
	}
	return n
}

// findRunning marks the lines that head and foot pages.
func (t *textReader) findRunning() {
	seen := map[string]int{}
	var edges []int
	nonblank := func(i, step int) int {
		for n := 0; i >= 0 && i < len(t.lines) && n < 6; i, n = i+step, n+1 {
			if t.lines[i].start < t.lines[i].end {
				return i
			}
		}
		return -1
	}
	edge := func(i int) {
		if i >= 0 {
			edges = append(edges, i)
			seen[withoutDigits(t.of(&t.lines[i]))]++
		}
	}
	for i := range t.lines {
		l := &t.lines[i]
		if l.breaks {
			edge(nonblank(i-1, -1))
			n := nonblank(i, 1)
			edge(n)
			if n >= 0 && n+1 < len(t.lines) && t.lines[n+1].start < t.lines[n+1].end {
				edge(n + 1)
			}
		}
		if s := t.of(l); strings.HasSuffix(s, "]") && strings.Contains(s, "[Page ") && l.width < 100 {
			l.running = true
			if n := nonblank(i+1, 1); n >= 0 && !t.lines[n].breaks && !t.lines[i+1].breaks {
				edge(n)
				if n+1 < len(t.lines) && t.lines[n+1].start < t.lines[n+1].end {
					edge(n + 1)
				}
			}
		}
	}
	for _, i := range edges {
		if s := t.of(&t.lines[i]); seen[withoutDigits(s)] > 1 && t.lines[i].width < 100 && !strings.HasSuffix(s, ".") {
			t.lines[i].running = true
		}
	}
	t.findManual()
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
}

// findManual looks for the first and the last line of a page of a manual, as
// they are shown: "ls(1)   User Commands   ls(1)".
func (t *textReader) findManual() {
	first := -1
	for i := range t.lines {
		if t.lines[i].start < t.lines[i].end {
			first = i
			break
		}
	}
	if first < 0 {
		return
	}
	words := strings.Fields(t.of(&t.lines[first]))
	if len(words) < 2 || words[0] != words[len(words)-1] || !manName(words[0]) {
		return
	}
	t.man = true
	t.lines[first].running = true
	for i := len(t.lines) - 1; i > first; i-- {
		l := &t.lines[i]
		if l.start == l.end {
			continue
		}
		if s := t.of(l); l.indent == 0 && strings.HasSuffix(s, words[0]) && strings.Contains(s, "  ") {
			l.running = true
		}
		break
	}
	t.b.page.Title = words[0]
}

// manName says that a word is a name with a section: ls(1).
func manName(s string) bool {
	i := strings.IndexByte(s, '(')
	return i > 0 && len(s) <= 64 && len(s) >= i+3 && len(s) <= i+8 && s[len(s)-1] == ')' && (s[i+1] >= '0' && s[i+1] <= '9' || s[i+1] == 'n' || s[i+1] == 'l')
}

// softLine is the length of lines that no program wrapped.
const softLine = 130

// measure finds how the text is set: its indent, its width, whether its lines
// were wrapped.
func (t *textReader) measure() {
	indents := map[int]int{}
	var widths [256]int
	n, long := 0, 0
	for i := range t.lines {
		l := &t.lines[i]
		if l.start == l.end || l.running {
			continue
		}
		n++
		if l.width > softLine {
			long++
		}
		if t.man || i > 0 && t.lines[i-1].start < t.lines[i-1].end { // first lines are often indented
			indents[l.indent]++
		}
		widths[min(l.indent+l.width, len(widths)-1)]++
	}
	most := 0
	for indent, count := range indents {
		if count > most || count == most && indent < t.base {
			t.base, most = indent, count
		}
	}
	// The width that nine of ten lines keep.
	for sum, w := 0, len(widths)-1; w >= 0; w-- {
		if sum += widths[w]; sum*10 > n {
			t.width = w
			break
		}
	}
	t.soft = long*4 > n
	if t.man { // most of such a page may be what its options mean
		t.base = 0
		for indent, count := range indents {
			if indent >= 4 && count*20 > n && (t.base == 0 || indent < t.base) {
				t.base = indent
			}
		}
		t.base = max(t.base, 4)
	}
}

// maxChunk is how many lines are looked at together: what is longer without an
// empty line is data.
const maxChunk = 300

// group finds the chunks.
func (t *textReader) group() {
	from := -1
	end := func(to int) {
		if from >= 0 {
			t.chunks = append(t.chunks, chunk{from, to})
		}
		from = -1
	}
	for i := 0; i < len(t.lines); i++ {
		l := &t.lines[i]
		if l.start == l.end || l.running {
			end(i)
			continue
		}
		if level, to := t.title(i); level > 0 {
			end(i)
			if t.titles == nil {
				t.titles = map[int]int{}
			}
			t.titles[i] = level
			t.chunks = append(t.chunks, chunk{i, to})
			i = to - 1
			continue
		}
		if l.breaks || from >= 0 && (t.soft || i-from >= maxChunk) {
			end(i)
		}
		// The heading of a section of a manual has its text right below it.
		if t.man && from >= 0 && l.indent >= t.base-1 && t.lines[from].indent < t.base-1 && i == from+1 {
			end(i)
		}
		if from < 0 {
			from = i
		}
	}
	end(len(t.lines))
}

// longTitle is how wide a line that heads a part of a law may be, in columns.
const longTitle = 120

// title returns the level of the heading of a part of a law or contract that
// begins at a line, and the line after it. The line before it is over, and the
// one after it is no such heading: those are a table of contents.
func (t *textReader) title(i int) (level, to int) {
	l := &t.lines[i]
	if t.man || t.inner || l.width > longTitle {
		return 0, 0
	}
	if level = designated(t.of(l)); level == 0 {
		return 0, 0
	}
	if i > 0 {
		before := &t.lines[i-1]
		if s := t.of(before); s != "" && !before.running && !l.breaks && !sentenceEnd(s) && before.width*4 > t.width*3 && t.titles[i-1] == 0 {
			return 0, 0
		}
	}
	to = i + 1
	if to < len(t.lines) {
		next := t.of(&t.lines[to])
		if designated(next) == level {
			return 0, 0
		}
		// A title that fills its line goes on in the next one.
		if first, _ := utf8.DecodeRuneInString(next); unicode.IsLower(first) && !sentenceEnd(t.of(l)) && l.width*5 > t.width*4 && !t.lines[to].breaks && t.lines[to].width < longTitle {
			to++
		}
	}
	return level, to
}

// emit marks lines as a block.
func (t *textReader) emit(k Kind, level, from, to int) {
	t.span(k, level, t.lines[from].start, t.lines[to-1].end)
}

func (t *textReader) span(k Kind, level, start, end int) {
	if start >= end {
		return
	}
	if k == Heading {
		t.b.under(level, strings.Join(strings.Fields(t.text[start:end]), " "))
	}
	t.b.mark(k, level, t.offset+start, t.offset+end)
	if t.man && !t.titled && k == Paragraph && len(t.b.path) > 0 { // the first section says what the page is about
		if _, about, ok := strings.Cut(strings.Join(strings.Fields(t.text[start:end]), " "), " - "); ok && len(about) < 120 {
			t.b.page.Title += " — " + about
		}
		t.titled = true
	}
	t.lead = strings.HasSuffix(t.text[start:end], ":") || strings.HasSuffix(t.text[start:end], "：")
	t.lastCode = -1
}

// read marks the blocks of a chunk.
func (t *textReader) read(i int) {
	c := t.chunks[i]
	first := &t.lines[c.from]
	if t.readRule(c) || !t.inner && t.readUnderlined(i) || t.readContents(c) {
		return
	}
	level := t.titles[c.from]
	if level == 0 {
		level = t.headingLevel(i)
	}
	if level > 0 {
		t.heading(level, c)
		return
	}
	// What stands further left ends definitions and lists.
	if t.def >= 0 && first.indent < t.def-1 {
		t.term, t.def = -1, -1
	}
	for len(t.lists) > 0 && first.indent < t.lists[0] {
		t.lists = t.lists[:0]
	}
	if t.readTable(c) || t.readDefinition(c) || t.readTerm(i) {
		return
	}
	t.readRest(i)
}

func (t *textReader) heading(level int, c chunk) {
	t.emit(Heading, level, c.from, c.to)
	s := t.text[t.lines[c.from].start:t.lines[c.to-1].end]
	t.term, t.def, t.lists, t.inContents, t.lead = -1, -1, t.lists[:0], -1, false
	if t.man {
		return
	}
	if contentsWord(s) {
		t.inContents = t.lines[c.from].indent
		return
	}
	s = strings.Join(strings.Fields(s), " ")
	if !t.titled && len(t.b.page.Blocks) < 12 && len(s) < 120 {
		if depth, _ := sectionNumber(s); depth == 0 {
			t.b.page.Title = s
		}
	}
	t.titled = true
}

// readRule skips a chunk that is nothing but a line drawn.
func (t *textReader) readRule(c chunk) bool {
	return c.to-c.from == 1 && drawn(t.of(&t.lines[c.from]))
}

// drawn says that a line is one of marks only.
func drawn(s string) bool {
	if len(s) < 3 {
		return false
	}
	for _, r := range s {
		if !strings.ContainsRune("-=_*~#+|─━═│┼ ", r) {
			return false
		}
	}
	return true
}

// readUnderlined reads headings with a line under them, and the lines that
// follow as what they are.
func (t *textReader) readUnderlined(i int) bool {
	c := t.chunks[i]
	at := c.from
	if drawn(t.of(&t.lines[at])) && c.to-at > 2 { // and over them
		at++
	}
	if c.to-at < 2 {
		return false
	}
	title, under := &t.lines[at], &t.lines[at+1]
	s := t.of(under)
	if strings.Trim(s, s[:1]) != "" || strings.IndexByte("=-~_*#^", s[0]) < 0 || under.width < 3 || under.width*2 < title.width || title.width > 100 || drawn(t.of(title)) || strings.Contains(t.of(title), "  ") {
		return false
	}
	level := 2
	if s[0] == '=' || s[0] == '#' || s[0] == '*' {
		level = 1
	}
	if depth, _ := sectionNumber(t.of(title)); depth > 1 {
		level += depth - 1
	}
	t.heading(min(level, 6), chunk{at, at + 1})
	if rest := (chunk{at + 2, c.to}); rest.from < rest.to {
		t.chunks[i] = rest
		t.read(i)
	}
	return true
}
