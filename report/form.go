package report

import (
	"slices"
	"strings"

	"dossier/cite"
)

// Extent is how much of a report is rendered.
type Extent uint8

// The extents.
const (
	Full  Extent = iota // all of it
	Short               // the answer, with coverage, notes and sources in a few lines
	Brief               // the answer and its places, nothing else
)

// Form is how a report is rendered as Markdown.
type Form struct {
	Extent Extent
	// Linked makes links of the places, for a terminal. The text is then not
	// made to be read as it is.
	Linked bool
}

// How much of what is beside the answer the short form has.
const (
	fewSources = 5
	fewNotes   = 3
	fewPlaces  = 4
)

// Markdown renders a report in the form.
func (f Form) Markdown(r *Report) string {
	w := markdownWriter{Report: r, Form: f}
	if f.Extent == Brief {
		w.brief()
		return w.out.String()
	}
	w.block("# " + markdownLine(r.name()))
	if r.Title != "" && r.Title != r.Question {
		w.block(markdownStart(r.Question))
	}
	for _, label := range r.labels() {
		w.block("*" + markdownLine(label) + "*")
	}
	w.answer()
	w.nearest()
	w.conflicts()
	w.list("heading.changes", r.Told())
	if f.Extent == Short {
		w.few()
		return w.out.String()
	}
	w.list("heading.next", r.FollowUps)
	w.list("heading.coverage", r.coverage())
	w.list("heading.notes", r.Notes)
	w.sources()
	if made := r.made(); made != "" {
		w.block("---\n\n" + markdownStart(made))
	}
	return w.out.String()
}

// answer writes the answer itself.
func (w *markdownWriter) answer() {
	if w.Text != "" {
		w.block(modelMarkdown(w.Text, 2))
	}
	w.part("heading.summary", w.Summary)
	for i := range w.Sections {
		s := &w.Sections[i]
		if s.Title != "" {
			w.block("## " + markdownLine(w.sectionTitle(i)))
		}
		if s.Text != "" {
			w.block(modelMarkdown(s.Text, 3))
		}
		for j := range s.Quotes {
			w.quote(&s.Quotes[j])
		}
		for _, f := range w.figures(i) {
			w.block(w.tabled(f))
		}
	}
	w.part(w.lastHeading(), w.Conclusion)
}

// part writes a text of the report under a heading of the frame.
func (w *markdownWriter) part(heading, text string) {
	if text != "" {
		w.block("## " + w.say(heading))
		w.block(modelMarkdown(text, 3))
	}
}

func (w *markdownWriter) nearest() {
	if len(w.Nearest) == 0 {
		return
	}
	w.block("## " + w.say("heading.nearest"))
	w.block("*" + w.say("nearest.label") + "*")
	for i := range w.Nearest {
		w.quote(&w.Nearest[i])
	}
}

// brief writes the answer and where it stands.
func (w *markdownWriter) brief() {
	if w.Outcome == Nothing {
		w.block("*" + markdownLine(w.say("answer.none")) + "*")
	}
	w.answer()
	if w.written() { // quotes tell their places themselves
		w.block(strings.Join(w.places(len(w.Sources)), "\n"))
	}
}

// written reports whether some of the answer is not a quote.
func (r *Report) written() bool {
	for _, text := range r.texts() {
		if text != "" {
			return true
		}
	}
	return false
}

// few writes what to ask next, coverage, notes and sources in a few lines.
func (w *markdownWriter) few() {
	if len(w.FollowUps) > 0 {
		w.block("**" + w.say("heading.next") + "**")
		var lines []string
		for _, q := range w.FollowUps {
			lines = append(lines, "- "+markdownStart(q))
		}
		w.block(strings.Join(lines, "\n"))
	}
	if c := w.coverage(); len(c) > 0 {
		for i := range c {
			c[i] = strings.TrimRight(c[i], ".。")
		}
		w.block("**" + w.say("heading.coverage") + ":** " + markdownLine(strings.Join(c, " · ")))
	}
	more := func(lines []string, all int) []string {
		if n := all - len(lines); n > 0 {
			lines = append(lines, "- "+markdownStart(w.say("report.more", "n", n)))
		}
		return lines
	}
	var notes []string
	for _, n := range w.Notes[:min(len(w.Notes), fewNotes)] {
		notes = append(notes, "- "+markdownStart(n))
	}
	if len(notes) > 0 {
		w.block("**" + w.say("heading.notes") + "**")
		w.block(strings.Join(more(notes, len(w.Notes)), "\n"))
	}
	if len(w.Sources) > 0 {
		w.block("**" + w.say("heading.sources") + "**")
		w.block(strings.Join(more(w.places(fewSources), len(w.Sources)), "\n"))
	}
}

// places lists the first sources, each in a line: its number, its title, and
// where in it the answer stands, as far as the answer does not tell.
func (w *markdownWriter) places(most int) []string {
	var out []string
	for i := range w.Sources[:min(len(w.Sources), most)] {
		s := &w.Sources[i]
		parts := []string{}
		if title, _ := w.describe(s); title != "" {
			parts = append(parts, markdownLine(title))
		}
		whole := w.locationOf(s, nil)
		at := []string{w.place(whole)}
		if s.Kind == cite.Web && whole.href != "" && !w.Linked {
			at[0] = "<" + whole.href + ">" // to be opened from any form
		}
		if w.written() && s.Kind != cite.Web && len(s.Passages) > 0 {
			at = nil
			for j := range s.Passages {
				if p := w.place(w.locationOf(s, &s.Passages[j])); !slices.Contains(at, p) {
					at = append(at, p)
				}
			}
			if n := len(at); n > fewPlaces {
				at = append(at[:fewPlaces], "…")
			}
		}
		out = append(out, "- "+cite.Marker([]int{s.Number})+" "+strings.Join(append(parts, strings.Join(at, ", ")), " · "))
	}
	return out
}

// place is a location: a link to it where places are linked, else its label.
func (w *markdownWriter) place(at location) string {
	if !w.Linked || at.href == "" {
		return markdownLine(at.label)
	}
	var label strings.Builder
	for _, r := range at.label {
		if strings.ContainsRune("\\`*_[]<>&!#:@.~|", r) {
			label.WriteByte('\\')
		}
		label.WriteRune(r)
	}
	return "[" + label.String() + "](<" + at.href + ">)"
}

// Address is where the source with a number can be opened, empty if nowhere.
func (r *Report) Address(number int) string {
	s := r.Source(number)
	if s == nil {
		return ""
	}
	return r.locationOf(s, nil).href
}
