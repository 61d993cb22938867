package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

// The scripted run: a plan, three researchers in parallel who put what they
// find into a mailbox, a supervisor who reviews each finding as it comes, a
// question to the user, a report.
const (
	researchers = 3
	looks       = 2
)

// worker makes the model calls of scripted runs.
type worker struct{ model llm.Model }

// program is the code of the run with the given record.
func (w *worker) program(rec run.Record) (run.Func, run.Limits, error) {
	topic := string(rec.Request)
	return func(ctx context.Context, s *run.Scope) error { return w.research(ctx, s, topic) }, run.Limits{}, nil
}

func (w *worker) research(ctx context.Context, s *run.Scope, topic string) error {
	plan, err := w.call(ctx, s, "plan", "plan "+topic)
	if err != nil {
		return err
	}
	if err := s.Emit(event.PlanUpdated{Title: plan}); err != nil {
		return err
	}
	findings := run.NewMailbox[string](s, "findings")
	var tasks []*run.Task
	for i := range researchers {
		tasks = append(tasks, run.Go(ctx, s, fmt.Sprintf("agent-%d", i), func(ctx context.Context, s *run.Scope) error {
			return w.look(ctx, s, topic, findings)
		}))
	}
	var reviews []string
	for i := range researchers * looks {
		finding, err := findings.Receive(ctx)
		if err != nil {
			return err
		}
		if err := s.Emit(event.SupervisorDecision{Decision: "continue", Reason: finding}); err != nil {
			return err
		}
		review, err := w.call(ctx, s, fmt.Sprintf("review-%d", i), "review "+finding)
		if err != nil {
			return err
		}
		reviews = append(reviews, review)
	}
	if err := run.All(ctx, tasks...); err != nil {
		return err
	}
	answer, err := s.Ask(ctx, run.Question{Questions: []string{"How long should the report be?"}})
	if err != nil {
		return err
	}
	// The order of the reviews is that of the findings' arrival and differs
	// from execution to execution; the report must not.
	slices.Sort(reviews)
	report, err := w.call(ctx, s, "report", answer.Text+": "+strings.Join(reviews, "; "))
	if err != nil {
		return err
	}
	return s.Emit(event.Message{Role: "assistant", Text: report})
}

func (w *worker) look(ctx context.Context, s *run.Scope, topic string, findings *run.Mailbox[string]) error {
	if err := s.Emit(event.AgentStarted{Name: s.Path()}); err != nil {
		return err
	}
	for i := range looks {
		found, err := w.call(ctx, s, fmt.Sprintf("look-%d", i), fmt.Sprintf("look at %s of %s by %s", fmt.Sprint(i), topic, s.Path()))
		if err != nil {
			return err
		}
		if err := findings.Send(s, found); err != nil {
			return err
		}
	}
	return s.Emit(event.AgentFinished{Name: s.Path(), Outcome: "done"})
}

// call is one recorded model call. The model's name tells the server which
// step of which run calls.
func (w *worker) call(ctx context.Context, s *run.Scope, name, prompt string) (string, error) {
	return run.Step(ctx, s, name, func(ctx context.Context, s *run.Scope) (string, error) {
		resp, err := w.model.Stream(ctx, &llm.Request{
			Model:    s.Record().ID + " " + s.Path(),
			Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt}},
		}, nil)
		if err != nil {
			return "", err
		}
		s.Charge(run.Spent{Calls: 1, InputTokens: resp.Usage.Input, OutputTokens: resp.Usage.Output})
		return resp.Message.Content, s.Emit(event.Usage{Model: "scripted", Input: resp.Usage.Input, Output: resp.Usage.Output})
	})
}

// steps are the keys that every finished run has recorded.
func steps() []string {
	keys := []string{"plan", "report"}
	for i := range researchers {
		for j := range looks {
			keys = append(keys, fmt.Sprintf("agent-%d/look-%d", i, j))
		}
	}
	for i := range researchers * looks {
		keys = append(keys, fmt.Sprintf("review-%d", i))
	}
	return keys
}
