package sources

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/llm"
	"dossier/prompt"
	"dossier/search"
)

//go:embed *.md
var files embed.FS

// Plan is what has to be found out.
type Plan struct {
	Question string  `json:"question" jsonschema:"the question as one that stands by itself"`
	Facets   []Facet `json:"facets" jsonschema:"what has to be known to answer it"`
}

// Facet is a part of a question that is searched for and answered by itself.
type Facet struct {
	Title   string   `json:"title" jsonschema:"a short question"`
	Queries []string `json:"queries" jsonschema:"search queries"`
	Engines []string `json:"engines,omitempty" jsonschema:"names of the search engines to ask first; empty when none is listed"`
}

// Validate implements the check of llm.Object.
func (p *Plan) Validate() error {
	if len(p.Facets) == 0 {
		return fmt.Errorf("the field facets is empty: give at least one")
	}
	for i, f := range p.Facets {
		if strings.TrimSpace(f.Title) == "" {
			return fmt.Errorf("facets[%d].title is empty: say what has to be known", i)
		}
	}
	return nil
}

// Planned is a plan that was made before the gathering, and how: the gathering is
// a part of a larger work, which tells the plan and its coverage, numbers the
// sources and tells what was noted.
type Planned struct {
	Plan
	// NoModel says that there was no model to plan with, and ByRules that none
	// made it.
	NoModel, ByRules bool
}

// mostFacets bounds a plan.
const mostFacets = 5

type planInput struct {
	Question   string
	History    []llm.Message
	Where      string
	Date       string
	Queries    int
	MostFacets int
	Engines    []engineLine
	engines    []search.Info
}

var plan = &prompt.Task[planInput, Plan]{
	Name:     "plan",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "plan.md"),
	History:  func(in planInput) []llm.Message { return in.History },
	Fallback: func(in planInput) (Plan, error) {
		return planByRules(StandAlone(in.Question, in.History), in), nil
	},
}

// planByRules splits a question where its grammar does.
func planByRules(question string, in planInput) Plan {
	p := Plan{Question: question}
	for _, title := range first(extract.Facets(question), in.MostFacets) {
		p.Facets = append(p.Facets, Facet{Title: title, Queries: first(extract.Queries(title), in.Queries), Engines: chooseEngines(title, in.engines)})
	}
	return p
}

// plan decides what to look for and tells it.
func (g *gathering) plan(ctx context.Context) error {
	in := planInput{
		Question: g.Question, History: Shortened(g.History), Where: g.Where, Date: g.scope.Record().Created.Format("2006-01-02"),
		Queries: g.Tuning.Queries, MostFacets: mostFacets,
	}
	if g.Tuning.PerRound > 0 { // each facet has a query in the first round
		in.MostFacets = min(mostFacets, g.Tuning.PerRound)
	}
	if choice, ok := g.Corpus.(Choice); ok {
		in.engines = choice.Engines()
		in.Engines = engineLines(in.engines)
	}
	p, byRules, err := g.decidePlan(ctx, in)
	if err != nil {
		return err
	}
	g.evidence.modelPlan = !byRules
	p.Facets = first(p.Facets, in.MostFacets)
	if strings.TrimSpace(p.Question) == "" {
		p.Question = g.Question
	}
	for i, f := range p.Facets {
		// What the user said is searched for too: a plan may have lost a word
		// of it.
		own := []string{f.Title}
		if len(p.Facets) == 1 && !byRules && g.Planned == nil {
			own = append(own, p.Question)
		}
		if asked := first(f.Queries, g.Tuning.Queries); g.Tuning.PerRound > 0 {
			own = append(slices.Clone(asked), own...) // as far as there is room
		} else {
			own = append(own, asked...)
		}
		for j, q := range own {
			if byRules { // the user's own words
				own[j] = cut(q, longestQuestion)
			} else {
				own[j] = Searchable(q)
			}
		}
		p.Facets[i].Queries = distinct(own)
		p.Facets[i].Engines = known(f.Engines, in.engines)
		g.evidence.Facets = append(g.evidence.Facets, FacetEvidence{Title: f.Title})
	}
	g.evidence.Question = p.Question
	g.planned = p.Facets
	if byRules {
		if err := g.translate(ctx, p.Question); err != nil {
			return err
		}
	}
	return g.tellPlan("pending")
}

// decidePlan is the plan of somebody else, a model's, or that of rules.
func (g *gathering) decidePlan(ctx context.Context, in planInput) (p Plan, byRules bool, err error) {
	if given := g.Planned; given != nil {
		g.noModel, g.evidence.Asked = given.NoModel, !given.NoModel
		p = given.Plan
		p.Facets = slices.Clone(p.Facets)
		return p, given.ByRules, nil
	}
	made, err := plan.Do(ctx, g.scope, g.Models, in, prompt.Options[Plan]{Model: g.Model})
	if err != nil {
		return Plan{}, false, err
	}
	g.noModel = made.Extractive && !made.Overruled()
	g.evidence.Asked = !g.noModel
	g.overruled(made.Overruled(), made.Why)
	p, byRules = made.Value, made.Extractive
	if !g.Tuning.Earlier() {
		if !byRules {
			if p = g.sensible(p, in); len(p.Facets) == 0 {
				p, byRules = planByRules(StandAlone(g.Question, g.History), in), true
				g.overruled(true, "what the model planned is not about the question")
			}
		}
		p.Facets = distinctFacets(p.Facets)
	}
	return p, byRules, nil
}

// tellPlan emits the plan, if it was made here, with the state of its facets;
// those without evidence are in the given one.
func (g *gathering) tellPlan(open string) error {
	if g.Planned != nil {
		return nil // whoever made it tells it
	}
	steps := make([]event.PlanStep, len(g.planned))
	for i, f := range g.planned {
		steps[i] = event.PlanStep{Title: f.Title, State: open, Queries: f.Queries}
		if g.translated != "" {
			steps[i].Queries = append(slices.Clip(f.Queries), g.translated)
		}
		if g.evidence.Facets[i].Answered {
			steps[i].State = "done"
		}
	}
	told := event.PlanUpdated{Title: g.evidence.Question, Steps: steps}
	if !g.Tuning.Earlier() && !slices.Equal(strings.Fields(told.Title), strings.Fields(g.Question)) {
		told.Question = told.Title
	}
	return g.scope.Emit(told)
}

// Searchable is a query as it may go out: without addresses, and no longer than
// a query is. A model that has read a page may have been told to put into it
// what the page wants.
func Searchable(query string) string {
	return cut(cite.Sanitize(query), longestQuery)
}

const (
	longestQuery    = 200  // characters, of a query that a model wrote
	longestQuestion = 2000 // of a question that is searched for as it is
	longestTurn     = 1500 // of an earlier message that a plan is made with
)

// cut is a text in one line of at most so many characters, ended between words.
func cut(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most])
		if at := strings.LastIndexByte(text, ' '); at > 0 {
			text = text[:at]
		}
	}
	return text
}

// Shortened are the messages of a conversation as far as a plan or an answer
// needs them: an earlier answer is a whole report, and begins with what it says.
func Shortened(history []llm.Message) []llm.Message {
	out := slices.Clone(history)
	for i := range out {
		if runes := []rune(out[i].Content); len(runes) > longestTurn {
			out[i].Content = string(runes[:longestTurn-1]) + "…"
		}
	}
	return out
}

// first returns up to n elements.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// distinct leaves out what is empty and what differs from an earlier one only
// in case and spacing.
func distinct(list []string) []string {
	seen := make(map[string]bool)
	out := list[:0:0]
	for _, s := range list {
		s = strings.Join(strings.Fields(s), " ")
		if key := strings.ToLower(s); s != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}
