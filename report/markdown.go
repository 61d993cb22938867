package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/cite"
	"dossier/lang"
)

// unverified is the mark that package cite puts behind a claim that failed.
const unverified = "[?]"

// Markdown renders a report, all of it. The text is made to be read as it is,
// too.
func Markdown(r *Report) string { return Form{}.Markdown(r) }

type markdownWriter struct {
	*Report
	Form
	out strings.Builder
}

// say returns a message of the frame.
func (r *Report) say(key string, args ...any) string { return lang.Text(r.Lang, key, args...) }

// block appends a block after a blank line.
func (w *markdownWriter) block(text string) {
	if text == "" {
		return
	}
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString(text + "\n")
}

// list appends a heading with sentences under it.
func (w *markdownWriter) list(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	w.block("## " + w.say(heading))
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = "- " + markdownStart(item)
	}
	w.block(strings.Join(lines, "\n"))
}

// quote shows where a quote stands, and under it its words.
func (w *markdownWriter) quote(q *Quote) {
	lines := markdownBlock(q.displayed())
	if len(lines) == 0 {
		return
	}
	w.block("> " + w.reference(q) + "  \n> " + strings.Join(lines, "\n> "))
}

// reference is the number of a quote's source and its location.
func (w *markdownWriter) reference(q *Quote) string {
	ref := cite.Marker([]int{q.Passage.Source})
	s := w.Source(q.Passage.Source)
	if s == nil {
		return ref
	}
	ref += " " + w.place(w.locationOf(s, q))
	if path := under(s, q); path != "" {
		ref += " · " + markdownLine(path)
	}
	if language := w.spoken(q); language != "" {
		ref += " · " + markdownLine(language)
	}
	return ref
}

// conflicts writes what sources say differently: a list, in research a table.
func (w *markdownWriter) conflicts() {
	if len(w.Conflicts) == 0 {
		return
	}
	w.block("## " + w.say("heading.conflicts"))
	if w.Kind != Research {
		for _, c := range w.Conflicts {
			w.block(w.statement(c.A) + "\n" + w.statement(c.B))
		}
		return
	}
	var rows [][]string
	for _, c := range w.Conflicts {
		for _, s := range []cite.Statement{c.A, c.B} {
			rows = append(rows, []string{markdownLine(s.Value), markdownLine(w.dated(s.Date)), w.reference(&Quote{Passage: s.Passage}), markdownLine(together(display(s.Quote)))})
		}
	}
	w.table([]string{"conflict.value", "conflict.date", "conflict.source", "conflict.words"}, rows)
}

// table writes a table under headings of the frame.
func (w *markdownWriter) table(headings []string, rows [][]string) {
	head := make([]string, len(headings))
	for i, key := range headings {
		head[i] = w.say(key)
	}
	w.block(markdownRows(append([][]string{head}, rows...)))
}

// markdownRows is a table whose first row is its header.
func markdownRows(rows [][]string) string {
	var b strings.Builder
	for i, row := range slices.Insert(slices.Clone(rows), 1, slices.Repeat([]string{"---"}, len(rows[0]))) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, cell := range row {
			b.WriteString("| " + bars.Replace(cell) + " ")
		}
		b.WriteByte('|')
	}
	return b.String()
}

var bars = strings.NewReplacer(`\|`, `\|`, `|`, `\|`)

// overview writes the table of sources.
func (w *markdownWriter) overview() {
	rows := make([][]string, len(w.Sources))
	for i := range w.Sources {
		s := &w.Sources[i]
		rows[i] = []string{cite.Marker([]int{s.Number}), markdownLine(w.shortName(s)), w.kindOf(s), markdownLine(w.dated(s.Date)), markdownLine(strings.Join(s.Used, ", "))}
	}
	w.table([]string{"source.number", "source.what", "source.kind", "source.date", "source.used"}, rows)
}

// statement is an item of a list: the value, its date and place, and the words of
// the source as a quotation.
func (w *markdownWriter) statement(s cite.Statement) string {
	date := w.dated(s.Date)
	q := Quote{Passage: s.Passage}
	return "- **" + markdownLine(strings.ReplaceAll(s.Value, "*", "")) + "** (" + markdownLine(date) + ") — " + w.reference(&q) +
		"\n  > " + markdownStart(together(display(s.Quote)))
}

func (w *markdownWriter) sources() {
	if len(w.Sources) == 0 {
		return
	}
	w.block("## " + w.say("heading.sources"))
	if w.Kind == Research {
		w.overview()
	}
	var lines []string
	for i := range w.Sources {
		s := &w.Sources[i]
		title, rest := w.describe(s)
		whole := w.locationOf(s, nil)
		head := make([]string, 0, len(rest)+2)
		if title != "" {
			head = append(head, markdownLine(title))
		}
		for _, part := range rest {
			head = append(head, markdownLine(part))
		}
		web := whole.href != "" && s.Kind == cite.Web
		if only := w.only(s); only != nil && !web {
			head = append(head, w.located(s, only))
		} else if !web || len(head) == 0 {
			head = append(head, markdownLine(whole.label))
		}
		lines = append(lines, "- "+cite.Marker([]int{s.Number})+" "+strings.Join(head, " · "))
		switch {
		case len(s.Passages) == 0 && web:
			lines = append(lines, "  "+w.located(s, &Quote{}))
		case w.only(s) != nil && web:
			lines = append(lines, "  "+w.located(s, w.only(s)))
		case w.only(s) == nil:
			for _, q := range w.listed(s) {
				lines = append(lines, w.passage(s, q)...)
			}
		}
	}
	w.block(strings.Join(lines, "\n"))
}

// passage lists one passage of a source: its location, and its words where the
// report does not quote them above.
func (w *markdownWriter) passage(s *Source, q *Quote) []string {
	lines := []string{"  - " + w.located(s, q)}
	if w.spelled(q) {
		for _, l := range markdownBlock(q.displayed()) {
			lines = append(lines, "    > "+l)
		}
	}
	return lines
}

// located is the location of a passage with the headings that it stands under.
func (w *markdownWriter) located(s *Source, q *Quote) string {
	at := w.locationOf(s, q)
	out := markdownStart(at.label)
	switch {
	case w.Linked:
		out = w.place(at)
	case s.Kind == cite.Web && at.href != "":
		out = "<" + at.href + ">"
	}
	if path := under(s, q); path != "" {
		out += " · " + markdownLine(path)
	}
	return out
}

// only returns the passage of a source that is listed in one line with it:
// the single one, unless its words are listed too.
func (r *Report) only(s *Source) *Quote {
	if list := r.listed(s); len(list) == 1 && !r.spelled(list[0]) {
		return list[0]
	}
	return nil
}

// spelled reports whether the words of a passage are listed with its source: where
// the answer is written, unless they are quoted in it.
func (r *Report) spelled(q *Quote) bool {
	return r.written() && !slices.ContainsFunc(r.Sections, func(s Section) bool {
		return slices.ContainsFunc(s.Quotes, func(o Quote) bool {
			return o.Passage.Source == q.Passage.Source && o.Passage.Start <= q.Passage.Start && q.Passage.End <= o.Passage.End
		})
	})
}

// listed returns the passages of a source as they are listed with it: each
// location once, unless its words are listed too.
func (r *Report) listed(s *Source) []*Quote {
	type spot struct {
		location
		under string
	}
	var out []*Quote
	seen := make(map[spot]bool)
	for i := range s.Passages {
		q := &s.Passages[i]
		at := spot{r.locationOf(s, q), under(s, q)}
		if !r.spelled(q) && seen[at] {
			continue
		}
		seen[at] = true
		out = append(out, q)
	}
	return out
}

// name is the title of the report.
func (r *Report) name() string {
	if r.Title != "" {
		return r.Title
	}
	return r.Question
}

// labels say what kind of an answer this is.
func (r *Report) labels() []string {
	var out []string
	switch {
	case r.Outcome == Nothing:
		return []string{r.say("answer.none") + " " + r.say("answer.none.hint")}
	case r.Extractive && r.Assisted:
		out = append(out, r.say("answer.assisted"))
	case r.Extractive:
		out = append(out, r.say("answer.extractive"))
	case r.Model != "":
		out = append(out, r.say("answer.model", "model", r.Model))
	}
	if r.Outcome == Partial {
		out = append(out, r.say("answer.partial"))
	}
	if found := r.elsewhere(); found != "" {
		out = append(out, found)
	}
	if n := len(r.Edits); n > 0 {
		out = append(out, r.say("answer.edited", "n", n, "date", r.Edits[n-1].Made.UTC().Format(time.DateOnly)))
	}
	if n := len(r.Unchecked()); n > 0 {
		out = append(out, r.say("answer.unchecked", "n", n, "mark", unverified))
	}
	return out
}

// coverage says how much of question and answer has evidence, in sentences.
func (r *Report) coverage() []string {
	if r.Outcome == Nothing {
		return nil
	}
	var out []string
	c := &r.Coverage
	if c.Facets.Total > 0 {
		out = append(out, r.say("coverage.line", "covered", c.Facets.Covered, "total", c.Facets.Total))
	}
	if len(c.Missing) > 0 {
		out = append(out, r.say("coverage.missing", "points", strings.Join(c.Missing, "; ")))
	}
	switch {
	case len(c.Unsure) == 0:
	case c.Facets.Total == 1:
		out = append(out, r.say("coverage.unsure.all"))
	default:
		out = append(out, r.say("coverage.unsure", "points", strings.Join(c.Unsure, "; ")))
	}
	switch {
	case c.Claims.Total == 0:
	case r.Extractive && c.Claims.Covered == c.Claims.Total:
		out = append(out, r.say("coverage.quotes", "n", c.Claims.Total))
	default:
		out = append(out, r.say("coverage.claims", "covered", c.Claims.Covered, "total", c.Claims.Total))
	}
	if slices.ContainsFunc(r.texts(), func(text string) bool { return strings.Contains(text, unverified) }) {
		out = append(out, r.say("coverage.unverified", "mark", unverified))
	}
	if c.Independent > 0 {
		out = append(out, r.say("coverage.independent", "n", c.Independent))
	}
	return out
}

// made says when and by which run the report was made.
func (r *Report) made() string {
	var parts []string
	if !r.Created.IsZero() {
		parts = append(parts, r.say("report.made", "date", r.Created.UTC().Format(time.DateOnly)))
	}
	if r.Run != "" {
		parts = append(parts, r.say("report.run", "run", r.Run))
	}
	return strings.Join(parts, " · ")
}

// modelMarkdown returns what a model wrote as Markdown that leads nowhere,
// with its headings at least at a level. What could still be read as a link
// or as HTML is delivered as plain text.
func modelMarkdown(text string, level int) string {
	text = modelText(text)
	out := lowerHeadings(text, level)
	for _, end := range []string{"", "\n```", "\n~~~"} { // the answer may have been cut in a block of code
		if harmless(out + end) {
			return out + end
		}
	}
	var blocks []string
	for block := range strings.SplitSeq(text, "\n\n") {
		if lines := markdownBlock(display(block)); len(lines) > 0 {
			blocks = append(blocks, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(blocks, "\n\n")
}

// lowerHeadings moves headings down so that the highest has the level given.
func lowerHeadings(text string, level int) string {
	least := 7
	headings := func(do func(n int, line string) string) string {
		var b strings.Builder
		fence := ""
		for l := range strings.Lines(text) {
			bare := strings.TrimLeft(l, " ")
			if c := fenceOf(bare); c != "" && (fence == "" || fence == c) {
				if fence == "" {
					fence = c
				} else {
					fence = ""
				}
			}
			if n := run(bare, '#'); fence == "" && n > 0 && n <= 6 && len(l)-len(bare) < 4 && strings.HasPrefix(bare[n:], " ") {
				l = do(n, bare[n:])
			}
			b.WriteString(l)
		}
		return b.String()
	}
	headings(func(n int, l string) string { least = min(least, n); return l })
	if least >= level {
		return text
	}
	return headings(func(n int, l string) string { return strings.Repeat("#", min(6, n+level-least)) + l })
}

func fenceOf(line string) string {
	for _, c := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, c) {
			return c
		}
	}
	return ""
}

// markerNumber reads the number of "[12]".
func markerNumber(marker string) int {
	n, _ := strconv.Atoi(strings.Trim(marker, "[]"))
	return n
}
