package report

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/lang"
)

// style is the whole look of a page. It has no addresses in it.
const style = `:root{color-scheme:light dark;--ink:#1c1f23;--dim:#5c6570;--line:#d8dde3;--tint:#f4f6f8;--link:#0b5cad;--warn:#8a4b00;--paper:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e4e7eb;--dim:#9aa4af;--line:#3a424b;--tint:#20262c;--link:#7db7f5;--warn:#f0b35a;--paper:#15191d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,"Noto Sans","PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 4rem;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .6rem}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3,h4,h5,h6{font-size:1.05rem;margin:1.4rem 0 .4rem}
a{color:var(--link)}
.label{color:var(--dim);margin:.3rem 0}
.warn,.unverified{color:var(--warn)}
blockquote{margin:1rem 0;padding:.6rem 1rem;background:var(--tint);border-inline-start:4px solid var(--line)}
blockquote p{margin:0 0 .4rem}
blockquote code{white-space:pre-wrap}
mark{background:none;color:inherit;font-weight:700}
.ref{color:var(--dim);font-size:.88rem}
code,pre{font:.9em/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
pre{overflow-x:auto;padding:.8rem 1rem;background:var(--tint)}
table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:start}
figure{margin:1.4rem 0}
figcaption{color:var(--dim);font-size:.88rem}
.plot{display:block;width:100%;height:auto}
.plot text{font-family:system-ui,"Noto Sans",sans-serif;fill:var(--ink)}
.plot text.dim{fill:var(--dim)}
.plot .line.dim{stroke:var(--dim)}
.plot .grid{stroke:var(--line)}
.plot .s1{stroke:#2f74b5;fill:#2f74b5}
.plot .s2{stroke:#c8701a;fill:#c8701a}
.plot .s3{stroke:#3d8f55;fill:#3d8f55}
.plot .s4{stroke:#96559f;fill:#96559f}
.plot text,.plot rect{stroke:none}
.plot .line{fill:none}
.sources li{margin:.7rem 0}
.sources ul{padding-inline-start:1.1rem}
:target{outline:2px solid var(--link);outline-offset:4px}
footer{margin-top:2.5rem;color:var(--dim);font-size:.88rem}
@media print{:root{--ink:#000;--dim:#444;--line:#bbb;--tint:#fff;--link:#000;--warn:#000;--paper:#fff}main{max-width:none;padding:0}blockquote,li,figure{break-inside:avoid}h2,h3{break-after:avoid}.sources a[href^=http]::after{content:" " attr(href)}}
`

// policy lets the page do nothing but look like style says.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// HTML renders a report as one page that needs nothing else: no script, no
// remote resource.
func HTML(r *Report) string {
	w := &page{Report: r}
	w.WriteString("<!doctype html>\n")
	w.open("html", "lang", string(lang.Catalogue(r.Lang)))
	w.WriteString("\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	w.open("meta", "http-equiv", "Content-Security-Policy", "content", policy())
	w.WriteString("\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	w.element("title", line(r.name()))
	w.WriteString("\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n")
	w.element("h1", line(r.name()), "dir", "auto")
	w.WriteByte('\n')
	if r.Title != "" && r.Title != r.Question {
		w.paragraph("label", r.Question)
	}
	for _, label := range r.labels() {
		class := "label"
		if r.Outcome == Nothing {
			class = "warn"
		}
		w.paragraph(class, label)
	}
	if r.Text != "" {
		w.model(r.Text, 2)
	}
	w.part("heading.summary", r.Summary)
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Title != "" {
			w.open("h2", "dir", "auto")
			w.foreign(r.sectionTitle(i))
			w.WriteString("</h2>\n")
		}
		if s.Text != "" {
			w.model(s.Text, 3)
		}
		for j := range s.Quotes {
			w.quote(&s.Quotes[j])
		}
		for _, f := range r.figures(i) {
			w.figure(f)
		}
	}
	w.part(r.lastHeading(), r.Conclusion)
	if len(r.Nearest) > 0 {
		w.heading("heading.nearest")
		w.paragraph("label", w.say("nearest.label"))
		for i := range r.Nearest {
			w.quote(&r.Nearest[i])
		}
	}
	w.conflicts()
	w.list("heading.changes", r.Told())
	w.list("heading.next", r.FollowUps)
	w.list("heading.coverage", r.coverage())
	w.list("heading.notes", r.Notes)
	w.sources()
	if made := r.made(); made != "" {
		w.element("footer", line(made))
		w.WriteByte('\n')
	}
	w.WriteString("</main>\n</body>\n</html>\n")
	return w.String()
}

// page writes a report as HTML.
type page struct {
	markup
	*Report
}

func (w *page) heading(key string) {
	w.element("h2", w.say(key))
	w.WriteByte('\n')
}

// part writes a text of the report under a heading of the frame.
func (w *page) part(heading, text string) {
	if text != "" {
		w.heading(heading)
		w.model(text, 3)
	}
}

func (w *page) paragraph(class, text string) {
	w.element("p", line(text), "class", class)
	w.WriteByte('\n')
}

func (w *page) list(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	w.heading(heading)
	w.WriteString("<ul>\n")
	for _, item := range items {
		w.open("li")
		w.foreign(line(item))
		w.WriteString("</li>\n")
	}
	w.WriteString("</ul>\n")
}

// words writes a quote's text, with its language if that is another.
func (w *page) words(lines []shown, s *Source) {
	code := ""
	if s != nil && s.Lang != w.Lang && s.Lang != lang.Unknown {
		code = string(s.Lang)
	}
	w.open("p", "lang", code, "dir", "auto")
	for i, l := range lines {
		if i > 0 {
			w.WriteString("<br>\n")
		}
		l.html(&w.markup)
	}
	w.WriteString("</p>\n")
}

func (w *page) quote(q *Quote) {
	s := w.Source(q.Passage.Source)
	w.WriteString("<blockquote>\n")
	w.reference(s, q)
	w.words(q.displayed(), s)
	w.WriteString("</blockquote>\n")
}

// reference writes the number of a quote's source and its location.
func (w *page) reference(s *Source, q *Quote) {
	w.WriteString(`<div class="ref">`)
	if s == nil {
		w.text(cite.Marker([]int{q.Passage.Source}))
	} else {
		w.marker(&w.markup, s.Number)
		w.WriteByte(' ')
		w.location(w.locationOf(s, q))
		w.under(s, q)
		if language := w.spoken(q); language != "" {
			w.text(" · " + language)
		}
	}
	w.WriteString("</div>\n")
}

// under writes the headings that a passage stands under.
func (w *page) under(s *Source, q *Quote) {
	if path := under(s, q); path != "" {
		w.text(" · " + path)
	}
}

// marker writes the number of a source as a link to its entry.
func (w *page) marker(m *markup, number int) {
	m.element("a", cite.Marker([]int{number}), "href", "#"+sourceID(number))
}

func sourceID(number int) string { return "source-" + strconv.Itoa(number) }

func (w *page) location(at location) {
	if at.href == "" {
		w.text(at.label)
		return
	}
	w.element("a", at.label, "href", at.href, "rel", "noopener noreferrer")
}

func (w *page) conflicts() {
	if len(w.Conflicts) == 0 {
		return
	}
	w.heading("heading.conflicts")
	if w.Kind == Research {
		w.conflictTable()
		return
	}
	for _, c := range w.Conflicts {
		w.WriteString("<ul>\n")
		for _, s := range []cite.Statement{c.A, c.B} {
			w.WriteString("<li>")
			w.element("strong", line(s.Value))
			w.text(" (" + w.dated(s.Date) + ")\n")
			source := w.Source(s.Passage.Source)
			w.words(display(s.Quote), source)
			w.reference(source, w.quoteOf(source, s.Passage))
			w.WriteString("</li>\n")
		}
		w.WriteString("</ul>\n")
	}
}

// quoteOf returns the quote of a passage as its source lists it.
func (r *Report) quoteOf(s *Source, p cite.Passage) *Quote {
	if s != nil {
		for i := range s.Passages {
			if q := &s.Passages[i]; q.Passage.Start == p.Start && q.Passage.End == p.End {
				return q
			}
		}
	}
	return &Quote{Passage: p}
}

func (w *page) sources() {
	if len(w.Sources) == 0 {
		return
	}
	w.heading("heading.sources")
	if w.Kind == Research {
		w.overview()
	}
	w.WriteString("<ol class=\"sources\">\n")
	for i := range w.Sources {
		s := &w.Sources[i]
		w.open("li", "id", sourceID(s.Number), "value", strconv.Itoa(s.Number))
		title, rest := w.describe(s)
		if title != "" {
			w.element("strong", title, "dir", "auto")
			w.WriteString("<br>\n")
		}
		only := w.only(s)
		w.location(w.locationOf(s, only))
		if only != nil {
			w.under(s, only)
		}
		if len(rest) > 0 {
			w.text(" · " + strings.Join(rest, " · "))
		}
		if len(s.Passages) > 0 && only == nil {
			w.WriteString("\n<ul>\n")
			for _, q := range w.listed(s) {
				w.passage(s, q)
			}
			w.WriteString("</ul>")
		}
		w.WriteString("</li>\n")
	}
	w.WriteString("</ol>\n")
}

// passage lists one passage of a source: its location, and its words where the
// report does not quote them above.
func (w *page) passage(s *Source, q *Quote) {
	w.WriteString("<li>")
	w.location(w.locationOf(s, q))
	w.under(s, q)
	if w.spelled(q) {
		w.WriteString("\n<blockquote>\n")
		w.words(q.displayed(), s)
		w.WriteString("</blockquote>")
	}
	w.WriteString("</li>\n")
}
