package evidence

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
)

// Reflection is what the model is asked for.
type Reflection struct {
	IsSufficient bool     `json:"is_sufficient" jsonschema:"whether a good report can be written from what was found"`
	OverallScore int      `json:"overall_score" jsonschema:"how good the evidence is, a whole number from 1 to 10"`
	Gaps         []string `json:"gaps" jsonschema:"what is missing"`
	NextQueries  []string `json:"next_queries" jsonschema:"queries for the next round"`
	Reasoning    string   `json:"reasoning" jsonschema:"why, in two or three sentences"`
}

// Validate implements the check of llm.Object.
func (r *Reflection) Validate() error {
	if r.OverallScore < 1 || r.OverallScore > 10 {
		return fmt.Errorf("overall_score is %d: give a whole number from 1 to 10", r.OverallScore)
	}
	return nil
}

type reflectInput struct {
	Question      string
	Context       string
	Language      string
	Date          string
	Iteration     int
	MaxIterations int
	Queries       int
	Sections      []reflectSection
	Asked         []string
	rules         func() Reflection
}

type reflectSection struct {
	Title, Description string
	Sources            int
	Newest             string
	Found              string
}

var reflection = &prompt.Task[reflectInput, Reflection]{
	Name:     "reflect",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "reflect.md"),
	Fallback: func(in reflectInput) (Reflection, error) { return in.rules(), nil },
}

const (
	queriesPerRound = 6    // of all sections together, after the first
	longestReason   = 1000 // characters
	queriesEach     = 2    // of one section, by rules
	mostGaps        = 8
)

// reflect says whether the evidence is enough, and sets the queries of the next
// round otherwise. Without queries that were not asked yet there is no next round.
func (w *work) reflect(ctx context.Context, s *run.Scope, n, fresh int) (done bool, err error) {
	in := reflectInput{
		Question: w.brief.Refined, Context: w.brief.Context(), Language: w.brief.Language.Name(), Date: w.scope.Record().Created.Format("2006-01-02"),
		Iteration: n, MaxIterations: w.set.MaxIterations, Queries: queriesPerRound, Sections: w.sections(), Asked: w.queries,
	}
	in.rules = func() Reflection { return w.reflectByRules(in, fresh) }
	made, err := reflection.Do(ctx, s, w.Models, in, prompt.Options[Reflection]{Model: w.req.Model})
	if err != nil {
		return false, err
	}
	if made.Overruled() {
		w.book.Note(lang.Text(w.brief.Language, "research.by-rules", "why", prompt.Told(w.brief.Language, made.Why)))
	}
	said := made.Value
	w.gaps = nil
	for _, g := range said.Gaps {
		if g = oneLine(cite.Sanitize(g)); g != "" && len(w.gaps) < mostGaps {
			w.gaps = append(w.gaps, g)
		}
	}
	next := w.unasked(said.NextQueries)
	if !said.IsSufficient && len(next) == 0 && !made.Extractive {
		next = w.unasked(in.rules().NextQueries)
	}
	w.state.IsSufficient, w.state.CurrentQueries = said.IsSufficient, next
	reason := oneLine(cite.Sanitize(said.Reasoning))
	if runes := []rune(reason); len(runes) > longestReason {
		reason = string(runes[:longestReason-1]) + "…"
	}
	if err := s.Emit(event.AgentReflected{Text: reason, Sufficient: said.IsSufficient, Score: said.OverallScore, Gaps: w.gaps}); err != nil {
		return false, err
	}
	coverage := w.plan.Coverage()
	if w.set.Rubric {
		coverage = w.plan.Itemised()
	}
	if err := s.Emit(coverage); err != nil {
		return false, err
	}
	return said.IsSufficient || len(next) == 0, nil
}

// sections are what was found for each section, each within its share of what a
// decision reads.
func (w *work) sections() []reflectSection {
	out := make([]reflectSection, len(w.plan.Sections))
	each := w.set.ContextTokens / max(1, len(out))
	kept := w.book.Compressed()
	for i, sec := range w.plan.Sections {
		r := reflectSection{Title: sec.Title, Description: sec.Description}
		var numbers []int
		room := each
		for _, f := range w.book.Findings {
			if f.Task == sec.Title {
				numbers = append(numbers, f.Sources()...)
			}
		}
		for _, f := range kept {
			if f.Task != sec.Title {
				continue
			}
			for line := range strings.Lines(f.Text) {
				if room -= llm.EstimateTokens(line); room >= 0 {
					r.Found += strings.TrimRight(line, "\n") + "\n"
				}
			}
		}
		r.Sources = w.book.Ledger.Independent(numbers)
		for _, n := range numbers {
			if src, ok := w.book.Ledger.Source(n); ok && src.Date > r.Newest {
				r.Newest = src.Date
			}
		}
		out[i] = r
	}
	return out
}

// What rules take for enough in a section.
const (
	enoughSources = 2
	enoughWords   = 60
	recentYears   = 3
)

// reflectByRules scores coverage, depth, diversity, consistency and recency, each
// from 0 to 2. It is enough when each section has something, from more than one
// source, or when the last round found nothing new.
func (w *work) reflectByRules(in reflectInput, fresh int) Reflection {
	var r Reflection
	covered, deep, diverse, recent := 0, 0, 0, 0
	thisYear := w.scope.Record().Created.Year()
	for i, s := range in.Sections {
		weak := false
		if s.Sources > 0 {
			covered++
		} else {
			weak = true
			r.Gaps = append(r.Gaps, s.Description)
		}
		if lang.Words(s.Found) >= enoughWords {
			deep++
		}
		if s.Sources >= enoughSources || w.settled[s.Title] {
			diverse++
		} else {
			weak = true
		}
		if len(s.Newest) >= 4 {
			if year, err := strconv.Atoi(s.Newest[:4]); err == nil && thisYear-year < recentYears {
				recent++
			}
		}
		if weak {
			r.NextQueries = append(r.NextQueries, w.queriesByRules(w.plan.Sections[i])...)
		}
	}
	all := len(in.Sections)
	share := func(n int) int { return 2 * n / max(1, all) }
	consistent := 2
	if len(w.conflicts()) > 0 {
		consistent = 1
	}
	r.OverallScore = max(1, share(covered)+share(deep)+share(diverse)+consistent+share(recent))
	r.NextQueries = w.unasked(r.NextQueries)
	idle := in.Iteration > 1 && fresh == 0
	r.IsSufficient = covered == all && diverse == all
	key := "reflect.open"
	switch {
	case r.IsSufficient:
		key, r.NextQueries = "reflect.enough", nil
	case idle:
		key, r.NextQueries = "reflect.idle", nil
	}
	r.Reasoning = lang.Text(w.brief.Language, key, "covered", covered, "total", all, "n", w.book.Ledger.Independent(numbersOf(w.book)))
	return r
}

// conflicts are disagreements among the sentences that were found.
func (w *work) conflicts() []cite.Conflict {
	var read []cite.Passage
	for _, f := range w.book.Findings {
		read = append(read, f.Passages...)
	}
	return cite.Conflicts(w.book.Ledger, w.book.Snapshots, read)
}

func numbersOf(b *study.Book) []int {
	var out []int
	for _, s := range b.Ledger.Sources() {
		out = append(out, s.Number)
	}
	return out
}

// queriesByRules are further ways to ask for a section: what leads on from what
// was found, and its words with those of the question.
func (w *work) queriesByRules(sec study.PlanSection) []string {
	var read []extract.Passage
	for _, f := range w.book.Findings {
		if f.Task != sec.Title {
			continue
		}
		for _, p := range w.book.Evidence(sec.Description, f.ID).Passages {
			read = append(read, extract.Passage{ID: p.ID, Title: p.Title, Headings: p.HeadingPath, Text: p.Text})
		}
	}
	out := extract.FollowUps(sec.Description, read)
	about := strings.Join(extract.Content(w.brief.Refined), " ")
	out = append(out, strings.TrimSpace(about+" "+sec.Title))
	out = append(out, extract.Queries(sec.Description)...)
	return out[:min(len(out), queriesEach)]
}

// unasked are the queries that were not asked yet, as far as a round has room.
func (w *work) unasked(queries []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, q := range queries {
		q = sources.Searchable(q)
		if key := compared(q); q != "" && !w.asked[key] && !seen[key] && len(out) < queriesPerRound {
			seen[key] = true
			out = append(out, q)
		}
	}
	return out
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
