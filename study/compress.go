package study

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// piece is a part of the material that a report is made of: some findings that
// say the same, or a part of a draft with the findings that it rests on.
type piece struct {
	id       string
	title    string // of the section of the draft, or what was looked for
	text     string // Markdown with the Book's numbers
	findings []string
}

// compress makes pieces of what was found: a draft first, then the findings that
// are not in it. What says the same is one piece; lines that only describe the
// work and sentences that were said before are left out.
func (x *writing) compress(context.Context) error {
	var raw []piece
	if draft := cite.Sanitize(x.Draft); utf8.RuneCountInString(draft) >= ShortDraft {
		raw = x.drafted(draft)
	}
	cited := make(map[int]bool)
	for _, p := range raw {
		for _, n := range (Finding{Text: p.text}).Sources() {
			cited[n] = true
		}
	}
	for _, f := range x.Book.Findings {
		all := f.Sources()
		if len(raw) > 0 && len(all) > 0 && !slices.ContainsFunc(all, func(n int) bool { return !cited[n] }) {
			continue // the draft has it
		}
		raw = append(raw, piece{id: f.ID, title: f.Task, text: f.Text, findings: []string{f.ID}})
	}
	before := len(raw)
	x.pieces = merged(raw, len(x.Plan.Sections) > 0, func(p piece) bool { return len(x.evidence(p.findings).Passages) > 0 })
	if before == 0 {
		return nil
	}
	return x.scope.Emit(event.FindingCompressed{Before: before, After: len(x.pieces)})
}

// Compressed are the findings of the Book as they are read on: without junk, and
// without what an earlier one says; those of which nothing is left go.
func (b *Book) Compressed() []Finding {
	var raw []piece
	for _, f := range b.Findings {
		raw = append(raw, piece{id: f.ID, text: f.Text, findings: []string{f.ID}})
	}
	var out []Finding
	for _, p := range merged(raw, false, func(piece) bool { return true }) {
		f, _ := b.Finding(p.id)
		f.Text = p.text
		out = append(out, f)
	}
	return out
}

// drafted cuts a draft at its headings; the findings of a part are those that
// have one of its sources.
func (x *writing) drafted(draft string) []piece {
	var out []piece
	title, text := "", strings.Builder{}
	flush := func() {
		body := strings.TrimSpace(text.String())
		text.Reset()
		if body == "" {
			return
		}
		p := piece{id: fmt.Sprintf("d%d", len(out)+1), title: title, text: body}
		numbers := Finding{Text: body}.Sources()
		for _, f := range x.Book.Findings {
			if slices.ContainsFunc(f.Sources(), func(n int) bool { return slices.Contains(numbers, n) }) {
				p.findings = append(p.findings, f.ID)
			}
		}
		out = append(out, p)
	}
	for line := range strings.Lines(draft) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
			flush()
			title = oneLine(strings.TrimLeft(rest, "# "))
			continue
		}
		text.WriteString(line)
	}
	flush()
	return out
}

// junk are lines that tell of the work and not of its matter.
var junk = regexp.MustCompile(`(?i)^[\s>*#-]*(?:(?:task|status|agent|query|queries|step|todo|timestamp|created|updated|tokens?|id|tool|searched|задача|статус|агент|запрос|запросы|шаг|время|токены|任务|状态|代理|查询|步骤|时间)\s*(?:id|№|#)?\s*\d*\s*[:：=]|(?:i (?:will|have|am)|let me|next,? i|я (?:буду|нашёл|нашел|собираюсь)|我(?:将|会|已经))\b)`)

// merged leaves out junk, and what an earlier piece says. Pieces that can't be
// checked go; one of which nothing is left becomes part of that which says it
// all, or, where pieces of several titles are kept apart, stays with its evidence.
func merged(raw []piece, apart bool, checkable func(piece) bool) []piece {
	said := make(map[string]int) // sentences, and the piece that has them
	var out []piece
	for _, p := range raw {
		if !checkable(p) {
			continue
		}
		var lines []string
		fresh, double := 0, -1
		for line := range strings.Lines(cite.Sanitize(p.text)) {
			line = strings.TrimRight(line, " \t\r\n")
			if junk.MatchString(line) {
				continue
			}
			var kept []string
			for _, span := range lang.Sentences(line) {
				sentence := span.In(line)
				key := sameSaying(sentence)
				if at, ok := said[key]; ok && key != "" {
					double = at
					continue
				}
				if key != "" {
					said[key] = len(out)
					fresh++
				}
				kept = append(kept, sentence)
			}
			if len(kept) > 0 {
				lines = append(lines, strings.Join(kept, " "))
			}
		}
		if fresh == 0 && double >= 0 && (!apart || out[double].title == p.title) {
			for _, id := range p.findings {
				if !slices.Contains(out[double].findings, id) {
					out[double].findings = append(out[double].findings, id)
				}
			}
			continue
		}
		p.text = strings.Join(lines, "\n")
		out = append(out, p)
	}
	return out
}

var notWords = regexp.MustCompile(`[^\pL\pN]+`)

// sameSaying is a sentence as it is compared: its words, without markers.
func sameSaying(sentence string) string {
	bare := cite.Renumber(sentence, func(int) (int, bool) { return 0, false })
	return strings.TrimSpace(notWords.ReplaceAllString(strings.ToLower(bare), " "))
}

type condenseInput struct {
	Question string
	Language string
	Words    int
	Text     string
}

// Condensed is what the model is asked for.
type Condensed struct {
	Text string `json:"text" jsonschema:"the material condensed, with its source numbers in brackets"`
}

// Validate implements the check of llm.Object.
func (c *Condensed) Validate() error {
	if strings.TrimSpace(c.Text) == "" {
		return fmt.Errorf("the field text is empty: condense the material there")
	}
	return nil
}

var condense = &prompt.Task[condenseInput, Condensed]{
	Name:     "condense",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "condense.md"),
	Fallback: func(in condenseInput) (Condensed, error) { return Condensed{in.Text}, nil },
}

// within makes material fit into so many tokens: where it does not, it is cut
// into parts of that size, each of which is condensed by itself, in parallel.
// Nothing is left out unread.
func (x *writing) within(ctx context.Context, s *run.Scope, question string, texts []string, tokens int) ([]string, error) {
	all := 0
	for _, t := range texts {
		all += llm.EstimateTokens(t)
	}
	if all <= tokens || tokens <= 0 {
		return texts, nil
	}
	batches := packed(texts, tokens)
	out := make([]string, len(batches))
	tasks := make([]*run.Task, len(batches))
	for i, b := range batches {
		tasks[i] = run.Go(ctx, s, fmt.Sprintf("condense-%d", i+1), func(ctx context.Context, s *run.Scope) error {
			made, err := condense.Do(ctx, s, x.Models, condenseInput{
				Question: question, Language: x.Brief.Language.Name(), Words: max(80, tokens/2/len(batches)), Text: b,
			}, prompt.Options[Condensed]{Model: x.Model})
			out[i] = cite.Sanitize(made.Value.Text)
			return err
		})
	}
	return out, run.All(ctx, tasks...)
}

// packed puts texts together into ones of at most so many tokens; a text that is
// longer is cut between its lines.
func packed(texts []string, tokens int) []string {
	var out []string
	var b strings.Builder
	size := 0
	for _, t := range texts {
		for line := range strings.Lines(t + "\n\n") {
			n := llm.EstimateTokens(line)
			if size+n > tokens && size > 0 {
				out = append(out, b.String())
				b.Reset()
				size = 0
			}
			b.WriteString(line)
			size += n
		}
	}
	if strings.TrimSpace(b.String()) != "" {
		out = append(out, b.String())
	}
	return out
}
