package dossier

import (
	"context"
	"strings"

	"dossier/event"
	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
)

// carryOut is the code of every run: the question, what the mode does with it,
// the answer.
func (e *Engine) carryOut(m mode.Mode, req *mode.Request, deliver func(quality)) run.Func {
	return func(ctx context.Context, s *run.Scope) error {
		if err := s.Emit(event.Message{Role: "user", Text: req.Question}); err != nil {
			return err
		}
		a, err := m.Run(ctx, s, *req)
		if err != nil {
			return err
		}
		deliver(qualityOf(a))
		if a.Report != nil {
			if req.CompareWith != "" {
				if err := e.compare(ctx, s, req.CompareWith, a.Report); err != nil {
					return err
				}
				a.Text = report.Markdown(a.Report)
			}
			if err := e.keepReport(ctx, s, a.Report); err != nil {
				return err
			}
		}
		m := event.Message{
			Role: "assistant", Text: a.Text, Reasoning: a.Reasoning, KeyPoints: a.KeyPoints, Model: a.Model, Extractive: a.Extractive,
		}
		for _, c := range a.Calls {
			m.Calls = append(m.Calls, event.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		if a.Report != nil {
			m.Answer, m.Citations = report.Plain(a.Report)
		}
		if said := m.Said(); strings.TrimSpace(a.Shown) != strings.TrimSpace(said) {
			tell(s, said)
		}
		return s.Emit(m)
	}
}

// tell tells an answer in pieces that nobody saw while it was written, or not as
// it is.
func tell(s *run.Scope, answer string) {
	told := 0
	for i, piece := range pieces(answer) {
		_ = s.Emit(event.AnswerDelta{Text: piece, At: told, Reset: i == 0, Ready: true}) // who does not listen has the message
		told += len(piece)
	}
}

// mostPieces is how many pieces an answer is told in: whoever follows a run is not
// left behind by so many.
const mostPieces = 100

// pieces cuts a text where sentences begin. Together they are the text.
func pieces(text string) []string {
	least := len(text) / mostPieces
	var out []string
	from := 0
	for _, sentence := range lang.Sentences(text) {
		if sentence.Start-from > least {
			out, from = append(out, text[from:sentence.Start]), sentence.Start
		}
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}
