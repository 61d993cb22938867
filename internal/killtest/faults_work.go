package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

// errandRequest is that of a run whose world fails: researchers in parallel
// who search and ask a model, a supervisor who reviews what they find, an effect
// beside them that must not happen twice, a question, extra searches as far as
// the budget goes, a report.
type errandRequest struct {
	Topic string `json:"topic"`
	// Settle has the run answer with what there is when its tokens are spent;
	// otherwise it fails then.
	Settle bool `json:"settle,omitempty"`
	// Extras is how many searches it would like to make at the end.
	Extras int        `json:"extras,omitempty"`
	Limits run.Limits `json:"limits"`
}

// What a call is said to cost.
const callTokens = 10

// newErrand is the request of the n-th run.
func newErrand(n int) errandRequest {
	q := errandRequest{Topic: fmt.Sprintf("topic %d", n)}
	switch n % 4 {
	case 1:
		q.Limits.Tokens = 5 * callTokens
	case 2:
		q.Limits.Tokens, q.Settle = 5*callTokens, true
	case 3:
		q.Extras, q.Limits.Searches = 4, 1
	}
	return q
}

// raised are the limits that a run gets when it has spent one, none when it has
// got all that it gets: its searches stay fewer than it would like.
func (q errandRequest) raised(what string) run.Limits {
	switch {
	case what == "tokens":
		return run.Limits{Tokens: 2 * q.Limits.Tokens}
	case what == run.Searches && q.Limits.Searches < q.Extras-1:
		return run.Limits{Searches: q.Limits.Searches + 1}
	}
	return run.Limits{}
}

// errands carries out the runs of a world that fails.
type errands struct {
	model llm.Model
	world string // the address of the engine and of the effect
	http  *http.Client
}

func (w *errands) program(rec run.Record) (run.Func, run.Limits, error) {
	var q errandRequest
	if err := json.Unmarshal(rec.Request, &q); err != nil {
		return nil, run.Limits{}, err
	}
	return func(ctx context.Context, s *run.Scope) error { return w.carryOut(ctx, s, q) }, q.Limits, nil
}

func (w *errands) carryOut(ctx context.Context, s *run.Scope, q errandRequest) error {
	plan, err := w.ask(ctx, s, q, "plan", "plan "+q.Topic)
	if err != nil {
		return err
	}
	if err := s.Emit(event.PlanUpdated{Title: plan}); err != nil {
		return err
	}
	findings := run.NewMailbox[string](s, "findings")
	tasks := []*run.Task{run.Go(ctx, s, "press", w.publish)}
	for i := range researchers {
		tasks = append(tasks, run.Go(ctx, s, fmt.Sprintf("agent-%d", i), func(ctx context.Context, s *run.Scope) error {
			return w.look(ctx, s, q, findings)
		}))
	}
	reviews, err := w.review(ctx, s, q, findings)
	if err != nil {
		return err
	}
	if err := run.All(ctx, tasks...); err != nil {
		return err
	}
	answer, err := s.Ask(ctx, run.Question{Questions: []string{"How long should the report be?"}})
	if err != nil {
		return err
	}
	extras, err := w.extras(ctx, s, q)
	if err != nil {
		return err
	}
	// The order of the reviews is that of the findings' arrival.
	slices.Sort(reviews)
	report, err := w.call(ctx, s, "report", answer.Text+": "+strings.Join(append(reviews, extras...), "; "))
	if err != nil {
		return err
	}
	return s.Emit(event.Message{Role: "assistant", Text: report})
}

// publish has the effect. What became of it is not part of the answer: of one
// that was skipped nobody knows.
func (w *errands) publish(ctx context.Context, s *run.Scope) error {
	done, err := run.EffectStep(ctx, s, run.Effectful, "publish", func(ctx context.Context, s *run.Scope) (string, error) {
		return w.get(ctx, s, "/effect")
	})
	if fault, ok := run.FaultOf(err); ok && fault.Code == run.CodeUnknownEffect {
		done, err = "skipped", nil
	}
	if err != nil {
		return err
	}
	return s.Emit(event.AgentFinished{Name: s.Path(), Outcome: done})
}

// look searches and asks the model about what was found.
func (w *errands) look(ctx context.Context, s *run.Scope, q errandRequest, findings *run.Mailbox[string]) error {
	for i := range looks {
		hits, err := run.Step(ctx, s, fmt.Sprintf("search-%d", i), func(ctx context.Context, s *run.Scope) (string, error) {
			return w.search(ctx, s, fmt.Sprintf("%s, %d", q.Topic, i))
		})
		if err != nil {
			return err
		}
		found, err := w.ask(ctx, s, q, fmt.Sprintf("look-%d", i), fmt.Sprintf("look at %s by %s", hits, s.Path()))
		if err != nil {
			return err
		}
		if err := findings.Send(s, found); err != nil {
			return err
		}
	}
	return nil
}

// review reviews each finding as it comes. When a researcher has failed there is
// nobody left to wait for.
func (w *errands) review(ctx context.Context, s *run.Scope, q errandRequest, findings *run.Mailbox[string]) (reviews []string, err error) {
	for i := range researchers * looks {
		finding, err := findings.Receive(ctx)
		if errors.Is(err, run.ErrNoSender) {
			return reviews, nil
		}
		if err != nil {
			return nil, err
		}
		if finding == "" {
			continue
		}
		review, err := w.ask(ctx, s, q, fmt.Sprintf("review-%d", i), "review "+finding)
		if err != nil {
			return nil, err
		}
		if review != "" {
			reviews = append(reviews, review)
		}
	}
	return reviews, nil
}

// extras searches as often as the budget allows.
func (w *errands) extras(ctx context.Context, s *run.Scope, q errandRequest) (found []string, err error) {
	for i := range q.Extras {
		if s.Budget().Allot(run.Searches, i, 1) == 0 {
			return found, s.Budget().Short(run.Searches)
		}
		hits, err := run.Step(ctx, s, fmt.Sprintf("extra-%d", i), func(ctx context.Context, s *run.Scope) (string, error) {
			s.Charge(run.Spent{Searches: 1})
			return w.search(ctx, s, fmt.Sprintf("%s, extra %d", q.Topic, i))
		})
		if err != nil {
			return nil, err
		}
		found = append(found, hits)
	}
	return found, nil
}

// ask is a model call that the budget allows. One that it does not allow fails
// the run, or where that settles for less brings nothing: the step falls short.
func (w *errands) ask(ctx context.Context, s *run.Scope, q errandRequest, name, prompt string) (string, error) {
	if q.Settle {
		return run.Step(ctx, s, name, func(ctx context.Context, s *run.Scope) (string, error) {
			if s.Budget().Check() != nil {
				return "", nil //nolint:nilerr // it settles for nothing
			}
			return w.stream(ctx, s, prompt)
		})
	}
	if err := s.Budget().Check(); err != nil {
		return "", err
	}
	return w.call(ctx, s, name, prompt)
}

// call is a model call in a step.
func (w *errands) call(ctx context.Context, s *run.Scope, name, prompt string) (string, error) {
	return run.Step(ctx, s, name, func(ctx context.Context, s *run.Scope) (string, error) {
		return w.stream(ctx, s, prompt)
	})
}

// stream is a model call. Its Usage in the log tells that it came to its end.
func (w *errands) stream(ctx context.Context, s *run.Scope, prompt string) (string, error) {
	resp, err := w.model.Stream(ctx, &llm.Request{
		Model:    caller(s),
		Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt}},
	}, nil)
	if err != nil {
		return "", err
	}
	s.Charge(run.Spent{Calls: 1, InputTokens: callTokens})
	return resp.Message.Content, s.Emit(event.Usage{Model: "scripted", Input: callTokens})
}

// search asks the engine. Its Usage in the log tells that it answered.
func (w *errands) search(ctx context.Context, s *run.Scope, query string) (string, error) {
	hits, err := w.get(ctx, s, "/search?q="+url.QueryEscape(query))
	if err != nil {
		return "", err
	}
	return hits, s.Emit(event.Usage{Model: "engine"})
}

// caller names the step of the run that calls.
func caller(s *run.Scope) string { return s.Record().ID + " " + s.Path() }

const callerHeader = "X-Caller"

func (w *errands) get(ctx context.Context, s *run.Scope, at string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.world+at, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set(callerHeader, caller(s))
	resp, err := w.http.Do(req)
	if err != nil {
		return "", errors.New("the connection failed") // without addresses, which change
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", errors.New("the answer was cut off")
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", resp.Status)
	}
	return string(body), nil
}

// errandSteps are the keys that every finished run has recorded.
func errandSteps(q errandRequest) []string {
	keys := []string{"plan", "report", "press/publish"}
	for i := range researchers {
		for j := range looks {
			keys = append(keys, fmt.Sprintf("agent-%d/search-%d", i, j), fmt.Sprintf("agent-%d/look-%d", i, j))
		}
	}
	for i := range researchers * looks {
		keys = append(keys, fmt.Sprintf("review-%d", i))
	}
	for i := range min(q.Extras, q.Limits.Searches) {
		keys = append(keys, fmt.Sprintf("extra-%d", i))
	}
	return keys
}
