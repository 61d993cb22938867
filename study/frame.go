package study

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
)

type frameInput struct {
	What, How string
	Question  string
	Language  string
	Sections  []ReportSection
	Missing   []string
	Insights  string
	Min, Max  int
	Measure   string
}

// frame is the decision that makes a summary or a conclusion.
func frame(name string) *prompt.Task[frameInput, Section] {
	return &prompt.Task[frameInput, Section]{
		Name: name, Role: llm.ForWriter, Template: prompt.Parse(files, "frame.md"), TextField: "content", Least: 1. / 3,
		Fallback: func(frameInput) (Section, error) { return Section{}, nil },
	}
}

var (
	summaryTask    = frame("summary")
	conclusionTask = frame("conclusion")
)

// frames writes summary and conclusion and suggests questions, in parallel, and
// puts all into r.
func (x *writing) frames(ctx context.Context, r *report.Report) ([2]part, error) {
	whole := Final(r).Sections
	how := "First the answer to the question, then what it rests on and how sure it is."
	ends := "The main insights, how they belong together and what they mean for the question; where sources disagree and what was not found."
	if x.Lengths.Outlook {
		ends += " Then the outlook: what the sources say of what comes next, and what stays open."
	}
	in := frameInput{Question: x.Brief.Refined, Language: x.Brief.Language.Name(), Sections: whole, Missing: r.Coverage.Missing, Insights: x.Insights, Measure: measure(x.Brief.Language)}
	first, last := in, in
	first.What, first.How, first.Min, first.Max = "summary", how, x.Lengths.Summary.Min, x.Lengths.Summary.Max
	last.What, last.How, last.Min, last.Max = "conclusion", ends, x.Lengths.Conclusion.Min, x.Lengths.Conclusion.Max
	var out [2]part
	var next []string
	tasks := []*run.Task{
		run.Go(ctx, x.scope, "opening", func(ctx context.Context, s *run.Scope) (err error) {
			out[0], err = x.frame(ctx, s, summaryTask, first)
			return err
		}),
		run.Go(ctx, x.scope, "closing", func(ctx context.Context, s *run.Scope) (err error) {
			out[1], err = x.frame(ctx, s, conclusionTask, last)
			return err
		}),
	}
	if x.FollowUps > 0 {
		conflicts := x.conflicts(r)
		tasks = append(tasks, run.Go(ctx, x.scope, "next", func(ctx context.Context, s *run.Scope) (err error) {
			next, err = x.next(ctx, s, r, conflicts)
			return err
		}))
	}
	if err := run.All(ctx, tasks...); err != nil {
		return out, err
	}
	r.FollowUps = next
	if out[0].Text == "" {
		out[0].Text = x.summaryByRules(r)
	}
	if out[1].Text == "" {
		out[1].Text = x.conclusionByRules(r)
	}
	r.Summary, r.Conclusion = out[0].Text, out[1].Text
	return out, nil
}

// frame has a model write one of them and keeps what holds; "" where nothing does.
func (x *writing) frame(ctx context.Context, s *run.Scope, task *prompt.Task[frameInput, Section], in frameInput) (part, error) {
	texts := make([]string, len(in.Sections))
	for i, sec := range in.Sections {
		texts[i] = sec.Content
	}
	// What the sections say has to fit; where it does not it is condensed.
	fit, err := x.within(ctx, s, in.Question, texts, x.ContextTokens)
	if err != nil {
		return part{}, err
	}
	if !slices.Equal(fit, texts) {
		in.Sections = nil
		for _, t := range fit {
			in.Sections = append(in.Sections, ReportSection{Content: t})
		}
	}
	made, err := task.Do(ctx, s, x.Models, in, prompt.Options[Section]{Model: x.Model})
	if err != nil {
		return part{}, err
	}
	if made.Extractive || !inLanguage(made.Value.Content, x.Brief.Question, x.Brief.Language) {
		var p part
		if made.Overruled() {
			p.trouble = append(p.trouble, lang.Text(x.Brief.Language, "study.section-by-rules", "why", prompt.Told(x.Brief.Language, made.Why)))
		}
		return p, nil
	}
	made.Value.Content = upTo(made.Value.Content, in.Max)
	p, held, err := x.checked(ctx, s, x.evidence(x.ids()), made)
	if err != nil || !held {
		return part{trouble: p.trouble}, err
	}
	return p, x.tell(s, p)
}

// upTo is a text without the sentences at its end that make it longer than so
// many words; the first one stays.
func upTo(text string, words int) string {
	end, n := 0, 0
	for _, s := range lang.Sentences(text) {
		if n += lang.Words(withoutMarkers(s.In(text))); n > words && end > 0 {
			break
		}
		end = s.End
	}
	// A marker behind the last sentence belongs to it.
	rest := text[end:]
	return strings.TrimSpace(text[:end] + trailingMarkers.FindString(rest))
}

var trailingMarkers = regexp.MustCompile(`^\s*(?:\[\d+\])+`)

func withoutMarkers(text string) string {
	return cite.Renumber(text, func(int) (int, bool) { return 0, false })
}

// summaryByRules is the sentence of each section that says most.
func (x *writing) summaryByRules(r *report.Report) string {
	begin := lang.Text(x.Brief.Language, "study.summary", "n", len(r.Sections))
	words := lang.Words(begin)
	var lines []string
	for _, p := range x.parts {
		line := x.telling(p)
		if line == "" {
			continue
		}
		if p.Title != "" {
			line = "**" + strings.ReplaceAll(p.Title, "*", "") + "** — " + line
		}
		if n := lang.Words(withoutMarkers(line)); len(lines) == 0 || words+n <= x.Lengths.Summary.Max {
			lines, words = append(lines, "- "+line), words+n
		}
	}
	return begin + "\n\n" + strings.Join(lines, "\n")
}

// telling is what a section says first and with its source.
func (x *writing) telling(p part) string {
	for _, c := range p.claims {
		if !c.Verified {
			continue
		}
		if p.model != "" {
			return oneLine(withoutMarkers(c.Text)) + " " + cite.Marker(c.Sources)
		}
		at := c.Passages[0]
		if at.MarkEnd > at.MarkStart {
			at.Start, at.End = at.MarkStart, at.MarkEnd
		}
		if read, ok := x.Book.passage(at); ok {
			return oneLine(cite.Sanitize(read.Text)) + " " + cite.Marker([]int{at.Source})
		}
	}
	return ""
}

// conclusionByRules says what the report rests on, what it lacks and what stays
// open.
func (x *writing) conclusionByRules(r *report.Report) string {
	code := x.Brief.Language
	var behind []int
	for _, p := range x.parts {
		for _, c := range p.claims {
			for _, at := range c.Passages {
				behind = append(behind, at.Source)
			}
		}
	}
	out := []string{lang.Text(code, "study.conclusion", "n", x.Book.Ledger.Independent(behind))}
	if n := len(r.Coverage.Missing); n > 0 {
		key := "study.missing"
		if x.Lengths.Outlook {
			key = "study.outlook"
		}
		out = append(out, asked.Replace(lang.Text(code, key, "points", strings.Join(r.Coverage.Missing, "; "))))
	}
	if ahead := x.ahead(); x.Lengths.Outlook && len(ahead) > 0 {
		out = append(out, lang.Text(code, "study.ahead"), "- "+strings.Join(ahead, "\n- "))
	}
	return strings.Join(out, "\n\n")
}

// asked takes the full stop away behind a question.
var asked = strings.NewReplacer("?.", "?", "？。", "？", "..", ".")

// future are words of sentences that tell what comes next.
var future = regexp.MustCompile(`(?i)\b(?:will|is expected to|are expected to|expects?|forecasts?|plans? to|planned for|projected|by 20[3-9]\d|in the (?:near )?future|outlook)\b|(?:^|\PL)(?:будет|будут|ожидается|ожидают|прогноз\PL|прогнозируе|планируе|в будущем|перспектив|к 20[3-9]\d)|预计|预期|预测|将(?:会|在|于|继续|进一步|成为|达)|未来|展望|有望`)

// mostAhead is how many sentences the outlook quotes.
const mostAhead = 3

// ahead are sentences that the report quotes and that tell what comes next, with
// their sources.
func (x *writing) ahead() []string {
	var out []string
	for _, p := range x.parts {
		for _, c := range p.claims {
			for _, at := range c.Passages {
				read, ok := x.Book.passage(at)
				if !ok {
					continue
				}
				for _, s := range lang.Sentences(read.Text) {
					text := oneLine(cite.Sanitize(s.In(read.Text)))
					if line := text + " " + cite.Marker([]int{at.Source}); future.MatchString(text) && len(out) < mostAhead && !slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(o, text) }) {
						out = append(out, line)
					}
				}
			}
		}
	}
	return out
}
