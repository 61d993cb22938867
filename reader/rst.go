package reader

import (
	"strings"
	"unicode"
)

// rstReader finds the blocks of reStructuredText. The page's text stays the
// source.
type rstReader struct {
	marker
	styles []string // underlines of headings, in the order in which they came
	notes  []int    // indents of the notes that are open
	terms  []int    // indents of the terms of directives that are open
	lists  []int    // columns of the text of entries that are open
}

func (b *builder) readRST(source string) {
	text := b.source(lines(source))
	b.md.WriteString(sanitizeMarkdown(text))
	r := &rstReader{marker: marker{b: b, text: text, lines: splitLines(text)}}
	for i := 0; i < len(r.lines); {
		i = r.read(i)
	}
	r.flush()
}

// read reads what begins at a line and returns where the next begins.
func (r *rstReader) read(i int) int {
	l := &r.lines[i]
	s := r.of(i)
	if s == "" {
		return i + 1
	}
	for len(r.notes) > 0 && l.indent <= r.notes[len(r.notes)-1] {
		r.notes = r.notes[:len(r.notes)-1]
	}
	for len(r.terms) > 0 && l.indent <= r.terms[len(r.terms)-1] {
		r.terms = r.terms[:len(r.terms)-1]
	}
	for len(r.lists) > 0 && l.indent < r.lists[len(r.lists)-1]-1 {
		r.lists = r.lists[:len(r.lists)-1]
	}
	if n := r.section(i); n > 0 {
		return n
	}
	switch {
	case strings.HasPrefix(s, ".."):
		if len(s) == 2 || s[2] == ' ' {
			return r.directive(i, s)
		}
	case strings.HasPrefix(s, "+-") && strings.HasSuffix(s, "+"):
		return r.grid(i)
	case ruled(s) && strings.Contains(s, " "):
		return r.simple(i)
	case drawn(s) && i+1 < len(r.lines) && r.lines[i+1].start == r.lines[i+1].end:
		return i + 1
	}
	if n := r.field(i, s); n > 0 {
		return n
	}
	if mark := r.markAt(s); mark > 0 {
		return r.entry(i, mark)
	}
	return r.paragraph(i)
}

// underline says that a line underlines, and with what.
func underline(s string) byte {
	if len(s) < 2 || strings.Trim(s, s[:1]) != "" || strings.IndexByte("=-~^\"'`#*+.:_<>!$%&(),/;?@[\\]{|}", s[0]) < 0 {
		return 0
	}
	return s[0]
}

// section reads a heading.
func (r *rstReader) section(i int) int {
	over := byte(0)
	at := i
	if c := underline(r.of(i)); c != 0 {
		over, at = c, i+1
	}
	if at+1 >= len(r.lines) || r.of(at) == "" {
		return 0
	}
	c := underline(r.of(at + 1))
	title := &r.lines[at]
	if c == 0 || over != 0 && over != c || over == 0 && title.indent > 0 || r.lines[at+1].width < min(title.width, 4) || underline(r.of(at)) != 0 || r.lines[at+1].indent > 0 {
		return 0
	}
	if over == 0 && r.lines[at+1].width*2 < title.width {
		return 0
	}
	style := string([]byte{over, c})
	level := 0
	for k, known := range r.styles {
		if known == style {
			level = k + 1
		}
	}
	if level == 0 {
		r.styles = append(r.styles, style)
		level = len(r.styles)
	}
	r.heading(min(level, 6), title.start, title.end)
	r.notes, r.terms, r.lists = nil, nil, nil
	return at + 2
}

// end returns where what is indented more than a line ends.
func (r *rstReader) bodyEnd(i, indent int) int {
	for i < len(r.lines) && (r.lines[i].start == r.lines[i].end || r.lines[i].indent > indent) {
		i++
	}
	return i
}

// directive reads what begins with two dots.
func (r *rstReader) directive(i int, s string) int {
	indent := r.lines[i].indent
	end := r.bodyEnd(i+1, indent)
	rest := strings.TrimSpace(s[2:])
	name, argument, is := strings.Cut(rest, "::")
	if strings.HasPrefix(rest, "[") { // a footnote
		last := i
		for j := i + 1; j < end && r.of(j) != ""; j++ {
			last = j
		}
		r.one(Note, 0, r.lines[i].end-len(rest), r.lines[last].end)
		return end
	}
	if !is || strings.ContainsAny(name, " |_") || argument != "" && argument[0] != ' ' && argument[0] != '\t' {
		return end // a comment, a target
	}
	argument = strings.TrimSpace(argument)
	body := i + 1 // after its options
	for body < end && strings.HasPrefix(r.of(body), ":") {
		body++
	}
	name = strings.ToLower(name)
	if j := strings.LastIndexByte(name, ':'); j >= 0 {
		name = name[j+1:]
	}
	switch name {
	case "code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "productionlist", "highlight", "doctest", "testcode", "command-output", "prompt":
		r.span(Code, body, end)
	case "toctree":
		for j := body; j < end; j++ {
			if r.of(j) != "" {
				r.one(Contents, 0, r.lines[j].start, r.lines[j].end)
			}
		}
	case "image", "index", "include", "contents", "raw", "only", "ifconfig", "meta", "default-role", "role", "module", "currentmodule", "automodule", "autoclass", "autofunction", "tabularcolumns", "math", "graphviz", "unicode", "highlightlang":
		if name == "only" || name == "ifconfig" {
			return body
		}
	case "list-table":
		r.listTable(body, end)
	case "csv-table":
		for j := body; j < end; j++ {
			if r.of(j) != "" {
				r.one(Row, 0, r.lines[j].start, r.lines[j].end)
			}
		}
	case "note", "tip", "warning", "caution", "important", "hint", "attention", "danger", "error", "seealso", "admonition", "topic", "sidebar", "deprecated", "versionadded", "versionchanged", "todo", "rubric", "figure", "epigraph", "pull-quote":
		r.notes = append(r.notes, indent)
		if argument != "" && name != "figure" {
			last := i
			if name == "note" || name == "tip" || name == "warning" || name == "versionchanged" || name == "versionadded" || name == "deprecated" {
				for last+1 < end && r.of(last+1) != "" && last+1 >= body {
					last++
				}
			}
			r.one(Note, 0, r.lines[i].end-len(argument), r.lines[last].end)
			return max(last+1, body)
		}
		return body
	case "glossary", "container", "class", "compound", "table", "rst-class", "tabs", "tab", "group-tab", "details":
		return body
	default:
		if argument != "" { // a function, an option, a setting
			r.one(Term, len(r.terms)+1, r.lines[i].end-len(argument), r.lines[i].end)
			for j := i + 1; j < body; j++ { // several of them
				if r.lines[j].indent > indent+len(".. "+name) {
					r.one(Term, len(r.terms)+1, r.lines[j].start, r.lines[j].end)
				}
			}
			r.terms = append(r.terms, indent)
		}
		return body
	}
	return end
}

// span marks lines as one block, without the empty ones around them.
func (r *rstReader) span(k Kind, from, to int) {
	for from < to && r.of(from) == "" {
		from++
	}
	for to > from && r.of(to-1) == "" {
		to--
	}
	if from < to {
		r.one(k, 0, r.lines[from].start, r.lines[to-1].end)
	}
}

// markAt is the length of the mark of a list's entry.
func (r *rstReader) markAt(s string) int {
	if strings.HasPrefix(s, "#. ") {
		return 3
	}
	n := markLength(s)
	if n > 0 && (s[0] == '[' || strings.HasPrefix(s, "—") || strings.HasPrefix(s, "–")) {
		return 0
	}
	return n
}

func (r *rstReader) entry(i, mark int) int {
	l := &r.lines[i]
	for len(r.lists) > 0 && l.indent < r.lists[len(r.lists)-1]-1 {
		r.lists = r.lists[:len(r.lists)-1]
	}
	if len(r.lists) > 6 {
		r.lists = r.lists[:6]
	}
	r.lists = append(r.lists, l.indent+columns(r.of(i)[:mark]))
	last := i
	for last+1 < len(r.lines) && r.of(last+1) != "" && r.lines[last+1].indent > l.indent && r.markAt(r.of(last+1)) == 0 {
		last++
	}
	start := l.start
	if !isDigit(r.of(i)[0]) && r.of(i)[0] != '(' && !letter(r.of(i)[0]) {
		start += mark
	}
	r.one(Item, len(r.lists), start, r.lines[last].end)
	return r.literal(last, l.indent)
}

// literal reads the code that two colons at the end of a line announce, and
// returns where the next block begins.
func (r *rstReader) literal(last, indent int) int {
	if !strings.HasSuffix(r.of(last), "::") {
		return last + 1
	}
	end := r.bodyEnd(last+1, indent)
	r.span(Code, last+1, end)
	return end
}

// field reads ":name: value" and options of commands.
func (r *rstReader) field(i int, s string) int {
	l := &r.lines[i]
	at := -1
	if s[0] == ':' && len(s) > 2 {
		if j := strings.Index(s[1:], ": "); j > 0 && j < 60 && !strings.Contains(s[1:j+1], "`") {
			at = j + 2
		}
	} else if isOption(s) && markLength(s) == 0 {
		if j := strings.Index(s, "  "); j > 0 && j < 40 {
			at = j
		}
	}
	if at < 0 {
		return 0
	}
	last := i
	for last+1 < len(r.lines) && r.of(last+1) != "" && r.lines[last+1].indent > l.indent {
		last++
	}
	from := l.start + at
	for from < l.end && (r.text[from] == ' ' || r.text[from] == '\t') {
		from++
	}
	r.one(Term, 1, l.start, l.start+len(strings.TrimRight(s[:at], " ")))
	r.one(Definition, 1, from, r.lines[last].end)
	return last + 1
}

// paragraph reads one, or a term with what is indented below it.
func (r *rstReader) paragraph(i int) int {
	l := &r.lines[i]
	if i+1 < len(r.lines) && r.of(i+1) != "" && r.lines[i+1].indent > l.indent {
		r.one(Term, len(r.terms)+1, l.start, l.end)
		r.terms = append(r.terms, l.indent)
		return i + 1
	}
	last := i
	for last+1 < len(r.lines) && r.of(last+1) != "" && r.lines[last+1].indent >= l.indent && !strings.HasPrefix(r.of(last+1), ".. ") {
		last++
	}
	if l.start < l.end && r.of(i) == "::" {
		return r.literal(last, l.indent)
	}
	k, level := Paragraph, 0
	switch {
	case len(r.notes) > 0:
		k = Note
	case len(r.lists) > 0 && l.indent >= r.lists[len(r.lists)-1]-1 && l.indent > 0:
		k, level = Item, len(r.lists)
	case len(r.terms) > 0:
		k, level = Definition, len(r.terms)
	case l.indent > 0:
		k = Quote
	case strings.HasPrefix(r.of(i), ">>> "):
		k = Code
	}
	end := r.lines[last].end
	if strings.HasSuffix(r.text[:end], "::") && k != Code {
		end-- // one colon is shown
	}
	r.one(k, level, l.start, end)
	return r.literal(last, l.indent)
}

// grid reads a table that is drawn.
func (r *rstReader) grid(i int) int {
	from, first, at := -1, len(r.b.page.Blocks), i
	for ; at < len(r.lines); at++ {
		s := r.of(at)
		if s == "" || s[0] != '+' && s[0] != '|' {
			break
		}
		if s[0] == '+' {
			if from >= 0 {
				r.row(Row, from, at)
			}
			from = -1
			if strings.Contains(s, "=") {
				r.asHeaders(first)
			}
			continue
		}
		if from < 0 {
			from = at
		}
	}
	return max(at, i+1)
}

// asHeaders makes the rows that were just written headers.
func (r *rstReader) asHeaders(first int) {
	for k := first; k < len(r.b.page.Blocks); k++ {
		if r.b.page.Blocks[k].Kind == Row {
			r.b.page.Blocks[k].Kind = Header
		}
	}
}

// row marks lines of a table without the bars at its sides.
func (r *rstReader) row(k Kind, from, to int) {
	start, end := r.lines[from].start, r.lines[to-1].end
	for start < end && strings.IndexByte("| ", r.text[start]) >= 0 {
		start++
	}
	for end > start && strings.IndexByte("| ", r.text[end-1]) >= 0 {
		end--
	}
	if strings.IndexFunc(r.text[start:end], func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) >= 0 {
		r.one(k, 0, start, end)
	}
}

// ruled says that a line is one of a simple table.
func ruled(s string) bool { return len(s) > 4 && strings.Trim(s, "= ") == "" }

// simple reads a table between lines of equals signs.
func (r *rstReader) simple(i int) int {
	first, at, rules := len(r.b.page.Blocks), i+1, 1
	left := r.lines[i].indent
	from := -1
	flush := func(to int) {
		if from >= 0 {
			r.row(Row, from, to)
		}
		from = -1
	}
	for ; at < len(r.lines); at++ {
		s := r.of(at)
		if ruled(s) {
			flush(at)
			rules++
			last := at+1 >= len(r.lines) || r.of(at+1) == ""
			if rules == 2 && !last {
				r.asHeaders(first)
			}
			if last {
				return at + 1
			}
			continue
		}
		if s == "" || strings.Trim(s, "- ") == "" {
			flush(at)
			continue
		}
		if r.lines[at].indent < left {
			break
		}
		if r.lines[at].indent == left || from < 0 {
			flush(at)
			from = at
		}
	}
	flush(at)
	return at
}

// listTable reads a table that is written as lists in a list.
func (r *rstReader) listTable(from, to int) {
	heads := 0
	for j := from - 1; j >= 0 && strings.HasPrefix(r.of(j), ":"); j-- {
		if strings.HasPrefix(r.of(j), ":header-rows:") && !strings.HasSuffix(r.of(j), " 0") {
			heads = 1
		}
	}
	start := -1
	flush := func(end int) {
		for end > start && start >= 0 && r.of(end-1) == "" {
			end--
		}
		if start >= 0 && start < end {
			k := Row
			if heads > 0 {
				k, heads = Header, heads-1
			}
			s := r.of(start)
			r.one(k, 0, r.lines[start].start+len(s)-len(strings.TrimLeft(s, "*- ")), r.lines[end-1].end)
		}
		start = -1
	}
	for j := from; j < to; j++ {
		if strings.HasPrefix(r.of(j), "* -") {
			flush(j)
			start = j
		}
	}
	flush(to)
}
