package report

import (
	"slices"
	"strings"

	"dossier/lang"
)

// languages sets the language of each quote that is in another than the
// question's.
func (r *Report) languages() {
	set := func(quotes []Quote) {
		for i := range quotes {
			quotes[i].Lang = r.otherThanAsked(&quotes[i])
		}
	}
	for _, s := range r.Sections {
		set(s.Quotes)
	}
	set(r.Nearest)
	for _, s := range r.Sources {
		set(s.Passages)
	}
}

// otherThanAsked returns the language of a quote if the question is in another one.
// Short texts, and those that consist of names and code, are in the language
// that nothing speaks against.
func (r *Report) otherThanAsked(q *Quote) lang.Code {
	s := r.Source(q.Passage.Source)
	if s == nil {
		return ""
	}
	its := s.Lang
	if its == "" || its == lang.Unknown {
		its = lang.DetectAmong(q.Text, r.Lang, lang.English, lang.Russian, lang.Chinese)
	}
	asked := lang.DetectAmong(r.Question, its, r.Lang)
	if asked == its || lang.DetectAmong(q.Text, its, asked) == asked {
		return ""
	}
	return its
}

// languageOf is the name of a language in that of the frame.
func (r *Report) languageOf(code lang.Code) string {
	switch code {
	case lang.English, lang.Russian, lang.Chinese:
		return r.say("language." + string(code))
	}
	return code.Name()
}

// answers returns the quotes that the answer consists of, or leans on.
func (r *Report) answers() []Quote {
	var out []Quote
	for _, s := range r.Sections {
		out = append(out, s.Quotes...)
	}
	if r.written() {
		for _, s := range r.Sources {
			out = append(out, s.Passages...)
		}
	}
	return out
}

// elsewhere says in which other languages the answer was found; it is empty
// where all of it is in the question's.
func (r *Report) elsewhere() string {
	var names []string
	key := "answer.language"
	for _, q := range r.answers() {
		if q.Lang == "" {
			key = "answer.language.part"
			continue
		}
		if name := r.languageOf(q.Lang); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return r.say(key, "languages", strings.Join(names, ", "))
}

// spoken names the language of a quote where others of the report are in another.
func (r *Report) spoken(q *Quote) string {
	shown := slices.Concat(r.answers(), r.Nearest)
	if q.Lang == "" || r.Outcome != Nothing && !slices.ContainsFunc(shown, func(o Quote) bool { return o.Lang != q.Lang }) {
		return ""
	}
	return r.languageOf(q.Lang)
}
