package cite

import (
	"slices"
	"strconv"
	"strings"

	"dossier/lang"
)

// A marker is a place where an answer cites sources by number.
type marker struct {
	start, end int
	numbers    []int
}

const (
	// numberList is what stands between the brackets: numbers of up to three
	// digits, since four are a year, with commas, semicolons or a dash.
	numberList = `\^?(?:(?i:source|sources|src|ref|источник|источники|ист\.|来源|來源|資料|资料)[ \t:№#]*)?\d{1,3}(?:[ \t]*[,;，、；–—-][ \t]*\^?\d{1,3})*(?:†[^\]】］\n]{0,80})?`
	// maxRange bounds the numbers of a marker like [2-9].
	maxRange = 20
)

var (
	numeric     = pattern(`^[ \t]*` + numberList + `[ \t]*$`)
	markerShape = pattern(`^(?:\[[ \t]*(?:` + numberList + `)[ \t]*\]|【[ \t]*(?:` + numberList + `)[ \t]*】|［[ \t]*(?:` + numberList + `)[ \t]*］)`)
	numberOr    = pattern(`\d{1,3}|[–—-]|†`)
)

// markers finds the citations of text outside the spans that are code.
func markers(text string, code []span) []marker {
	var out []marker
	for at := 0; ; {
		bracket := strings.IndexAny(text[at:], "[【［")
		if bracket < 0 {
			return out
		}
		at += bracket
		found := markerShape().FindString(text[at:])
		if found == "" {
			at++ // the next bracket is further on, also when this one has three bytes
			continue
		}
		end := at + len(found)
		if !slices.ContainsFunc(code, func(c span) bool { return at < c.end && c.start < end }) {
			out = append(out, marker{at, end, numbersIn(found)})
		}
		at = end
	}
}

type span struct{ start, end int }

// numbersIn reads the numbers of a marker, ranges included, each once.
func numbersIn(text string) []int {
	var out []int
	dash := false
	for _, tok := range numberOr().FindAllString(text, -1) {
		if tok == "†" {
			break // what follows describes the place in the source
		}
		n, err := strconv.Atoi(tok)
		if err != nil {
			dash = true
			continue
		}
		from := n
		if dash && len(out) > 0 && n > out[len(out)-1] && n-out[len(out)-1] <= maxRange {
			from = out[len(out)-1] + 1
		}
		for ; from <= n; from++ {
			if !slices.Contains(out, from) {
				out = append(out, from)
			}
		}
		dash = false
	}
	return out
}

// Marker returns the marker for sources in the form in which answers are
// delivered: "[1]", "[1][3]".
func Marker(numbers []int) string {
	var b strings.Builder
	for _, n := range numbers {
		b.WriteString("[" + strconv.Itoa(n) + "]")
	}
	return b.String()
}

// OnlyKnown takes citations of sources that don't exist out of an answer in
// Markdown and returns their numbers, each once. Code is left alone.
func OnlyKnown(markdown string, known func(n int) bool) (text string, unknown []int) {
	text = Renumber(markdown, func(n int) (int, bool) {
		if known(n) {
			return n, true
		}
		if !slices.Contains(unknown, n) {
			unknown = append(unknown, n)
		}
		return 0, false
	})
	return text, unknown
}

// Renumber gives the citations of an answer in Markdown other numbers. Those
// for which there is none are taken out. Code is left alone.
func Renumber(markdown string, to func(n int) (number int, ok bool)) string {
	var b strings.Builder
	byFences(markdown, func(part string, code bool) {
		if !code {
			part = renumber(part, to)
		}
		b.WriteString(part)
	})
	return b.String()
}

// byFences cuts a text in Markdown into blocks of fenced code and what stands
// between them.
func byFences(markdown string, each func(part string, code bool)) {
	fence, from, at := "", 0, 0
	flush := func(to int, code bool) {
		if from < to {
			each(markdown[from:to], code)
		}
		from = to
	}
	for line := range strings.Lines(markdown) {
		bare := strings.TrimSpace(line)
		switch {
		case fence == "" && fenceLine().MatchString(line):
			flush(at, false)
			fence = bare[:3]
		case fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "":
			flush(at+len(line), true)
			fence = ""
		}
		at += len(line)
	}
	flush(len(markdown), fence != "")
}

// Mark is a place in an answer that cites a source.
type Mark struct {
	lang.Span // in bytes
	Number    int
}

// Marks returns the citations of an answer in Markdown, in order; a place that
// cites several sources is several marks.
func Marks(markdown string) []Mark {
	var out []Mark
	at := 0
	byFences(markdown, func(part string, code bool) {
		if !code {
			for _, m := range markers(part, codeSpans(part)) {
				for _, n := range m.numbers {
					out = append(out, Mark{lang.Span{Start: at + m.start, End: at + m.end}, n})
				}
			}
		}
		at += len(part)
	})
	return out
}

// renumber does it for a text without fenced code.
func renumber(text string, to func(n int) (number int, ok bool)) string {
	marks := markers(text, codeSpans(text))
	if len(marks) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, m := range marks {
		var numbers []int
		for _, n := range m.numbers {
			if number, ok := to(n); ok && !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
		before := text[last:m.start]
		if len(numbers) == 0 {
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(Marker(numbers))
		last = m.end
	}
	b.WriteString(text[last:])
	return b.String()
}
