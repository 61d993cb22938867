package reader

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// manReader reads the source of a page of a Unix manual, in the macros of man
// or of mdoc. What a page draws itself is not executed: macros that a page
// defines, registers and conditions are passed over.
type manReader struct {
	b     *builder
	words strings.Builder // of the block under way
	kind  Kind            // of it
	level int

	lists  []manList // that are open
	indent int       // of .RS
	code   int       // .nf, .EX, .Bd -literal that are open
	skip   string    // what ends lines to pass over
	next   Kind      // the next line of text is this: a heading, a term
	rank   int       // of that heading
	glue   bool      // no blank before the next word
	name   string    // of .Nm
	table  *manTable
	long   []string // a term of mdoc that goes on over lines
}

type manList struct {
	kind   Kind // Term, or Item
	number int  // of the last entry, where they are numbered
}

type manTable struct {
	rows   []row
	format bool // the lines that say how columns look
	tab    string
	cell   *strings.Builder // of several lines
}

func (b *builder) readMan(source string) {
	m := &manReader{b: b, kind: Paragraph}
	for line := range strings.Lines(lines(source)) {
		if b.full {
			break
		}
		m.line(strings.TrimRight(line, "\n"))
	}
	m.flush()
}

func (m *manReader) line(line string) {
	switch {
	case m.skip != "":
		if strings.TrimSpace(line) == m.skip {
			m.skip = ""
		}
		return
	case m.table != nil:
		m.tableLine(line)
		return
	}
	if line != "" && (line[0] == '.' || line[0] == '\'') {
		m.request(strings.TrimLeft(line[1:], " \t"))
		return
	}
	if i := strings.Index(line, `\"`); i >= 0 {
		line = line[:i]
	}
	switch {
	case m.code > 0:
		if m.next == Term {
			m.text(line)
			return
		}
		m.words.WriteString(unescape(line) + "\n")
	case strings.TrimSpace(line) == "":
		m.paragraph()
	default:
		m.text(line)
	}
}

// text adds words; what waits for its first line is complete with it.
func (m *manReader) text(s string) {
	if s = unescape(s); strings.TrimSpace(s) == "" {
		return
	}
	switch m.next {
	case Heading:
		m.next = ""
		m.heading(m.rank, s)
		return
	case Term:
		m.next = ""
		m.term(s)
		return
	}
	if m.words.Len() > 0 && !m.glue {
		m.words.WriteByte(' ')
		if m.code > 0 {
			m.words.WriteByte('\n')
		}
	}
	m.glue = strings.HasSuffix(s, "\x00")
	m.words.WriteString(strings.TrimSuffix(s, "\x00"))
}

func (m *manReader) heading(level int, s string) {
	m.flush()
	m.lists, m.indent, m.kind = nil, 0, Paragraph
	s = strings.Join(strings.Fields(s), " ")
	m.b.heading(level, s)
}

func (m *manReader) term(s string) {
	m.flush()
	s = strings.Join(strings.Fields(s), " ")
	m.b.add(Term, m.indent+1, s, escapeMarkdown(s))
	m.kind, m.level = Definition, m.indent+1
}

// flush ends the block under way.
func (m *manReader) flush() {
	s := m.words.String()
	m.words.Reset()
	m.glue = false
	if m.code > 0 {
		m.b.code(s)
		return
	}
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return
	}
	switch m.kind {
	case Item:
		number, continued := 0, false
		if n := len(m.lists); n > 0 {
			number = max(m.lists[n-1].number, 0)
		}
		m.b.item(max(m.level, 1), number, continued, s, escapeMarkdown(s))
	case Definition:
		m.b.add(Definition, max(m.level, 1), s, ": "+escapeMarkdown(s))
	default:
		if m.b.page.Title != "" && len(m.b.page.Blocks) == 1 && m.b.page.Blocks[0].Kind == Heading { // NAME
			if _, about, ok := strings.Cut(s, " - "); ok && len(about) < 120 {
				m.b.page.Title += " — " + about
			}
		}
		m.b.paragraph(s)
	}
}

// paragraph begins a new one, outside of definitions unless they are indented.
func (m *manReader) paragraph() {
	m.flush()
	if len(m.lists) == 0 && m.indent == 0 {
		m.kind, m.level = Paragraph, 0
	}
}

// arguments splits a request's line; quotes hold words together.
func arguments(s string) []string {
	var args []string
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || strings.HasPrefix(s, `\"`) {
			return args
		}
		if s[0] == '"' {
			end := 1
			for end < len(s) && (s[end] != '"' || end+1 < len(s) && s[end+1] == '"') {
				if s[end] == '"' {
					end++
				}
				end++
			}
			end = min(end, len(s))
			args = append(args, strings.ReplaceAll(s[1:end], `""`, `"`))
			s = s[min(end+1, len(s)):]
			continue
		}
		end := 0
		for end < len(s) && s[end] != ' ' && s[end] != '\t' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(s))
		args = append(args, s[:end])
		s = s[end:]
	}
}

func (m *manReader) request(line string) {
	name, rest, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, "\t")
	if strings.HasPrefix(name, `\"`) || name == "" {
		return
	}
	args := arguments(rest)
	if m.long != nil && name != "Sh" && name != "Ss" {
		if name != "Xc" {
			if mdocMacros[name] != "" {
				m.long = append(m.long, m.inline(append([]string{name}, args...)))
			}
			return
		}
		args, name = append(m.long, args...), "It"
		m.long = nil
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "TH", "Dt":
		if m.b.page.Title == "" && arg(0) != "" {
			m.b.page.Title = unescape(arg(0)) + "(" + unescape(arg(1)) + ")"
		}
	case "SH", "SS", "Sh", "Ss":
		m.rank = 1
		if name[1] == 'S' || name[1] == 's' {
			m.rank = 2
		}
		if m.code > 0 {
			m.flush()
			m.code = 0
		}
		if len(args) == 0 {
			m.flush()
			m.next = Heading
			return
		}
		m.heading(m.rank, unescape(strings.Join(args, " ")))
	case "PP", "LP", "P", "Pp", "HP", "sp":
		if m.code > 0 {
			m.words.WriteByte('\n')
			return
		}
		m.paragraph()
	case "TP", "TQ":
		m.flush()
		m.next = Term
	case "IP":
		m.entry(unescape(arg(0)))
	case "RS":
		m.flush()
		m.indent = min(m.indent+1, 8)
	case "RE":
		m.flush()
		m.indent = max(m.indent-1, 0)
	case "nf", "EX":
		m.flush()
		m.code = 1
	case "fi", "EE":
		m.flush()
		m.code = 0
	case "de", "de1", "am", "ig":
		m.skip = ".."
		if end := arg(1); end != "" && name != "ig" {
			m.skip = "." + end
		}
	case "TS":
		m.flush()
		m.table = &manTable{format: true, tab: "\t"}
	case "br":
		if m.code == 0 && m.words.Len() > 0 {
			m.words.WriteByte(' ')
		}
	case "B", "I", "SM", "SB", "R", "CW":
		m.text(strings.Join(args, " "))
	case "BR", "RB", "BI", "IB", "IR", "RI":
		m.text(strings.Join(args, ""))
	case "UR", "MT", "SY":
		m.text(strings.Join(args, " "))
	case "UE", "ME":
		if len(args) > 0 {
			m.glue = true
			m.text(args[0])
		}
	case "OP":
		m.text("[" + strings.Join(args, " ") + "]")
	default:
		m.mdoc(name, args)
	}
}

// entry begins an entry of a list whose mark or term is given.
func (m *manReader) entry(mark string) {
	mark = strings.TrimSpace(mark)
	if m.code > 0 {
		m.flush()
	}
	switch {
	case mark == "":
		m.flush()
		return
	case strings.Trim(mark, "•*-o·+") == "" || len(mark) <= 4 && strings.Trim(mark, "0123456789.()[]") == "":
		m.flush()
		m.kind, m.level = Item, m.indent+1
		if n, err := strconv.Atoi(strings.Trim(mark, ".()[]")); err == nil {
			m.words.WriteString(strconv.Itoa(n) + ". ")
		}
	default:
		m.term(mark)
	}
}

// tableLine reads a line of a table.
func (m *manReader) tableLine(line string) {
	t := m.table
	if strings.HasPrefix(line, ".TE") {
		m.b.table(t.rows)
		m.table = nil
		return
	}
	if t.format {
		if strings.Contains(line, "tab(") || strings.Contains(line, "tab (") {
			_, after, _ := strings.Cut(line, "tab")
			if after = strings.TrimLeft(after, " ("); after != "" {
				_, n := utf8.DecodeRuneInString(after)
				t.tab = after[:n]
			}
		}
		t.format = !strings.HasSuffix(strings.TrimSpace(line), ".")
		return
	}
	if t.cell != nil {
		before, ends := strings.CutPrefix(line, "T}")
		if !ends {
			t.cell.WriteString(" " + tableText(line))
			return
		}
		last := &t.rows[len(t.rows)-1]
		last.cells[len(last.cells)-1] = strings.TrimSpace(t.cell.String())
		t.cell = nil
		m.tableCells(strings.TrimPrefix(before, t.tab), before == "")
		return
	}
	if strings.HasPrefix(line, ".") || strings.Trim(line, "_= ") == "" {
		if line == "_" || line == "=" {
			for i := range t.rows {
				t.rows[i].header = len(t.rows) < 3
			}
		}
		return
	}
	t.rows = append(t.rows, row{})
	m.tableCells(line, false)
}

func tableText(line string) string {
	if strings.HasPrefix(line, ".") {
		_, args, _ := strings.Cut(line, " ")
		line = strings.Join(arguments(args), " ")
	}
	return unescape(line)
}

func (m *manReader) tableCells(line string, none bool) {
	if none {
		return
	}
	t := m.table
	last := &t.rows[len(t.rows)-1]
	for cell := range strings.SplitSeq(line, t.tab) {
		if strings.TrimSpace(cell) == "T{" {
			last.cells = append(last.cells, "")
			t.cell = &strings.Builder{}
			return
		}
		last.cells = append(last.cells, unescape(cell))
	}
}
