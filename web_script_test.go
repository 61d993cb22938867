package dossier

import (
	"regexp"
	"strconv"
	"strings"

	"dossier/lang"
	"dossier/llm/llmtest"
)

// scribe is a scripted model of the searching modes. It works on what its
// prompts show it and on nothing else, so that the same prompt gets the same
// reply, whoever asks and however often.
type scribe struct {
	// question and facets are its plan; without facets it plans the question
	// itself as the only one.
	question string
	facets   []facet
	// followUps are the queries that it has left after those of the plan; it
	// offers as many as it is asked for of those that were not asked yet.
	followUps []string
	// enough is why it says that nothing is missing, once so many queries were
	// asked after the first; it never does if empty.
	enough string
	after  int
	// answer is what it writes from the passages it is shown, all of their
	// sentences if nil; lie is a sentence that it adds and, told that no source
	// says it, takes out again.
	answer func(shown []passage) string
	lie    string
}

// facet is a part of a planned question.
type facet struct {
	title   string
	queries []string
}

// passage is one that a prompt shows.
type passage struct {
	source int
	text   string
}

func (s scribe) rules() []llmtest.Rule {
	do := func(schema string, f func(q *llmtest.Request) any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(f(q)) })}
	}
	return []llmtest.Rule{
		do("plan", func(q *llmtest.Request) any { return s.planned(q.Question()) }),
		do("ranked_list", func(q *llmtest.Request) any { return ranked(q.Question()) }),
		do("follow_up_list", s.followed),
		do("note", func(q *llmtest.Request) any { return noted(q.Question()) }),
		do("synthesized_answer", func(q *llmtest.Request) any { return s.written(q.Question()) }),
		do("judgements", func(q *llmtest.Request) any { return judged(q.Question()) }),
		do("rewritten", func(q *llmtest.Request) any {
			return map[string]any{"answer": strings.ReplaceAll(between(q.Question(), "<answer>\n", "\n</answer>"), s.lie, "")}
		}),
	}
}

func (s scribe) planned(question string) any {
	if s.question != "" {
		question = s.question
	}
	facets := s.facets
	if len(facets) == 0 {
		facets = []facet{{question, []string{question}}}
	}
	var parts []any
	for _, f := range facets {
		parts = append(parts, map[string]any{"title": f.title, "queries": f.queries})
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

// ranked leaves the results of each part as they come.
func ranked(prompt string) any {
	var parts []any
	at := append(partLine.FindAllStringSubmatchIndex(prompt, -1), []int{len(prompt)})
	for i, m := range at[:len(at)-1] {
		var results []int
		for _, r := range resultLine.FindAllStringSubmatch(prompt[m[0]:at[i+1][0]], -1) {
			results = append(results, number(r[1]))
		}
		parts = append(parts, map[string]any{"part": number(prompt[m[2]:m[3]]), "results": results})
	}
	return map[string]any{"parts": parts}
}

// followed offers queries that were not asked, for the first part that is open.
func (s scribe) followed(q *llmtest.Request) any {
	prompt := q.Question()
	asked := between(prompt, "Queries so far:\n", "What was found so far:")
	out := []any{}
	for _, query := range s.followUps {
		if len(out) < number(wanted.FindStringSubmatch(q.Messages[0].Content)[1]) && !strings.Contains(asked, "- "+query+"\n") {
			out = append(out, map[string]any{"facet": number(openPart.FindStringSubmatch(prompt)[1]), "query": query})
		}
	}
	enough := s.enough != "" && strings.Count(asked, "\n- ") >= s.after
	reason := "the sources may say more"
	if enough {
		reason = s.enough
	}
	return map[string]any{"reason": reason, "enough": enough, "queries": out}
}

func noted(prompt string) any {
	sentences := plainSentences(between(prompt, "<document>\n", "</document>"))
	if len(sentences) == 0 {
		return map[string]any{"relevant": false, "summary": "", "quotes": []string{}}
	}
	return map[string]any{"relevant": true, "summary": sentences[0], "quotes": sentences[:1]}
}

func (s scribe) written(prompt string) any {
	shown := shownIn(prompt)
	write := s.answer
	if write == nil {
		write = copied
	}
	answer := strings.TrimSpace(write(shown) + " " + s.lie)
	return map[string]any{"reasoning": "The passages say it.", "answer": answer, "key_points": []string{}, "unanswered": false}
}

// judged finds nothing borne out.
func judged(prompt string) any {
	var out []any
	for _, m := range claimLine.FindAllStringSubmatch(prompt, -1) {
		out = append(out, map[string]any{"claim": number(m[1]), "verdict": "unsupported", "passage": 0})
	}
	return map[string]any{"judgements": out}
}

// shownIn are the passages of a prompt.
func shownIn(prompt string) []passage {
	var out []passage
	for _, m := range passages.FindAllStringSubmatch(prompt, -1) {
		out = append(out, passage{number(m[1]), m[2]})
	}
	return out
}

// copied is an answer of all sentences, each with its source.
func copied(shown []passage) string {
	var out []string
	for _, p := range shown {
		for _, s := range plainSentences(p.text) {
			out = append(out, cited(s, p.source))
		}
	}
	return strings.Join(out, " ")
}

// cited is a sentence with the number of its source.
func cited(sentence string, source int) string {
	body := strings.TrimRight(sentence, ".。")
	return body + " [" + strconv.Itoa(source) + "]" + sentence[len(body):]
}

// plainSentences are the sentences of a text that state something and can be
// copied as they are.
func plainSentences(text string) []string {
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

// between is what stands between two marks of a text.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	inner, _, _ := strings.Cut(rest, to)
	return inner
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
