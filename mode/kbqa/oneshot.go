package kbqa

import (
	"context"
	"errors"
	"slices"

	"dossier/agent"
	"dossier/cite"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/sources/qa"
	"dossier/tool"
)

// asked is what the question was answered with in one go, as the run records it.
type asked struct {
	qa.Answer
	// Why no model wrote it, where one should have.
	Why string `json:"why,omitempty"`
}

// oneShot has the question answered in one go, as rag_search answers, from as many
// passages as are kept for a part of a question.
func (c *course) oneShot(ctx context.Context, w *agent.Work) error {
	if err := tell(w, lang.Text(c.language, "kbqa.step-limit", "n", c.set.KB.MaxSteps)); err != nil {
		return err
	}
	s := w.Scope.Child("qa")
	made, err := run.Step(ctx, s, "ask", func(ctx context.Context, s *run.Scope) (asked, error) {
		until, cancel := s.UntilFinish(ctx)
		defer cancel()
		paid := &prompt.Paid{Client: c.models.For(role), Scope: s, Role: role, Then: llm.ThenRules}
		got, err := qa.Ask(ctx, qa.Question{Text: c.question, Lang: c.language, Write: func(_ context.Context, messages []llm.Message) (string, error) {
			resp, err := paid.Stream(llm.Replaceable(until), &llm.Request{Model: c.req.Model, Messages: messages, MaxTokens: c.set.KB.TokenBudget}, func(llm.Chunk) {})
			if err != nil {
				return "", err
			}
			return resp.Message.Content, nil
		}}, qa.In(c.mode.parts.Local.Library, c.ready.Collection), c.set.KB.Sources.TopK)
		if failed := (*qa.ModelError)(nil); ctx.Err() == nil && errors.As(err, &failed) {
			return asked{got, run.Reason(failed.Err)}, nil
		}
		return asked{Answer: got}, err
	})
	if err != nil {
		return err
	}
	c.qa = &made
	known, err := c.sourcesOf(ctx, w.State)
	if err != nil {
		return err
	}
	if c.basis, err = c.read(ctx, s.Child("read"), known, made.Answer); err != nil {
		return err
	}
	text := cite.Renumber(made.Text, func(n int) (int, bool) {
		p, ok := passageOf(c.basis, made.Hits[n-1])
		return p.Source, ok
	})
	c.checked, c.noneIn = nil, made.None && !made.Quoted
	if !made.None && !made.Quoted {
		writing := sources.Writing{Language: c.language, Text: text}
		if c.set.KB.Verify {
			writing.Models, writing.Model = c.models, c.req.Model
		}
		if c.checked, err = c.basis.Check(ctx, s.Child("check"), writing); err != nil {
			return err
		}
	}
	w.Finish(tool.Answer{Text: text, Status: tool.Completed})
	return nil
}

// read reads the documents of an answer, in steps of the scope, and makes its quotes
// those that the report has.
func (c *course) read(ctx context.Context, s *run.Scope, known *sources.Evidence, a qa.Answer) (*sources.Evidence, error) {
	most := max(1, len(a.Hits))
	found := sources.Collect(s, sources.Job{
		Blobs: c.mode.parts.Blobs, Corpus: c.mode.parts.Local.Corpus(c.ready), Question: c.question, Language: c.language, Where: c.ready.Where,
		Tuning: sources.Tuning{Queries: 1, MinIterations: 1, Iterations: 1, MaxResults: most, TopK: most, ReadTop: most, Rerank: sources.ByWords},
	}, sources.Plan{Question: c.question, Facets: []sources.Facet{{Title: c.question, Queries: []string{c.question}}}})
	leads := make([]sources.Lead, len(a.Hits))
	for i, h := range a.Hits {
		leads[i] = sources.LeadOf(h)
	}
	found.Take(c.question, leads, true)
	basis, err := found.Evidence(ctx, s, known)
	if err != nil {
		return nil, err
	}
	f := &basis.Facets[0]
	f.Answered, f.Confidence = false, a.Confidence
	if a.None {
		return basis, nil // the quotes of what was read are the nearest there is
	}
	f.Quotes = nil
	for _, q := range a.Quotes {
		if p, ok := passageOf(basis, a.Hits[q.Hit]); ok {
			src, _ := basis.Ledger.Source(p.Source)
			at := basis.Snapshots[src.Snapshot].PassageAt(p.Source, lang.Span{Start: p.Start + q.Start, End: p.Start + q.End})
			at.HeadingPath, at.Page = p.HeadingPath, p.Page
			f.Quotes = append(f.Quotes, at)
		}
	}
	f.Answered = len(f.Quotes) > 0
	return basis, nil
}

// passageOf is a hit as it was read, unless its document has changed since it was
// found.
func passageOf(e *sources.Evidence, h kb.Hit) (sources.Passage, bool) {
	i := slices.IndexFunc(e.Passages, func(p sources.Passage) bool { return p.ID == h.ID && p.Text == h.Text })
	if i < 0 {
		return sources.Passage{}, false
	}
	return e.Passages[i], true
}
