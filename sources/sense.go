package sources

import (
	"slices"
	"strings"
	"unicode"

	"dossier/index"
	"dossier/lang"
	"dossier/llm"
)

// sense tells what a model wrote about a question from what it wrote because
// it did not understand: words of its own instructions, or about something else.
type sense struct {
	told  string          // the instructions, in words, with a space before and after each
	said  string          // what the user said, in the same form
	about map[string]bool // stems of what it may write about
	plain bool            // words of other questions in the same script are none of this one
}

// newSense knows the messages of a task that is asked about nothing, and what
// may be written about.
func newSense(instructions []llm.Message, question string, about ...string) *sense {
	s := &sense{about: make(map[string]bool)}
	for _, m := range instructions {
		s.told += spaced(m.Content)
	}
	s.said = spaced(question)
	s.add(question)
	switch lang.Detect(question) { // others may be asked in English too, with its letters
	case lang.English, lang.Russian, lang.Chinese:
		s.plain = len(s.about) >= fewestWords
	}
	for _, text := range about {
		s.add(text)
	}
	return s
}

func (s *sense) add(text string) {
	for _, t := range index.Tokens(text, "") {
		if !t.Function {
			s.about[t.Term] = true
		}
	}
}

// spaced is the words of a text in lower case, with a space before and after each.
func spaced(text string) string {
	return " " + strings.Join(wordsOf(text), " ") + " "
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// wordsInARow is how many words in a row of the instructions a text can't have by
// chance.
const wordsInARow = 4

// fewestWords are those of a question that says what it is about.
const fewestWords = 2

// parrots says whether a text has words of the instructions that the user did
// not say: so many in a row, or all of a shorter one.
func (s *sense) parrots(text string) bool {
	all := wordsOf(text)
	n := min(wordsInARow, len(all))
	if n < 2 {
		return false
	}
	for i := 0; i+n <= len(all); i++ {
		row := " " + strings.Join(all[i:i+n], " ") + " "
		if strings.Contains(s.told, row) && !strings.Contains(s.said, row) {
			return true
		}
	}
	return false
}

// strays says whether a text in the script of the question has no word in
// common with what it may be about.
func (s *sense) strays(text string) bool {
	if !s.plain {
		return false
	}
	content := 0
	for _, t := range index.Tokens(text, "") {
		if t.Function {
			continue
		}
		if s.about[t.Term] {
			return false
		}
		content++
	}
	return content > 0 && writtenIn(text) == writtenIn(s.said)
}

// writtenIn is the kind of most letters of a text.
func writtenIn(text string) *unicode.RangeTable {
	kinds := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Han}
	counts := make([]int, len(kinds))
	for _, r := range text {
		for i, k := range kinds {
			if unicode.Is(k, r) {
				counts[i]++
			}
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return kinds[best]
}

// sensible is a plan without what is not about the question; nothing may be
// left of it.
func (g *gathering) sensible(p Plan, in planInput) Plan {
	blank := in
	blank.Question, blank.History = "", nil
	instructions, err := plan.Messages(blank)
	if err != nil {
		return p // the prompt was rendered before
	}
	var earlier []string
	for _, m := range g.History {
		earlier = append(earlier, m.Content)
	}
	s := newSense(instructions, g.Question, earlier...)
	out := Plan{Question: p.Question}
	if s.parrots(p.Question) || s.strays(p.Question) {
		out.Question = StandAlone(g.Question, g.History)
	}
	beside := !slices.ContainsFunc(p.Facets, func(f Facet) bool { return !s.parrots(f.Title) && !s.strays(f.Title) })
	for _, f := range p.Facets {
		if s.parrots(f.Title) || beside { // a part of a plan about the question may say "it"
			continue
		}
		f.Queries = slices.DeleteFunc(slices.Clone(f.Queries), s.parrots)
		out.Facets = append(out.Facets, f)
	}
	return out
}

// senseOf what may be searched for next.
func (g *gathering) senseOf(in followUpInput) *sense {
	about := slices.Clone(in.Asked)
	for _, f := range in.Open {
		about = append(about, f.Title)
	}
	for _, f := range in.Found {
		about = append(about, f.Title, f.Text)
	}
	for _, m := range g.History {
		about = append(about, m.Content)
	}
	instructions, err := followUps.Messages(followUpInput{Where: in.Where, Queries: in.Queries})
	if err != nil {
		instructions = nil // the prompt was rendered before
	}
	return newSense(instructions, g.evidence.Question, about...)
}

// sameQuery is what queries have in common that differ only in case and in the
// order of their words.
func sameQuery(query string) string {
	all := wordsOf(query)
	slices.Sort(all)
	return strings.Join(all, " ")
}
