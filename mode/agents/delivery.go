package agents

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"dossier/agent"
	"dossier/cite"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

// delivery checks what an agent says against what it read.
type delivery struct {
	scope    *run.Scope
	blobs    sources.Blobs
	models   *llm.Models
	req      mode.Request
	language lang.Code
	research bool // citations are all that brackets with numbers can be
	done     agent.Done
}

func (d *delivery) deliver(ctx context.Context) (mode.Answer, error) {
	a := mode.Answer{Model: d.done.Model, Extractive: d.done.Extractive, Unanswered: d.done.Answer.Status != tool.Completed, Shown: d.done.Shown}
	if len(d.done.State.Sources) == 0 { // it has found nothing that could be cited
		a.Text = cite.Sanitize(d.body())
		if d.research {
			a.Text, _ = cite.OnlyKnown(a.Text, func(int) bool { return false })
		}
		return a, nil
	}
	read, err := d.evidence(ctx)
	if err != nil {
		return a, err
	}
	if a.Unanswered {
		a.Text = cite.Sanitize(d.done.Answer.Text)
		return d.nothing(read, a)
	}
	body := d.body()
	checked, err := read.Verify(ctx, d.scope, sources.Writing{Models: d.models, Model: d.req.Model, Language: d.language, Text: body})
	if err != nil {
		return a, err
	}
	for _, c := range checked.Claims {
		if err := d.scope.Emit(c.Event()); err != nil {
			return a, err
		}
	}
	if err := d.scope.Emit(checked.Event()); err != nil {
		return a, err
	}
	r := d.report(read, report.Answered)
	r.Text, r.Claims, r.Model = checked.Text, checked.Claims, d.done.Model
	r.Extractive = d.done.Extractive
	r.Coverage.Claims = report.Share{Covered: checked.Covered, Total: len(checked.Claims)}
	r.Coverage.Independent = checked.Independent
	return d.complete(r, read, a)
}

// body is what the agent wrote: the answer, and the report if it says more.
func (d *delivery) body() string {
	answer := strings.TrimSpace(d.done.Answer.Text)
	written := d.done.State.Report
	if d.done.Answer.Status != tool.Completed {
		return answer
	}
	if written == nil || strings.TrimSpace(written.Content) == "" || strings.Contains(answer, strings.TrimSpace(written.Content)) {
		return answer
	}
	content := strings.TrimSpace(written.Content)
	if strings.Contains(content, answer) {
		return content
	}
	return answer + "\n\n" + content
}

// nothing is the report of an agent that found no answer.
func (d *delivery) nothing(read *sources.Evidence, a mode.Answer) (mode.Answer, error) {
	r := d.report(read, report.Nothing)
	r.Notes = append(r.Notes, a.Text)
	return d.complete(r, read, a)
}

func (d *delivery) report(read *sources.Evidence, outcome report.Outcome) *report.Report {
	rec := d.scope.Record()
	r := &report.Report{
		Version: report.Version, Run: rec.ID, Created: rec.Created.UTC(), Question: d.req.Question, Lang: d.language, Outcome: outcome, Notes: read.Trouble,
	}
	if w := d.done.State.Report; w != nil {
		r.Title = w.Title
	}
	switch {
	case d.done.Why == "":
	case d.done.ByRules:
		r.Notes = append(r.Notes, lang.Text(d.language, "agent.by-rules", "why", d.done.Why))
	default:
		r.Notes = append(r.Notes, lang.Text(d.language, "agent.cut-short", "why", d.done.Why))
	}
	return r
}

func (d *delivery) complete(r *report.Report, read *sources.Evidence, a mode.Answer) (mode.Answer, error) {
	r.DropUnfounded(read.Ledger, read.Snapshots)
	if err := r.Gather(read.Ledger, read.Snapshots); err != nil {
		return a, err
	}
	if err := r.Check(read.Snapshots); err != nil {
		return a, fmt.Errorf("a quote of the answer is not in its source: %w", err)
	}
	a.Report, a.Text = r, report.Markdown(r)
	return a, nil
}

// evidence is what was read, with the numbers under which the agent knows it.
func (d *delivery) evidence(ctx context.Context) (*sources.Evidence, error) {
	e := &sources.Evidence{Question: d.req.Question, Ledger: cite.NewLedger(), Snapshots: cite.Snapshots{}}
	numbers := make(map[int]int) // of the ledger, by those of the agent
	for _, src := range d.done.State.Sources {
		known := e.Ledger.Add(cite.Source{URI: src.URL, Title: src.Title, Kind: kindOf(src.URL)})
		numbers[src.Number] = known.Number
		if src.Text == "" {
			continue
		}
		text, err := d.blobs.Blob(ctx, src.Text)
		if err != nil {
			return nil, fmt.Errorf("what was read of %s: %w", src.URL, err)
		}
		snap := e.Snapshots.Add(string(text))
		if _, err := e.Ledger.Read(known.Number, snap); err != nil {
			return nil, err
		}
		const most = 3 // passages of a source that a rewrite may look at
		for i, span := range snap.Candidates(d.req.Question, most) {
			e.Passages = append(e.Passages, sources.Passage{
				ID: strconv.Itoa(known.Number) + "-" + strconv.Itoa(i), Passage: snap.PassageAt(known.Number, span),
				Title: src.Title, Text: snap.Text[span.Start:span.End],
			})
		}
	}
	renumber := func(text string) string {
		return cite.Renumber(text, func(n int) (int, bool) {
			if to, ok := numbers[n]; ok {
				return to, true
			}
			return n, true // the check says that there is no such source
		})
	}
	d.done.Answer.Text = renumber(d.done.Answer.Text)
	if w := d.done.State.Report; w != nil {
		renumbered := *w
		renumbered.Content = renumber(w.Content)
		d.done.State.Report = &renumbered
	}
	return e, nil
}

// quotes answers a task with sentences of what was read, each with the number
// of its source; empty if none answers it.
func quotes(ctx context.Context, blobs sources.Blobs, state *tool.State) (string, error) {
	var passages []extract.Passage
	var from []int
	for _, src := range state.Sources {
		if src.Text == "" {
			continue
		}
		text, err := blobs.Blob(ctx, src.Text)
		if err != nil {
			return "", err
		}
		for _, part := range paragraphs(string(text)) {
			passages = append(passages, extract.Passage{ID: strconv.Itoa(len(passages)), Title: src.Title, Text: part})
			from = append(from, src.Number)
		}
	}
	if len(passages) == 0 {
		return "", nil
	}
	passages = extract.Ordered(state.Task, passages)
	made := extract.Select(state.Task, passages, nil, extract.Options{})
	if !made.Answered {
		return "", nil
	}
	var b strings.Builder
	for _, s := range made.Quotes {
		n, err := strconv.Atoi(passages[s.Passage].ID)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n\n", strings.TrimSpace(s.In(passages)), cite.Marker([]int{from[n]}))
	}
	return strings.TrimSpace(b.String()), nil
}

// quoted answers a task with sentences of what came along with it; empty if none
// answers it.
func quoted(task, material string) string {
	var passages []extract.Passage
	for i, part := range paragraphs(material) {
		passages = append(passages, extract.Passage{ID: strconv.Itoa(i), Text: part})
	}
	passages = extract.Ordered(task, passages)
	made := extract.Select(task, passages, nil, extract.Options{})
	if !made.Answered {
		return ""
	}
	lines := make([]string, len(made.Quotes))
	for i, s := range made.Quotes {
		lines[i] = strings.TrimSpace(s.In(passages))
	}
	return strings.Join(lines, "\n\n")
}

// paragraphs cuts a text into pieces of several sentences.
func paragraphs(text string) []string {
	const enough = 600 // bytes
	var out []string
	var b strings.Builder
	for p := range strings.SplitSeq(text, "\n") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
		if b.Len() >= enough {
			out = append(out, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
