package supervised

import (
	"context"

	"dossier/event"
	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/study"
)

// deliver has the report written from what the team found.
func (t *team) deliver(ctx context.Context) (mode.Answer, error) {
	if len(t.book.Findings) == 0 && t.failure != nil && (t.deepFailed != nil || !t.set.DeepSearchFirst) {
		return mode.Answer{}, t.failure // nothing could be searched at all
	}
	for _, item := range t.plan.OpenItems() {
		t.plan.Miss(item.ID)
	}
	for _, i := range t.plan.Rubric {
		if i.State == study.Missing {
			t.book.Note(lang.Text(t.language, "team.missing", "question", i.Question))
		}
	}
	if told := t.earlier.Told(t.book, t.language); told != "" {
		t.book.Note(told)
	}
	t.show()
	r, err := study.Write(ctx, t.scope, study.Work{
		Models: t.parts.Models, Model: t.req.Model, Brief: t.brief, Plan: t.plan, Book: t.book, Draft: t.memory.draft, Insights: t.memory.main(),
		Lengths: study.TeamLengths, Base: t.req.In.Base, About: t.open.Notes, Stopped: t.stopped != nil || t.short,
		FollowUps: t.set.FollowUps, Blobs: t.parts.Blobs,
	})
	if err != nil {
		return mode.Answer{}, err
	}
	if len(r.FollowUps) > 0 {
		if err := t.scope.Emit(event.FollowUps{Questions: r.FollowUps}); err != nil {
			return mode.Answer{}, err
		}
	}
	t.keepReport(r)
	return mode.Answer{
		Text: report.Markdown(r), Report: r, Model: r.Model, Extractive: r.Extractive && r.Model == "", Unanswered: r.Outcome == report.Nothing,
	}, nil
}
