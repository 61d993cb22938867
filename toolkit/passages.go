package toolkit

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dossier/extract"
	"dossier/kb"
	"dossier/reader"
	"dossier/sources"
)

// mostPassages bounds the passages of a page that are put in order.
const mostPassages = 2000

// shown is what of a page a model sees: all of it, or, where it is too long, the
// passages that say most about the task, whole and in their order, each under its
// headings. The first is always among them: it says what the page is.
func (p *openedPage) shown(about string, limit int) string {
	if utf8.RuneCountInString(p.text) <= limit {
		return p.text
	}
	spots := p.doc.Passages
	if len(spots) == 0 { // it was read before
		for _, c := range kb.Cut(&reader.Page{Text: p.text}, 0) {
			spots = append(spots, sources.Spot(c))
		}
	}
	spots = slices.DeleteFunc(slices.Clone(spots[:min(len(spots), mostPassages)]), func(s sources.Spot) bool {
		return s.Start < 0 || s.End > len(p.text) || s.Start >= s.End
	})
	if len(spots) == 0 {
		return cut(p.text, limit)
	}
	passages := make([]extract.Passage, len(spots))
	for i, s := range spots {
		passages[i] = extract.Passage{ID: strconv.Itoa(i), Title: p.source.Title, Headings: s.Headings, Text: p.text[s.Start:s.End]}
	}
	left := limit
	var taken []int
	take := func(n int) {
		size := utf8.RuneCountInString(under(passages[n])) + utf8.RuneCountInString(passages[n].Text) + len(gap)
		if !slices.Contains(taken, n) && size <= left {
			taken = append(taken, n)
			left -= size
		}
	}
	take(0)
	for _, best := range extract.Ordered(about, passages) {
		if n, err := strconv.Atoi(best.ID); err == nil {
			take(n)
		}
	}
	if len(taken) == 0 {
		return cut(p.text, limit)
	}
	slices.Sort(taken)
	var b strings.Builder
	before := -1
	for _, n := range taken {
		switch {
		case before >= 0 && n != before+1 || before < 0 && n > 0:
			b.WriteString(gap)
		case before >= 0:
			b.WriteString("\n\n")
		}
		if before < 0 || !slices.Equal(spots[n].Headings, spots[before].Headings) {
			b.WriteString(under(passages[n]))
		}
		b.WriteString(passages[n].Text)
		before = n
	}
	return b.String()
}

// gap stands for what is left out between two passages.
const gap = "\n\n[…]\n\n"

// under are the headings of a passage as a line above it, unless it begins with
// one of them.
func under(p extract.Passage) string {
	begins := func(heading string) bool { return strings.HasPrefix(p.Text, heading) }
	if len(p.Headings) == 0 || slices.ContainsFunc(p.Headings, begins) {
		return ""
	}
	return "(" + oneLine(strings.Join(p.Headings, " › ")) + ")\n"
}
