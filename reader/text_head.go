package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// contentsWords head tables of contents and indexes.
var contentsWords = map[string]bool{"contents": true, "table of contents": true, "index": true, "list of figures": true, "list of tables": true,
	"содержание": true, "оглавление": true, "указатель": true, "предметный указатель": true, "алфавитный указатель": true, "список иллюстраций": true, "список таблиц": true,
	"目录": true, "目 录": true, "目次": true, "索引": true, "图目录": true, "表目录": true, "内容": true,
	"inhaltsverzeichnis": true, "inhalt": true, "table des matières": true, "sommaire": true, "índice": true, "indice": true, "目錄": true}

func contentsWord(s string) bool {
	return len(s) < 60 && contentsWords[strings.ToLower(strings.TrimRight(strings.TrimSpace(s), ":："))]
}

// leaders says that a line of a table of contents ends here: dots or a gap,
// and the number of a page.
func leaders(s string) bool {
	rest := strings.TrimRight(s, "0123456789")
	if len(rest) == len(s) || len(s)-len(rest) > 4 {
		if rest = strings.TrimRight(s, "ivxlc"); len(rest) == len(s) || len(s)-len(rest) > 6 {
			return false
		}
	}
	gap := strings.TrimRight(rest, " .·…\t_")
	dots := strings.Count(rest[len(gap):], ".") + 3*strings.Count(rest[len(gap):], "…") + strings.Count(rest[len(gap):], "·")
	return gap != "" && dots >= 3
}

// gapNumber says that a number stands far right of the words on a line.
func gapNumber(s string) bool {
	rest := strings.TrimRight(s, "0123456789")
	return len(rest) < len(s) && len(s)-len(rest) <= 4 && strings.HasSuffix(rest, "   ") && strings.TrimSpace(rest) != ""
}

// readContents reads lines of a table of contents.
func (t *textReader) readContents(c chunk) bool {
	dotted, gaps, numbered, ended := 0, 0, 0, 0
	for i := c.from; i < c.to; i++ {
		s := t.of(&t.lines[i])
		if leaders(s) {
			dotted++
		}
		if gapNumber(s) {
			gaps++
		}
		if depth, _ := sectionNumber(s); depth > 0 {
			numbered++
		}
		if sentenceEnd(s) {
			ended++
		}
	}
	n := c.to - c.from
	known := dotted*2 > n && (n > 1 || t.inContents >= 0)
	if t.inContents >= 0 {
		inner := t.lines[c.from].indent > t.inContents
		known = known || (dotted+gaps)*2 > n || inner && ended*4 < n || numbered*2 > n && n > 2 && ended*4 < n
		if !known {
			t.inContents = -1
		}
	}
	if !known {
		return false
	}
	for i := c.from; i < c.to; i++ {
		t.emit(Contents, 0, i, i+1)
	}
	t.lead = false
	return true
}

// sentenceEnd says that a line ends as sentences do.
func sentenceEnd(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"'”’»)]`))
	return strings.ContainsRune(".!?;。！？；…", r)
}

// sectionNumber reads the number that a heading begins with and how deep it
// is: "3.2. Title" is 2 deep. rest is the title.
func sectionNumber(s string) (depth int, rest string) {
	if word, after, ok := strings.Cut(s, " "); ok {
		switch strings.ToLower(word) {
		case "appendix", "chapter", "annex", "part", "section", "article", "глава", "раздел", "часть", "приложение", "статья", "§":
			number, title, _ := strings.Cut(strings.TrimSpace(after), " ")
			if ordinal(strings.TrimRight(number, ".:")) {
				level := 1
				switch strings.ToLower(word) {
				case "section", "статья", "§":
					level = 2
				}
				return max(level, 1+strings.Count(strings.TrimRight(number, ".:"), ".")), strings.TrimSpace(title)
			}
		}
	}
	if after, ok := strings.CutPrefix(s, "第"); ok {
		for i, r := range after {
			switch {
			case strings.ContainsRune("一二三四五六七八九十百零〇0123456789 ", r):
				continue
			case i > 0 && strings.ContainsRune("章编篇部", r):
				return 1, strings.TrimSpace(after[i+utf8.RuneLen(r):])
			case i > 0 && strings.ContainsRune("节節回", r):
				return 2, strings.TrimSpace(after[i+utf8.RuneLen(r):])
			}
			break
		}
	}
	i := 0
	if s != "" && s[0] >= 'A' && s[0] <= 'Z' && len(s) > 2 && s[1] == '.' {
		i, depth = 2, 1
		if s[i] == ' ' && !(len(s) > 4 && s[3] == ' ') { // "J. Postel" is a name: a letter needs two blanks
			return 0, s
		}
		if !isDigit(s[i]) && s[i] != ' ' {
			return 0, s
		}
	}
	for i < len(s) {
		j := i
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		if j == i || j-i > 3 {
			break
		}
		depth++
		i = j
		if i < len(s) && s[i] == '.' {
			i++
			continue
		}
		break
	}
	if depth == 0 || i >= len(s) || s[i] != ' ' && s[i] != '\t' {
		return 0, s
	}
	rest = strings.TrimSpace(s[i:])
	if strings.HasPrefix(s, "0") && depth == 1 && !strings.Contains(s[:i], ".") {
		return 0, s
	}
	if depth == 1 && !strings.Contains(s[:i], ".") { // "16 bits" is none: a number alone needs a gap or a capital
		if r, _ := utf8.DecodeRuneInString(rest); !unicode.IsUpper(r) && r < 0x2e80 {
			return 0, s
		}
	}
	if strings.Contains(s[:i], ".0") && strings.Count(strings.TrimRight(s[:i], "."), ".") == 1 && strings.HasSuffix(strings.TrimRight(s[:i], "."), ".0") {
		depth = 1 // "2.0 Title"
	}
	return depth, rest
}

// ordinal says that a word is a number, a letter or a Roman number.
func ordinal(s string) bool {
	if s == "" || len(s) > 8 {
		return false
	}
	if len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z' {
		return true
	}
	roman := strings.Trim(s, "IVXLC") == ""
	return roman || strings.Trim(s, "0123456789.") == ""
}

// designated returns the level of a line that heads a part of a law or contract
// by its looks alone: "Статья 12. Полномочия", "Chapter IV", "Section 3.2
// Definitions". What goes on after the number like a sentence is none. A line
// that is, can stand without an empty line around it.
func designated(s string) int {
	word, after, ok := strings.Cut(s, " ")
	if r, _ := utf8.DecodeRuneInString(word); !ok || !unicode.IsUpper(r) || leaders(s) || gapNumber(s) {
		return 0
	}
	depth, rest := sectionNumber(s)
	number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	if depth == 0 || !ordinal(strings.TrimRight(number, ".:")) {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "" && strings.ContainsAny(number, ",;"):
		return 0
	case rest == "", strings.HasSuffix(number, ".") && unicode.IsUpper(first):
		return depth
	case unicode.IsUpper(first) && columns(s) <= maxHeading && !sentenceEnd(s) && titleCase(rest):
		return depth
	}
	return 0
}

const maxHeading = 80 // columns

// headingLevel says that a chunk is a heading, and of which level; 0 if none.
func (t *textReader) headingLevel(i int) int {
	c := t.chunks[i]
	l := &t.lines[c.from]
	s := t.of(l)
	n := c.to - c.from
	if n > 2 || l.width > maxHeading || t.inner {
		return 0
	}
	if t.man {
		switch {
		case n > 1, l.width > 70:
		case l.indent == 0:
			return 1
		case l.indent < t.base-1 && l.indent < 5:
			return 2
		}
		return 0
	}
	depth, rest := sectionNumber(s)
	if n == 2 && !t.lead && !t.literal(c) {
		next := &t.lines[c.from+1]
		if t.centred(l) && t.centred(next) && titleCase(s) && !sentenceEnd(t.of(next)) || capitals(s) && capitals(t.of(next)) && !sentenceEnd(t.of(next)) && l.width+next.width < 120 && l.indent != next.indent {
			return 1
		}
	}
	if n == 2 && (depth == 0 || l.indent >= t.base || t.lines[c.from+1].indent <= l.indent || t.lines[c.from+1].width > 60) {
		return 0
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if strings.ContainsRune(".;,。；，、", last) || depth == 0 && strings.ContainsRune(":：", last) {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) && !unicode.IsDigit(first) && !strings.ContainsRune("§\"“«《", first) || markLength(s) > 0 && depth == 0 {
		return 0
	}
	centred := t.centred(l)
	if isCaption(s) {
		return 0
	}
	switch {
	case contentsWord(s) && (l.indent <= t.base || centred):
		return 1
	case depth > 0 && rest != "" && titleCase(rest) && (l.indent <= t.base && !t.numberedNext(i, depth, l.indent) || centred):
		return min(depth, 6)
	case depth > 0 && rest == "" && !isDigit(s[0]):
		return min(depth, 6)
	case t.soft || l.indent > t.base && !centred && l.indent > 8:
		return 0
	case capitals(s) && (l.indent <= t.base || centred || t.base == 0):
		return 1
	case l.indent < t.base && l.width <= 65 && capitalized(s) && !t.lead:
		return 1
	case centred && l.width <= 65 && capitalized(s) && !t.lead:
		return 1
	case t.base == 0 && l.indent == 0 && t.titleLike(i, s):
		return 2
	}
	return 0
}

// centred says that a line stands in the middle.
func (t *textReader) centred(l *textLine) bool {
	if l.indent < 8 || l.indent < t.base+5 || strings.Contains(t.text[l.start:l.end], "   ") {
		return false
	}
	middle := l.indent + l.width/2
	half := (t.width + t.base) / 2
	return middle > half-8 && middle < half+8
}

// numberedNext says that the next chunk has a number of the same kind and one
// line only: then both are entries of a list.
func (t *textReader) numberedNext(i, depth, indent int) bool {
	if i+1 >= len(t.chunks) {
		return true // nothing stands under it
	}
	c := t.chunks[i+1]
	l := &t.lines[c.from]
	next, _ := sectionNumber(t.of(l))
	return next == depth && l.indent == indent && (c.to-c.from == 1 || markLength(t.of(&t.lines[c.from+1])) > 0)
}

// titleCase says that a heading begins as one does.
func titleCase(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, `"'“«(`))
	return unicode.IsUpper(r) || r >= 0x2e80 || unicode.IsDigit(r) || unicode.IsLower(r) && !strings.Contains(s, " ")
}

// capitalized says that a line begins with a capital, where its script has any.
func capitalized(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, `"'“«(`))
	return unicode.IsUpper(r) || unicode.IsDigit(r) || r >= 0x2e80
}

// isCaption says that a line names a table or a figure.
func isCaption(s string) bool {
	word, rest, ok := strings.Cut(s, " ")
	switch strings.ToLower(strings.TrimRight(word, ".")) {
	case "table", "figure", "fig", "таблица", "табл", "рисунок", "рис", "表", "图":
		return ok && rest != "" && (isDigit(rest[0]) || ordinal(strings.TrimRight(strings.Fields(rest + " .")[0], ".:")))
	}
	return false
}

// capitals says that a line is in capitals.
func capitals(s string) bool {
	upper, letters := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
		case unicode.IsLetter(r):
			letters++
		case strings.ContainsRune("_={}<>|$;", r):
			return false
		}
	}
	return upper >= 4 && upper == letters && upper*2 > len(s)/utf8.UTFMax
}

// titleLike says that a short line alone heads what follows it.
func (t *textReader) titleLike(i int, s string) bool {
	words := strings.Fields(s)
	first, _ := utf8.DecodeRuneInString(s)
	if t.lead || i+1 >= len(t.chunks) || len(words) > 9 || columns(s) > 60 || !unicode.IsUpper(first) && first < 0x2e80 || strings.ContainsAny(s, "=@/\\{}<>|;") || strings.Contains(s, "  ") {
		return false
	}
	if first >= 0x2e80 && (columns(s) > 40 || strings.ContainsAny(s, "，。：；！？、")) {
		return false
	}
	next := t.chunks[i+1]
	l := &t.lines[next.from]
	if next.to-next.from > 1 || l.width > 50 {
		return l.indent < 8
	}
	// Headings may follow each other, up to the text.
	return i+2 < len(t.chunks) && l.indent == 0 && t.chunks[i+2].to-t.chunks[i+2].from > 1
}
