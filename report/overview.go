package report

import (
	"regexp"
	"strconv"
	"sync"

	"dossier/cite"
)

// A report of research is long: its sections are numbered, and tables tell what
// the sources disagree on and what each of them was used for.

var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:\d{1,2}(?:[.)、]|\s)|[一二三四五六七八九十]{1,3}、)\s*`)
})

// sectionTitle is the heading of a section as it is shown.
func (r *Report) sectionTitle(i int) string {
	title := line(r.Sections[i].Title)
	if r.Kind != Research || title == "" {
		return title
	}
	return strconv.Itoa(i+1) + ". " + numbered().ReplaceAllString(title, "")
}

// lastHeading is the key of the heading of the conclusion.
func (r *Report) lastHeading() string {
	if r.Outlook {
		return "heading.outlook"
	}
	return "heading.conclusion"
}

// use sets for each source in which parts of the report it is cited: numbers of
// sections, or the headings of parts that have no number.
func (r *Report) use() {
	parts := map[int][]string{}
	cited := func(part string, numbers []int) {
		for _, n := range numbers {
			if had := parts[n]; len(had) == 0 || had[len(had)-1] != part {
				parts[n] = append(had, part)
			}
		}
	}
	in := func(part, text string) {
		for _, c := range cite.Split(text) {
			cited(part, c.Sources)
		}
	}
	in(r.say("heading.summary"), r.Summary)
	for i, s := range r.Sections {
		part := strconv.Itoa(i + 1)
		in(part, s.Text)
		for _, q := range s.Quotes {
			cited(part, []int{q.Passage.Source})
		}
		for _, p := range s.Plots {
			cited(part, p.Sources())
		}
	}
	in(r.say(r.lastHeading()), r.Conclusion)
	for _, c := range r.Conflicts {
		cited(r.say("heading.conflicts"), []int{c.A.Passage.Source, c.B.Passage.Source})
	}
	for i := range r.Sources {
		r.Sources[i].Used = parts[r.Sources[i].Number]
	}
}

// shortName is the title of a source, or where it lies.
func (r *Report) shortName(s *Source) string {
	if title, _ := r.describe(s); title != "" {
		return title
	}
	return r.locationOf(s, nil).label
}

// kindOf says what a source is.
func (r *Report) kindOf(s *Source) string {
	switch s.Kind {
	case cite.File, cite.Collection:
		return r.say("source.kind." + string(s.Kind))
	}
	return r.say("source.kind.web")
}

// dated is a date as it is shown.
func (r *Report) dated(date string) string {
	if date = line(date); date != "" {
		return date
	}
	return r.say("source.undated")
}
