package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/internal/base/term"
	"dossier/lang"
)

// shown is a line in which a part of a quote is shown.
type shown struct {
	text     string
	verbatim bool      // a line of a block of code
	mark     lang.Span // the part of text that is marked; empty where none is
}

// display returns the lines in which a text is shown: what a terminal would act
// upon is gone, lines that only wrap a paragraph are joined, and those of
// lists, tables and code stay.
func display(text string) []shown { return displayMarked(text, lang.Span{}, false) }

// displayed is display for a quote, with the sentence marked that its passage
// names. A mark that is no part of the quote or cuts a character is none, and
// one that leaves nothing out says nothing.
func (q *Quote) displayed() []shown {
	head, above := q.header()
	lines := displayMarked(q.Text, q.mark(), head != nil)
	marked, rest := false, false
	for _, l := range lines {
		if head != nil && !above && len(cells(l.text)) == len(head) {
			above = true // the header is shown as the names of cells
			continue
		}
		marked = marked || l.mark.Start < l.mark.End
		rest = rest || telling(l.text[:l.mark.Start]) || telling(l.text[l.mark.End:])
	}
	for i := range lines {
		switch l := &lines[i]; {
		case !rest:
			l.mark = lang.Span{}
		case marked && !l.verbatim:
			*l = l.unstressed()
		}
	}
	return q.tabulated(lines)
}

// mark is the marked part of the quote's text.
func (q *Quote) mark() lang.Span {
	p := &q.Passage
	if p.Start < 0 || p.MarkStart < p.Start || p.MarkEnd <= p.MarkStart || p.End < p.MarkEnd || p.End-p.Start != len(q.Text) {
		return lang.Span{}
	}
	m := lang.Span{Start: p.MarkStart - p.Start, End: p.MarkEnd - p.Start}
	if !utf8.RuneStart(q.Text[m.Start]) || m.End < len(q.Text) && !utf8.RuneStart(q.Text[m.End]) {
		return lang.Span{}
	}
	return m
}

// telling reports whether there is a letter or a digit in a text.
func telling(text string) bool { return strings.IndexFunc(text, wordly) >= 0 }

// unstressed takes the signs of strong words out of a line, so that the mark is
// the only thing in its quote that stands out.
func (l *shown) unstressed() shown {
	var b strings.Builder
	out := shown{mark: l.mark}
	at := 0
	for _, p := range pieces(l.text) {
		text := p.raw
		if p.kind == strong {
			text = p.text
		}
		from, end, signs := at, at+len(p.raw), (len(p.raw)-len(text))/2
		moved := func(i int) int { return b.Len() + min(max(i-from-signs, 0), len(text)) }
		if from <= l.mark.Start && l.mark.Start < end {
			out.mark.Start = moved(l.mark.Start)
		}
		if from < l.mark.End && l.mark.End <= end {
			out.mark.End = moved(l.mark.End)
		}
		b.WriteString(text)
		at = end
	}
	out.text = b.String()
	return out
}

// together returns lines as one, where there is no room for more.
func together(lines []shown) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, " ")
}

// displayMarked is display with a mark. rows says that there are rows of a table
// in the text.
func displayMarked(text string, mark lang.Span, rows bool) []shown {
	// Cleaned in pieces it is the same text, and where the mark went is known.
	var s term.Stripper
	valid := func(piece string) string { return s.Clean(strings.ToValidUTF8(piece, "\uFFFD")) }
	before, marked := valid(text[:mark.Start]), valid(text[mark.Start:mark.End])
	l := layout{rows: rows, text: before + marked + valid(text[mark.End:]), mark: lang.Span{Start: len(before), End: len(before) + len(marked)}}
	l.run()
	return l.out
}

// layout turns a clean text into lines to show.
type layout struct {
	text string
	mark lang.Span
	rows bool // lines with bars in them are rows of a table
	out  []shown

	paragraph []lang.Span // lines that may be one
	leads     bool        // its first line may begin anywhere in a line of the source
	line      []byte      // being written
	lineMark  lang.Span
}

func (l *layout) run() {
	l.leads = true
	inCode, indent := l.beginsInCode(), 0
	at := 0
	for source := range strings.Lines(l.text) {
		span := lang.Span{Start: at, End: at + len(strings.TrimRightFunc(source, unicode.IsSpace))}
		at += len(source)
		bare := strings.TrimLeftFunc(span.In(l.text), unicode.IsSpace)
		switch {
		case fences(bare) && (!inCode || strings.Trim(bare, "`") == ""):
			l.flush()
			inCode, indent = !inCode, span.End-span.Start-len(bare)
		case bare == "":
			l.flush()
		case inCode:
			l.verbatim(span, indent)
		default:
			row := l.rows && len(cells(bare)) > 1
			if row || standsAlone(bare) {
				l.flush()
			}
			l.paragraph = append(l.paragraph, span)
			if row || strings.HasPrefix(bare, "|") || strings.Trim(bare, "#=-~^_*+ ") == "" || headed(bare) {
				l.flush()
			}
		}
	}
	l.flush()
}

// fences reports the lines before and after a block of code.
func fences(bare string) bool {
	return strings.HasPrefix(bare, "```") && !strings.Contains(strings.TrimLeft(bare, "`"), "`")
}

// headed reports a heading of Markdown.
func headed(bare string) bool {
	n := run(bare, '#')
	return n > 0 && n <= 6 && strings.HasPrefix(bare[n:], " ")
}

// beginsInCode reports whether the text begins in a block of code, as far as
// can be told: the first fence seems to close one, and so the others match.
func (l *layout) beginsInCode() bool {
	closes, n, before := false, 0, ""
	for source := range strings.Lines(l.text) {
		bare := strings.TrimSpace(source)
		if fences(bare) {
			if n++; n == 1 {
				closes = strings.Trim(bare, "`") == "" && before != "" && !strings.HasSuffix(before, ":") && !strings.HasSuffix(before, "：")
			}
		}
		before = bare
	}
	return closes && n%2 == 1
}

// flush shows the paragraph.
func (l *layout) flush() {
	if len(l.paragraph) == 0 {
		return
	}
	if l.leads && len(l.paragraph) > 1 && l.isTerm() {
		l.add(l.paragraph[0])
		l.end()
		l.paragraph, l.leads = l.paragraph[1:], false
	}
	joined := l.wrapped(l.paragraph)
	for i, source := range l.paragraph {
		if i > 0 && !joined {
			l.end()
		}
		l.add(source)
	}
	l.end()
	l.paragraph, l.leads = l.paragraph[:0], false
}

// termWords is how many words the term of a definition has for the most.
const termWords = 6

// isTerm reports whether the first line of the quote is what the lines after it
// define: a few words that go on in no sentence, and then one that begins anew.
func (l *layout) isTerm() bool {
	first, next := strings.TrimSpace(l.paragraph[0].In(l.text)), strings.TrimSpace(l.paragraph[1].In(l.text))
	begins, _ := utf8.DecodeRuneInString(next)
	ends, _ := utf8.DecodeLastRuneInString(first)
	if lang.Words(first) > termWords || !unicode.IsUpper(begins) || unicode.IsPunct(ends) && ends != ')' && ends != ']' {
		return false
	}
	tokens := index.Tokens(first, lang.Detect(next))
	return len(tokens) > 0 && !tokens[len(tokens)-1].Function && !tokens[0].Function
}

// end shows the line that was written.
func (l *layout) end() {
	s := shown{text: string(l.line), mark: l.lineMark}
	s.unsign()
	l.out = append(l.out, s)
	l.line, l.lineMark = l.line[:0], lang.Span{}
}

const (
	// narrow is the width in columns below which lines are not those of a wrapped
	// paragraph.
	narrow = 40
	// ragged is the part of the width by which lines of a paragraph may differ
	// that a person wrapped: a fifth.
	ragged = 5
)

// wrapped reports whether the lines of a paragraph end where there was no room,
// or where a sentence ends, and not where somebody ended them.
func (l *layout) wrapped(lines []lang.Span) bool {
	if standsAlone(strings.TrimLeftFunc(lines[0].In(l.text), unicode.IsSpace)) {
		return true // the rest of an item
	}
	widest := 0
	for _, line := range lines {
		widest = max(widest, term.Width(line.In(l.text)))
	}
	breaks, early, amid := 0, 0, 0
	for i, line := range lines[:len(lines)-1] {
		if i == 0 && l.leads {
			continue // where it began is not known
		}
		breaks++
		text := line.In(l.text)
		if term.Width(text)+1+room(lines[i+1].In(l.text)) <= widest-widest/ragged {
			early++
			if !sentenceEnds(text) {
				amid++
			}
		}
	}
	switch {
	case breaks == 0 || amid == 0 && early > 0:
		return true
	default:
		return widest >= narrow && 3*early <= breaks
	}
}

// sentenceEnds reports whether a line ends in a sentence, or in a clause, and
// not in a command or a name.
func sentenceEnds(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune("。！？；，", last) || strings.ContainsRune(".!?;,", last) && lang.Words(line) > 4
}

// room is what the first word of a line needs.
func room(line string) int {
	line = strings.TrimLeft(line, " \t")
	for i, r := range line {
		if i == 0 && spaceless(r) {
			return 1 // and no space before it
		}
		if unicode.IsSpace(r) {
			return term.Width(line[:i])
		}
	}
	return term.Width(line)
}

// add writes a line of the source on.
func (l *layout) add(source lang.Span) {
	at, begins := source.Start, true
	for word := range strings.FieldsSeq(source.In(l.text)) {
		at += strings.Index(l.text[at:], word)
		switch {
		case len(l.line) == 0:
		case begins:
			l.line = append(l.line, between(l.line, word)...)
		default:
			l.line = append(l.line, ' ')
		}
		l.put(lang.Span{Start: at, End: at + len(word)})
		at += len(word)
		begins = false
	}
}

// put writes what stands in a span, with the mark that it has.
func (l *layout) put(span lang.Span) {
	start, end := max(span.Start, l.mark.Start), min(span.End, l.mark.End)
	if start < end {
		shift := len(l.line) - span.Start
		if l.lineMark.Start == l.lineMark.End {
			l.lineMark.Start = start + shift
		}
		l.lineMark.End = end + shift
	}
	l.line = append(l.line, span.In(l.text)...)
}

// verbatim shows a line of code, marked as a whole or not at all.
func (l *layout) verbatim(source lang.Span, indent int) {
	marked := source.Start < l.mark.End && l.mark.Start < source.End
	for indent > 0 && l.text[source.Start] == ' ' {
		source.Start++
		indent--
	}
	s := shown{text: strings.ReplaceAll(source.In(l.text), "\t", "    "), verbatim: true}
	if marked {
		s.mark.End = len(s.text)
	}
	l.out = append(l.out, s)
	l.leads = false
}

// unsign leaves the sign of an item or a row out of the mark.
func (l *shown) unsign() {
	if l.mark.Start == l.mark.End {
		return
	}
	sign := 0
	if standsAlone(l.text) {
		first, _, _ := strings.Cut(l.text, " ")
		if sign = min(len(first)+1, len(l.text)); telling(strings.TrimLeft(first, "0123456789")) {
			sign = len(first) - len(strings.TrimLeft(first, "|>"))
		}
	}
	l.mark.Start = max(l.mark.Start, sign)
	if l.mark.End <= l.mark.Start {
		l.mark = lang.Span{}
	}
}

// between is what joins two lines: nothing where one of a script without spaces
// was wrapped, or a word at its hyphen.
func between(before []byte, after string) string {
	last, size := utf8.DecodeLastRune(before)
	first, _ := utf8.DecodeRuneInString(after)
	if spaceless(last) && spaceless(first) {
		return ""
	}
	hyphened, _ := utf8.DecodeLastRune(before[:len(before)-size])
	if last == '-' && unicode.IsLetter(hyphened) && unicode.IsLower(first) && after != "and" && after != "or" {
		return ""
	}
	return " "
}

// spaceless reports Chinese and Japanese characters and their punctuation.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}

// standsAlone reports the lines of lists, tables, headings and quotations.
func standsAlone(line string) bool {
	first := line
	if i := strings.IndexFunc(line, unicode.IsSpace); i >= 0 {
		first = line[:i]
	}
	if strings.HasPrefix(line, "|") || strings.HasPrefix(line, ">") || strings.Trim(first, "#") == "" || strings.Trim(first, "-+*•=") == "" {
		return true
	}
	number := strings.TrimLeft(first, "0123456789")
	return len(number) < len(first) && (number == "." || number == ")")
}
