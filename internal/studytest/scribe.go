package studytest

import (
	"regexp"
	"strconv"
	"strings"

	"dossier/lang"
	"dossier/llm/llmtest"
)

// Scribe is a scripted model of the searching modes. It works on what its
// prompts show it and on nothing else, so that the same prompt gets the same
// reply, whoever asks and however often.
type Scribe struct {
	// Question and Facets are its plan; without facets it plans the question
	// itself as the only one.
	Question string
	Facets   []Facet
	// FollowUps are the queries that it has left after those of the plan; it
	// offers as many as it is asked for of those that were not asked yet.
	FollowUps []string
	// Enough is why it says that nothing is missing, once so many queries were
	// asked after the first; it never does if empty.
	Enough string
	After  int
	// Answer is what it writes from the passages it is shown, all of their
	// sentences if nil; Lie is a sentence that it adds and, told that no source
	// says it, takes out again.
	Answer func(shown []Passage) string
	Lie    string
}

// Facet is a part of a planned question.
type Facet struct {
	Title   string
	Queries []string
}

// Passage is one that a prompt shows.
type Passage struct {
	Source int
	Text   string
}

// Rules are those of its server.
func (s Scribe) Rules() []llmtest.Rule {
	do := func(schema string, f func(q *llmtest.Request) any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(f(q)) })}
	}
	return []llmtest.Rule{
		do("plan", func(q *llmtest.Request) any { return s.planned(q.Question()) }),
		do("ranked_list", func(q *llmtest.Request) any { return Ranked(q.Question()) }),
		do("follow_up_list", s.followed),
		do("note", func(q *llmtest.Request) any { return noted(q.Question()) }),
		do("synthesized_answer", func(q *llmtest.Request) any { return s.written(q.Question()) }),
		do("judgements", func(q *llmtest.Request) any { return judged(q.Question()) }),
		do("rewritten", func(q *llmtest.Request) any {
			return map[string]any{"answer": strings.ReplaceAll(Between(q.Question(), "<answer>\n", "\n</answer>"), s.Lie, "")}
		}),
	}
}

func (s Scribe) planned(question string) any {
	if s.Question != "" {
		question = s.Question
	}
	facets := s.Facets
	if len(facets) == 0 {
		facets = []Facet{{question, []string{question}}}
	}
	var parts []any
	for _, f := range facets {
		parts = append(parts, map[string]any{"title": f.Title, "queries": f.Queries})
	}
	return map[string]any{"question": question, "facets": parts}
}

var (
	partLine   = regexp.MustCompile(`(?m)^Part (\d+): `)
	resultLine = regexp.MustCompile(`<result number="(\d+)"`)
	openPart   = regexp.MustCompile(`(?m)^(\d+)\. `)
	wanted     = regexp.MustCompile(`up to (\d+) for each part`)
	passages   = regexp.MustCompile(`(?s)<passage source="(\d+)"[^>]*>\n(.*?)\n</passage>`)
	claimLine  = regexp.MustCompile(`<claim number="(\d+)"`)
)

// Ranked leaves the results of each part as they come.
func Ranked(prompt string) any {
	var parts []any
	at := append(partLine.FindAllStringSubmatchIndex(prompt, -1), []int{len(prompt)})
	for i, m := range at[:len(at)-1] {
		var results []int
		for _, r := range resultLine.FindAllStringSubmatch(prompt[m[0]:at[i+1][0]], -1) {
			results = append(results, Number(r[1]))
		}
		parts = append(parts, map[string]any{"part": Number(prompt[m[2]:m[3]]), "results": results})
	}
	return map[string]any{"parts": parts}
}

// followed offers queries that were not asked, for the first part that is open.
func (s Scribe) followed(q *llmtest.Request) any {
	prompt := q.Question()
	asked := Between(prompt, "Queries so far:\n", "What was found so far:")
	out := []any{}
	for _, query := range s.FollowUps {
		if len(out) < Number(wanted.FindStringSubmatch(q.Messages[0].Content)[1]) && !strings.Contains(asked, "- "+query+"\n") {
			out = append(out, map[string]any{"facet": Number(openPart.FindStringSubmatch(prompt)[1]), "query": query})
		}
	}
	enough := s.Enough != "" && strings.Count(asked, "\n- ") >= s.After
	reason := "the sources may say more"
	if enough {
		reason = s.Enough
	}
	return map[string]any{"reason": reason, "enough": enough, "queries": out}
}

func noted(prompt string) any {
	sentences := Sentences(Between(prompt, "<document>\n", "</document>"))
	if len(sentences) == 0 {
		return map[string]any{"relevant": false, "summary": "", "quotes": []string{}}
	}
	return map[string]any{"relevant": true, "summary": sentences[0], "quotes": sentences[:1]}
}

func (s Scribe) written(prompt string) any {
	shown := Shown(prompt)
	write := s.Answer
	if write == nil {
		write = Copied
	}
	answer := strings.TrimSpace(write(shown) + " " + s.Lie)
	return map[string]any{"reasoning": "The passages say it.", "answer": answer, "key_points": []string{}, "unanswered": false}
}

// judged finds nothing borne out.
func judged(prompt string) any {
	var out []any
	for _, claim := range Claims(prompt) {
		out = append(out, map[string]any{"claim": claim, "verdict": "unsupported", "passage": 0})
	}
	return map[string]any{"judgements": out}
}

// Claims are the numbers of the claims that a prompt wants judged.
func Claims(prompt string) []int {
	var out []int
	for _, m := range claimLine.FindAllStringSubmatch(prompt, -1) {
		out = append(out, Number(m[1]))
	}
	return out
}

// Shown are the passages of a prompt.
func Shown(prompt string) []Passage {
	var out []Passage
	for _, m := range passages.FindAllStringSubmatch(prompt, -1) {
		out = append(out, Passage{Number(m[1]), m[2]})
	}
	return out
}

// Copied is an answer of all sentences, each with its source.
func Copied(shown []Passage) string {
	var out []string
	for _, p := range shown {
		for _, s := range Sentences(p.Text) {
			out = append(out, Cited(s, p.Source))
		}
	}
	return strings.Join(out, " ")
}

// Cited is a sentence with the number of its source.
func Cited(sentence string, source int) string {
	body := strings.TrimRight(sentence, ".。")
	return body + " [" + strconv.Itoa(source) + "]" + sentence[len(body):]
}

// Sentences are the sentences of a text that state something and can be
// copied as they are.
func Sentences(text string) []string {
	var out []string
	for _, span := range lang.Sentences(text) {
		s := strings.TrimSpace(span.In(text))
		ends := strings.HasSuffix(s, ".") || strings.HasSuffix(s, "。")
		if ends && lang.Words(s) >= 5 && !strings.ContainsAny(s, "\n[]()<>|*_#`\"“”«»「」:/") {
			out = append(out, s)
		}
	}
	return out
}

// Between is what stands between two marks of a text.
func Between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	inner, _, _ := strings.Cut(rest, to)
	return inner
}

// Number is the number that digits say.
func Number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
