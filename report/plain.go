package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
)

// Plain returns the answer of a report by itself, in Markdown with [n] for source
// n, and its marks: for those who show title, sources and coverage in their own
// way, or not at all. Where nothing was found it says so, with what was noted and
// the nearest passages.
func Plain(r *Report) (string, []event.Citation) {
	p := &bare{Report: r, bearing: make(map[string]*cite.Checked)}
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Verified {
			p.bearing[c.Text] = c
		}
	}
	if r.Outcome == Nothing {
		p.nothing()
	}
	if r.Text != "" {
		p.written(modelMarkdown(r.Text, 1))
	}
	p.part("heading.summary", r.Summary)
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Title != "" {
			p.block("## " + markdownLine(r.sectionTitle(i)))
		}
		if s.Text != "" {
			p.written(modelMarkdown(s.Text, 3))
		}
		p.quotes(s.Quotes)
		for _, f := range p.figures(i) {
			p.written(p.tabled(f))
		}
	}
	p.part(r.lastHeading(), r.Conclusion)
	if len(r.Nearest) > 0 {
		p.block(r.say("nearest.label"))
		p.quotes(r.Nearest)
	}
	text := p.out.String()
	inCharacters(text, p.cited)
	return text, p.cited
}

// bare writes the answer without what stands around it.
type bare struct {
	*Report
	bearing map[string]*cite.Checked // claims that hold, by their words
	out     strings.Builder
	cited   []event.Citation // with offsets in bytes
}

// block appends a block after a blank line.
func (p *bare) block(text string) {
	if p.out.Len() > 0 {
		p.out.WriteString("\n\n")
	}
	p.out.WriteString(text)
}

// nothing says that there is no answer, and what is known of why.
func (p *bare) nothing() {
	p.block(p.labels()[0])
	for _, n := range p.Notes {
		p.block(markdownStart(n))
	}
}

// part writes a text under a heading of the frame.
func (p *bare) part(heading, text string) {
	if text != "" {
		p.block("## " + p.say(heading))
		p.written(modelMarkdown(text, 3))
	}
}

// written writes a text that has marks.
func (p *bare) written(markdown string) {
	p.block(markdown)
	from := p.out.Len() - len(markdown)
	claims := cite.Split(markdown)
	for _, m := range cite.Marks(markdown) {
		c, ok := p.citation(m.Number)
		if !ok {
			continue
		}
		c.Start, c.End = from+m.Start, from+m.End
		if i := slices.IndexFunc(claims, func(c cite.Claim) bool { return c.Start <= m.Start && m.End <= c.End }); i >= 0 {
			c.Quote = p.bears(claims[i].Text, m.Number)
		}
		p.cited = append(p.cited, c)
	}
}

// quotes writes each quote with the mark of its source.
func (p *bare) quotes(list []Quote) {
	for i := range list {
		q := &list[i]
		lines := markdownBlock(q.displayed())
		if len(lines) == 0 {
			continue
		}
		mark := cite.Marker([]int{q.Passage.Source})
		p.block(strings.Join(lines, "\n") + " " + mark)
		c, ok := p.citation(q.Passage.Source)
		if !ok {
			continue
		}
		c.Start, c.End = p.out.Len()-len(mark), p.out.Len()
		c.Quote = shortened(q.Text)
		if m := q.mark(); m.Start < m.End {
			c.Quote = shortened(m.In(q.Text))
		}
		p.cited = append(p.cited, c)
	}
}

// citation is a source of the report as a mark names it.
func (p *bare) citation(number int) (event.Citation, bool) {
	s := p.Source(number)
	if s == nil {
		return event.Citation{}, false
	}
	return event.Citation{Number: number, URL: cmp.Or(p.Address(number), s.URI), Title: p.shortName(s)}, true
}

// bears is the passage of a source that bears a claim out; empty where there is
// none.
func (p *bare) bears(claim string, number int) string {
	c, s := p.bearing[claim], p.Source(number)
	if c == nil {
		return ""
	}
	for _, at := range c.Passages {
		if at.Source != number {
			continue
		}
		for i := range s.Passages {
			q := &s.Passages[i]
			if from := q.Passage.Start; from <= at.Start && at.End <= q.Passage.End && q.Passage.End-from == len(q.Text) {
				return shortened(q.Text[at.Start-from : at.End-from])
			}
		}
	}
	return ""
}

// mostQuoted is how much of a passage is told beside an answer, in characters.
const mostQuoted = 600

// shortened is a quote on one line.
func shortened(text string) string {
	text = line(text)
	n := 0
	for i := range text {
		if n++; n > mostQuoted {
			return text[:i] + "…"
		}
	}
	return text
}

// inCharacters makes offsets in bytes, which are in order, offsets in characters.
func inCharacters(text string, cited []event.Citation) {
	read, characters := 0, 0
	to := func(at int) int {
		characters += utf8.RuneCountInString(text[read:at])
		read = at
		return characters
	}
	last := -1
	for i := range cited {
		c := &cited[i]
		if c.Start == last { // a place that cites several
			c.Start, c.End = cited[i-1].Start, cited[i-1].End
			continue
		}
		last = c.Start
		c.Start, c.End = to(c.Start), to(c.End)
	}
}
