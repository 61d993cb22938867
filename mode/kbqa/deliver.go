package kbqa

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/agent"
	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/mode"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

// Who an answer is by, in event.AgentAnswered.
const (
	byModel = "model"
	byRules = "rules"
	byQA    = "qa"
)

// delivery makes the report of what the agent came to.
type delivery struct {
	*course
	scope *run.Scope
	done  agent.Done
}

func (d *delivery) deliver(ctx context.Context) (mode.Answer, error) {
	if d.qa != nil {
		d.explainQA()
	} else if d.checked == nil && d.basis == nil {
		// It ended in another way than by an answer that was verified.
		if err := d.lateCheck(ctx); err != nil {
			return mode.Answer{}, err
		}
	}
	if d.checked != nil && d.checked.Covered > 0 {
		return d.written()
	}
	var why []string
	switch {
	case d.noneIn && d.basis.Covered() > 0:
		why = append(why, lang.Text(d.language, "research.model-found-none"))
	case d.noneIn:
		why = append(why, lang.Text(d.language, "kbqa.no-answer"))
	case d.checked != nil && d.basis.Covered() > 0:
		why = append(why, lang.Text(d.language, "research.unsupported"))
	}
	return d.quoted(why)
}

// lateCheck verifies what the model said in the end, if it said anything, or
// reads what was found.
func (d *delivery) lateCheck(ctx context.Context) error {
	s := d.scope.Child("late")
	var err error
	if d.basis, err = d.evidence(ctx, s, d.done.State); err != nil {
		return err
	}
	text := strings.TrimSpace(d.done.Answer.Text)
	if d.noneIn = d.noneIn || strings.HasPrefix(text, noAnswer); d.noneIn || d.done.Extractive || d.done.Answer.Status != tool.Completed || text == "" {
		return nil
	}
	w := sources.Writing{Language: d.language, Text: text}
	if d.set.KB.Verify {
		w.Models, w.Model = d.models, d.req.Model
	}
	d.checked, err = d.basis.Check(ctx, s, w)
	return err
}

// written is the answer of a model, with what does not hold marked.
func (d *delivery) written() (mode.Answer, error) {
	for _, c := range d.checked.Claims {
		if err := d.scope.Emit(c.Event()); err != nil {
			return mode.Answer{}, err
		}
	}
	if err := d.scope.Emit(d.checked.Event()); err != nil {
		return mode.Answer{}, err
	}
	told := d.answered(byModel, d.checked.Coverage, mean(d.checked.Claims))
	if d.set.KB.Verify {
		told.Verification = &event.Verification{
			Passed: len(d.checked.Failing()) == 0, Claims: len(d.checked.Claims), Verified: d.checked.Covered, Flagged: d.checked.Marked, Rewritten: d.mended,
		}
	}
	if err := d.scope.Emit(told); err != nil {
		return mode.Answer{}, err
	}
	r := d.report(report.Answered)
	r.Text, r.Claims, r.Model = d.checked.Text, d.checked.Claims, d.done.Model
	r.Coverage.Claims = report.Share{Covered: d.checked.Covered, Total: len(d.checked.Claims)}
	r.Coverage.Independent = d.checked.Independent
	return d.complete(r, mode.Answer{Model: d.done.Model, Shown: d.done.Shown})
}

// quoted is the answer by rules: sentences of what was found, or that none
// answers.
func (d *delivery) quoted(why []string) (mode.Answer, error) {
	d.basis.Trouble = append(why, d.basis.Trouble...)
	if len(why) > 0 { // what was seen of another answer is void
		if err := d.scope.Emit(event.ReportReset{Reason: why[0]}); err != nil {
			return mode.Answer{}, err
		}
	}
	r, confidence := d.report(report.Nothing), 0.
	if d.basis.Covered() > 0 {
		r = d.report(report.Answered)
		d.basis.Quote(r, false)
		for _, f := range d.basis.Facets {
			if f.Answered {
				confidence += f.Confidence / float64(len(d.basis.Facets))
			}
		}
	} else {
		d.basis.Nearest(r)
	}
	r.Assisted = !d.done.Extractive
	if c := r.Coverage.Claims; c.Total > 0 {
		if err := d.scope.Emit(event.Coverage{Of: "claims", Covered: c.Covered, Total: c.Total, Share: c.Of()}); err != nil {
			return mode.Answer{}, err
		}
	}
	if err := d.scope.Emit(d.answered(byRules, r.Coverage.Claims.Of(), confidence)); err != nil {
		return mode.Answer{}, err
	}
	return d.complete(r, mode.Answer{Extractive: true, Unanswered: r.Outcome == report.Nothing})
}

// explainQA has the report say that, and why, the question was answered in one go.
func (d *delivery) explainQA() {
	why := []string{lang.Text(d.language, "kbqa.step-limit", "n", d.set.KB.MaxSteps)}
	if d.qa.Why != "" {
		why = append(why, lang.Text(d.language, "agent.by-rules", "why", prompt.Told(d.language, d.qa.Why)))
	}
	d.basis.Trouble = append(why, d.basis.Trouble...)
}

// answered is what is told of an answer. Where less of the question is covered
// than should be, it is less sure: by half where nothing is.
func (d *delivery) answered(by string, cited, confidence float64) event.AgentAnswered {
	if d.qa != nil {
		by = byQA
	}
	if t := d.set.KB.Threshold; d.state.Coverage < t {
		confidence *= (1 + d.state.Coverage/t) / 2
	}
	return event.AgentAnswered{
		Coverage: round(d.state.Coverage), CitationCoverage: round(cited), Refinements: d.state.RefinementCount, Confidence: round(confidence), By: by,
		Iteration: d.done.State.Iteration,
	}
}

// round is a figure as it is told.
func round(f float64) float64 { return float64(int(f*1000+0.5)) / 1000 }

// mean is how well claims are borne out: one that is not counts as nothing.
func mean(claims []cite.Checked) float64 {
	sum := 0.
	for _, c := range claims {
		if c.Verified {
			sum += c.Score / float64(len(claims))
		}
	}
	return sum
}

// report begins a report of that outcome.
func (d *delivery) report(outcome report.Outcome) *report.Report {
	e, rec := d.basis, d.scope.Record()
	r := &report.Report{
		Version: report.Version, Run: rec.ID, Created: rec.Created.UTC(), Question: d.req.Question, Lang: d.language, Outcome: outcome, Base: d.req.In.Base,
		Coverage: report.Coverage{Facets: report.Share{Covered: e.Covered(), Total: len(e.Facets)}, Missing: e.Missing()},
	}
	r.Notes = append(slices.Clone(d.ready.Notes(d.language)), e.Trouble...)
	switch {
	case d.done.Why == "":
	case d.done.ByRules:
		r.Notes = append(r.Notes, lang.Text(d.language, "agent.by-rules", "why", d.done.Why))
	default:
		r.Notes = append(r.Notes, lang.Text(d.language, "agent.cut-short", "why", d.done.Why))
	}
	if d.mended && d.checked != nil && outcome == report.Answered && d.checked.Covered > 0 {
		r.Notes = append(r.Notes, lang.Text(d.language, "kbqa.rewritten"))
	}
	r.Conflicts = e.Conflicts(false)
	return r
}

func (d *delivery) complete(r *report.Report, a mode.Answer) (mode.Answer, error) {
	r.DropUnfounded(d.basis.Ledger, d.basis.Snapshots)
	if err := r.Gather(d.basis.Ledger, d.basis.Snapshots); err != nil {
		return a, err
	}
	if err := r.Check(d.basis.Snapshots); err != nil {
		return a, fmt.Errorf("a quote of the answer is not in its source: %w", err)
	}
	a.Report, a.Text = r, report.Markdown(r)
	return a, nil
}

// quotes are the sentences that answer, as text with the numbers of their sources.
func (c *course) quotes() string {
	var b strings.Builder
	for _, f := range c.basis.Facets {
		if !f.Answered {
			continue
		}
		for _, q := range f.Quotes {
			src, ok := c.basis.Ledger.Source(q.Source)
			if snap := c.basis.Snapshots[src.Snapshot]; ok && snap != nil {
				fmt.Fprintf(&b, "%s %s\n\n", strings.TrimSpace(snap.Text[q.Start:q.End]), cite.Marker([]int{q.Source}))
			}
		}
	}
	if b.Len() == 0 {
		return lang.Text(c.language, "answer.none")
	}
	return strings.TrimSpace(b.String())
}
