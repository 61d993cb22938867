package evidence

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/sources"
	"dossier/study"
)

//go:embed *.md
var files embed.FS

const (
	leastSections = 3
	mostSections  = 5
)

// ResearchPlan is what the model is asked for.
type ResearchPlan struct {
	ResearchTitle string    `json:"research_title" jsonschema:"the title of the report"`
	Sections      []Section `json:"sections" jsonschema:"the sections of the report"`
}

// Validate implements the check of llm.Object.
func (p *ResearchPlan) Validate() error {
	if n := len(p.Sections); n < leastSections || n > mostSections {
		return fmt.Errorf("there are %d sections: give %d to %d", n, leastSections, mostSections)
	}
	for i, s := range p.Sections {
		if strings.TrimSpace(s.Title) == "" {
			return fmt.Errorf("sections[%d].title is empty", i)
		}
	}
	return nil
}

type planInput struct {
	Question string
	Context  string
	Where    string
	Language string
	Date     string
	Queries  int
	Least    int
	Most     int
	code     lang.Code
}

var plan = &prompt.Task[planInput, ResearchPlan]{
	Name:     "plan",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "plan.md"),
	Fallback: func(in planInput) (ResearchPlan, error) { return planByRules(in), nil },
}

// planByRules makes a section of each part of a question, and, where it has few,
// of sides that every matter has.
func planByRules(in planInput) ResearchPlan {
	p := ResearchPlan{ResearchTitle: in.Question}
	facets := extract.Facets(in.Question)
	for _, f := range facets[:min(len(facets), in.Most)] {
		queries := extract.Queries(f)
		p.Sections = append(p.Sections, Section{f, f, append([]string{f}, queries[:min(len(queries), in.Queries-1)]...)})
	}
	about := strings.Join(extract.Content(in.Question), " ")
	if about == "" {
		about = in.Question
	}
	for _, side := range []string{"background", "details", "limits"} {
		if len(p.Sections) >= in.Least {
			break
		}
		title := lang.Text(in.code, "aspect."+side)
		p.Sections = append(p.Sections, Section{
			Title: title, Description: lang.Text(in.code, "aspect.of", "aspect", title, "question", strings.TrimRight(in.Question, "?？ ")),
			SearchQueries: []string{about + " " + lang.Text(in.code, "aspect."+side+".query")},
		})
	}
	return p
}

// makePlan plans the report.
func (w *work) makePlan(ctx context.Context) error {
	in := planInput{
		Question: w.brief.Refined, Context: w.brief.Context(), Where: w.open.Where, Language: w.brief.Language.Name(),
		Date: w.scope.Record().Created.Format("2006-01-02"), Queries: w.set.Queries, Least: leastSections, Most: mostSections, code: w.brief.Language,
	}
	made, err := plan.Do(ctx, w.scope, w.Models, in, prompt.Options[ResearchPlan]{Model: w.req.Model})
	if err != nil {
		return err
	}
	w.byRules, w.noModel = made.Extractive, made.Extractive && !made.Overruled()
	if made.Overruled() {
		w.book.Note(lang.Text(w.brief.Language, "research.by-rules", "why", prompt.Told(w.brief.Language, made.Why)))
	}
	w.plan = w.planned(made.Value)
	if !made.Extractive && !w.brief.InLanguage(w.plan.Said()) {
		w.book.Note(lang.Text(w.brief.Language, "research.by-rules", "why", lang.Text(w.brief.Language, "study.other-language")))
		w.plan.Sections = nil
	}
	if len(w.plan.Sections) == 0 { // nothing of it was of use
		w.byRules = true
		w.plan = w.planned(planByRules(in))
	}
	w.plan.Rubric = study.RubricOf(w.plan.Sections)
	return nil
}

func (w *work) planned(p ResearchPlan) study.Plan {
	out := study.Plan{Title: p.ResearchTitle}
	for _, s := range p.Sections {
		out.Sections = append(out.Sections, study.PlanSection{Title: s.Title, Description: s.Description, Queries: s.SearchQueries[:min(len(s.SearchQueries), w.set.Queries)]})
	}
	out = out.Cleaned(mostSections)
	if out.Title == "" {
		out.Title = w.brief.Refined
	}
	return out
}

// nearestSection is the section whose words a query has most of, none that is
// settled if others are not.
func nearestSection(query string, sections []study.PlanSection, settled map[string]bool) int {
	best, at := -1, 0
	words := extract.Content(strings.ToLower(query))
	all := !slices.ContainsFunc(sections, func(s study.PlanSection) bool { return !settled[s.Title] })
	for i, s := range sections {
		if settled[s.Title] && !all {
			continue
		}
		text := strings.ToLower(s.Title + " " + s.Description + " " + strings.Join(s.Queries, " "))
		n := 0
		for _, w := range words {
			if strings.Contains(text, w) {
				n++
			}
		}
		if n > best {
			best, at = n, i
		}
	}
	return at
}

// compared is a query as it is compared with others.
func compared(query string) string {
	words := strings.Fields(strings.ToLower(sources.Searchable(query)))
	slices.Sort(words)
	return strings.Join(words, " ")
}
