package study

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// Length is a number of words, as lang.Words counts them: in Chinese, characters.
type Length struct{ Min, Max int }

// measure is what a model is told that a length is in.
func measure(code lang.Code) string {
	if code == lang.Chinese {
		return "Chinese characters (字)"
	}
	return "words"
}

// Lengths are those of a report. A part for which there is too little evidence is
// shorter; nothing is filled up.
type Lengths struct {
	Summary, Section, Conclusion Length
	// Sections is how many there are at least, where the evidence has as many
	// sides.
	Sections int
	// Whole is what the whole report has at least.
	Whole int
	// Outlook asks for what is open in the conclusion.
	Outlook bool
}

// TeamLengths are those of a report by a supervised team, LoopLengths those of
// the evidence loop.
var (
	TeamLengths = Lengths{Summary: Length{200, 400}, Section: Length{300, 800}, Conclusion: Length{200, 400}, Sections: 3, Whole: 1300}
	LoopLengths = Lengths{Summary: Length{100, 200}, Section: Length{200, 600}, Conclusion: Length{100, 300}, Sections: 3, Whole: 700, Outlook: true}
)

// EnoughCharacters is how long a report that no model wrote is at least; a shorter
// one says that little was found.
const EnoughCharacters = 1500

// Work is a report to be written.
type Work struct {
	Models *llm.Models
	Model  string // replaces the model of every role
	Brief  Brief
	// Plan is what was to be found out. Where it has sections, they are the
	// outline of the report.
	Plan Plan
	Book *Book
	// Draft is a report that somebody has begun, in Markdown with the Book's
	// numbers. What is in it comes first; one under ShortDraft characters is
	// put aside.
	Draft string
	// Insights are the main points so far, for whoever plans the report.
	Insights string
	Lengths  Lengths
	// ContextTokens bounds what one decision reads; 0 is DefaultContext.
	ContextTokens int
	// Base and About are for the report: the folder of its paths, and notes on
	// what the question was asked of.
	Base  string
	About []string
	// Stopped says that the work was cut short.
	Stopped bool
	// FollowUps is how many questions are suggested in the end, and Gaps is what
	// whoever looked back found missing. With any, the Book is kept in Blobs for
	// those who ask them.
	FollowUps int
	Gaps      []string
	Blobs     sources.Blobs
}

const (
	// ShortDraft is how many characters a draft needs to be built upon.
	ShortDraft = 1000
	// DefaultContext is what one decision reads, in tokens.
	DefaultContext = 12000
)

// writing is a Write under way.
type writing struct {
	Work
	scope    *run.Scope
	pieces   []piece
	outline  []Node
	parts    []part          // by node
	disputed []cite.Conflict // in what was read
	models   []string
	trouble  []string
}

// part is a section as it was written.
type part struct {
	report.Section
	claims  []cite.Checked
	read    []cite.Passage // what it was written from
	model   string
	trouble []string
}

// Write makes the report of what the Book has: compresses it, makes an outline
// whose nodes hold findings, writes each section from the evidence of its own
// findings only, in parallel, checks it and expands it once where it is weak;
// then summary and conclusion. Where no model writes, sections consist of quotes.
// It tells finding.compressed, plan.updated, report.delta, report.section and
// coverage as they happen. With no finding that has a passage the report says
// that nothing was found.
func Write(ctx context.Context, s *run.Scope, w Work) (*report.Report, error) {
	if w.ContextTokens == 0 {
		w.ContextTokens = DefaultContext
	}
	x := &writing{Work: w, scope: s.Child("write")}
	if w.FollowUps == 0 || len(w.Book.Ledger.Sources()) == 0 {
		return x.write(ctx)
	}
	name := ""
	keep := run.Go(ctx, x.scope, "keep", func(ctx context.Context, s *run.Scope) (err error) {
		name, err = w.Book.keep(ctx, s, w.Blobs)
		return err
	})
	r, err := x.write(ctx)
	if kerr := keep.Wait(context.WithoutCancel(ctx)); err == nil {
		err = kerr
	}
	if err != nil {
		return nil, err
	}
	r.Book = name
	return r, nil
}

// write makes the report.
func (x *writing) write(ctx context.Context) (*report.Report, error) {
	if err := x.compress(ctx); err != nil {
		return nil, err
	}
	if len(x.pieces) == 0 {
		return x.finished(x.begun(report.Nothing))
	}
	if err := x.plan(ctx); err != nil {
		return nil, err
	}
	compared := run.Go(ctx, x.scope, "disagreements", func(context.Context, *run.Scope) error { // while the model writes
		x.disputed = x.disagreements()
		return nil
	})
	err := x.sections(ctx)
	if cerr := compared.Wait(context.WithoutCancel(ctx)); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	if len(x.parts) == 0 {
		return x.finished(x.begun(report.Nothing))
	}
	return x.assemble(ctx)
}

// nearestShown is how many passages are shown when none answers.
const nearestShown = 3

// begun is a report with what all outcomes have.
func (x *writing) begun(outcome report.Outcome) *report.Report {
	rec := x.scope.Record()
	r := &report.Report{
		Version: report.Version, Run: rec.ID, Created: rec.Created.UTC(), Question: x.Brief.Question, Title: x.Plan.Title, Lang: x.Brief.Language,
		Outcome: outcome, Kind: report.Research, Base: x.Base, Assisted: x.Book.Asked, Outlook: x.Lengths.Outlook,
	}
	r.Notes = slices.Clone(x.About)
	r.Notes = append(r.Notes, x.Brief.Assumptions...)
	if x.Stopped {
		r.Notes = append(r.Notes, lang.Text(x.Brief.Language, "research.stopped"))
	}
	for _, t := range append(slices.Clone(x.Book.Trouble), x.trouble...) {
		if !slices.Contains(r.Notes, t) {
			r.Notes = append(r.Notes, t)
		}
	}
	if outcome == report.Nothing {
		r.Extractive = true
		for _, p := range x.Book.nearest(nearestShown) {
			src, _ := x.Book.Ledger.Source(p.Source)
			if q, err := report.QuoteAt(src, x.Book.Snapshots[src.Snapshot], p); err == nil {
				r.Nearest = append(r.Nearest, q)
			}
		}
	}
	c := &r.Coverage
	if c.Facets.Total = len(x.Plan.Rubric); c.Facets.Total > 0 {
		for _, i := range x.Plan.Rubric {
			if i.State == Covered && outcome != report.Nothing {
				c.Facets.Covered++
			} else {
				c.Missing = append(c.Missing, i.Question)
			}
		}
	}
	return r
}

// assemble puts the report together.
func (x *writing) assemble(ctx context.Context) (*report.Report, error) {
	r := x.begun(report.Answered)
	for i := range x.parts {
		p := &x.parts[i]
		x.take(p)
		r.Sections = append(r.Sections, p.Section)
		r.Claims = append(r.Claims, p.claims...)
	}
	var plots [][]series.Plot
	drawn := run.Go(ctx, x.scope, "plots", func(context.Context, *run.Scope) error { // while the model writes the summary
		plots = x.plots()
		return nil
	})
	framed, err := x.frames(ctx, r)
	if derr := drawn.Wait(context.WithoutCancel(ctx)); err == nil {
		err = derr
	}
	if err != nil {
		return nil, err
	}
	for i, list := range plots {
		r.Sections[i].Plots = list
	}
	for i := range framed {
		x.take(&framed[i])
		r.Claims = append(r.Claims, framed[i].claims...)
	}
	r.Notes = append(r.Notes, slices.DeleteFunc(slices.Clone(x.trouble), func(t string) bool { return slices.Contains(r.Notes, t) })...)
	if len(r.Coverage.Missing) > 0 {
		r.Outcome = report.Partial
	}
	r.Extractive = len(x.models) == 0
	if !r.Extractive {
		r.Model = strings.Join(x.models, ", ")
	}
	r.Conflicts = x.conflicts(r)
	var behind []int
	for _, c := range r.Claims {
		r.Coverage.Claims.Total++
		if c.Verified {
			r.Coverage.Claims.Covered++
			for _, p := range c.Passages {
				behind = append(behind, p.Source)
			}
		}
	}
	r.Coverage.Independent = x.Book.Ledger.Independent(behind)
	if words := wordsOf(r); !r.Extractive && words < x.Lengths.Whole {
		r.Notes = append(r.Notes, lang.Text(x.Brief.Language, "study.short", "n", words))
	} else if r.Extractive && charactersOf(r) < EnoughCharacters {
		r.Notes = append(r.Notes, lang.Text(x.Brief.Language, "study.little"))
	}
	return x.finished(r)
}

// take keeps who wrote a part and what went wrong in it.
func (x *writing) take(p *part) {
	if p.model != "" && !slices.Contains(x.models, p.model) {
		x.models = append(x.models, p.model)
	}
	for _, t := range p.trouble {
		if !slices.Contains(x.trouble, t) {
			x.trouble = append(x.trouble, t)
		}
	}
}

// finished completes a report and tells its coverage.
func (x *writing) finished(r *report.Report) (*report.Report, error) {
	r.DropUnfounded(x.Book.Ledger, x.Book.Snapshots)
	if err := r.Gather(x.Book.Ledger, x.Book.Snapshots); err != nil {
		return nil, err
	}
	if err := r.Check(x.Book.Snapshots); err != nil {
		return nil, fmt.Errorf("a quote of the report is not in its source: %w", err)
	}
	if c := r.Coverage.Claims; c.Total > 0 {
		if err := x.scope.Emit(event.Coverage{Of: "claims", Covered: c.Covered, Total: c.Total, Share: c.Of()}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// disagreements are those in what was read.
func (x *writing) disagreements() []cite.Conflict {
	var read []cite.Passage
	for _, p := range x.evidence(x.ids()).Passages {
		read = append(read, p.Passage)
	}
	return cite.Conflicts(x.Book.Ledger, x.Book.Snapshots, read)
}

// conflicts are the disagreements in which something takes part that the report
// says.
func (x *writing) conflicts(r *report.Report) []cite.Conflict {
	var said []cite.Passage
	for _, c := range r.Claims {
		said = append(said, c.Passages...)
	}
	among := func(s cite.Statement) bool {
		return slices.ContainsFunc(said, func(q cite.Passage) bool {
			return q.Source == s.Passage.Source && q.Start < s.Passage.End && s.Passage.Start < q.End
		})
	}
	all := slices.DeleteFunc(slices.Clone(x.disputed), func(c cite.Conflict) bool { return !among(c.A) && !among(c.B) })
	return cite.OfOneThing(all, x.Book.Ledger, x.Book.Snapshots)
}

// evidence is what findings rest on.
func (x *writing) evidence(ids []string) *sources.Evidence {
	return x.Book.Evidence(x.Brief.Refined, ids...)
}

// ids are those of the findings of all pieces.
func (x *writing) ids() []string {
	var out []string
	for _, p := range x.pieces {
		for _, id := range p.findings {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// wordsOf counts what a reader reads of a report.
func wordsOf(r *report.Report) int {
	n := 0
	for _, t := range texts(r) {
		n += lang.Words(t)
	}
	return n
}

func charactersOf(r *report.Report) int {
	n := 0
	for _, t := range texts(r) {
		n += utf8.RuneCountInString(t)
	}
	return n
}

// texts are all of a report, without its frame.
func texts(r *report.Report) []string {
	out := []string{r.Summary, r.Conclusion}
	for _, s := range r.Sections {
		out = append(out, s.Text)
		for _, q := range s.Quotes {
			out = append(out, q.Text)
		}
	}
	return out
}

// FinalReport is a report as clients of deep research know it.
type FinalReport struct {
	Title            string          `json:"title"`
	ExecutiveSummary string          `json:"executive_summary"`
	Sections         []ReportSection `json:"sections"`
	Conclusion       string          `json:"conclusion"`
	Sources          []report.Source `json:"sources"`
}

// ReportSection is a section of a FinalReport.
type ReportSection struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// Final is a report in that form; quotes are block quotations of its sections.
func Final(r *report.Report) FinalReport {
	f := FinalReport{Title: r.Title, ExecutiveSummary: r.Summary, Conclusion: r.Conclusion, Sources: r.Sources, Sections: []ReportSection{}}
	for _, s := range r.Sections {
		var content strings.Builder
		content.WriteString(s.Text)
		for _, q := range s.Quotes {
			fmt.Fprintf(&content, "\n\n> %s %s", oneLine(q.Text), cite.Marker([]int{q.Passage.Source}))
		}
		f.Sections = append(f.Sections, ReportSection{s.Title, strings.TrimSpace(content.String())})
	}
	return f
}
