// Package evidence is the engine of deep research that goes round until there is
// evidence enough: clarify, plan, and then retrieve, read, compress and reflect,
// again and again, until nothing is missing or the rounds are used up; then it
// writes the report.
//
// Sections are researched in parallel. Every decision has a rule that stands in
// for the model, so that the whole loop also runs without one.
package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
	"dossier/study"
)

// Name of the engine.
const Name = "loop"

// Settings of the mode, frozen into each run.
type Settings struct {
	// Tuning of what is done for one section in one iteration.
	sources.Tuning
	// MaxIterations is how often it is gone round, at most.
	MaxIterations int `json:"max_iterations"`
	// Clarify lets the user be asked what is meant, and Wait is how long an
	// answer is waited for; 0 is for ever.
	Clarify bool          `json:"clarify"`
	Wait    time.Duration `json:"wait,omitempty"`
	// Review says who sees the plan before anything is spent.
	Review       study.PlanReview `json:"review,omitempty"`
	HistoryLimit int              `json:"history_limit"`
	Lang         lang.Code        `json:"lang,omitempty"`
	// ContextTokens bounds what one decision reads.
	ContextTokens int `json:"context_tokens"`
	// FollowUps is how many questions are suggested in the end. Runs of earlier
	// programs have 0: they suggest what is open, and don't look at what was read
	// for earlier questions of the conversation.
	FollowUps int `json:"follow_ups,omitempty"`
	// Trail is sources.Job.Trail for the parts of the question, where there is no
	// model. Runs of earlier programs have 0.
	Trail int `json:"trail,omitempty"`
	// Rubric says that the items of the rubric are told with how much of it is
	// covered. Runs of earlier programs tell the count alone.
	Rubric bool `json:"rubric,omitempty"`
	// Time is how long models are waited for, all decisions together; 0 is no
	// bound.
	Time time.Duration `json:"time,omitempty"`
}

// Holdings make ready what a question is asked of, as steps of the run;
// *sources.Holdings do.
type Holdings interface {
	Open(ctx context.Context, s *run.Scope, a sources.Asked) (sources.Opened, error)
	// Engines that are there now.
	Engines() []search.Info
}

// Parts is what the mode works with.
type Parts struct {
	Models   *llm.Models
	Holdings Holdings
	Blobs    sources.Blobs
	History  mode.History
	// Past finds what was delivered earlier in a conversation; it may be nil.
	Past study.Past
	// Rerankers by the names that Tuning.Rerank may have.
	Rerankers map[string]search.Reranker
}

// Mode is the evidence loop.
type Mode struct {
	parts    Parts
	settings Settings
}

// New returns the mode with the settings for new runs.
func New(p Parts, settings Settings) *Mode { return &Mode{p, settings} }

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return m.settings }

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(_ context.Context, req *mode.Request) mode.Circumstances {
	c := mode.Circumstances{Models: mode.ModelsOf(m.parts.Models, llm.ForSummarizer, llm.ForWriter, llm.ForVerifier, llm.ForEmbeddings)}
	c.Rerankers = slices.Sorted(maps.Keys(m.parts.Rerankers))
	if in := req.In; in.Web != nil || len(in.Paths) == 0 && in.Collection == "" && strings.TrimSpace(req.Context) == "" {
		c.Engines = m.parts.Holdings.Engines()
	}
	return c
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of the evidence loop: %w", err)
	}
	language := req.Language(set.Lang)
	history, err := req.Conversation(ctx, s, m.parts.History, set.HistoryLimit)
	if err != nil {
		return mode.Answer{}, err
	}
	w := &work{Parts: m.parts, scope: s, req: req, set: set, history: history, book: study.NewBook()}
	if req.Circumstances != nil {
		w.known = &req.Circumstances.Circumstances
	}
	w.state = State{OriginalQuery: req.Question, MaxIterations: set.MaxIterations}
	w.open, err = m.parts.Holdings.Open(ctx, s, sources.Asked{In: req.In, Material: req.Context, Language: language, Secret: study.Secrets(history, set.FollowUps > 0), Known: w.known})
	if err != nil {
		return mode.Answer{}, err
	}
	if err := w.record(ctx, s.Child("begin")); err != nil {
		return mode.Answer{}, err
	}
	ctx = prompt.Within(ctx, set.Time)
	if err := w.prepare(ctx, language); err != nil {
		return mode.Answer{}, err
	}
	if err := w.research(ctx); err != nil {
		return mode.Answer{}, err
	}
	return w.report(ctx)
}

// work is a run under way.
type work struct {
	Parts
	scope   *run.Scope
	req     mode.Request
	set     Settings
	history []llm.Message
	known   *sources.Circumstances
	open    sources.Opened

	brief   study.Brief
	earlier study.Recalled  // what earlier runs of the conversation have read
	settled map[string]bool // titles of sections that they have read enough for
	plan    study.Plan
	noModel bool // there was none to plan with
	byRules bool // the plan is made by rules
	book    *study.Book
	state   State
	queries []string        // that were asked, in order
	asked   map[string]bool // the same, as they are compared
	visited map[string]bool // what was read, as the corpus names it
	gaps    []string
	stopped bool // the work was cut short
}

// prepare makes clear what is meant and plans.
func (w *work) prepare(ctx context.Context, language lang.Code) error {
	asked := w.req.Question
	if w.set.FollowUps > 0 { // from here on nobody looks at the conversation
		var err error
		if asked, err = w.goOn(ctx, language); err != nil {
			return err
		}
		w.history = nil
	}
	w.brief = study.Brief{Question: w.req.Question, Refined: sources.StandAlone(asked, w.history), Language: language}
	if w.set.Clarify {
		var err error
		if w.brief, err = study.Clarify(ctx, w.scope, study.Clarification{
			Models: w.Models, Model: w.req.Model, Question: asked, History: w.history, Language: language,
			NoInput: w.req.NoInput, Wait: w.set.Wait,
		}); err != nil {
			return err
		}
		w.brief.Question = w.req.Question
	}
	w.state.ClarifiedQuery, w.state.IsClarified = w.brief.Refined, true
	if err := w.makePlan(ctx); err != nil {
		return err
	}
	how := w.set.Review
	if w.req.NoInput {
		how = study.PlanAuto
	}
	var err error
	if w.plan, err = study.Review(ctx, w.scope, how, w.brief, w.plan); err != nil {
		return err
	}
	w.state.planned(w.plan)
	return nil
}

// research goes round until the evidence is enough, or may not go on.
func (w *work) research(ctx context.Context) error {
	w.asked, w.visited = make(map[string]bool), make(map[string]bool)
	next := make([][]string, len(w.plan.Sections)) // queries by section
	if err := w.remember(ctx); err != nil {
		return err
	}
	for i, s := range w.plan.Sections {
		if !w.settled[s.Title] {
			next[i] = s.Queries
		}
	}
	for n := 1; n <= w.set.MaxIterations; n++ {
		s := w.scope.Child(fmt.Sprintf("iteration-%d", n))
		if n > 1 {
			if err := s.Budget().Check(run.Searches, run.Pages); err != nil {
				if w.stopped = sources.Spent(err); !w.stopped {
					return err
				}
				return nil
			}
		}
		w.state.IterationCount, w.state.CurrentQueries = n, slices.Concat(next...)
		fresh, err := w.gather(ctx, s, n, next)
		if err != nil {
			return err
		}
		if err := w.compress(s); err != nil {
			return err
		}
		done, err := w.reflect(ctx, s, n, fresh)
		if err != nil {
			return err
		}
		if err := w.record(ctx, s); err != nil {
			return err
		}
		if done {
			w.state.CurrentQueries = nil // what the user wants beyond it is looked for all the same
		}
		if next, err = w.steer(s); err != nil || w.stopped {
			return err
		}
		if done && len(slices.Concat(next...)) == 0 {
			return nil
		}
	}
	return nil
}

// steer takes in what the user said meanwhile and returns the queries of each
// section of the plan for the next iteration.
func (w *work) steer(s *run.Scope) ([][]string, error) {
	said, err := s.Steer()
	if err != nil {
		return nil, err
	}
	before := w.plan.Sections
	if len(said) > 0 {
		remarks := len(w.brief.Remarks)
		w.plan = w.plan.Steered(&w.brief, said)
		for _, r := range w.brief.Remarks[remarks:] {
			w.state.CurrentQueries = append(w.state.CurrentQueries, sources.Searchable(r))
		}
		w.state.planned(w.plan)
		if err := s.Emit(w.plan.Event("", "active")); err != nil {
			return nil, err
		}
	}
	next := make([][]string, len(w.plan.Sections))
	for i, sec := range w.plan.Sections {
		if !slices.ContainsFunc(before, func(p study.PlanSection) bool { return p.Title == sec.Title }) {
			next[i] = sec.Queries
		}
	}
	for _, q := range w.state.CurrentQueries {
		i := nearestSection(q, w.plan.Sections, w.settled)
		next[i] = append(next[i], q)
	}
	return next, nil
}

// report writes it.
func (w *work) report(ctx context.Context) (mode.Answer, error) {
	for _, i := range w.plan.OpenItems() {
		w.plan.Miss(i.ID)
	}
	if told := w.earlier.Told(w.book, w.brief.Language); told != "" {
		w.book.Note(told)
	}
	r, err := study.Write(ctx, w.scope, study.Work{
		Models: w.Models, Model: w.req.Model, Brief: w.brief, Plan: w.plan, Book: w.book, Lengths: study.LoopLengths,
		ContextTokens: w.set.ContextTokens, Base: w.req.In.Base, About: w.open.Notes, Stopped: w.stopped,
		FollowUps: w.set.FollowUps, Gaps: w.gaps, Blobs: w.Blobs,
	})
	if err != nil {
		return mode.Answer{}, err
	}
	text := report.Markdown(r)
	w.state.FinalReport = text
	if err := w.record(ctx, w.scope); err != nil {
		return mode.Answer{}, err
	}
	next := r.FollowUps
	if w.set.FollowUps == 0 && r.Outcome != report.Nothing {
		next = w.questions()
	}
	if len(next) > 0 {
		if err := w.scope.Emit(event.FollowUps{Questions: next}); err != nil {
			return mode.Answer{}, err
		}
	}
	return mode.Answer{Text: text, Report: r, Model: r.Model, Extractive: r.Extractive}, nil
}

// questions are those that runs of earlier programs suggest: what is still open.
func (w *work) questions() []string {
	var out []string
	for _, i := range w.plan.Rubric {
		if i.State == study.Missing {
			out = append(out, i.Question)
		}
	}
	for _, g := range w.gaps {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out[:min(3, len(out))]
}

// forgiven says whether a section can do without what failed; what stops the run
// can't be forgiven.
func forgiven(err error) bool {
	_, searched := errors.AsType[*sources.SearchError](err)
	_, failed := run.FaultOf(err)
	return !run.Stopped(err) && (searched || failed)
}

var _ mode.Situated = (*Mode)(nil)
