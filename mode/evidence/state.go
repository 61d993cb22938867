package evidence

import (
	"context"

	"dossier/run"
	"dossier/study"
)

// State is how far a research is, under the names that clients of the loop know.
// It is recorded after each iteration and with the report.
type State struct {
	OriginalQuery   string    `json:"original_query"`
	ClarifiedQuery  string    `json:"clarified_query"`
	IsClarified     bool      `json:"is_clarified"`
	PendingQuestion string    `json:"pending_question"`
	ResearchTitle   string    `json:"research_title"`
	Sections        []Section `json:"sections"`
	GatheredInfo    []string  `json:"gathered_info"`
	VisitedSources  []string  `json:"visited_sources"`
	IterationCount  int       `json:"iteration_count"`
	MaxIterations   int       `json:"max_iterations"`
	IsSufficient    bool      `json:"is_sufficient"`
	CurrentQueries  []string  `json:"current_queries"`
	FinalReport     string    `json:"final_report"`
}

// Section is a part of the report as it is planned.
type Section struct {
	Title         string   `json:"title" jsonschema:"title of the section"`
	Description   string   `json:"description" jsonschema:"the question that it answers"`
	SearchQueries []string `json:"search_queries" jsonschema:"queries that find what it needs"`
}

// planned takes over a plan.
func (s *State) planned(p study.Plan) {
	s.ResearchTitle, s.Sections = p.Title, nil
	for _, sec := range p.Sections {
		s.Sections = append(s.Sections, Section{sec.Title, sec.Description, sec.Queries})
	}
}

// StateStep is the name of the steps that record a State.
const StateStep = "state"

// record keeps the state as it is now.
func (w *work) record(ctx context.Context, s *run.Scope) error {
	state := w.state
	_, err := run.EffectStep(ctx, s, run.Pure, StateStep, func(context.Context, *run.Scope) (State, error) { return state, nil })
	return err
}
