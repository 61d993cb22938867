package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dossier/agent"
	"dossier/bench/internal/asked"
	"dossier/event"
	"dossier/kb"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/kbqa"
	"dossier/report"
	kernel "dossier/run"
	"dossier/sources"
	"dossier/tool"
	"dossier/toolkit"
)

// kbAgent is the agent of the knowledge base, whole and without a model, as a mode.
type kbAgent struct {
	*kbqa.Mode
	settings kbqa.Settings
}

func (a *kbAgent) Name() string  { return "kb_agent" }
func (a *kbAgent) Settings() any { return a.settings }

func (a *kbAgent) Run(ctx context.Context, s *kernel.Scope, req mode.Request) (mode.Answer, error) {
	return a.Mode.Run(ctx, s, req)
}

// agentWays are the agent with and without refinement, by what their figures end
// in.
var agentWays = [...]struct {
	suffix      string
	refinements int
}{{".kb_agent", 1}, {".kb_agent-unrefined", 0}}

// newKBAgent is the agent over a library, as it is without configuration.
func newKBAgent(p *product, library *kb.Library, refinements int, before ...event.Message) *kbAgent {
	kit := toolkit.New(toolkit.Parts{Library: library, Blobs: p.store})
	settings := kbqa.Settings{
		Agent: agent.Definition{Name: "kb_agent", Decider: agent.KB}, HistoryLimit: 20,
		KB: kbqa.Tuning{
			MaxSteps: 8, TokenBudget: 2000, ToolTimeout: 60, Threshold: 0.8, MaxRefinements: refinements, Verify: true, TopBM25: 50, TopDense: 50, Sources: defaults.Tuning,
		},
	}
	return &kbAgent{settings: settings, Mode: kbqa.New(kbqa.Parts{
		Local: &sources.Local{Library: library}, Blobs: p.store,
		History: func(context.Context, string, string, int) ([]event.Message, error) { return before, nil },
		Models:  func(context.Context, *kbqa.Settings) *llm.Models { return &llm.Models{} },
		Tools: func(_ *kbqa.Settings, collection string) (tools []tool.Tool, err error) {
			config, err := json.Marshal(map[string]string{"collection": collection})
			if err != nil {
				return nil, err
			}
			for _, name := range toolkit.ForDocuments {
				t, err := kit.Make(name, config, toolkit.Settings{})
				if err != nil {
					return nil, err
				}
				tools = append(tools, t)
			}
			return tools, nil
		},
	})}
}

// agentOver asks the agent what research was asked, with and without refinement,
// and prints how far its figures are from those of research.
func (e *Env) agentOver(ctx context.Context, p *product, library *kb.Library, collections map[string]string, questions []asked.Question, research []asked.Result) error {
	base := map[string]float64{}
	for _, f := range asked.Figures(research) {
		base[f.Name] = f.Value
	}
	for _, way := range agentWays {
		var results []asked.Result
		for i := range questions {
			q := &questions[i]
			a := newKBAgent(p, library, way.refinements, said(q.History)...)
			r, err := p.carryOut(ctx, a, mode.Request{Question: q.Question, In: sources.Target{Collection: collections[q.Folder]}})
			if err != nil {
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			results = append(results, asked.Judge(q, delivered(q.ID, r)))
		}
		for _, f := range asked.Figures(results) {
			if !strings.Contains(f.Name, ".") {
				e.Score(f.Name+way.suffix, f.Value, f.N)
				e.Score(f.Name+way.suffix+".minus-research", f.Value-base[f.Name], f.N)
			}
		}
	}
	return nil
}

// comparison counts what becomes of the same puzzles in each of agentWays, and in
// research.
type comparison struct {
	research outcome
	ways     [len(agentWays)]outcome
}

// agentSolves has the agent solve puzzles over documents, with and without
// refinement, beside research; nil has that solve them too.
func (e *Env) agentSolves(ctx context.Context, l *library, puzzles []puzzle, research *outcome, into *comparison) error {
	p, err := assemble(ctx, l.whole, false)
	if err != nil {
		return err
	}
	defer p.close()
	silent := &Env{} // what is recorded is the answers of research
	solve := func(total *outcome, ask func(question string) (answered, error)) error {
		for _, puzzle := range puzzles {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := silent.solve(l, func(question string, _ func(string) bool) (answered, error) { return ask(question) }, puzzle, "", nil)
			if err != nil {
				return err
			}
			total.add(t)
		}
		return nil
	}
	if research != nil {
		into.research.add(*research)
	} else if err := solve(&into.research, func(question string) (answered, error) { return p.answer(ctx, question) }); err != nil {
		return err
	}
	for i, way := range agentWays {
		a := newKBAgent(&p.product, p.holdings.Documents.Library, way.refinements)
		err := solve(&into.ways[i], func(question string) (answered, error) {
			r, err := p.carryOut(ctx, a, mode.Request{Question: question, In: sources.Target{Collection: p.collection}})
			if err != nil {
				return answered{}, err
			}
			return quotes(r, func(s *report.Source) string { return documentOf(s.URI) }), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// report prints a comparison: the agent's figures and how far they are from those
// of research.
func (c *comparison) report(e *Env, of string) {
	share := func(part int, t outcome) float64 { return float64(part) / float64(max(1, t.n)) }
	for i, way := range agentWays {
		t := c.ways[i]
		score := func(metric string, get func(outcome) int) {
			e.Score(metric+of+way.suffix, share(get(t), t), t.n)
			e.Score(metric+of+way.suffix+".minus-research", share(get(t), t)-share(get(c.research), c.research), t.n)
		}
		score("answer-in-citation", func(t outcome) int { return t.n - t.refused - t.wrong })
		score("rejection", func(t outcome) int { return t.refused })
		score("false-answer", func(t outcome) int { return t.wrong })
	}
}
