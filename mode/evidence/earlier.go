package evidence

import (
	"context"

	"dossier/lang"
	"dossier/study"
)

// goOn makes a question that goes on a conversation stand by itself, and looks for
// it in what earlier runs of the conversation have read.
func (w *work) goOn(ctx context.Context, language lang.Code) (string, error) {
	asked, trouble, err := study.StandAlone(ctx, w.scope, study.Continuation{
		Models: w.Models, Model: w.req.Model, Question: w.req.Question, History: w.history, Language: language,
	})
	if err != nil {
		return "", err
	}
	if trouble != "" {
		w.book.Note(trouble)
	}
	w.earlier, err = study.Recall(ctx, w.scope, study.Recollection{Past: w.Past, Blobs: w.Blobs, Question: asked, In: w.req.In, Web: w.open.Web})
	return asked, err
}

// remember enters what earlier runs have read about the sections. What answers one
// for sure stands in for its first round.
func (w *work) remember(ctx context.Context) error {
	w.settled = make(map[string]bool)
	questions := make([]string, len(w.plan.Sections))
	for i, sec := range w.plan.Sections {
		questions[i] = sec.Description
	}
	found, err := w.earlier.Answers(ctx, w.scope, "recall-sections", questions)
	if err != nil {
		return err
	}
	for _, m := range found {
		for i, sec := range w.plan.Sections {
			if sec.Description != m.Question {
				continue
			}
			w.settled[sec.Title] = m.Sure
			if err := w.enterEarlier(i, m); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// enterEarlier enters what earlier runs have read about a section, and tells it.
func (w *work) enterEarlier(i int, m study.Remembered) error {
	before := len(w.book.Ledger.Sources())
	f := w.book.Remember(m, w.plan.Sections[i].Title)
	if m.Sure && i < len(w.plan.Rubric) && w.plan.Rubric[i].Kind == study.SubQuestion {
		w.plan.Cover(w.plan.Rubric[i].ID, f.ID)
	}
	return w.tell(w.scope, f, before)
}
