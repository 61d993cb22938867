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

// readMarkdown finds the blocks of a Markdown source.
func (b *builder) readMarkdown(source string) {
	text := b.source(lines(source))
	b.md.WriteString(sanitizeMarkdown(text))
	kind, start, end := Kind(""), 0, 0
	flush := func() {
		if kind != "" {
			b.mark(kind, 0, start, end)
		}
		kind = ""
	}
	title := func(level, from, to int) {
		t := text[from:to]
		b.under(level, t)
		b.mark(Heading, level, from, to)
		if b.page.Title == "" && level == 1 {
			b.page.Title = t
		}
	}
	fence := ""
	at := b.frontMatter(text)
	for at < len(text) {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimRight(text[at:next], " \t\n")
		body := strings.TrimLeft(line, " \t")
		from, to := at+len(line)-len(body), at+len(line)
		at = next
		if fence != "" {
			end = to
			if strings.HasPrefix(body, fence) && strings.Trim(body, fence[:1]) == "" {
				fence = ""
				flush()
			}
			continue
		}
		want := Paragraph
		switch {
		case body == "":
			flush()
			continue
		case strings.HasPrefix(body, "```"), strings.HasPrefix(body, "~~~"):
			flush()
			fence = body[:3]
			kind, start, end = Code, from, to
			continue
		case atxLevel(body) > 0:
			flush()
			level := atxLevel(body)
			t := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(body[level:]), "#"))
			if t == "" {
				continue
			}
			i := from + strings.Index(text[from:to], t)
			title(level, i, i+len(t))
			continue
		case kind == Paragraph && !strings.Contains(text[start:end], "\n") && setext(body) > 0:
			kind = ""
			title(setext(body), start, end)
			continue
		case strings.HasPrefix(body, "|"):
			want = Row
		case strings.HasPrefix(body, ">"):
			want = Quote
		case listMark(body):
			flush()
			want = Item
		case kind == Item, kind == Quote:
			want = kind // a continued line
		}
		if want != kind || want == Row {
			flush()
			kind, start = want, from
		}
		end = to
	}
	flush()
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
