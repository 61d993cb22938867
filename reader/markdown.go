package reader

import (
	"strings"
)

// lines makes line ends uniform without changing the number of lines.
func lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// marker marks spans of a source as blocks; the one under way can grow.
type marker struct {
	b          *builder
	text       string
	lines      []textLine
	kind       Kind // "" if none is under way
	level      int
	start, end int
}

func (m *marker) of(i int) string { return m.text[m.lines[i].start:m.lines[i].end] }

// begin ends the block under way and begins another.
func (m *marker) begin(k Kind, level, start, end int) {
	m.flush()
	m.kind, m.level, m.start, m.end = k, level, start, end
}

func (m *marker) flush() {
	if m.kind != "" && m.start < m.end {
		m.b.mark(m.kind, m.level, m.start, m.end)
	}
	m.kind = ""
}

func (m *marker) one(k Kind, level, start, end int) {
	m.begin(k, level, start, end)
	m.flush()
}

func (m *marker) heading(level, start, end int) {
	m.flush()
	if start >= end {
		return
	}
	t := m.text[start:end]
	m.b.under(level, t)
	m.b.mark(Heading, level, start, end)
	if m.b.page.Title == "" && level == 1 {
		m.b.page.Title = t
	}
}

// lead says that the last block, or the one under way, leads up to something.
func (m *marker) lead() bool {
	end := m.end
	if m.kind == "" {
		if n := len(m.b.page.Blocks); n > 0 && m.b.page.Blocks[n-1].Kind != Heading {
			end = m.b.page.Blocks[n-1].End
		} else {
			return false
		}
	}
	s := strings.TrimRight(m.text[:end], "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// markdownReader finds the blocks of a Markdown source.
type markdownReader struct {
	marker
	fence   string // that ends the code under way
	comment bool
	blanks  bool  // the line before was empty
	lists   []int // columns of the text of the entries that are open
	first   int   // index of the first block of a list of links, -1 outside
	note    bool  // in a note of the kind that is fenced
	table   bool
}

func (b *builder) readMarkdown(source string) {
	text := b.source(lines(source))
	b.md.WriteString(sanitizeMarkdown(text))
	from := b.frontMatter(text)
	m := &markdownReader{marker: marker{b: b, text: text, lines: splitLines(text)}, first: -1, blanks: true}
	for i := range m.lines {
		if m.lines[i].end > from {
			m.line(i)
		}
	}
	m.flush()
	m.endLinks()
}

func (m *markdownReader) line(i int) {
	l := &m.lines[i]
	s := m.of(i)
	if m.fence != "" {
		switch {
		case strings.HasPrefix(s, m.fence) && strings.Trim(s, m.fence[:1]) == "":
			m.fence = ""
			m.flush()
		case m.kind == "":
			m.begin(Code, 0, l.start, l.end)
		case l.start < l.end:
			m.end = l.end
		}
		return
	}
	if m.comment {
		m.comment = !strings.Contains(s, "-->")
		return
	}
	if s == "" {
		m.blank()
		return
	}
	blanks := m.blanks
	m.blanks = false
	if m.block(i, l, s) {
		return
	}
	mark := markdownMark(s)
	// Lines continue what is under way.
	switch {
	case mark > 0 && !(m.kind == Paragraph && s[0] >= '0' && s[0] <= '9' && !strings.HasPrefix(s, "1")):
		m.entry(l, s, mark)
		return
	case m.kind == Paragraph || m.kind == Item || m.kind == Quote || m.kind == Note || m.kind == Definition:
		m.end = l.end
		return
	case m.kind == Code && l.indent >= 4 && !blanks:
		m.end = l.end
		return
	}
	for len(m.lists) > 0 && l.indent < m.lists[len(m.lists)-1]-1 {
		m.lists = m.lists[:len(m.lists)-1]
	}
	inner := 0
	if n := len(m.lists); n > 0 {
		inner = m.lists[n-1]
	}
	switch {
	case l.indent >= inner+4 && blanks:
		if n := len(m.b.page.Blocks); n > 0 && m.b.page.Blocks[n-1].Kind == Code && strings.TrimSpace(m.text[m.b.page.Blocks[n-1].End:l.start]) == "" {
			m.b.page.Blocks[n-1].End = l.end // indented code goes on after an empty line
			m.kind, m.start, m.end = "", 0, 0
			return
		}
		m.begin(Code, 0, l.start, l.end)
	case len(m.lists) > 0 && l.indent >= inner-1 && l.indent > 0:
		m.begin(Item, len(m.lists), l.start, l.end)
	default:
		m.lists = m.lists[:0]
		m.endLinks()
		k := Paragraph
		if m.note {
			k = Note
		}
		m.begin(k, 0, l.start, l.end)
	}
}

func (m *markdownReader) blank() {
	m.flush()
	m.blanks, m.table = true, false
}

// block reads lines that are something by their own marks.
func (m *markdownReader) block(i int, l *textLine, s string) bool {
	switch {
	case strings.HasPrefix(s, "```"), strings.HasPrefix(s, "~~~"):
		m.flush()
		m.fence = s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
		return true
	case strings.HasPrefix(s, "<!--"):
		m.flush()
		m.comment = !strings.Contains(s, "-->")
		return true
	case atxLevel(s) > 0 && l.indent < 4:
		level := atxLevel(s)
		t := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s[level:]), "#"))
		m.endSection()
		at := l.start + strings.Index(s, t)
		m.heading(level, at, at+len(t))
		return true
	case m.kind == Paragraph && setext(s) > 0 && !strings.Contains(m.text[m.start:m.end], "\n"):
		start, end := m.start, m.end
		m.kind = ""
		m.endSection()
		m.heading(setext(s), start, end)
		return true
	case drawn(s) && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "" || strings.Trim(s, "- ") == "" || strings.Trim(s, "* ") == ""):
		m.flush()
		return true
	case m.tableLine(i, l, s), tagsOnly(s), badges(s), reference(s) && m.kind == "":
		if !m.table {
			m.flush()
		}
		return true
	case strings.HasPrefix(s, "[^") && strings.Contains(s, "]: "):
		m.begin(Note, 0, l.start, l.end)
		return true
	case strings.HasPrefix(s, ">"):
		return m.quoted(l, s)
	case strings.HasPrefix(s, ":::"), strings.HasPrefix(s, "!!! "):
		m.flush()
		m.note = strings.TrimLeft(s, ":! ") != "" && s[0] == ':'
		return true
	case strings.HasPrefix(s, ": ") && (m.kind == Paragraph || m.kind == Definition):
		if m.kind == Paragraph {
			m.kind, m.level = Term, 1
		}
		at := l.start + len(s) - len(strings.TrimLeft(s, ": "))
		m.begin(Definition, 1, at, l.end)
		return true
	}
	return false
}

// quoted reads a line of a quote; those that say so are notes.
func (m *markdownReader) quoted(l *textLine, s string) bool {
	inner := strings.TrimLeft(s, "> ")
	switch label := strings.ToLower(strings.Trim(inner, "*:[]! ")); {
	case inner == "":
		m.flush()
	case strings.HasPrefix(inner, "[!"):
		m.begin(Note, 0, l.end, l.end) // the text is on the next lines
	case m.kind == Quote || m.kind == Note:
		if m.start == m.end {
			m.start = l.end - len(inner)
		}
		m.end = l.end
	default:
		k := Quote
		word, _, _ := strings.Cut(label, " ")
		if noteNames[strings.Trim(word, "*:")] {
			k = Note
		}
		m.begin(k, 0, l.end-len(inner), l.end)
	}
	return true
}

// entry begins an entry of a list.
func (m *markdownReader) entry(l *textLine, s string, mark int) {
	for len(m.lists) > 0 && l.indent < m.lists[len(m.lists)-1]-1 {
		m.lists = m.lists[:len(m.lists)-1]
	}
	if len(m.lists) > 6 {
		m.lists = m.lists[:6]
	}
	lead := m.lead()
	if n := len(m.b.page.Blocks); m.kind != Item && (n == 0 || m.b.page.Blocks[n-1].Kind != Item) {
		m.endLinks()
	}
	m.lists = append(m.lists, l.indent+mark)
	start := l.start
	if !(s[0] >= '0' && s[0] <= '9') {
		start += mark
	}
	if box, ok := strings.CutPrefix(m.text[start:l.end], "[ ] "); ok {
		start = l.end - len(box)
	}
	m.begin(Item, len(m.lists), start, l.end)
	fresh := len(m.b.page.Blocks) == 0 || m.b.page.Blocks[len(m.b.page.Blocks)-1].Kind != Item
	switch {
	case !linkOnly(s[mark:]):
		m.first = -1
	case fresh && (!lead || strings.Contains(s, "](#")):
		m.first = len(m.b.page.Blocks)
	}
}

// endLinks makes a list whose entries are all links contents.
func (m *markdownReader) endLinks() {
	m.flush()
	if blocks := m.b.page.Blocks; m.first >= 0 && len(blocks)-m.first >= 3 {
		for i := m.first; i < len(blocks) && blocks[i].Kind == Item; i++ {
			blocks[i].Kind, blocks[i].Level = Contents, 0
		}
	}
	m.first = -1
}

func (m *markdownReader) endSection() {
	m.flush()
	m.endLinks()
	m.lists, m.note, m.table = m.lists[:0], false, false
}

// tableLine reads a row of a table. The first one is known by the line of
// dashes below it.
func (m *markdownReader) tableLine(i int, l *textLine, s string) bool {
	if !strings.Contains(s, "|") {
		return false
	}
	start, end := l.start, l.end
	for start < end && strings.IndexByte("| ", m.text[start]) >= 0 {
		start++
	}
	for end > start && strings.IndexByte("| ", m.text[end-1]) >= 0 && !(end-2 >= start && m.text[end-2] == '\\') {
		end--
	}
	switch {
	case dashes(s):
		return m.table
	case i+1 < len(m.lines) && dashes(m.of(i+1)) && m.kind == "":
		m.table = true
		m.lists = m.lists[:0]
		m.endLinks()
		m.one(Header, 0, start, end)
		return true
	case m.table || s[0] == '|' && m.kind == "":
		m.table = true
		m.one(Row, 0, start, end)
		return true
	}
	return false
}

// dashes says that a line parts the header of a table from its rows.
func dashes(s string) bool {
	return strings.Contains(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: ") == ""
}

// markdownMark is the length of the mark of a list's entry with the blanks
// after it.
func markdownMark(s string) int {
	if !listMark(s) {
		return 0
	}
	i := strings.IndexByte(s, ' ')
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i == len(s) {
		return 0
	}
	return i
}

// linkOnly says that a text is one link and nothing else.
func linkOnly(s string) bool {
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, ")") {
		return false
	}
	i := strings.Index(s, "](")
	return i > 0 && strings.IndexByte(s, ')') == len(s)-1
}

// tagsOnly says that a line is HTML without text.
func tagsOnly(s string) bool {
	if s[0] != '<' || strings.HasPrefix(s, "<http") || len(s) < 3 || !letter(s[1]) && s[1] != '/' {
		return false
	}
	for s != "" {
		if s[0] != '<' {
			return false
		}
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return true
		}
		s = strings.TrimSpace(s[end+1:])
	}
	return true
}

// badges says that a line is pictures without text.
func badges(s string) bool {
	return (strings.HasPrefix(s, "[![") || strings.HasPrefix(s, "![")) && strings.HasSuffix(s, ")") && !strings.Contains(s, ". ")
}

// reference says that a line gives the address of a link.
func reference(s string) bool {
	if s[0] != '[' || strings.HasPrefix(s, "[^") {
		return false
	}
	i := strings.Index(s, "]: ")
	return i > 1 && !strings.Contains(strings.TrimSpace(s[i+3:]), " ") || i > 1 && strings.Contains(s[i:], "://")
}

// frontMatter reads the title out of a YAML head and returns where the text
// begins.
func (b *builder) frontMatter(text string) int {
	if !strings.HasPrefix(text, "---\n") {
		return 0
	}
	end := strings.Index(text[4:], "\n---\n")
	if end < 0 || end > 8<<10 {
		return 0
	}
	for line := range strings.Lines(text[4 : 4+end+1]) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ":")
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		switch strings.ToLower(k) {
		case "title":
			b.page.Title = v
		case "author":
			b.page.Author = v
		case "date":
			if len(v) >= 10 && v[4] == '-' {
				b.page.Date = v[:10]
			}
		}
	}
	return 4 + end + 5
}

func atxLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func setext(s string) int {
	switch {
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "" && len(s) > 1:
		return 2
	}
	return 0
}

func listMark(s string) bool {
	if len(s) > 1 && (s[0] == '-' || s[0] == '*' || s[0] == '+') && s[1] == ' ' {
		return true
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i < 10 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' '
}

// sanitizeMarkdown takes images and HTML out of a Markdown source: an image
// becomes its description, a tag means itself.
func sanitizeMarkdown(s string) string {
	if !strings.ContainsAny(s, "<!") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case s[i] == '!' && i+1 < len(s) && s[i+1] == '[':
			b.WriteString("\\!")
		case s[i] == '<' && i+1 < len(s) && (letter(s[i+1]) || s[i+1] == '/' || s[i+1] == '!' || s[i+1] == '?') && !strings.HasPrefix(s[i+1:], "http"):
			b.WriteString("\\<")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
