package completion

import (
	"strconv"

	"dossier/llm"
	"dossier/llm/internal/jsontext"
)

// chunk is one streamed event, or a whole reply, taken apart. The values are
// raw JSON inside the event's own bytes; nil stands for absent and for null.
type chunk struct {
	id, model, failure, usage []byte
	choices                   int // 1 when the first choice is in it
	delta                     delta
	finish                    []byte
}

type delta struct {
	present                    bool
	content, reasoning, refuse []byte
	details                    []byte // reasoning_details
	state                      []byte // functions_state_id
	calls                      []callDelta
}

type callDelta struct {
	index          int
	indexed        bool
	id, name, args []byte
	extra          []byte // extra_content
}

// parse takes an event apart. Nothing in c points to earlier events. It is
// false when data is not one JSON object.
func (c *chunk) parse(data []byte) bool {
	calls := c.delta.calls[:0]
	*c = chunk{}
	c.delta.calls = calls
	r := jsontext.NewReader(data)
	if r.Next() != '{' {
		return false
	}
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "id":
			c.id = r.Raw()
		case "model":
			c.model = r.Raw()
		case "choices":
			c.parseChoices(&r)
		case "usage":
			if u := r.Raw(); u != nil {
				c.usage = u
			}
		case "x_groq":
			if u := jsontext.Member(r.Raw(), "usage"); u != nil && c.usage == nil {
				c.usage = u
			}
		case "error":
			c.failure = r.Raw()
		default:
			r.Skip()
		}
	}
	return r.End()
}

func (c *chunk) parseChoices(r *jsontext.Reader) {
	if !r.Array() {
		return
	}
	for r.Elem() {
		if r.Next() != '{' || c.choices > 0 {
			r.Skip() // only the first of several is asked for
			continue
		}
		c.choices++
		r.Object()
		other := false
		for key, ok := r.Key(); ok; key, ok = r.Key() {
			switch string(key) {
			case "index":
				n, _ := r.Int()
				other = n > 0
			case "delta":
				if r.Next() == '{' {
					c.parseDelta(r)
				} else {
					r.Skip()
				}
			case "message":
				// A few endpoints repeat the whole message beside the delta.
				if r.Next() == '{' && !c.delta.present {
					c.parseDelta(r)
				} else {
					r.Skip()
				}
			case "finish_reason":
				c.finish = r.Raw()
			case "usage":
				if u := r.Raw(); u != nil && c.usage == nil {
					c.usage = u
				}
			case "error":
				if e := r.Raw(); e != nil {
					c.failure = e
				}
			default:
				r.Skip()
			}
		}
		if other {
			c.choices, c.finish, c.delta = 0, nil, delta{calls: c.delta.calls[:0]}
		}
	}
}

func (c *chunk) parseDelta(r *jsontext.Reader) {
	d := &c.delta
	*d = delta{present: true, calls: d.calls[:0]}
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "content":
			d.content = r.Raw()
		case "reasoning_content":
			if v := r.Raw(); v != nil {
				d.reasoning = v
			}
		case "reasoning":
			if v := r.Raw(); v != nil && d.reasoning == nil && v[0] == '"' {
				d.reasoning = v
			}
		case "reasoning_details":
			d.details = r.Raw()
		case "refusal":
			d.refuse = r.Raw()
		case "functions_state_id":
			d.state = r.Raw()
		case "tool_calls":
			if !r.Array() {
				continue
			}
			for r.Elem() {
				if r.Next() != '{' {
					r.Skip()
					continue
				}
				d.calls = append(d.calls, parseCall(r))
			}
		case "function_call":
			if r.Next() != '{' {
				r.Skip()
				continue
			}
			var call callDelta
			call.function(r)
			d.calls = append(d.calls, call)
		default:
			r.Skip()
		}
	}
}

func parseCall(r *jsontext.Reader) callDelta {
	var call callDelta
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "index":
			call.index, call.indexed = r.Int()
		case "id":
			call.id = r.Raw()
		case "function":
			if r.Next() == '{' {
				call.function(r)
			} else {
				r.Skip()
			}
		case "extra_content":
			call.extra = r.Raw()
		default:
			r.Skip()
		}
	}
	return call
}

func (call *callDelta) function(r *jsontext.Reader) {
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "name":
			call.name = r.Raw()
		case "arguments":
			call.args = r.Raw()
		default:
			r.Skip()
		}
	}
}

// parts reads content that is an array of parts: text, and thinking as
// Mistral writes it.
func parts(raw []byte) (text, thinking []byte) {
	r := jsontext.NewReader(raw)
	if !r.Array() {
		return nil, nil
	}
	for r.Elem() {
		part := r.Raw()
		if len(part) == 0 || part[0] != '{' {
			continue
		}
		text = jsontext.AppendText(text, jsontext.Member(part, "text"))
		think := jsontext.Member(part, "thinking")
		if len(think) > 0 && think[0] == '[' {
			t, _ := parts(think)
			thinking = append(thinking, t...)
		} else {
			thinking = jsontext.AppendText(thinking, think)
		}
	}
	return text, thinking
}

// usageOf reads the token counts in the several ways of writing them.
func usageOf(raw []byte) llm.Usage {
	var u llm.Usage
	total := 0
	r := jsontext.NewReader(raw)
	if !r.Object() {
		return u
	}
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "prompt_tokens":
			u.Input, _ = r.Int()
		case "completion_tokens":
			u.Output, _ = r.Int()
		case "total_tokens":
			total, _ = r.Int()
		case "prompt_cache_hit_tokens", "cached_tokens", "precached_prompt_tokens":
			if n, _ := r.Int(); n > 0 && u.CachedInput == 0 {
				u.CachedInput = n
			}
		case "prompt_tokens_details":
			if n, _ := jsontext.Int(jsontext.Member(r.Raw(), "cached_tokens")); n > 0 {
				u.CachedInput = n
			}
		case "completion_tokens_details":
			u.Reasoning, _ = jsontext.Int(jsontext.Member(r.Raw(), "reasoning_tokens"))
		case "cost":
			// OpenRouter says what the call cost, in USD.
			u.Cost, _ = strconv.ParseFloat(string(r.Raw()), 64)
		default:
			r.Skip()
		}
	}
	// xAI counts the reasoning beside the completion, not in it.
	if u.Reasoning > 0 && total == u.Input+u.Output+u.Reasoning {
		u.Output += u.Reasoning
	}
	return u
}
