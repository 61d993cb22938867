package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"

	"dossier/llm"
)

// makeOutput turns a scripted reply, or none, into what the model says.
func makeOutput(q *Request, r *Reply) *output {
	o := &output{id: "chatcmpl-" + q.Hash, model: q.Model, finish: llm.FinishStop,
		input: q.inputTokens(), inStream: q.usageInStream}
	scripted := r
	if r != nil && r.Func != nil {
		scripted = r.Func(q)
	} else if r != nil {
		scripted = expand(r, q)
	}
	if scripted == nil {
		scripted = defaultReply(q)
	}
	o.reasoning, o.text = scripted.Reasoning, scripted.Text
	if scripted.JSON != nil {
		text := jsonText(scripted.JSON)
		if t := q.forced(); t != nil {
			o.calls = []llm.ToolCall{{Name: t.Name, Arguments: text}}
		} else {
			o.text = text
		}
	}
	for _, c := range scripted.ToolCalls {
		o.calls = append(o.calls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: jsonText(c.Arguments)})
	}
	for i := range o.calls {
		if o.calls[i].ID == "" {
			o.calls[i].ID = fmt.Sprintf("call_%s%d", q.Hash[:16], i)
		}
	}
	for _, stop := range q.Stop {
		if i := strings.Index(o.text, stop); stop != "" && i >= 0 {
			o.text = o.text[:i]
		}
	}
	if len(o.calls) > 0 {
		o.finish = llm.FinishToolCalls
	} else if q.MaxTokens > 0 && tokens(o.text) > q.MaxTokens {
		o.text, o.finish = cutTokens(o.text, q.MaxTokens), llm.FinishLength
	}
	return o
}

// cutTokens shortens a text to n tokens as tokens counts them.
func cutTokens(s string, n int) string {
	quarters := 0
	for i, r := range s {
		quarters += tokenQuarters(r)
		if quarters > 4*n {
			return s[:i]
		}
	}
	return s
}

// jsonText is the JSON of v; a string is taken for JSON already.
func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return "{}"
	case string:
		return v
	case json.RawMessage:
		return string(v)
	}
	return string(encode(v))
}

// expand replaces ${question} and its like in a reply.
func expand(r *Reply, q *Request) *Reply {
	vars := strings.NewReplacer("${question}", q.Question(), "${role}", q.Role, "${model}", q.Model,
		"${turn}", strconv.Itoa(q.Turn), "${tool_results}", strconv.Itoa(q.ToolResults()))
	e := &Reply{Text: vars.Replace(r.Text), Reasoning: vars.Replace(r.Reasoning), JSON: expandValue(r.JSON, vars)}
	for _, c := range r.ToolCalls {
		e.ToolCalls = append(e.ToolCalls, ToolCall{ID: c.ID, Name: c.Name, Arguments: expandValue(c.Arguments, vars)})
	}
	return e
}

func expandValue(v any, vars *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return vars.Replace(v)
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = expandValue(x, vars)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, x := range v {
			s[i] = expandValue(x, vars)
		}
		return s
	}
	return v
}

func defaultReply(q *Request) *Reply {
	if t := q.forced(); t != nil {
		c := callOf(t, q)
		return CallTool(c.Name, c.Arguments)
	}
	if q.Format == nil {
		return Say(wordsFor(q.Question()).answer)
	}
	schema := q.Format.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{"reasoning":{"type":"string"},"answer":{"type":"string"},` +
			`"key_points":{"type":"array","items":{"type":"string"}}},"required":["reasoning","answer","key_points"]}`)
	}
	return Say(string(instance(schema, q.Question())))
}

// callOf makes a call of a tool with arguments that fit its parameters.
func callOf(t *llm.Tool, q *Request) llm.ToolCall {
	args := "{}"
	if len(t.Parameters) > 0 {
		args = string(instance(t.Parameters, q.Question()))
	}
	return llm.ToolCall{Name: t.Name, Arguments: args}
}

// words are the default texts about one question, in its language.
type words struct {
	lang      string
	question  string // in one line, shortened
	answer    string
	reasoning string
	point     func(n int) string
}

func wordsFor(question string) words {
	w := words{lang: script(question), question: shorten(question, 200)}
	quoted := w.question
	switch w.lang {
	case "ru":
		w.answer = fmt.Sprintf("Это тестовая модель, и ответ её ненастоящий. Вопрос был такой: «%s».", quoted)
		w.reasoning = fmt.Sprintf("Тестовая модель не рассуждает, а только повторяет вопрос: «%s».", quoted)
		w.point = func(n int) string { return fmt.Sprintf("Пункт %d к вопросу «%s».", n, quoted) }
	case "zh":
		w.answer = fmt.Sprintf("我是测试模型,这不是真正的回答。您的问题是:“%s”。", quoted)
		w.reasoning = fmt.Sprintf("测试模型不会思考,只会重复问题:“%s”。", quoted)
		w.point = func(n int) string { return fmt.Sprintf("要点%d,关于“%s”。", n, quoted) }
	default:
		w.answer = fmt.Sprintf("This is a test model, so this is not a real answer. You asked: “%s”.", quoted)
		w.reasoning = fmt.Sprintf("A test model does not reason, it only repeats the question: “%s”.", quoted)
		w.point = func(n int) string { return fmt.Sprintf("Point %d about “%s”.", n, quoted) }
	}
	return w
}

// script guesses ru, zh or en from the letters: one Han character weighs as
// much as three letters of an alphabet.
func script(s string) string {
	var cyrillic, han, latin int
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		case unicode.Is(unicode.Han, r):
			han += 3
		case unicode.Is(unicode.Latin, r):
			latin++
		}
	}
	switch {
	case han > cyrillic && han > latin:
		return "zh"
	case cyrillic > latin:
		return "ru"
	}
	return "en"
}

// shorten makes one line of at most n characters.
func shorten(s string, n int) string {
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:16*n], "")
	}
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	// FNV's high bits are poor for short inputs.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
