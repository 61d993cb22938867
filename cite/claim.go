package cite

import (
	"slices"
	"strings"
	"unicode"

	"dossier/lang"
)

// Claim is a sentence of an answer that leans on sources, a row of a table or
// a quoted block.
type Claim struct {
	// Text is the sentence without its markers and without Markdown.
	Text string `json:"text"`
	// Start and End are its bytes in the answer, with the markers that follow.
	Start int `json:"start"`
	End   int `json:"end"`
	// Sources are the numbers that it cites, each once, in order.
	Sources []int `json:"sources,omitempty"`
	// Inherited says that it has no marker of its own: Sources are those of
	// the next sentence of its paragraph that has one.
	Inherited bool `json:"inherited,omitempty"`
	// Quotes are the spans in quotation marks that are long enough to be
	// quotations rather than names or terms.
	Quotes []string `json:"quotes,omitempty"`
}

// Split cuts an answer in Markdown into claims, in order. Headings, code,
// rules, questions, lines that only lead to a list, and what has no words are
// no claims. Give it the text that Sanitize returned: it looks for no links.
func Split(markdown string) []Claim {
	var out []Claim
	for _, b := range blocks(markdown) {
		out = append(out, b.claims(markdown)...)
	}
	return out
}

// block is a stretch of the answer whose sentences belong together.
type block struct {
	start, end int
	kind       blockKind
}

type blockKind uint8

const (
	prose  blockKind = iota
	row              // of a table
	quoted           // a Markdown quotation
)

var (
	fenceLine = pattern("^[ \t]{0,3}(?:```+|~~~+)")
	ruleLine  = pattern(`^[ \t]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)[ \t]*$`)
	tableRule = pattern(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	itemLine  = pattern(`^[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)、][ \t]*)(?:\[[ xX]\][ \t]+)?`)
	boldLine  = pattern(`^[ \t]*(?:\*\*|__)[^*_]+(?:\*\*|__)[:：]?[ \t]*$`)
)

// blocks finds the stretches that hold claims.
func blocks(text string) []block {
	var out []block
	open := -1 // start of the paragraph at hand
	kind := prose
	end := 0
	flush := func() {
		if open >= 0 && open < end {
			out = append(out, block{open, end, kind})
		}
		open, kind = -1, prose
	}
	fence := ""
	lines := strings.SplitAfter(text, "\n")
	at := 0
	for i, line := range lines {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if fenceLine().MatchString(line) {
			flush()
			fence = bare[:3]
			continue
		}
		setext := open >= 0 && kind == prose && (strings.Trim(bare, "=") == "" || strings.Trim(bare, "-") == "") && bare != ""
		switch {
		case bare == "":
			flush()
		case setext:
			open = -1 // the paragraph before it is a heading
		case anyHeading().MatchString(line), ruleLine().MatchString(line), boldLine().MatchString(line) && open < 0:
			flush()
		case strings.Contains(bare, "|") && (tableRule().MatchString(line) || i+1 < len(lines) && tableHead(line, lines[i+1])):
			flush()
		case strings.HasPrefix(bare, "|") && strings.Count(bare, "|") > 1:
			flush()
			open, end, kind = start, at, row
			flush()
		case strings.HasPrefix(bare, ">"):
			if kind != quoted {
				flush()
				open, kind = start, quoted
			}
			end = at
		default:
			if m := itemLine().FindStringIndex(line); m != nil {
				flush()
				open = start + m[1]
			} else if open < 0 || kind != prose {
				flush()
				open = start
			}
			end = at
		}
	}
	flush()
	return out
}

func tableHead(line, next string) bool {
	next = strings.TrimRight(next, "\n")
	return strings.Contains(next, "-") && strings.Contains(next, "|") && tableRule().MatchString(next) && strings.Contains(line, "|")
}

// claims cuts one block. Markers are blanked out first, so that they neither
// hide nor make the end of a sentence; one that stands between two sentences
// belongs to the first.
func (b block) claims(text string) []Claim {
	part := text[b.start:b.end]
	marks := markers(part, codeSpans(part))
	blank := []byte(part)
	for _, m := range marks {
		for i := m.start; i < m.end; i++ {
			blank[i] = ' '
		}
	}
	if b.kind == quoted {
		opening := true
		for i, c := range blank {
			switch {
			case c == '\n':
				opening = true
			case opening && c == '>':
				blank[i] = ' '
			case c != ' ' && c != '\t':
				opening = false
			}
		}
	}
	sentences := []lang.Span{{Start: 0, End: len(blank)}}
	if b.kind == prose {
		sentences = join(string(blank), lang.Sentences(string(blank)))
	}
	var out []Claim
	var owners []int // by sentence: index in out, or -1
	for _, s := range sentences {
		raw := string(blank[s.Start:s.End])
		if b.kind == row {
			raw = strings.Trim(strings.TrimSpace(raw), "|")
		}
		c := Claim{Text: tidy(raw), Start: b.start + s.Start, End: b.start + s.End}
		if !claims(c.Text) && !(b.kind == prose && citedIn(marks, sentences, s) && lang.Words(c.Text) > 1) {
			owners = append(owners, -1)
			continue
		}
		if b.kind == quoted {
			c.Quotes = []string{c.Text}
		} else {
			c.Quotes = quotations(c.Text)
		}
		owners = append(owners, len(out))
		out = append(out, c)
	}
	for _, m := range marks {
		s := ownerOf(sentences, m)
		if s < 0 || owners[s] < 0 {
			continue
		}
		c := &out[owners[s]]
		for _, n := range m.numbers {
			if !slices.Contains(c.Sources, n) {
				c.Sources = append(c.Sources, n)
			}
		}
		c.End = max(c.End, b.start+m.end)
	}
	for i := len(out) - 2; i >= 0; i-- {
		if len(out[i].Sources) == 0 && len(out[i+1].Sources) > 0 {
			out[i].Sources, out[i].Inherited = slices.Clone(out[i+1].Sources), true
		}
	}
	return out
}

// ownerOf returns the sentence that a marker belongs to: the one around it,
// else the one before it, else the one after it.
func ownerOf(sentences []lang.Span, m marker) int {
	owner := -1
	for i, s := range sentences {
		if s.Start <= m.start {
			owner = i
		}
	}
	if owner < 0 && len(sentences) > 0 {
		return 0
	}
	return owner
}

func citedIn(marks []marker, sentences []lang.Span, s lang.Span) bool {
	return slices.ContainsFunc(marks, func(m marker) bool {
		o := ownerOf(sentences, m)
		return o >= 0 && sentences[o] == s
	})
}

// yearOnly is the start of a sentence that was cut after "г." for "year".
var yearOnly = pattern(`^\p{L}{1,5}\s\d{3,4}\s?гг?\.$`)

// join puts back together what was cut too finely: a sentence that is only
// punctuation, left by a marker, belongs to the one before it, and one that
// only names a year to the one after it.
func join(text string, spans []lang.Span) []lang.Span {
	var out []lang.Span
	for _, s := range spans {
		if len(out) > 0 && (!strings.ContainsFunc(s.In(text), wordRune) || yearOnly().MatchString(out[len(out)-1].In(text))) {
			out[len(out)-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// codeSpans finds inline code, in which brackets are no citations.
func codeSpans(text string) []span {
	var out []span
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			continue
		}
		n := i
		for n < len(text) && text[n] == '`' {
			n++
		}
		ticks := text[i:n]
		end := strings.Index(text[n:], ticks)
		if end < 0 {
			i = n - 1
			continue
		}
		out = append(out, span{i, n + end + len(ticks)})
		i = n + end + len(ticks) - 1
	}
	return out
}

// claims reports whether a sentence states something.
func claims(text string) bool {
	if text == "" || lang.Words(text) < 2 || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	last := strings.TrimRight(text, " \"”»*_)）")
	for _, end := range []string{"?", "？", ":", "："} {
		if strings.HasSuffix(last, end) {
			return false
		}
	}
	return true
}

var emphasis = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "")

// tidy takes Markdown and doubled spaces off a sentence.
func tidy(text string) string {
	text = emphasis.Replace(text)
	var b strings.Builder
	for i, f := range strings.Fields(text) {
		if i > 0 {
			r := rune(f[0])
			if !(len(f) <= 3 && strings.ContainsRune(".,;:!?", r)) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(f)
	}
	text = strings.TrimSpace(b.String())
	if len(text) > 1 && text[0] == '*' && strings.HasSuffix(text, "*") {
		text = strings.Trim(text, "*")
	}
	return spaceBefore().ReplaceAllString(text, "$1")
}

// quoteMarks are the pairs of quotation marks.
var quoteMarks = map[rune]rune{'«': '»', '“': '”', '„': '“', '「': '」', '『': '』', '‹': '›', '"': '"', '＂': '＂'}

const (
	quoteWords      = 4    // words from which a quoted span is a quotation, not a title
	quoteIdeographs = 8    // the same where a character counts as a word
	maxQuotation    = 2000 // characters beyond which a mark was never closed
	mostlyQuote     = 0.6  // share of a claim's letters from which any quoted span is one
)

// quotations returns the quoted spans of a sentence that claim to be somebody's
// words. Nested marks belong to the outer quotation.
func quotations(text string) []string {
	var out []string
	all := letters(text)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		closer, ok := quoteMarks[runes[i]]
		if !ok || runes[i] == '"' && i > 0 && unicode.IsDigit(runes[i-1]) { // 5" is a length
			continue
		}
		depth, end := 1, -1
		for j := i + 1; j < min(len(runes), i+maxQuotation); j++ {
			if runes[j] == closer || runes[i] == '„' && runes[j] == '”' {
				depth--
			} else if runes[j] == runes[i] {
				depth++
			}
			if depth == 0 {
				end = j
				break
			}
		}
		if end < 0 {
			continue
		}
		inner := strings.TrimSpace(string(runes[i+1 : end]))
		words, least := lang.Words(inner), quoteWords
		if strings.ContainsFunc(inner, ideograph) {
			least = quoteIdeographs
		}
		if words >= least || words > 0 && float64(letters(inner)) >= mostlyQuote*float64(all) {
			out = append(out, inner)
		}
		i = end
	}
	return out
}
