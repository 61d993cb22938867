// Package websearch is the mode that searches, reads and answers with
// citations: plan, rounds of searches with follow-ups for the parts of the
// question that have nothing yet, reading, an answer, a check of every sentence
// against what was read.
//
// With a model the answer is written from the passages; without one it consists
// of the sentences themselves, grouped under what they answer.
package websearch

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
)

// Settings of the mode, frozen into each run.
type Settings struct {
	sources.Tuning
	MinWords     int       `json:"min_words"`
	MaxWords     int       `json:"max_words"`
	HistoryLimit int       `json:"history_limit"`
	Lang         lang.Code `json:"lang,omitempty"`
	// ContextTokens bounds the passages that the answer is written from.
	ContextTokens int `json:"context_tokens"`
	// Time is how long models are waited for, all decisions together; 0 is no
	// bound, as it was in runs of earlier programs.
	Time time.Duration `json:"time,omitempty"`
}

// Holdings make ready what a question is asked of, as steps of the run;
// *sources.Holdings do.
type Holdings interface {
	Open(ctx context.Context, s *run.Scope, a sources.Asked) (sources.Opened, error)
	// Engines that are there now.
	Engines() []search.Info
}

// Mode searches, reads and answers.
type Mode struct {
	name     string
	models   *llm.Models
	holdings Holdings
	rankers  map[string]search.Reranker
	blobs    sources.Blobs
	history  mode.History
	settings Settings
}

// Parts is what the mode works with.
type Parts struct {
	Models   *llm.Models
	Holdings Holdings
	Blobs    sources.Blobs
	History  mode.History
	// Rerankers by the names that Tuning.Rerank may have.
	Rerankers map[string]search.Reranker
}

// New returns the mode under a name, with the settings for new runs: web_search
// and deep_search differ in nothing else.
func New(name string, p Parts, settings Settings) *Mode {
	return &Mode{name: name, models: p.Models, holdings: p.Holdings, rankers: p.Rerankers, blobs: p.Blobs, history: p.History, settings: settings}
}

// Name implements mode.Mode.
func (m *Mode) Name() string { return m.name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return m.settings }

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(_ context.Context, req *mode.Request) mode.Circumstances {
	c := mode.Circumstances{Models: mode.ModelsOf(m.models, llm.ForSummarizer, llm.ForWriter, llm.ForVerifier, llm.ForEmbeddings)}
	c.Rerankers = slices.Sorted(maps.Keys(m.rankers))
	if in := req.In; in.Web != nil || len(in.Paths) == 0 && in.Collection == "" && strings.TrimSpace(req.Context) == "" {
		c.Engines = m.holdings.Engines()
	}
	return c
}

// SynthesizedAnswer is what the model is asked for.
type SynthesizedAnswer struct {
	Reasoning string   `json:"reasoning" jsonschema:"which passages answer what, in a few sentences"`
	Answer    string   `json:"answer" jsonschema:"the whole answer with source numbers in brackets"`
	KeyPoints []string `json:"key_points" jsonschema:"the main points, each a short sentence with its source numbers"`
	// Unanswered is asked for last: by then the model has tried.
	Unanswered bool `json:"unanswered" jsonschema:"true when the passages do not answer the question"`
}

// Validate implements the check of llm.Object.
func (a *SynthesizedAnswer) Validate() error {
	if strings.TrimSpace(a.Answer) == "" {
		return fmt.Errorf("the field answer is empty: write the whole answer there")
	}
	return nil
}

type input struct {
	Question string
	History  []llm.Message
	Parts    []string
	Notes    []sources.Note
	Passages []sources.Excerpt
	Language string
	Date     string
	MinWords int
	MaxWords int
}

//go:embed answer.md
var files embed.FS

var answer = &prompt.Task[input, SynthesizedAnswer]{
	Name:      "answer",
	Role:      llm.ForWriter,
	Template:  prompt.Parse(files, "answer.md"),
	History:   func(in input) []llm.Message { return in.History },
	TextField: "answer",
	Least:     1. / 3, // all the others are made for it
	// Without a model the quotes that were chosen are the answer.
	Fallback: func(input) (SynthesizedAnswer, error) { return SynthesizedAnswer{}, nil },
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var set Settings
	if err := json.Unmarshal(req.Settings, &set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", m.name, err)
	}
	language := req.Language(set.Lang)
	history, err := req.Conversation(ctx, s, m.history, set.HistoryLimit)
	if err != nil {
		return mode.Answer{}, err
	}
	var known *sources.Circumstances
	if req.Circumstances != nil {
		known = &req.Circumstances.Circumstances
	}
	open, err := m.holdings.Open(ctx, s, sources.Asked{In: req.In, Material: req.Context, Language: language, Secret: sources.Said(history), Known: known})
	if err != nil {
		return mode.Answer{}, err
	}
	ctx = prompt.Within(ctx, set.Time) // what is asked has been made ready
	if set.PerRound = 0; open.Web {
		set.PerRound = set.Queries
	}
	job := sources.Job{
		Models: m.models, Model: req.Model, Blobs: m.blobs, Corpus: open.Corpus, Rerankers: m.rankers, Known: known,
		Question: req.Question, History: history, Language: language, Where: open.Where, Tuning: set.Tuning,
	}
	found, err := sources.Gather(ctx, s, job)
	if err == nil {
		found, err = found.Instead(ctx, s, job)
	}
	if err != nil {
		return mode.Answer{}, err
	}
	w := &writing{mode: m, scope: s, req: req, set: set, language: language, history: history, evidence: found, about: open.Notes}
	return w.write(ctx)
}

// writing makes the answer out of the evidence.
type writing struct {
	mode     *Mode
	scope    *run.Scope
	req      mode.Request
	set      Settings
	language lang.Code
	history  []llm.Message
	evidence *sources.Evidence
	about    []string // what the question was asked of
	shown    string   // of the answer, while it was written
}

func (w *writing) write(ctx context.Context) (mode.Answer, error) {
	if len(w.evidence.Passages) == 0 {
		return w.deliver(w.quotes(), mode.Answer{Extractive: true})
	}
	rec := w.scope.Record()
	in := input{
		Question: w.evidence.Question, History: sources.Shortened(w.history), Notes: w.evidence.Notes, Passages: w.evidence.Excerpts(w.set.ContextTokens),
		Language: w.language.Name(), Date: rec.Created.Format("2006-01-02"), MinWords: w.set.MinWords, MaxWords: w.set.MaxWords,
	}
	if len(w.evidence.Facets) > 1 {
		for _, f := range w.evidence.Facets {
			in.Parts = append(in.Parts, f.Title)
		}
	}
	stream := &cite.Stream{}
	tell := func(text string, again bool) {
		d := event.AnswerDelta{Text: text, Reset: again}
		if !again {
			d.At = len(stream.Passed())
		}
		if w.scope.Path() == "" { // else it is a part of larger work, not the answer
			_ = w.scope.Emit(d)
		}
	}
	stream.Pass = tell
	made, err := answer.Do(ctx, w.scope, w.mode.models, in, prompt.Options[SynthesizedAnswer]{
		Model: w.req.Model, StreamField: "answer", Sink: stream.Write, Reset: func() {
			stream.Reset()
			tell("", true)
		},
		Partial: func() (SynthesizedAnswer, bool) {
			whole := stream.Whole()
			return SynthesizedAnswer{Answer: whole}, whole != ""
		},
	})
	if err != nil {
		return mode.Answer{}, err
	}
	stream.End()
	w.shown = stream.Passed()
	made.Value.Reasoning = cite.Sanitize(made.Value.Reasoning)
	if !made.Extractive && made.Why != "" {
		w.evidence.Trouble = append(w.evidence.Trouble, lang.Text(w.language, "research.answer-cut", "why", made.Why))
	}
	if made.Extractive {
		if made.Overruled() {
			why := lang.Text(w.language, "research.answer-by-rules", "why", made.Why)
			w.evidence.Trouble = append(w.evidence.Trouble, why)
			if err := w.void(why); err != nil {
				return mode.Answer{}, err
			}
		}
		return w.deliver(w.quotes(), mode.Answer{Extractive: true})
	}
	if made.Value.Unanswered && w.evidence.Covered() > 0 && !w.set.Earlier() {
		return w.insteadOf(lang.Text(w.language, "research.model-found-none"))
	}
	if made.Value.Unanswered {
		if err := w.void(lang.Text(w.language, "answer.none")); err != nil {
			return mode.Answer{}, err
		}
		return w.deliver(w.nothing(), mode.Answer{Reasoning: made.Value.Reasoning, Model: made.Model})
	}
	return w.written(ctx, made)
}

// insteadOf delivers the sentences of the sources instead of what a model wrote.
func (w *writing) insteadOf(why string) (mode.Answer, error) {
	w.evidence.Trouble = append(w.evidence.Trouble, why)
	if err := w.void(why); err != nil {
		return mode.Answer{}, err
	}
	return w.deliver(w.quotes(), mode.Answer{Extractive: true})
}

// void says that the answer is not what was seen of it while it was written.
func (w *writing) void(why string) error {
	w.shown = ""
	if w.set.Earlier() {
		return nil // whose answers nobody saw before they were whole
	}
	return w.scope.Emit(event.ReportReset{Reason: why})
}

// written checks what a model wrote and delivers what holds.
func (w *writing) written(ctx context.Context, made prompt.Decision[SynthesizedAnswer]) (mode.Answer, error) {
	checked, err := w.evidence.Verify(ctx, w.scope, sources.Writing{
		Models: w.mode.models, Model: w.req.Model, Language: w.language, Text: made.Value.Answer, Better: !w.set.Earlier(),
	})
	if err != nil {
		return mode.Answer{}, err
	}
	if checked.Covered == 0 {
		// Not one sentence holds: the sentences of the sources are more worth.
		return w.insteadOf(lang.Text(w.language, "research.unsupported"))
	}
	if strings.TrimSpace(checked.Text) != strings.TrimSpace(cite.Sanitize(made.Value.Answer)) {
		if err := w.void(lang.Text(w.language, "research.corrected")); err != nil {
			return mode.Answer{}, err
		}
	}
	for _, c := range checked.Claims {
		if err := w.scope.Emit(c.Event()); err != nil {
			return mode.Answer{}, err
		}
	}
	if err := w.scope.Emit(checked.Event()); err != nil {
		return mode.Answer{}, err
	}
	r := w.report(report.Answered)
	r.Text, r.Claims, r.Model = checked.Text, checked.Claims, made.Model
	r.Coverage.Claims = report.Share{Covered: checked.Covered, Total: len(checked.Claims)}
	r.Coverage.Independent = checked.Independent
	return w.deliver(r, mode.Answer{Reasoning: made.Value.Reasoning, KeyPoints: w.keyPoints(made.Value.KeyPoints), Model: made.Model})
}

// keyPoints keeps the points that cite what was read.
func (w *writing) keyPoints(points []string) []string {
	var out []string
	for _, p := range points {
		p = cite.Sanitize(p)
		cited, known := 0, true
		for _, c := range cite.Split(p) {
			cited += len(c.Sources)
			for _, n := range c.Sources {
				if _, ok := w.evidence.Ledger.Source(n); !ok {
					known = false
				}
			}
		}
		if cited > 0 && known {
			out = append(out, strings.TrimSpace(p))
		}
	}
	return out
}

// report begins a report of that outcome.
func (w *writing) report(outcome report.Outcome) *report.Report {
	e := w.evidence
	rec := w.scope.Record()
	r := &report.Report{
		Version: report.Version, Run: rec.ID, Created: rec.Created.UTC(), Question: w.req.Question, Lang: w.language, Outcome: outcome,
		Base: w.req.In.Base, Notes: w.notes(),
		Assisted: e.Asked && w.set.MinIterations > 0, // reports of earlier programs say what they said
		Coverage: report.Coverage{Facets: report.Share{Covered: e.Covered(), Total: len(e.Facets)}, Missing: e.Missing()},
	}
	r.Conflicts = e.Conflicts(w.set.Earlier())
	return r
}

// notes are what the reader of the answer should know about how it came about.
func (w *writing) notes() []string {
	notes := slices.Clone(w.about)
	if w.evidence.CutShort() {
		notes = append(notes, lang.Text(w.language, "research.stopped"))
	}
	return append(notes, w.evidence.Trouble...)
}

// quotes is the answer without a model.
func (w *writing) quotes() *report.Report {
	e := w.evidence
	if e.Covered() == 0 {
		return w.nothing()
	}
	r := w.report(report.Answered)
	e.Quote(r, w.set.Earlier())
	return r
}

// nothing is the answer when no passage has one.
func (w *writing) nothing() *report.Report {
	r := w.report(report.Nothing)
	w.evidence.Nearest(r)
	return r
}

// deliver completes a report and tells its coverage.
func (w *writing) deliver(r *report.Report, a mode.Answer) (mode.Answer, error) {
	r.DropUnfounded(w.evidence.Ledger, w.evidence.Snapshots)
	if err := r.Gather(w.evidence.Ledger, w.evidence.Snapshots); err != nil {
		return mode.Answer{}, err
	}
	if err := r.Check(w.evidence.Snapshots); err != nil {
		return mode.Answer{}, fmt.Errorf("a quote of the answer is not in its source: %w", err)
	}
	if c := r.Coverage.Claims; r.Extractive && c.Total > 0 {
		if err := w.scope.Emit(event.Coverage{Of: "claims", Covered: c.Covered, Total: c.Total, Share: c.Of()}); err != nil {
			return mode.Answer{}, err
		}
	}
	a.Report, a.Text, a.Extractive, a.Shown = r, report.Markdown(r), r.Extractive && a.Model == "", w.shown
	return a, nil
}

var _ mode.Situated = (*Mode)(nil)
