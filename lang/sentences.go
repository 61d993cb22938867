package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Span is a half-open range of bytes of a text.
type Span struct{ Start, End int }

// In returns the part of text that the span covers.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// Sentences splits text into sentences. The spans are in order, don't overlap,
// begin and end with something other than white space, and leave out nothing
// but white space. Headings, list items and lines of verse or of a table of
// names count as sentences.
func Sentences(text string) []Span {
	var out []Span
	start := 0
	cut := func(end int) {
		if s, ok := trim(text, start, end); ok {
			out = append(out, s)
		}
		start = end
	}
	lineStart := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
			if lineEnds(text[lineStart:i], text[i+1:]) {
				cut(i + 1)
			}
			i++
			lineStart = i
		case terminator(r):
			end := closeSentence(text, i+size)
			if endsHere(text[start:], i-start, end-start, lineStart-start) {
				cut(end)
			}
			i = end
		default:
			i += size
		}
	}
	cut(len(text))
	return out
}

func trim(text string, start, end int) (Span, bool) {
	part := text[start:end]
	left := strings.TrimLeftFunc(part, unicode.IsSpace)
	start += len(part) - len(left)
	end = start + len(strings.TrimRightFunc(left, unicode.IsSpace))
	return Span{start, end}, start < end
}

func terminator(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '｡', '．', '؟', '۔', '।', '‼', '⁇', '⁈', '⁉':
		return true
	}
	return false
}

// full reports terminators that end a sentence without a space after them.
func full(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '．', '।', '۔':
		return true
	}
	return false
}

func closer(r rune) bool {
	switch r {
	case '"', '\'', '”', '’', '»', ')', ']', '」', '』', '）', '】', '》', '›':
		return true
	}
	return false
}

// closeSentence returns where the terminators and closing quotes that begin at
// i end.
func closeSentence(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !terminator(r) && !closer(r) {
			break
		}
		i += size
	}
	return i
}

// endsHere decides whether the terminators text[at:end] end a sentence that
// begins at 0; line is where their line begins.
func endsHere(text string, at, end, line int) bool {
	first, _ := utf8.DecodeRuneInString(text[at:])
	marks, rest := text[at:end], text[end:]
	next, _ := utf8.DecodeRuneInString(rest)
	if rest == "" {
		return true
	}
	if strings.ContainsFunc(marks, full) {
		return !(strings.ContainsFunc(marks, closer) && speechFollows(rest))
	}
	if !unicode.IsSpace(next) {
		// An ASCII mark in Chinese text; otherwise 3.14, example.com, ?x=1, т.е.
		return ideographic(next) && first != '…' && !strings.Contains(marks, "..")
	}
	opening := firstLetter(rest)
	if unicode.IsLower(opening) {
		return false
	}
	if first != '.' || len(marks) > 1 && marks[1] == '.' {
		return true
	}
	if line >= 0 && at-line < 16 && numbering(text[line:at]) {
		return false
	}
	return !abbreviates(text[:at], rest)
}

// firstLetter returns the first letter or digit of text after white space,
// dashes and opening quotes, and 0 when something else comes first.
func firstLetter(text string) rune {
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		case unicode.IsSpace(r), strings.ContainsRune("-–—\"'“”„«‘(‹[", r):
		default:
			return 0
		}
	}
	return 0
}

// speechFollows reports whether Chinese quoted speech is followed by who said
// it: “走吧！”他说。
func speechFollows(rest string) bool {
	n := 0
	for _, r := range rest {
		if !ideographic(r) || n == 5 {
			return false
		}
		if strings.ContainsRune("说說道问問答喊叫", r) && n > 0 {
			return true
		}
		n++
	}
	return false
}

// numbering reports whether before is all there is on a line ahead of the full
// stop of a list number: "12", "3.1", "a".
func numbering(before string) bool {
	before = strings.TrimLeft(before, " \t>#*")
	if before == "" || len(before) > 8 {
		return false
	}
	for _, r := range before {
		if !unicode.IsDigit(r) && r != '.' {
			return utf8.RuneCountInString(before) == 1 && unicode.IsLetter(r)
		}
	}
	return true
}

// lineEnds reports whether the line break between line and rest ends a
// sentence: before a list item, a heading or an empty line, after a heading,
// and after a short line that the next one doesn't continue.
func lineEnds(line, rest string) bool {
	line = strings.TrimSpace(line)
	next, _, _ := strings.Cut(rest, "\n")
	next = strings.TrimSpace(next)
	if next == "" || line == "" || strings.HasPrefix(line, "#") || itemMark(next) {
		return true
	}
	if columns(line) >= wrapWidth {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(line)
	if strings.ContainsRune(",;、，；-–—(", last) {
		return false
	}
	if before, ok := strings.CutSuffix(line, "."); ok && abbreviates(before, next) {
		return false
	}
	first := firstLetter(next)
	return unicode.IsUpper(first) || ideographic(first) || unicode.IsDigit(first)
}

// wrapWidth is the columns from which a line is taken to be wrapped prose.
const wrapWidth = 60

// columns is how wide a line is on paper: Chinese characters take two columns.
func columns(line string) int {
	n := 0
	for _, r := range line {
		n++
		if ideographic(r) {
			n++
		}
	}
	return n
}

func itemMark(line string) bool {
	r, size := utf8.DecodeRuneInString(line)
	if strings.ContainsRune("-*+•–—●▪", r) {
		return strings.HasPrefix(line[size:], " ")
	}
	if strings.ContainsRune("#|>", r) {
		return true
	}
	digits := strings.TrimLeftFunc(line, unicode.IsDigit)
	return len(digits) < len(line) && len(line)-len(digits) < 4 &&
		(strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ") || strings.HasPrefix(digits, "、"))
}
