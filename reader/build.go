package reader

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// builder writes a page's text, Markdown and blocks side by side.
type builder struct {
	page  Page
	text  strings.Builder
	md    strings.Builder
	limit int
	full  bool
	path  []heading
	at    int // page number

	lastKind Kind
	lines    []string // of code that goes on
	warned   map[string]bool
}

type heading struct {
	level int
	text  string
}

func newBuilder(f Format, limit int) *builder {
	return &builder{page: Page{Format: f}, limit: limit, warned: map[string]bool{}}
}

func (b *builder) warn(s string) {
	if !b.warned[s] {
		b.warned[s] = true
		b.page.Warnings = append(b.page.Warnings, s)
	}
}

const (
	maxBlocks = 50_000 // of one page
	maxInPath = 200    // bytes of a heading in the path of what stands under it
)

// printable drops control characters.
func printable(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }

// add appends a block: its plain text, and its Markdown with the mark that
// its kind needs before it.
func (b *builder) add(k Kind, level int, plain, md string) {
	plain = norm.NFC.String(printable(strings.ToValidUTF8(plain, "\uFFFD")))
	if strings.TrimSpace(plain) == "" || b.full {
		return
	}
	if len(b.page.Blocks) >= maxBlocks {
		b.full = true
		b.warn("the rest is left out after " + strconv.Itoa(maxBlocks) + " pieces")
		return
	}
	if b.text.Len()+len(plain) > b.limit {
		plain = cutText(plain, b.limit-b.text.Len())
		md = escapeMarkdown(plain)
		b.full = true
		b.warn("the text is cut at " + strconv.Itoa(b.limit) + " bytes")
		if plain == "" {
			return
		}
	}
	if b.text.Len() > 0 {
		tight := b.lastKind == k && (k == Item || k == Row || k == Term || k == Contents) || b.lastKind == Header && k == Row || b.lastKind == Term && k == Definition
		b.text.WriteByte('\n')
		b.md.WriteByte('\n')
		if !tight {
			b.text.WriteByte('\n')
			b.md.WriteByte('\n')
		}
	}
	start := b.text.Len()
	b.text.WriteString(plain)
	b.md.WriteString(norm.NFC.String(printable(strings.ToValidUTF8(md, "\uFFFD"))))
	if k == Heading {
		b.under(level, plain)
	}
	b.page.Blocks = append(b.page.Blocks, Block{Kind: k, Start: start, End: b.text.Len(), Level: level, Path: b.headings(k), Page: b.at})
	b.lastKind = k
}

// under makes a heading the one that the next blocks stand under.
func (b *builder) under(level int, text string) {
	for len(b.path) > 0 && b.path[len(b.path)-1].level >= level {
		b.path = b.path[:len(b.path)-1]
	}
	b.path = append(b.path, heading{level, cutText(text, maxInPath)})
}

// headings is the path for a block; a heading does not stand under itself.
func (b *builder) headings(k Kind) []string {
	path := b.path
	if k == Heading {
		path = path[:len(path)-1]
	}
	if len(path) == 0 {
		return nil
	}
	// Blocks in a row share one path.
	if n := len(b.page.Blocks); n > 0 && k != Heading {
		last := &b.page.Blocks[n-1]
		if last.Kind != Heading && len(last.Path) == len(path) && last.Path[len(path)-1] == path[len(path)-1].text {
			return last.Path
		}
	}
	texts := make([]string, len(path))
	for i := range path {
		texts[i] = path[i].text
	}
	return texts
}

func (b *builder) heading(level int, text string) {
	level = min(max(level, 1), 6)
	b.add(Heading, level, text, strings.Repeat("#", level)+" "+escapeMarkdown(text))
}

func (b *builder) paragraph(text string) { b.add(Paragraph, 0, text, escapeMarkdown(text)) }

// codeLine keeps a line of code until the next that is none: in office documents
// each is a paragraph.
func (b *builder) codeLine(line string) { b.lines = append(b.lines, line) }

// endCode writes the lines of code that were kept.
func (b *builder) endCode() {
	if s := strings.Join(b.lines, "\n"); strings.TrimSpace(s) != "" {
		b.code(s)
	}
	b.lines = b.lines[:0]
}

func (b *builder) code(text string) {
	text = strings.Trim(text, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	b.add(Code, 0, text, fence+"\n"+text+"\n"+fence)
}

// item is an entry of a list; number is 0 in a list without numbers. One that
// continues the entry before it has no mark of its own.
func (b *builder) item(depth, number int, continued bool, plain, md string) {
	mark := "- "
	if number > 0 {
		mark = strconv.Itoa(number) + ". "
	}
	if continued {
		mark = "  "
	}
	b.add(Item, max(depth, 1), plain, strings.Repeat("  ", max(depth-1, 0))+mark+md)
}

// contents is a line of a table of contents, an index or a menu.
func (b *builder) contents(plain, md string) { b.add(Contents, 0, plain, "- "+md) }

// row is a line of a table; a header names what the rows after it hold.
type row struct {
	cells  []string
	header bool
}

// table appends rows of cells.
func (b *builder) table(rows []row) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r.cells))
	}
	for i, r := range rows {
		var plain, md strings.Builder
		md.WriteByte('|')
		for j := range width {
			cell := ""
			if j < len(r.cells) {
				cell = strings.Join(strings.Fields(r.cells[j]), " ")
			}
			if cell != "" {
				if plain.Len() > 0 {
					plain.WriteString(" | ")
				}
				plain.WriteString(cell)
			}
			md.WriteString(" " + strings.ReplaceAll(escapeMarkdown(cell), "|", "\\|") + " |")
		}
		if plain.Len() == 0 {
			continue
		}
		if i == 0 {
			md.WriteString("\n|" + strings.Repeat(" --- |", width))
		}
		kind := Row
		if r.header {
			kind = Header
		}
		b.add(kind, 0, plain.String(), md.String())
	}
}

// headed makes the first row of a table its header if it looks like one: of a
// table whose document does not tell.
func headed(cells [][]string) []row {
	rows := make([]row, len(cells))
	for i := range cells {
		rows[i].cells = cells[i]
	}
	if len(rows) > 1 {
		rows[0].header = namesColumns(cells[0], cells[1])
	}
	return rows
}

// namesColumns says that cells are names of columns: each there, short, without
// figures, and not like those of the row below if that has figures.
func namesColumns(first, second []string) bool {
	if len(first) < 2 {
		return false
	}
	for _, cell := range first {
		cell = strings.TrimSpace(cell)
		if cell == "" || len(cell) > 80 || strings.HasSuffix(cell, ".") || strings.HasSuffix(cell, ":") || figures(cell) {
			return false
		}
	}
	for _, cell := range second {
		if figures(cell) || len(cell) > 80 {
			return true
		}
	}
	return len(first) > 2
}

// figures says that a cell holds mostly digits.
func figures(cell string) bool {
	n, all := 0, 0
	for _, r := range cell {
		if r >= '0' && r <= '9' {
			n++
		}
		if r != ' ' {
			all++
		}
	}
	return n*2 > all
}

// source makes the whole text of a document the page's text; blocks are then
// spans that mark finds in it.
func (b *builder) source(text string) string {
	if len(text) > b.limit {
		text = cutText(text, b.limit)
		b.warn("the text is cut at " + strconv.Itoa(b.limit) + " bytes")
	}
	b.text.WriteString(text)
	return text
}

func (b *builder) mark(k Kind, level, start, end int) {
	if len(b.page.Blocks) >= maxBlocks {
		b.warn("only the first " + strconv.Itoa(maxBlocks) + " pieces are marked")
		return
	}
	b.page.Blocks = append(b.page.Blocks, Block{Kind: k, Start: start, End: end, Level: level, Path: b.headings(k)})
}

func (b *builder) finish() *Page {
	b.page.Text, b.page.Markdown = b.text.String(), b.md.String()
	return &b.page
}

// cutText cuts at most at n bytes, between two characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// escapeMarkdown makes text mean itself in Markdown; in particular it becomes
// no HTML, link or image.
func escapeMarkdown(s string) string {
	if !strings.ContainsAny(s, "\\`*_[]<>#+-|~&!.") {
		return s
	}
	var b strings.Builder
	line := 0 // where the line begins
	for i := range len(s) {
		c := s[i]
		start := i == 0 || s[i-1] == '\n'
		if start {
			line = i
		}
		switch c {
		case '\\', '`', '*', '[', ']', '<', '>', '~':
			b.WriteByte('\\')
		case '_':
			if i == 0 || i+1 == len(s) || s[i-1] == ' ' || s[i+1] == ' ' {
				b.WriteByte('\\')
			}
		case '&':
			if strings.IndexByte(s[i:min(i+12, len(s))], ';') > 0 {
				b.WriteByte('\\')
			}
		case '#', '+', '-':
			if start {
				b.WriteByte('\\')
			}
		case '.':
			if digits(s[line:i]) && i+1 < len(s) && s[i+1] == ' ' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func digits(s string) bool {
	if s == "" || len(s) > 9 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
