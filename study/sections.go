package study

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// Section is what the model is asked for.
type Section struct {
	Content string `json:"content" jsonschema:"the whole section in Markdown with source numbers in brackets, without its title"`
}

// Validate implements the check of llm.Object.
func (s *Section) Validate() error {
	if strings.TrimSpace(s.Content) == "" {
		return fmt.Errorf("the field content is empty: write the whole section there")
	}
	return nil
}

type sectionInput struct {
	Question    string
	Context     string
	Title       string
	Description string
	Others      []string // titles of the other sections
	Material    []string
	Passages    []sources.Excerpt
	Sofar       string // what is to be expanded
	Language    string
	Date        string
	Min, Max    int
	Measure     string
}

// A section that no model writes consists of quotes.
var section = &prompt.Task[sectionInput, Section]{
	Name:      "section",
	Role:      llm.ForWriter,
	Template:  prompt.Parse(files, "report.md"),
	TextField: "content",
	Least:     1. / 3,
	Fallback:  func(sectionInput) (Section, error) { return Section{}, nil },
}

// sections writes all of them, in parallel.
func (x *writing) sections(ctx context.Context) error {
	quotes, err := x.quotes(ctx)
	if err != nil {
		return err
	}
	x.parts = make([]part, len(x.outline))
	tasks := make([]*run.Task, len(x.outline))
	for i := range x.outline {
		tasks[i] = run.Go(ctx, x.scope, fmt.Sprintf("section-%d", i+1), func(ctx context.Context, s *run.Scope) error {
			p, err := x.section(ctx, s, i, quotes[i])
			if err != nil {
				return err
			}
			for _, q := range x.evidence(x.findingsOf(x.outline[i])).Passages {
				p.read = append(p.read, q.Passage)
			}
			x.parts[i] = p
			if p.Text == "" && len(p.Quotes) == 0 {
				return nil // others quote all that it has
			}
			return s.Emit(event.ReportSection{Index: i, Title: p.Title, Text: contentOf(p.Section)})
		})
	}
	if err := run.All(ctx, tasks...); err != nil {
		return err
	}
	x.parts = slices.DeleteFunc(x.parts, func(p part) bool { return p.Text == "" && len(p.Quotes) == 0 })
	return nil
}

// contentOf is a section in Markdown without its title.
func contentOf(s report.Section) string {
	return Final(&report.Report{Sections: []report.Section{s}}).Sections[0].Content
}

// section writes one from the evidence of its own findings.
func (x *writing) section(ctx context.Context, s *run.Scope, i int, quotes []cite.Passage) (part, error) {
	n := x.outline[i]
	e := x.Book.Evidence(n.Description, x.findingsOf(n)...)
	in := sectionInput{
		Question: x.Brief.Refined, Context: x.Brief.Context(), Title: n.Title, Description: n.Description, Passages: e.Excerpts(x.ContextTokens / 2),
		Language: x.Brief.Language.Name(), Date: s.Record().Created.Format("2006-01-02"), Min: x.Lengths.Section.Min, Max: x.Lengths.Section.Max, Measure: measure(x.Brief.Language),
	}
	for j, o := range x.outline {
		if j != i {
			in.Others = append(in.Others, o.Title)
		}
	}
	var material []string
	for _, p := range x.pieces {
		if slices.Contains(n.Findings, p.id) && strings.TrimSpace(p.text) != "" {
			material = append(material, p.text)
		}
	}
	var err error
	if in.Material, err = x.within(ctx, s, n.Description, material, x.ContextTokens/2); err != nil {
		return part{}, err
	}
	p, held, err := x.written(ctx, s, i, e, in)
	if err != nil {
		return part{}, err
	}
	if !held {
		q := x.quoted(n, quotes)
		q.trouble = append(q.trouble, p.trouble...)
		return q, nil
	}
	p.Title = n.Title
	return x.expanded(ctx, s, i, e, in, p)
}

// findingsOf are the findings behind a node.
func (x *writing) findingsOf(n Node) []string {
	var out []string
	for _, p := range x.pieces {
		if !slices.Contains(n.Findings, p.id) {
			continue
		}
		for _, id := range p.findings {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// written has a model write a section and checks it: sentences that nothing bears
// out are left out. It has not held where no model wrote, or nothing of what it
// wrote is borne out.
func (x *writing) written(ctx context.Context, s *run.Scope, i int, e *sources.Evidence, in sectionInput) (p part, held bool, err error) {
	if len(e.Passages) == 0 {
		return part{}, false, nil
	}
	var made prompt.Decision[Section]
	for try := 1; try <= 2; try++ {
		at := s.Child(fmt.Sprintf("draft-%d", try))
		stream := told(s, i)
		made, err = section.Do(ctx, at, x.Models, in, prompt.Options[Section]{
			Model: x.Model, StreamField: "content", Sink: stream.Write, Reset: stream.Reset,
			Partial: func() (Section, bool) { whole := stream.Whole(); return Section{whole}, whole != "" },
		})
		if err != nil {
			return part{}, false, err
		}
		if made.Extractive {
			if made.Overruled() {
				p.trouble = append(p.trouble, lang.Text(x.Brief.Language, "study.section-by-rules", "why", prompt.Told(x.Brief.Language, made.Why)))
			}
			return p, false, nil
		}
		if inLanguage(made.Value.Content, x.Brief.Question, x.Brief.Language) {
			break
		}
		if try == 2 { // nobody could read it
			p.trouble = append(p.trouble, lang.Text(x.Brief.Language, "study.section-by-rules", "why", lang.Text(x.Brief.Language, "study.other-language")))
			return p, false, nil
		}
	}
	return x.checked(ctx, s.Child("first"), e, made)
}

// told passes a section on while it is written. What has to be taken back is not
// told again: the section follows whole.
func told(s *run.Scope, section int) *cite.Stream {
	return &cite.Stream{Pass: func(text string, again bool) {
		if !again {
			_ = s.Emit(event.ReportDelta{Section: section, Text: text})
		}
	}}
}

// checked is what holds of a section that a model wrote.
func (x *writing) checked(ctx context.Context, s *run.Scope, e *sources.Evidence, made prompt.Decision[Section]) (p part, held bool, err error) {
	if made.Why != "" { // it is what there was when the run was told to finish
		p.trouble = append(p.trouble, lang.Text(x.Brief.Language, "research.answer-cut", "why", prompt.Told(x.Brief.Language, made.Why)))
	}
	result, err := e.Verify(ctx, s, sources.Writing{
		Models: x.Models, Model: x.Model, Language: x.Brief.Language, Text: x.ownSources(e, made.Value.Content), Drop: true, Better: true,
	})
	if err != nil {
		return part{}, false, err
	}
	p.trouble = append(p.trouble, e.Trouble...)
	if result.Covered == 0 {
		p.trouble = append(p.trouble, lang.Text(x.Brief.Language, "study.unsupported"))
		return p, false, nil
	}
	p.Text, p.model = strings.TrimSpace(result.Text), made.Model
	for _, c := range result.Claims {
		if c.Verified { // the others are not in the text
			p.claims = append(p.claims, c)
		}
	}
	return p, true, nil
}

// ownSources takes citations of sources out of a section that it was not written
// from.
func (x *writing) ownSources(e *sources.Evidence, text string) string {
	text, _ = cite.OnlyKnown(text, func(n int) bool {
		return slices.ContainsFunc(e.Passages, func(p sources.Passage) bool { return p.Source == n })
	})
	return text
}

// expanded has a section written again, once, where it is shorter than it should
// be and there is much more to read about it than it says.
func (x *writing) expanded(ctx context.Context, s *run.Scope, i int, e *sources.Evidence, in sectionInput, p part) (part, error) {
	if lang.Words(p.Text) >= in.Min {
		return p, x.tell(s, p)
	}
	read := 0
	for _, q := range e.Passages {
		read += lang.Words(q.Text)
	}
	if read < 2*lang.Words(p.Text) { // there is hardly more to say
		return p, x.tell(s, p)
	}
	in.Sofar = p.Text
	stream := told(s, i)
	again := s.Child("expand")
	made, err := section.Do(ctx, again, x.Models, in, prompt.Options[Section]{Model: x.Model, StreamField: "content", Sink: stream.Write, Reset: stream.Reset})
	if err != nil {
		return p, err
	}
	if made.Extractive || !inLanguage(made.Value.Content, x.Brief.Question, x.Brief.Language) {
		return p, x.tell(s, p)
	}
	more, held, err := x.checked(ctx, again, e, made)
	if err != nil {
		return p, err
	}
	if held && lang.Words(more.Text) > lang.Words(p.Text) && len(more.claims) >= len(p.claims) {
		more.Title = p.Title
		p = more
	}
	return p, x.tell(s, p)
}

// tell tells the verdicts on a section.
func (x *writing) tell(s *run.Scope, p part) error {
	for _, c := range p.claims {
		if err := s.Emit(c.Event()); err != nil {
			return err
		}
	}
	return nil
}

// Quotes of a section that no model wrote.
const (
	mostQuotes = 8
	// looseFloor lets passages be quoted that a finding was made of, however few
	// words of the section's title they have.
	looseFloor = 0.02
)

// quotes chooses what each section quotes where no model writes it: what was
// found for it first, then what else was read for it that speaks of it. No
// sentence is quoted twice.
func (x *writing) quotes(ctx context.Context) ([][]cite.Passage, error) {
	return run.EffectStep(ctx, x.scope, run.Pure, "quotes", func(context.Context, *run.Scope) ([][]cite.Passage, error) {
		out := make([][]cite.Passage, len(x.outline))
		left := make([][]cite.Passage, len(x.outline))
		atOnce(len(left), func(i int) { left[i] = x.candidates(x.outline[i]) })
		var all []cite.Passage
		quoted := func(q cite.Passage) bool {
			return slices.ContainsFunc(all, func(o cite.Passage) bool { return o.Source == q.Source && o.Start < q.End && q.Start < o.End })
		}
		for range mostQuotes { // they take turns: what is best for several is not all the first one's
			for i := range left {
				for len(left[i]) > 0 && quoted(left[i][0]) {
					left[i] = left[i][1:]
				}
				if len(left[i]) > 0 {
					out[i], all = append(out[i], left[i][0]), append(all, left[i][0])
				}
			}
		}
		return out, nil
	})
}

// atOnce does something n times on all processors. A panic in it is the caller's.
func atOnce(n int, do func(i int)) {
	var wg sync.WaitGroup
	var failed atomic.Pointer[any]
	for i := range n {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed.Store(&p)
				}
			}()
			do(i)
		})
	}
	wg.Wait()
	if p := failed.Load(); p != nil {
		panic(*p)
	}
}

// candidates are what a section may quote, the best first.
func (x *writing) candidates(n Node) []cite.Passage {
	var out []cite.Passage
	for _, id := range x.findingsOf(n) {
		if f, ok := x.Book.Finding(id); ok {
			for _, p := range f.Passages {
				if p, ok := x.sound(p); ok {
					out = append(out, p)
				}
			}
		}
	}
	e := x.Book.Evidence(n.Description, x.findingsOf(n)...)
	passages := make([]extract.Passage, len(e.Passages))
	for i, p := range e.Passages {
		passages[i] = extract.Passage{ID: fmt.Sprint(i), Title: p.Title, Headings: p.HeadingPath, Text: p.Text}
	}
	ordered := extract.Ordered(n.Description, passages)
	chosen := extract.Select(n.Description, ordered, nil, extract.Options{Quotes: mostQuotes, Floor: looseFloor})
	if !chosen.Answered {
		return out
	}
	for _, q := range chosen.Quotes {
		var at int
		if _, err := fmt.Sscan(ordered[q.Passage].ID, &at); err != nil {
			continue
		}
		p := e.Passages[at].Passage
		whole := p.Start
		p.Start, p.End = whole+q.Start, whole+q.End
		p.MarkStart, p.MarkEnd = whole+q.Mark.Start, whole+q.Mark.End
		p.Line = 0
		out = append(out, p)
	}
	return out
}

// sound is the part of a passage around what says most that has no junk in it;
// ok is false where that is junk itself.
func (x *writing) sound(p cite.Passage) (_ cite.Passage, ok bool) {
	read, ok := x.Book.passage(p)
	if !ok {
		return p, false
	}
	mark := lang.Span{Start: p.MarkStart - p.Start, End: p.MarkEnd - p.Start}
	junk := extract.Junk(x.Brief.Question)
	sentences := lang.Sentences(read.Text)
	at := slices.IndexFunc(sentences, func(s lang.Span) bool { return s.Start < mark.End && mark.Start < s.End })
	if p.MarkEnd <= p.MarkStart {
		at = slices.IndexFunc(sentences, func(s lang.Span) bool { return !junk(s.In(read.Text)) })
	}
	if at < 0 || junk(sentences[at].In(read.Text)) {
		return p, false
	}
	from, to := at, at
	for from > 0 && !junk(sentences[from-1].In(read.Text)) {
		from--
	}
	for to+1 < len(sentences) && !junk(sentences[to+1].In(read.Text)) {
		to++
	}
	if from > 0 {
		p.Start, p.Line = p.Start+sentences[from].Start, 0
	}
	if to+1 < len(sentences) {
		p.End = p.End - len(read.Text) + sentences[to].End
	}
	return p, true
}

// quoted is a section made of quotes under a line that says what they are.
func (x *writing) quoted(n Node, passages []cite.Passage) part {
	p := part{Section: report.Section{Title: n.Title}}
	var from []int
	var kept []cite.Passage
	for _, at := range passages {
		src, ok := x.Book.Ledger.Source(at.Source)
		if !ok {
			continue
		}
		q, err := report.QuoteAt(src, x.Book.Snapshots[src.Snapshot], at)
		if err != nil {
			continue
		}
		p.Quotes, kept = append(p.Quotes, q), append(kept, at)
		if !slices.Contains(from, at.Source) {
			from = append(from, at.Source)
		}
	}
	if len(p.Quotes) == 0 {
		return p
	}
	if n.Description != n.Title {
		p.Text = strings.TrimSpace(n.Description) + "\n\n"
	}
	p.Text += lang.Text(x.Brief.Language, "study.quoted", "n", len(from))
	p.claims = cite.VerifyQuotes(x.Book.Ledger, x.Book.Snapshots, kept).Claims
	return p
}
