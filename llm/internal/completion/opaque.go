package completion

import (
	"bytes"
	"encoding/json"

	"dossier/llm/internal/jsontext"
)

// What has to travel back with an assistant message: OpenRouter's
// reasoning_details, the extra_content that Gemini signs tool calls with, and
// GigaChat's functions_state_id.
type opaque struct {
	State   string                     `json:"functions_state_id,omitempty"`
	Details []json.RawMessage          `json:"reasoning_details,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra_content,omitempty"` // by tool call id
}

// opaque collects that state; nil when there is none.
func (a *assembly) opaque() json.RawMessage {
	var o opaque
	for _, list := range a.details {
		var items []json.RawMessage
		if json.Unmarshal(list, &items) == nil {
			for _, it := range items {
				o.Details = appendDetail(o.Details, it)
			}
		}
	}
	for _, c := range a.calls {
		if c.extra != nil {
			if o.Extra == nil {
				o.Extra = map[string]json.RawMessage{}
			}
			o.Extra[c.id] = c.extra
		}
	}
	o.State = a.state
	if o.Details == nil && o.Extra == nil && o.State == "" {
		return nil
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return raw
}

// appendDetail adds an item, or continues the last one when it is the same
// block in pieces: same type and index, with more text.
func appendDetail(list []json.RawMessage, item json.RawMessage) []json.RawMessage {
	if len(list) == 0 {
		return append(list, item)
	}
	var last, next map[string]any
	if json.Unmarshal(list[len(list)-1], &last) != nil || json.Unmarshal(item, &next) != nil {
		return append(list, item)
	}
	if last["type"] != next["type"] || last["index"] != next["index"] || last["type"] == "reasoning.encrypted" ||
		last["id"] != nil && next["id"] != nil && last["id"] != next["id"] {
		return append(list, item)
	}
	for k, v := range next {
		piece, isText := v.(string)
		have, _ := last[k].(string)
		switch {
		case isText && (k == "text" || k == "summary"):
			last[k] = have + piece
		case v != nil:
			last[k] = v
		}
	}
	if raw, err := json.Marshal(last); err == nil {
		list[len(list)-1] = raw
	}
	return list
}

// AppendOpaque puts that state back into the message that was just written to
// b. State of another provider is left out.
func AppendOpaque(b []byte, state json.RawMessage) []byte {
	var o opaque
	if json.Unmarshal(state, &o) != nil {
		return b
	}
	if o.State != "" {
		b = append(b[:len(b)-1], `,"functions_state_id":`...)
		b = jsontext.AppendString(b, o.State)
		b = append(b, '}')
	}
	if o.Details != nil {
		if raw, err := json.Marshal(o.Details); err == nil {
			b = append(b[:len(b)-1], `,"reasoning_details":`...)
			b = append(b, raw...)
			b = append(b, '}')
		}
	}
	for id, extra := range o.Extra {
		mark := jsontext.AppendString([]byte(`{"id":`), id)
		mark = append(mark, `,"type":"function",`...)
		if i := bytes.LastIndex(b, mark); i >= 0 {
			i += len(mark)
			var ins []byte
			ins = append(ins, `"extra_content":`...)
			ins = append(append(ins, extra...), ',')
			b = append(b[:i], append(ins, b[i:]...)...)
		}
	}
	return b
}
