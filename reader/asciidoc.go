package reader

import "strings"

// docReader finds the blocks of AsciiDoc. The page's text stays the source.
type docReader struct {
	marker
	note    bool // the next block is a note
	code    bool // the next block is code
	head    bool // in the head of the document
	term    int  // level of the definition under way, 0 outside
	item    int  // level of the entry under way, 0 outside
	joined  bool // the next block belongs to the entry
	inNote  string
	inQuote string
	header  bool
	width   int // cells of a row of the next table
}

func (b *builder) readASCIIDoc(source string) {
	text := b.source(lines(source))
	b.md.WriteString(sanitizeMarkdown(text))
	d := &docReader{marker: marker{b: b, text: text, lines: splitLines(text)}, head: true}
	for i := 0; i < len(d.lines); {
		i = d.read(i)
	}
	d.flush()
}

// fenced says that a line begins or ends a block: four or more of one mark.
func fenced(s string) byte {
	if len(s) >= 4 && strings.Trim(s, s[:1]) == "" && strings.IndexByte("-.=*_+/", s[0]) >= 0 {
		return s[0]
	}
	if strings.HasPrefix(s, "```") {
		return '`'
	}
	return 0
}

func (d *docReader) read(i int) int {
	l := &d.lines[i]
	s := d.of(i)
	if s == "" {
		d.flush()
		d.head = d.head && i == 0
		return i + 1
	}
	if n := d.section(i, s); n > 0 {
		return n
	}
	if d.head && (strings.HasPrefix(s, ":") || len(d.b.page.Blocks) == 1 && d.b.page.Blocks[0].Kind == Heading) {
		return i + 1 // attributes, authors
	}
	switch mark := fenced(s); {
	case mark != 0 && s != "====" && strings.Trim(s, s[:1]) == "" || mark == '`':
		return d.fence(i, s, mark)
	case mark == '=':
		return d.fence(i, s, mark)
	case s == "|===", s == "!===":
		return d.table(i)
	case strings.HasPrefix(s, "//"), s == "'''", s == "<<<", s == "--", hasMacro(s):
		d.flush()
		return i + 1
	case strings.HasPrefix(s, ":") && strings.Contains(s[1:], ":") && !strings.HasPrefix(s, "::") && d.kind == "":
		return i + 1
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		d.attributes(s)
		return i + 1
	case s == "+":
		d.flush()
		d.joined = true
		return i + 1
	case len(s) > 1 && s[0] == '.' && s[1] != '.' && s[1] != ' ' && d.kind == "":
		d.one(Paragraph, 0, l.start+1, l.end) // the title of a block
		return i + 1
	}
	if d.entry(l, s) || d.labelled(l, s) {
		return i + 1
	}
	if d.kind != "" {
		d.end = l.end
		return i + 1
	}
	d.paragraph(l)
	return i + 1
}

// hasMacro says that a line is a block macro.
func hasMacro(s string) bool {
	name, _, ok := strings.Cut(s, "::")
	return ok && strings.HasSuffix(s, "]") && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func (d *docReader) section(i int, s string) int {
	n := len(s) - len(strings.TrimLeft(s, "="))
	if n == 0 || n > 6 || n >= len(s) || s[n] != ' ' || d.lines[i].indent > 0 {
		return 0
	}
	t := strings.TrimSpace(strings.TrimRight(s[n:], "= "))
	at := d.lines[i].start + strings.Index(s, t)
	d.term, d.item, d.joined, d.note, d.code = 0, 0, false, false, false
	d.heading(n, at, at+len(t))
	d.head = n == 1 && len(d.b.page.Blocks) == 1
	return i + 1
}

func (d *docReader) attributes(s string) {
	d.flush()
	name := strings.ToLower(strings.Trim(s, "[]"))
	style, _, _ := strings.Cut(name, ",")
	d.note = d.note || noteNames[style]
	d.code = d.code || style == "source" || style == "listing" || style == "literal" || style == "verse"
	d.header = d.header || strings.Contains(name, "header")
	if _, cols, ok := strings.Cut(name, "cols="); ok {
		cols = strings.Trim(cols, "\"")
		if end := strings.IndexByte(cols, '"'); end >= 0 {
			cols = cols[:end]
		}
		d.width = strings.Count(cols, ",") + 1
		if n := strings.TrimSuffix(cols, "*"); n != cols && len(n) == 1 && isDigit(n[0]) {
			d.width = int(n[0] - '0')
		}
	}
}

// fence reads a block between two lines of marks.
func (d *docReader) fence(i int, s string, mark byte) int {
	d.flush()
	switch mark {
	case '=', '*', '_': // what is inside is text
		switch {
		case d.inNote == s:
			d.inNote, d.note = "", false
		case d.inQuote == s:
			d.inQuote = ""
		case mark == '_':
			d.inQuote = s
		case mark == '*' || d.note:
			d.inNote, d.note = s, false
		}
		return i + 1
	}
	end := i + 1
	for end < len(d.lines) && d.of(end) != strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz") {
		end++
	}
	if mark != '/' && mark != '+' {
		from, to := i+1, end
		for from < to && d.of(from) == "" {
			from++
		}
		for to > from && d.of(to-1) == "" {
			to--
		}
		if from < to {
			d.one(Code, 0, d.lines[from].start, d.lines[to-1].end)
		}
	}
	d.code, d.note, d.joined = false, false, false
	return min(end+1, len(d.lines))
}

// entry reads an entry of a list or a term.
func (d *docReader) entry(l *textLine, s string) bool {
	mark := s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
	switch {
	case (s[0] == '*' || s[0] == '.') && len(mark) <= 6 && len(mark) < len(s) && s[len(mark)] == ' ':
		d.begin(Item, len(mark), l.start+len(mark)+1, l.end)
		d.item, d.term = len(mark), 0
	case s[0] == '-' && len(s) > 1 && s[1] == ' ':
		d.begin(Item, 1, l.start+2, l.end)
		d.item, d.term = 1, 0
	case markLength(s) > 0 && isDigit(s[0]) && d.kind == "":
		d.begin(Item, 1, l.start, l.end)
		d.item, d.term = 1, 0
	default:
		return d.termLine(l, s)
	}
	d.joined = false
	return true
}

// termLine reads "term:: what it means".
func (d *docReader) termLine(l *textLine, s string) bool {
	at, level, long := -1, 1, 2
	for _, m := range []string{"::::", ":::", "::", ";;"} {
		j := strings.Index(s, m+" ")
		if j < 0 && strings.HasSuffix(s, m) {
			j = len(s) - len(m)
		}
		if j > 0 && !strings.Contains(s[:j], "`+") {
			at, level, long = j, len(m)-1, len(m)
			break
		}
	}
	if at <= 0 || at > 100 || d.kind == Paragraph && !strings.HasSuffix(s, "::") {
		return false
	}
	d.one(Term, level, l.start, l.start+at)
	d.term, d.item, d.joined = level, 0, true
	from := l.start + at + long
	for from < l.end && isBlank(d.text[from]) {
		from++
	}
	if from < l.end {
		d.begin(Definition, level, from, l.end)
		d.joined = false
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// labelled reads "NOTE: text".
func (d *docReader) labelled(l *textLine, s string) bool {
	label, _, ok := strings.Cut(s, ": ")
	if !ok || d.kind != "" || label != strings.ToUpper(label) || !noteNames[strings.ToLower(label)] {
		return false
	}
	d.begin(Note, 0, l.start, l.end)
	return true
}

func (d *docReader) paragraph(l *textLine) {
	k, level := Paragraph, 0
	switch {
	case d.inNote != "" || d.note:
		k = Note
	case d.inQuote != "":
		k = Quote
	case d.code:
		k = Code
	case d.joined && d.term > 0:
		k, level = Definition, d.term
	case d.joined && d.item > 0:
		k, level = Item, d.item
	case l.indent > 0:
		k = Code
	}
	if !d.joined {
		d.term, d.item = 0, 0
	}
	d.joined, d.note, d.code = d.joined && d.term > 0, false, false
	d.begin(k, level, l.start, l.end)
}

// table reads cells that begin with a bar; a row is a line, or as many cells
// as the table has columns.
func (d *docReader) table(i int) int {
	d.flush()
	fence := d.of(i)
	type cell struct{ start, end, line int }
	var cells []cell
	at := i + 1
	first := 0 // cells of the first line
	blank := -1
	for ; at < len(d.lines) && d.of(at) != fence; at++ {
		s, l := d.of(at), &d.lines[at]
		if s == "" {
			if blank < 0 && len(cells) > 0 {
				blank = len(cells)
			}
			continue
		}
		from := 0
		for from < len(s) {
			j := strings.IndexByte(s[from:], '|')
			if j < 0 || j > 0 && s[from+j-1] == '\\' {
				j = len(s) - from
			}
			if n := len(cells); n > 0 && strings.TrimSpace(s[from:from+j]) != "" && j > 0 {
				cells[n-1].end = l.start + from + len(strings.TrimRight(s[from:from+j], " "))
			}
			from += j
			if from < len(s) {
				from++
				start := l.start + from
				for start < l.end && d.text[start] == ' ' {
					start++
				}
				cells = append(cells, cell{start, start, at})
				if first == 0 || cells[0].line == at {
					first = len(cells)
				}
			}
		}
	}
	width := d.width
	if width == 0 {
		width = max(first, 1)
	}
	header := d.header || blank == width
	for k := 0; k < len(cells); k += width {
		last := cells[k]
		for j := k; j < min(k+width, len(cells)); j++ {
			if cells[j].end > last.end {
				last = cells[j]
			}
		}
		kind := Row
		if k == 0 && header {
			kind = Header
		}
		d.one(kind, 0, cells[k].start, last.end)
	}
	d.width, d.header = 0, false
	return min(at+1, len(d.lines))
}
