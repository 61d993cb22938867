package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"dossier/llm"
)

const (
	dialectOpenAI    = "openai"
	dialectAnthropic = "anthropic"
)

// reply is what a recording says, put together from its plain JSON by other
// code than the providers', to compare with.
type reply struct {
	dialect         string
	failed          bool
	text, reasoning string
	calls           []toolCall
	finish          llm.FinishReason // empty: the recording is cut
	usage           [4]int           // input, output, cached input, reasoning
}

type toolCall struct{ name, arguments string }

// take collects what a provider streams.
func (r *reply) take(c llm.Chunk) {
	r.text += c.Text
	r.reasoning += c.Reasoning
	if d := c.Tool; d != nil {
		for len(r.calls) <= d.Index {
			r.calls = append(r.calls, toolCall{})
		}
		r.calls[d.Index].name += d.Name
		r.calls[d.Index].arguments += d.Arguments
	}
}

// differs names the first thing in which r is not want.
func (r *reply) differs(want *reply) string {
	switch {
	case r.text != want.text:
		return fmt.Sprintf("text is %q, recorded is %q", r.text, want.text)
	case r.reasoning != want.reasoning:
		return fmt.Sprintf("reasoning is %q, recorded is %q", r.reasoning, want.reasoning)
	case len(r.calls) != len(want.calls):
		return fmt.Sprintf("calls are %q, recorded are %q", r.calls, want.calls)
	case r.finish != want.finish:
		return fmt.Sprintf("finish is %q, recorded is %q", r.finish, want.finish)
	case r.usage != want.usage:
		return fmt.Sprintf("usage is %v, recorded is %v", r.usage, want.usage)
	}
	for i, c := range r.calls {
		w := want.calls[i]
		if c.name != w.name || c.arguments != w.arguments && !sameValue([]byte(c.arguments), []byte(w.arguments)) {
			return fmt.Sprintf("call %d is %q, recorded is %q", i, c, w)
		}
	}
	return ""
}

type object = map[string]any

// reassemble reads a recording; nil when it is in no dialect of ours.
func reassemble(provider string, r recording) *reply {
	var list []object
	if r.stream {
		for line := range bytes.Lines(r.body) {
			data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
			data = bytes.TrimSpace(data)
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var o object
			if json.Unmarshal(data, &o) != nil {
				return nil
			}
			list = append(list, o)
		}
	} else {
		var o object
		if json.Unmarshal(r.body, &o) != nil {
			return nil
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return nil
	}
	first := list[0]
	kind, _ := first["type"].(string)
	choices, hasChoices := first["choices"].([]any)
	_, failed := first["error"].(object)
	switch {
	case kind == "message_start" || kind == "message" && first["role"] == "assistant" || kind == "error" && failed && provider == dialectAnthropic:
		return anthropicReply(list)
	case hasChoices && (len(choices) == 0 || at(choices[0], "message") != nil || at(choices[0], "delta") != nil):
		return openaiReply(list)
	case failed && !foreign(provider):
		return &reply{dialect: dialectOpenAI, failed: true}
	}
	return nil
}

// foreign says that a provider's errors are not in a dialect of ours.
func foreign(provider string) bool {
	for _, name := range []string{"google", "generativelanguage", "aiplatform", "bedrock", "cohere", "responses", "anthropic"} {
		if strings.Contains(provider, name) {
			return true
		}
	}
	return false
}

// at follows a path of member names.
func at(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

func number(v any, path ...string) int {
	n, _ := at(v, path...).(float64)
	return int(n)
}

func openaiReply(list []object) *reply {
	r := &reply{dialect: dialectOpenAI}
	type key struct {
		index any
		id    string
	}
	var keys []key
	finish := ""
	for _, o := range list {
		if o["error"] != nil {
			r.failed = true
			return r
		}
		var choice any
		if choices, _ := o["choices"].([]any); len(choices) > 0 && number(choices[0], "index") == 0 {
			choice = choices[0]
		}
		for _, u := range []any{at(choice, "usage"), at(o, "x_groq", "usage"), o["usage"]} {
			if u != nil {
				r.usage = openaiUsage(u)
			}
		}
		if choice == nil {
			continue
		}
		if f := text(choice, "finish_reason"); f != "" {
			finish = f
		}
		m := at(choice, "delta")
		if m == nil {
			m = at(choice, "message")
		}
		if reasoning := text(m, "reasoning_content"); reasoning != "" {
			r.reasoning += reasoning
		} else {
			r.reasoning += text(m, "reasoning")
		}
		switch c := at(m, "content").(type) {
		case string:
			r.text += c
		case []any:
			for _, part := range c {
				r.text += text(part, "text")
				thinking, _ := at(part, "thinking").([]any)
				for _, p := range thinking {
					r.reasoning += text(p, "text")
				}
			}
		}
		r.text += text(m, "refusal")
		calls, _ := at(m, "tool_calls").([]any)
		for _, c := range calls {
			k := key{at(c, "index"), text(c, "id")}
			which := -1
			for i, have := range keys {
				same := k.index != nil && k.index == have.index || k.index == nil && have.id == k.id
				if same && (k.id == "" || have.id == "" || k.id == have.id) {
					which = i
				}
			}
			if which < 0 {
				which = len(keys)
				keys = append(keys, k)
				r.calls = append(r.calls, toolCall{name: text(c, "function", "name")})
			}
			switch a := at(c, "function", "arguments").(type) {
			case string:
				r.calls[which].arguments += a
			case object:
				raw, _ := json.Marshal(a)
				r.calls[which].arguments += string(raw)
			}
		}
	}
	switch finish {
	case "":
	case "length":
		r.finish = llm.FinishLength
	case "content_filter":
		r.finish = llm.FinishFilter
	default:
		r.finish = llm.FinishStop
	}
	// Several endpoints say "stop" after tool calls.
	if r.finish == llm.FinishStop && len(r.calls) > 0 {
		r.finish = llm.FinishToolCalls
	}
	return r
}

func openaiUsage(u any) [4]int {
	n := [4]int{number(u, "prompt_tokens"), number(u, "completion_tokens"), number(u, "prompt_tokens_details", "cached_tokens"), number(u, "completion_tokens_details", "reasoning_tokens")}
	if n[2] == 0 {
		n[2] = max(number(u, "prompt_cache_hit_tokens"), number(u, "cached_tokens"))
	}
	// Where the total counts the reasoning beside the completion, the output
	// is both.
	if n[3] > 0 && number(u, "total_tokens") == n[0]+n[1]+n[3] {
		n[1] += n[3]
	}
	return n
}

func anthropicReply(list []object) *reply {
	r := &reply{dialect: dialectAnthropic}
	blocks := map[int]object{} // by index, with what the deltas added
	var order []int
	var usage = object{}
	stop := ""
	merge := func(u any) {
		o, _ := u.(object)
		for k, v := range o {
			if v != nil {
				usage[k] = v
			}
		}
	}
	started := false
	for _, o := range list {
		switch text(o, "type") {
		case "error":
			r.failed = true
			return r
		case "message":
			content, _ := o["content"].([]any)
			for i, c := range content {
				if b, ok := c.(object); ok {
					blocks[i] = b
					order = append(order, i)
				}
			}
			stop = text(o, "stop_reason")
			if text(o, "stop_reason") == "refusal" && len(content) == 0 {
				r.text = text(o, "stop_details", "explanation")
			}
			merge(o["usage"])
		case "message_start":
			if !started {
				merge(at(o, "message", "usage"))
			}
			started = true
			content, _ := at(o, "message", "content").([]any)
			for i, c := range content {
				if b, ok := c.(object); ok {
					blocks[-1-i] = b
					order = append(order, -1-i)
				}
			}
		case "content_block_start":
			b, _ := o["content_block"].(object)
			blocks[number(o, "index")] = b
			order = append(order, number(o, "index"))
		case "content_block_delta":
			b := blocks[number(o, "index")]
			for from, to := range map[string]string{"text": "text", "thinking": "thinking", "partial_json": "json"} {
				if s := text(o, "delta", from); s != "" && b != nil {
					b[to] = text(b, to) + s
				}
			}
		case "message_delta":
			if s := text(o, "delta", "stop_reason"); s != "" {
				stop = s
			}
			if why := text(o, "delta", "stop_details", "explanation"); why != "" && len(order) == 0 {
				r.text = why
			}
			merge(o["usage"])
		}
	}
	for _, i := range order {
		b := blocks[i]
		switch text(b, "type") {
		case "text":
			r.text += text(b, "text")
		case "thinking":
			r.reasoning += text(b, "thinking")
		case "tool_use":
			arguments := text(b, "json")
			if arguments == "" {
				raw, _ := json.Marshal(b["input"])
				arguments = string(raw)
			}
			r.calls = append(r.calls, toolCall{text(b, "name"), arguments})
		}
	}
	r.usage = [4]int{number(usage, "input_tokens") + number(usage, "cache_creation_input_tokens") + number(usage, "cache_read_input_tokens"),
		number(usage, "output_tokens"), number(usage, "cache_read_input_tokens"), number(usage, "output_tokens_details", "thinking_tokens")}
	switch stop {
	case "":
	case "max_tokens", "model_context_window_exceeded":
		r.finish = llm.FinishLength
	case "refusal":
		r.finish = llm.FinishFilter
	default:
		r.finish = llm.FinishStop
	}
	if r.finish == llm.FinishStop && len(r.calls) > 0 {
		r.finish = llm.FinishToolCalls
	}
	return r
}
