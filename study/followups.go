package study

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/cite"
	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
)

// FollowUps is how many questions a report suggests.
const FollowUps = 3

// suggested is what the model is asked for.
type suggested struct {
	Questions []string `json:"questions" jsonschema:"questions that the user may want to ask next"`
}

type followUpsInput struct {
	Question  string
	Language  string
	Date      string
	Sections  []ReportSection
	Missing   []string
	Conflicts []string
	Most      int
}

// What a model does not suggest rules do: see nextByRules.
var followUps = &prompt.Task[followUpsInput, suggested]{
	Name:     "followups",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "followups.md"),
	Fallback: func(followUpsInput) (suggested, error) { return suggested{}, nil },
}

const (
	sectionWords  = 120 // of a section, shown to whoever suggests questions
	conflictWords = 20  // of each of two statements
	recentYears   = 3   // after which it is asked what is new
	mostSuggested = 200 // characters of a question
	mostHeading   = 80  // characters of a heading that is one to tell
)

// next suggests questions: what a model thinks of, and then what rules do.
func (x *writing) next(ctx context.Context, s *run.Scope, r *report.Report, conflicts []cite.Conflict) ([]string, error) {
	in := followUpsInput{
		Question: x.Brief.Refined, Language: x.Brief.Language.Name(), Date: s.Record().Created.Format("2006-01-02"), Missing: r.Coverage.Missing, Most: x.FollowUps,
	}
	for _, sec := range Final(r).Sections {
		in.Sections = append(in.Sections, ReportSection{sec.Title, firstWords(sec.Content, sectionWords)})
	}
	for _, c := range conflicts {
		in.Conflicts = append(in.Conflicts, x.dispute(c))
	}
	made, err := followUps.Do(ctx, s, x.Models, in, prompt.Options[suggested]{Model: x.Model})
	if err != nil {
		return nil, err
	}
	var out []string
	take := func(question string) {
		question = oneLine(question)
		same := func(other string) bool { return strings.EqualFold(other, question) || extract.Same(other, question) }
		if question != "" && len(out) < x.FollowUps && !same(x.Brief.Refined) && !same(x.Brief.Question) && !slices.ContainsFunc(out, same) {
			out = append(out, question)
		}
	}
	for _, q := range made.Value.Questions {
		q = oneLine(cite.Sanitize(q))
		if end := strings.LastIndexAny(q, "?？"); end > 0 { // what follows is no question
			q = strings.TrimRight(q[:end], "?？ ") + string([]rune(q[end:])[0])
		}
		if len([]rune(q)) <= mostSuggested && inLanguage(q, x.Brief.Question, x.Brief.Language) && !x.answers(q) {
			take(q)
		}
	}
	for _, q := range x.nextByRules(r, conflicts) {
		take(q)
	}
	return out, nil
}

// answers says whether a question is one that the rubric has as covered.
func (x *writing) answers(question string) bool {
	return slices.ContainsFunc(x.Plan.Rubric, func(i Item) bool {
		return i.State == Covered && (strings.EqualFold(i.Question, question) || extract.Same(i.Question, question))
	})
}

// nextByRules are the questions that a report leaves: what nothing was found for,
// what whoever looked back missed, what sources disagree on, what may have changed
// since, what only one source says, who else is spoken of, and what was read beside
// what is quoted. The first of each kind come before the second ones.
func (x *writing) nextByRules(r *report.Report, conflicts []cite.Conflict) []string {
	var disputes []string
	for _, c := range conflicts {
		disputes = append(disputes, x.dispute(c))
	}
	kinds := [][]string{r.Coverage.Missing, x.Gaps, disputes, x.outdated(), x.single(), x.mentioned(), x.beside()}
	var out []string
	for place := 0; ; place++ {
		more := false
		for _, k := range kinds {
			if place < len(k) {
				more = true
				out = append(out, k[place])
			}
		}
		if !more {
			return out
		}
	}
}

// dispute asks which of two statements holds.
func (x *writing) dispute(c cite.Conflict) string {
	short := func(s cite.Statement) string {
		return strings.TrimRight(firstWords(cite.Sanitize(s.Quote), conflictWords), ".。!！?？ ")
	}
	return lang.Text(x.Brief.Language, "next.conflict", "a", short(c.A), "b", short(c.B))
}

// bare is a question as a part of another.
func bare(question string) string { return strings.TrimRight(oneLine(question), "?？.。!！ ") }

// outdated asks what is new, where no source that a section rests on is of the
// last years.
func (x *writing) outdated() []string {
	newest := 0
	for _, p := range x.parts {
		for _, c := range p.claims {
			for _, at := range c.Passages {
				if src, ok := x.Book.Ledger.Source(at.Source); ok && len(src.Date) >= 4 {
					if year, err := strconv.Atoi(src.Date[:4]); err == nil {
						newest = max(newest, year)
					}
				}
			}
		}
	}
	if newest == 0 || x.scope.Record().Created.Year()-newest < recentYears {
		return nil
	}
	return []string{lang.Text(x.Brief.Language, "next.recent", "year", newest, "question", bare(x.Brief.Refined))}
}

// single asks what others say of what only one source answers.
func (x *writing) single() []string {
	var out []string
	for _, i := range x.Plan.Rubric {
		var numbers []int
		for _, id := range i.Findings {
			if f, ok := x.Book.Finding(id); ok {
				numbers = append(numbers, f.Sources()...)
			}
		}
		if i.State == Covered && x.Book.Ledger.Independent(numbers) == 1 {
			out = append(out, lang.Text(x.Brief.Language, "next.others", "question", bare(i.Question)))
		}
	}
	return out
}

// mentioned asks about the names that what is quoted speaks of most and the
// question does not.
func (x *writing) mentioned() []string {
	var names []string
	count := make(map[string]int)
	asked := strings.ToLower(x.Brief.Refined + " " + x.Brief.Question)
	for _, p := range x.parts {
		for _, c := range p.claims {
			for _, at := range c.Passages {
				read, ok := x.Book.passage(at)
				if !ok {
					continue
				}
				for _, quoted := range extract.Names(read.Text) {
					name := strings.Trim(oneLine(quoted), "“”«»\"《》")
					if len([]rune(name)) < 3 || inflected(name, name != quoted) || strings.Contains(asked, strings.ToLower(name)) || len(extract.Content(name)) == 0 {
						continue
					}
					if count[name]++; count[name] == 1 {
						names = append(names, name)
					}
				}
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	var out []string
	for _, name := range names[:min(FollowUps, len(names))] {
		out = append(out, lang.Text(x.Brief.Language, "next.name", "name", name))
	}
	return out
}

// inflected says whether a name may stand in some case of a language that has
// them: what is between quotation marks and is no proper name, or one word.
func inflected(name string, quoted bool) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.Is(unicode.Cyrillic, first) && (unicode.IsLower(first) || quoted && !strings.Contains(name, " "))
}

// beside asks about the headings under which something was read that has words of
// the question and from which nothing is quoted.
func (x *writing) beside() []string {
	quoted := make(map[string]bool)
	for i, p := range x.parts {
		quoted[x.outline[i].Title] = true
		for _, c := range p.claims {
			for _, at := range c.Passages {
				quoted[headingOf(at)] = true
			}
		}
	}
	var out []string
	for _, p := range x.evidence(x.ids()).Passages {
		heading := headingOf(p.Passage)
		if heading == "" || quoted[heading] || len(out) == FollowUps || !related(heading, x.Brief.Refined) {
			continue
		}
		quoted[heading] = true
		out = append(out, lang.Text(x.Brief.Language, "next.heading", "heading", heading))
	}
	return out
}

// headingOf is the heading right above a passage, where it says what it is about.
func headingOf(p cite.Passage) string {
	if len(p.HeadingPath) == 0 {
		return ""
	}
	heading := strings.TrimRight(oneLine(cite.Sanitize(p.HeadingPath[len(p.HeadingPath)-1])), ".。:：")
	if len([]rune(heading)) > mostHeading || len(extract.Content(heading)) < 2 || strings.ContainsAny(heading, "?？") {
		return ""
	}
	return heading
}

// related says whether a heading has a word of the question and one more.
func related(heading, question string) bool {
	asked := make(map[string]bool)
	for _, t := range index.Tokens(question, "") {
		asked[t.Term] = true
	}
	shared, own := false, false
	for _, t := range index.Tokens(strings.Join(extract.Content(heading), " "), "") {
		shared, own = shared || asked[t.Term], own || !asked[t.Term]
	}
	return shared && own
}
