package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"dossier/event"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/evidence"
	"dossier/mode/supervised"
	"dossier/mode/websearch"
	"dossier/report"
	"dossier/sources"
	"dossier/study"
)

// needed is a question whose answer stands in several documents.
type needed struct {
	ID, Question string
	Gold         map[string]bool // documents, by id
	Facts        []string        // what a report that has it all says
	Expert       string          // how somebody wrote it who knows
}

// wrote is what a way of answering delivers.
type wrote struct {
	cited []string // documents, in order of their numbers
	text  string
}

// deepWays are the ways of answering that are compared: one search, the mode
// deep_search, and the engines of deep_research.
func deepWays(p *pipeline, c *collection) []struct {
	name   string
	answer func(context.Context, string) (wrote, error)
} {
	none := func(context.Context, string, string, int) ([]event.Message, error) { return nil, nil }
	parts := websearch.Parts{Models: &llm.Models{}, Holdings: p.holdings, Blobs: p.store, History: none}
	deep := defaults
	deep.MinIterations, deep.Iterations, deep.ReadTop, deep.MinWords, deep.MaxWords = 2, 6, 8, 800, 1200
	search := websearch.New("deep_search", parts, deep)
	// As they are without configuration.
	round := sources.Tuning{Queries: 3, MinIterations: 1, Iterations: 1, MaxResults: 8, TopK: 6, ReadTop: 4}
	loop := evidence.Settings{Tuning: round, MaxIterations: 5, ContextTokens: 12000, FollowUps: study.FollowUps, Trail: sources.TrailRounds}
	round.Iterations, round.ReadTop, round.Rerank = 2, 8, sources.ByWords
	team := supervised.Settings{
		Agents: 4, AgentSteps: 5, SupervisorCalls: 6, SupervisorIterations: 10, Rounds: 15, DeepSearchFirst: true, Tuning: round, FollowUps: study.FollowUps,
		Trail: sources.TrailRounds,
	}
	by := func(m mode.Mode) func(context.Context, string) (wrote, error) {
		return func(ctx context.Context, question string) (wrote, error) {
			r, err := p.carryOut(ctx, m, mode.Request{Question: question, In: sources.Target{Collection: p.collection}, NoInput: true})
			if err != nil {
				return wrote{}, err
			}
			return delivers(r), nil
		}
	}
	return []struct {
		name   string
		answer func(context.Context, string) (wrote, error)
	}{
		{"oneshot", func(_ context.Context, question string) (wrote, error) { return c.pasted(question) }},
		{"deep_search", by(search)},
		{"deep_research.loop", by(evidence.New(evidence.Parts{Models: parts.Models, Holdings: p.holdings, Blobs: p.store, History: none}, loop))},
		{"deep_research.supervisor", by(supervised.New("supervisor", supervised.Parts{
			Models: parts.Models, Holdings: p.holdings, Blobs: p.store, History: none, DeepSearch: search,
		}, team))},
	}
}

// pasted is one search: the first passages as they are.
func (c *collection) pasted(question string) (wrote, error) {
	hits, err := c.search(question, perQuery)
	if err != nil {
		return wrote{}, err
	}
	var w wrote
	for _, h := range hits {
		w.cited = append(w.cited, h.ID)
		w.text += c.docs[h.ID].Title + "\n\n" + c.docs[h.ID].Text + "\n\n"
	}
	return w, nil
}

// delivers is what a report cites and says.
func delivers(r *report.Report) wrote {
	var w wrote
	for _, s := range r.Sources {
		w.cited = append(w.cited, documentOf(s.URI))
	}
	var b strings.Builder
	b.WriteString(r.Text + "\n\n" + r.Summary + "\n\n" + r.Conclusion)
	for _, s := range r.Sections {
		b.WriteString("\n\n" + s.Text)
		for _, q := range s.Quotes {
			b.WriteString("\n\n" + q.Text)
		}
	}
	w.text = b.String()
	return w
}

// runDeep measures, for each way of answering: the share of the documents that
// the answer needs among those cited, and the share of the facts that it says.
// All of them read the documents with their titles, where the set has any.
func (e *Env) runDeep(ctx context.Context, docs []index.Doc, questions []needed) error {
	c, err := collect(docs)
	if err != nil {
		return err
	}
	p, err := assemble(ctx, docs, true)
	if err != nil {
		return err
	}
	defer p.close()
	for _, way := range deepWays(p, c) {
		var cited, said, alike float64
		var withFacts, sources, words int
		for _, q := range questions {
			w, err := way.answer(ctx, q.Question)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", way.name, q.ID, err)
			}
			if err := e.Record(map[string]any{"way": way.name, "id": q.ID, "question": q.Question, "gold": q.Gold, "facts": q.Facts, "cited": w.cited, "text": w.text}); err != nil {
				return err
			}
			found := 0
			for _, id := range w.cited[:min(mostCited, len(w.cited))] {
				if q.Gold[id] {
					found++
				}
			}
			cited += float64(found) / float64(len(q.Gold))
			alike += rouge1(q.Expert, w.text)
			sources += len(w.cited)
			words += lang.Words(w.text)
			if len(q.Facts) > 0 {
				withFacts++
				said += shareSaid(q.Facts, w.text)
			}
		}
		n := len(questions)
		if questions[0].Expert != "" {
			e.Score("cited-recall@20."+way.name, cited/float64(n), n)
			e.Score("rouge1."+way.name, alike/float64(n), n)
		} else {
			e.Score("gold-cited."+way.name, cited/float64(n), n)
		}
		if withFacts > 0 {
			e.Score("gold-facts."+way.name, said/float64(withFacts), withFacts)
		}
		e.Score("sources."+way.name, float64(sources)/float64(n), n)
		e.Score("words."+way.name, float64(words)/float64(n), n)
	}
	return nil
}

// mostCited is how many of the cited documents count.
const mostCited = 20

// runScholar measures reports on questions of scientists over abstracts.
func runScholar(ctx context.Context, e *Env) error {
	passages, err := readLines[passage](e, "passages.jsonl.gz")
	if err != nil {
		return err
	}
	var docs []index.Doc
	for _, p := range passages {
		docs = append(docs, p.doc())
	}
	asked, err := readLines[struct {
		ID       string   `json:"_id"`
		Question string   `json:"question"`
		Answer   string   `json:"answer"`
		Cited    []string `json:"cited"`
	}](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	var questions []needed
	for _, q := range asked {
		n := needed{ID: q.ID, Question: q.Question, Gold: map[string]bool{}, Expert: q.Answer}
		for _, id := range q.Cited {
			n.Gold[id] = true
		}
		questions = append(questions, n)
	}
	return e.runDeep(ctx, docs, questions)
}

// rouge1 is the F1 of the words of two texts.
func rouge1(want, got string) float64 {
	count := func(text string) (map[string]int, int) {
		m, n := map[string]int{}, 0
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			m[w]++
			n++
		}
		return m, n
	}
	a, n := count(want)
	b, m := count(got)
	same := 0
	for w, k := range a {
		same += min(k, b[w])
	}
	if n+m == 0 {
		return 0
	}
	return 2 * float64(same) / float64(n+m)
}

// shareSaid is the share of facts that stand in a text, spaces and case aside.
func shareSaid(facts []string, text string) float64 {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	text = plain(text)
	n := 0
	for _, f := range facts {
		if strings.Contains(text, plain(f)) {
			n++
		}
	}
	return float64(n) / float64(len(facts))
}
