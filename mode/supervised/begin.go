package supervised

import (
	"context"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
)

// goOn makes a question that goes on a conversation stand by itself, and looks for
// it in what earlier runs of the conversation have read.
func (t *team) goOn(ctx context.Context, history []llm.Message) (string, error) {
	asked, trouble, err := study.StandAlone(ctx, t.scope, study.Continuation{
		Models: t.parts.Models, Model: t.req.Model, Question: t.req.Question, History: history, Language: t.language,
	})
	if err != nil {
		return "", err
	}
	if trouble != "" {
		t.book.Note(trouble)
	}
	t.earlier, err = study.Recall(ctx, t.scope, study.Recollection{Past: t.parts.Past, Blobs: t.parts.Blobs, Question: asked, In: t.req.In, Web: t.open.Web})
	return asked, err
}

// remember enters what earlier runs have read about some questions, and returns
// those of them that it answers for sure.
func (t *team) remember(ctx context.Context, name string, questions []string) (sure []string, err error) {
	found, err := t.earlier.Answers(ctx, t.scope, name, questions)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		f, err := t.enterEarlier(m)
		if err != nil {
			return nil, err
		}
		if !m.Sure {
			continue
		}
		sure = append(sure, m.Question)
		for _, item := range t.plan.Rubric {
			if item.Question == m.Question {
				t.plan.Cover(item.ID, f.ID)
			}
		}
	}
	return sure, nil
}

// enterEarlier enters what earlier runs have read about a question, once, and
// tells it.
func (t *team) enterEarlier(m study.Remembered) (study.Finding, error) {
	for _, f := range t.book.Findings {
		if f.FromEarlier() && f.Task == m.Question {
			return f, nil
		}
	}
	f := t.book.Remember(m, m.Question)
	if err := t.tellSources(); err != nil {
		return f, err
	}
	return f, t.scope.Emit(event.NoteAdded{ID: f.ID, Text: f.Text, Sources: f.Sources()})
}

// answeredBefore says whether earlier runs have read what a task is to find out.
func (t *team) answeredBefore(d *todo) bool {
	if slices.Contains(t.settled, d.title) {
		return true
	}
	open := slices.ContainsFunc(t.plan.Rubric, func(i study.Item) bool {
		earlier := slices.ContainsFunc(i.Findings, func(id string) bool {
			f, _ := t.book.Finding(id)
			return f.FromEarlier()
		})
		return slices.Contains(d.items, i.ID) && !(i.State == study.Covered && earlier)
	})
	return len(d.items) > 0 && !open
}

// searchFirst has the deep search work on the parts of a question that what was
// read earlier does not answer. What it finds is among the first findings of the
// run, and these are what everybody begins with.
func (t *team) searchFirst(ctx context.Context, asked string) error {
	parts := extract.Facets(asked)
	known, err := t.remember(ctx, "recall-question", parts)
	if err != nil {
		return err
	}
	if len(known) > 0 {
		parts = slices.DeleteFunc(parts, func(p string) bool { return slices.Contains(known, p) })
		asked = strings.Join(parts, " ")
	}
	if len(parts) > 0 {
		if err := t.deepSearch(ctx, asked); err != nil {
			return err
		}
	}
	var said []string
	for _, f := range t.book.Findings {
		said = append(said, f.Text)
	}
	t.deepResult = cut(strings.Join(said, "\n\n"), mostResult)
	return t.tellSources()
}

// deepSearch has the deep search work on a question and enters what it finds.
func (t *team) deepSearch(ctx context.Context, asked string) error {
	if !t.set.DeepSearchFirst || t.parts.DeepSearch == nil || len(t.set.DeepSearch) == 0 {
		return nil
	}
	req := t.req
	req.Settings, req.Question, req.Alone = t.set.DeepSearch, asked, t.set.FollowUps > 0
	found, err := t.parts.DeepSearch.Run(ctx, t.scope.Child("deep_search"), req)
	if err != nil {
		if run.Stopped(err) || ctx.Err() != nil {
			return err
		}
		t.deepFailed = err
		t.book.Note(lang.Text(t.language, "team.deep-search-failed", "why", faultOf(err)))
		return nil
	}
	if found.Report == nil || found.Report.Outcome == report.Nothing {
		return nil
	}
	return t.takeReport(ctx, "deep_search", found.Report)
}

// mostResult is how many characters of the deep search's answer everybody sees.
const mostResult = 6000

// takeReport enters what a finished report says into the book: its text, or the
// quotes of each of its sections.
func (t *team) takeReport(ctx context.Context, by string, r *report.Report) error {
	enter := func(title, text string, quotes []cite.Passage) error {
		var read []cite.Source
		for _, src := range r.Sources {
			if slices.ContainsFunc(quotes, func(p cite.Passage) bool { return p.Source == src.Number }) {
				read = append(read, src.Source)
			}
		}
		e, err := sources.Restored(ctx, t.parts.Blobs, title, read, quotes)
		if err != nil || len(e.Passages) == 0 {
			return err
		}
		e.Asked = r.Assisted || r.Model != ""
		if text == "" {
			text = e.Quoted(e.Facets[0].Quotes)
		} else {
			text = cite.Renumber(text, func(n int) (int, bool) {
				if src := r.Source(n); src != nil {
					known, ok := e.Ledger.Lookup(src.URI)
					return known.Number, ok
				}
				return 0, false
			})
		}
		t.book.Add(e, study.Finding{By: by, Task: title, Text: strings.TrimSpace(text), Passages: e.Facets[0].Quotes})
		return nil
	}
	if r.Text != "" {
		var all []cite.Passage
		for _, src := range r.Sources {
			for _, q := range src.Passages {
				all = append(all, q.Passage)
			}
		}
		return enter(r.Question, r.Text, all)
	}
	for _, section := range r.Sections {
		var own []cite.Passage
		for _, q := range section.Quotes {
			own = append(own, q.Passage)
		}
		title := section.Title
		if title == "" {
			title = r.Question
		}
		if err := enter(title, "", own); err != nil {
			return err
		}
	}
	return nil
}
