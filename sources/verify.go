package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dossier/cite"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// Writing is an answer that a model wrote and that is to be checked.
type Writing struct {
	Models   *llm.Models
	Model    string
	Language lang.Code
	Text     string
	// Drop removes sentences that nothing bears out instead of marking them.
	Drop bool
	// Better takes a rewritten answer only if it holds better than the first.
	Better bool
}

type judgeInput struct{ Claims []judgedClaim }

type judgedClaim struct {
	Number   int
	Text     string
	Passages []numbered
}

type numbered struct {
	Number int
	Title  string
	Place  string
	Text   string
}

// judgements is what the model is asked for.
type judgements struct {
	Judgements []judgement `json:"judgements" jsonschema:"one for each claim"`
}

type judgement struct {
	Claim   int          `json:"claim" jsonschema:"number of the claim"`
	Verdict cite.Verdict `json:"verdict" jsonschema:"supported, partial, unsupported or contradicted, by the passages alone"`
	Passage int          `json:"passage" jsonschema:"number of the passage that decides it, from 1; 0 if none does"`
}

// Validate implements the check of llm.Object.
func (j *judgements) Validate() error {
	for i, v := range j.Judgements {
		switch v.Verdict {
		case cite.Supported, cite.Partial, cite.Unsupported, cite.Contradicted:
		default:
			return fmt.Errorf("judgements[%d].verdict is %q: use supported, partial, unsupported or contradicted", i, v.Verdict)
		}
	}
	return nil
}

var judge = &prompt.Task[judgeInput, judgements]{
	Name:     "judge",
	Role:     llm.ForVerifier,
	Template: prompt.Parse(files, "judge.md"),
	Fallback: func(judgeInput) (judgements, error) { return judgements{}, nil },
}

type rewriteInput struct {
	Question string
	Language string
	Answer   string
	Failing  []failing
	Passages []Excerpt
}

type failing struct{ Text, Why string }

// Rewritten is what the model is asked for.
type Rewritten struct {
	Answer string `json:"answer" jsonschema:"the whole corrected answer in Markdown"`
}

// Validate implements the check of llm.Object.
func (r *Rewritten) Validate() error {
	if strings.TrimSpace(r.Answer) == "" {
		return fmt.Errorf("the field answer is empty: write the whole corrected answer there")
	}
	return nil
}

var rewrite = &prompt.Task[rewriteInput, Rewritten]{
	Name:     "rewrite",
	Role:     llm.ForWriter,
	Template: prompt.Parse(files, "rewrite.md"),
	Fallback: func(in rewriteInput) (Rewritten, error) { return Rewritten{in.Answer}, nil },
}

// rewriteTokens bounds the passages that a rewrite sees.
const rewriteTokens = 8000

// Verify checks what a model wrote against what was read. Claims that words
// alone don't bear out are put to the model, once for all of them; what still
// fails is rewritten once, which is kept as Writing says; what fails then is marked
// or dropped.
func (e *Evidence) Verify(ctx context.Context, s *run.Scope, w Writing) (*cite.Result, error) {
	first, err := e.check(ctx, s.Child("check"), w, w.Text, cite.Options{})
	if err != nil {
		return nil, err
	}
	bad := first.Failing()
	if len(bad) == 0 {
		return first, nil
	}
	in := rewriteInput{Question: e.Question, Language: w.Language.Name(), Answer: cite.Sanitize(w.Text), Passages: e.Excerpts(rewriteTokens)}
	for _, c := range bad {
		in.Failing = append(in.Failing, failing{c.Text, WhyNot(c)})
	}
	mended, err := rewrite.Do(ctx, s, w.Models, in, prompt.Options[Rewritten]{Model: w.Model})
	if err != nil {
		return nil, err
	}
	e.overruled(w.Language, mended.Overruled(), mended.Why)
	if mended.Extractive && !w.Drop {
		return first, nil // nobody mended it: what fails is marked already
	}
	second, err := e.check(ctx, s.Child("recheck"), w, mended.Value.Answer, cite.Options{Drop: w.Drop})
	if err != nil || !w.Better || mended.Extractive || HoldsBetter(second, first) {
		return second, err
	}
	if w.Drop {
		return e.check(ctx, s.Child("dropped"), w, w.Text, cite.Options{Drop: true})
	}
	return first, nil
}

// Check is Verify without the rewriting, for who has what fails mended by
// themselves: it is marked. Without models words alone decide.
func (e *Evidence) Check(ctx context.Context, s *run.Scope, w Writing) (*cite.Result, error) {
	return e.check(ctx, s, w, w.Text, cite.Options{Drop: w.Drop})
}

// HoldsBetter says whether more of an answer is borne out than of another one,
// and nothing less.
func HoldsBetter(a, b *cite.Result) bool { return a.Covered >= b.Covered && a.Coverage > b.Coverage }

// WhyNot says what is wrong with a claim, in words that a model can act on.
func WhyNot(c cite.Checked) string {
	switch c.Verdict {
	case cite.Misquoted:
		return "the quotation does not stand in the source"
	case cite.UnknownSource:
		return "it cites no source, or one that does not exist"
	case cite.Contradicted:
		return "the source says otherwise"
	}
	return "the source does not say it"
}

// check verifies a text by words, then asks the model about the claims that
// fail, and verifies again with what it said.
func (e *Evidence) check(ctx context.Context, s *run.Scope, w Writing, text string, o cite.Options) (*cite.Result, error) {
	o.Read, o.Known = e.spans, sync.OnceValue(e.vocabulary)
	record := &recorder{}
	lexical, err := run.Step(ctx, s, "words", func(ctx context.Context, _ *run.Scope) (lexicalCheck, error) {
		r, err := cite.Verify(ctx, text, e.Ledger, e.Snapshots, record, o)
		if err != nil {
			return lexicalCheck{}, err
		}
		return lexicalCheck{r, record.seen}, nil
	})
	if err != nil {
		return nil, err
	}
	var in judgeInput
	var open []seenClaim
	for _, c := range lexical.Seen {
		if c.Support.Verdict == cite.Supported && c.Support.Score >= cite.DefaultMinSupport || len(c.Passages) == 0 {
			continue
		}
		open = append(open, c)
		claim := judgedClaim{Number: len(open), Text: c.Claim}
		for i, p := range c.Passages {
			one := numbered{Number: i + 1, Text: p}
			for _, read := range e.Passages {
				if read.Text == p {
					one.Title, one.Place = read.Title, placeOf(read.Title, read.HeadingPath, read.Page)
					break
				}
			}
			claim.Passages = append(claim.Passages, one)
		}
		in.Claims = append(in.Claims, claim)
	}
	if len(in.Claims) == 0 {
		return lexical.Result, nil
	}
	made, err := judge.Do(ctx, s, w.Models, in, prompt.Options[judgements]{Model: w.Model})
	if err != nil {
		return nil, err
	}
	e.overruled(w.Language, made.Overruled(), made.Why)
	if made.Extractive {
		return lexical.Result, nil
	}
	judged := make(map[string]cite.Judgement)
	for _, j := range made.Value.Judgements {
		if j.Claim >= 1 && j.Claim <= len(open) {
			judged[open[j.Claim-1].Claim] = cite.Judgement{Verdict: j.Verdict, Passage: j.Passage}
		}
	}
	return run.Step(ctx, s, "verdict", func(ctx context.Context, _ *run.Scope) (*cite.Result, error) {
		return cite.Verify(ctx, text, e.Ledger, e.Snapshots, &informed{judged}, o)
	})
}

// vocabulary is all that was read.
func (e *Evidence) vocabulary() *cite.Vocabulary {
	var texts []string
	var codes []lang.Code
	for _, src := range e.Ledger.Sources() {
		if snap := e.Snapshots[src.Snapshot]; snap != nil {
			code := src.Lang
			if code == "" {
				code = lang.Detect(snap.Text)
			}
			texts, codes = append(texts, src.Title, src.Author, src.Site, snap.Text), append(codes, code)
		}
	}
	for _, p := range e.Passages {
		texts = append(texts, p.HeadingPath...)
	}
	return cite.NewVocabulary(texts, codes)
}

// spans are the passages of a source that were read for the question: those of
// the facets first, the best before the others.
func (e *Evidence) spans(source int) []lang.Span {
	var out []lang.Span
	add := func(p Passage) {
		if span := (lang.Span{Start: p.Start, End: p.End}); p.Source == source && !slices.Contains(out, span) {
			out = append(out, span)
		}
	}
	for _, f := range e.Facets {
		for _, n := range f.Passages {
			add(e.Passages[n])
		}
	}
	for _, p := range e.Passages {
		add(p)
	}
	return out
}

// lexicalCheck is what the step of a check by words records.
type lexicalCheck struct {
	Result *cite.Result `json:"result"`
	Seen   []seenClaim  `json:"seen"`
}

// seenClaim is a claim that came to the checker, with what it was checked
// against.
type seenClaim struct {
	Claim    string       `json:"claim"`
	Passages []string     `json:"passages"`
	Support  cite.Support `json:"support"`
}

// recorder is the lexical checker that remembers what it was asked.
type recorder struct{ seen []seenClaim }

// Check implements cite.Checker.
func (r *recorder) Check(ctx context.Context, claim string, passages []string) (cite.Support, error) {
	s, err := cite.Lexical{}.Check(ctx, claim, passages)
	r.seen = append(r.seen, seenClaim{claim, passages, s})
	return s, err
}

// informed is the checker that knows what a model said about some claims.
type informed struct{ judged map[string]cite.Judgement }

// Check implements cite.Checker.
func (c *informed) Check(ctx context.Context, claim string, passages []string) (cite.Support, error) {
	j, ok := c.judged[claim]
	if !ok {
		return cite.Lexical{}.Check(ctx, claim, passages)
	}
	return cite.Judge{Ask: func(context.Context, string, []string) (cite.Judgement, error) { return j, nil }}.Check(ctx, claim, passages)
}
