package agent

import (
	"context"
	"strings"

	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/tool"
)

// conclude answers out of what there is: what the model has written, or else
// what can be made without it.
func (w *Work) conclude(ctx context.Context, why error) error {
	w.extractive, w.why = false, why.Error()
	if w.draft != "" {
		w.Finish(tool.Answer{Text: w.draft, Status: tool.Completed})
		return nil
	}
	if r := w.State.Report; r != nil && strings.TrimSpace(r.Content) != "" {
		w.Finish(tool.Answer{Text: r.Content, Status: tool.Completed})
		return nil
	}
	w.extractive = true
	answer, err := run.Step(ctx, w.Scope, "conclude", func(ctx context.Context, _ *run.Scope) (string, error) {
		return w.compose(ctx)
	})
	if err != nil {
		if _, failed := run.FaultOf(err); !failed || run.Stopped(err) {
			return err
		}
		answer = ""
	}
	if w.why == run.ErrFinish.Error() || w.why == run.Reason(run.ErrFinish) {
		w.unasked = "" // what failed last was broken off
	}
	if answer == "" && w.unasked == tool.Searching && len(w.State.Sources) == 0 {
		told := event.RunError{
			Code: "search_unavailable", Message: lang.Text(w.Task.Lang, "agent.no-search"),
			Hint: "`dossier doctor` tests each engine; `dossier agents run kb_agent` looks in your own documents",
		}
		if err := w.Scope.Emit(told); err != nil {
			return err
		}
	}
	w.deliver(answer)
	return nil
}

// reason says why no model brought the work to its end.
func (w *Work) reason() string {
	switch w.why {
	case llm.ErrNotConfigured.Error():
		return lang.Text(w.Task.Lang, "agent.no-model")
	case run.ErrFinish.Error(): // where no model was asked
		return lang.Text(w.Task.Lang, "agent.told-to-finish")
	}
	return prompt.Told(w.Task.Lang, w.why)
}

// deliver ends the work with an answer that no model wrote.
func (w *Work) deliver(answer string) {
	if answer != "" {
		w.Finish(tool.Answer{Text: answer, Status: tool.Completed})
		return
	}
	text := lang.Text(w.Task.Lang, "agent.nothing", "why", w.reason())
	also := map[tool.Kind]string{tool.Searching: "agent.no-search", tool.Lookup: "agent.no-documents"}[w.unasked]
	if also != "" && len(w.State.Sources) == 0 {
		text = lang.Text(w.Task.Lang, "agent.nothing-and", "why", w.reason(), "also", lang.Text(w.Task.Lang, also))
	}
	w.Finish(tool.Answer{Text: text, Status: tool.Failed})
}

// compose makes an answer of what was found.
func (w *Work) compose(ctx context.Context) (string, error) {
	if w.Agent.Compose != nil {
		text, err := w.Agent.Compose(ctx, w.State)
		if err != nil || text != "" {
			return text, err
		}
	}
	var text strings.Builder
	for _, n := range w.State.Notes {
		text.WriteString("- " + n.Text + "\n")
	}
	return text.String(), nil
}
