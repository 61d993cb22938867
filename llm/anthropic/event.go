package anthropic

import (
	"dossier/llm"
	"dossier/llm/internal/jsontext"
)

// event is one streamed event taken apart; the values are raw JSON inside the
// event's own bytes.
type event struct {
	kind, message, block, delta, usage, failure []byte
	index                                       int
}

// parse is false when data is not one JSON object.
func (e *event) parse(data []byte) bool {
	*e = event{}
	r := jsontext.NewReader(data)
	if r.Next() != '{' {
		return false
	}
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "type":
			e.kind = r.Raw()
		case "index":
			e.index, _ = r.Int()
		case "message":
			e.message = r.Raw()
		case "content_block":
			e.block = r.Raw()
		case "delta":
			e.delta = r.Raw()
		case "usage":
			e.usage = r.Raw()
		case "error":
			e.failure = r.Raw()
		default:
			r.Skip()
		}
	}
	return r.End()
}

// counts are the token counts as the API gives them. Later ones replace
// earlier ones, which are only a beginning.
type counts struct {
	input, written, read, output, thinking int
}

func (c *counts) add(raw []byte) {
	r := jsontext.NewReader(raw)
	if len(raw) == 0 || !r.Object() {
		return
	}
	set := func(n *int, raw []byte) {
		if v, ok := jsontext.Int(raw); ok {
			*n = v
		}
	}
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "input_tokens":
			set(&c.input, r.Raw())
		case "cache_creation_input_tokens":
			set(&c.written, r.Raw())
		case "cache_read_input_tokens":
			set(&c.read, r.Raw())
		case "output_tokens":
			set(&c.output, r.Raw())
		case "output_tokens_details":
			set(&c.thinking, jsontext.Member(r.Raw(), "thinking_tokens"))
		default:
			r.Skip()
		}
	}
}

// usage counts all input, also what was read from or written to the cache.
func (c *counts) usage() llm.Usage {
	return llm.Usage{Input: c.input + c.written + c.read, Output: c.output, CachedInput: c.read, Reasoning: c.thinking}
}
