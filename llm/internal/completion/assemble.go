package completion

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"dossier/llm"
	"dossier/llm/internal/jsontext"
	"dossier/llm/internal/upstream"
)

// assembly puts a reply together.
type assembly struct {
	upstream.Transcript

	refused   bool
	calls     []*call
	details   [][]byte
	id, model string
	state     string // functions_state_id
	finish    string
	choices   bool // any choice was seen
	usage     llm.Usage
	scratch   []byte
}

// call is a tool call that arrives in pieces.
type call struct {
	index   int
	indexed bool
	theirs  string // id as the provider gave it
	id      string // unique in the reply
	name    string
	args    strings.Builder
	extra   []byte
}

// unquoted is the text of what stands between quotes, valid until the next use.
func (a *assembly) unquoted(in []byte) []byte {
	if jsontext.Plain(in) {
		return in
	}
	a.scratch = jsontext.AppendUnquoted(a.scratch[:0], in)
	return a.scratch
}

func (a *assembly) addArguments(at int, piece []byte) {
	c := a.calls[at]
	n := c.args.Len()
	c.args.Write(piece)
	if a.Sink != nil && c.name != "" && len(piece) > 0 {
		a.Send(llm.Chunk{Tool: &llm.ToolDelta{Index: at, Arguments: c.args.String()[n:]}})
	}
}

// add takes in one event.
func (a *assembly) add(c *chunk) {
	if a.id == "" && c.id != nil {
		a.id = jsontext.Text(c.id)
	}
	if a.model == "" && c.model != nil {
		a.model = jsontext.Text(c.model)
	}
	if c.usage != nil {
		a.usage = usageOf(c.usage)
	}
	if c.choices > 0 {
		a.choices = true
	}
	d := &c.delta
	if d.state != nil {
		a.state = jsontext.Text(d.state)
	}
	if d.details != nil {
		a.details = append(a.details, bytes.Clone(d.details))
	}
	if len(d.reasoning) > 2 && d.reasoning[0] == '"' {
		a.AddReasoning(a.unquoted(d.reasoning[1 : len(d.reasoning)-1]))
	}
	switch {
	case len(d.content) > 2 && d.content[0] == '"':
		a.AddText(a.unquoted(d.content[1 : len(d.content)-1]))
	case len(d.content) > 0 && d.content[0] == '[':
		text, thinking := parts(d.content)
		a.AddReasoning(thinking)
		a.AddText(text)
	}
	if len(d.refuse) > 2 {
		a.refused = true
		a.AddText([]byte(jsontext.Text(d.refuse)))
	}
	for i := range d.calls {
		piece := &d.calls[i]
		at := -1
		if i == 0 || piece.indexed { // without an index, each in a list is another call
			at = a.find(piece)
		}
		a.addCall(at, piece)
	}
	if c.finish != nil {
		if f := jsontext.Text(c.finish); f != "" {
			a.finish = f
		}
	}
}

// addCall takes in a piece of the tool call at that position, or of a new one
// when it is negative.
func (a *assembly) addCall(at int, d *callDelta) {
	if at < 0 {
		at = len(a.calls)
		a.calls = append(a.calls, &call{index: d.index, indexed: d.indexed, theirs: jsontext.Text(d.id)})
	}
	c := a.calls[at]
	if c.theirs == "" && d.id != nil {
		c.theirs = jsontext.Text(d.id)
	}
	if d.extra != nil {
		c.extra = bytes.Clone(d.extra)
	}
	args := jsontext.Written(d.args)
	if c.name == "" {
		if c.name = jsontext.Text(d.name); c.name == "" {
			c.args.WriteString(args) // told to the sink once the name is known
			return
		}
		c.id = a.unique(c.theirs, at)
		c.args.WriteString(args)
		if a.Sink != nil {
			a.Send(llm.Chunk{Tool: &llm.ToolDelta{Index: at, ID: c.id, Name: c.name, Arguments: c.args.String()}})
		}
		return
	}
	a.addArguments(at, []byte(args))
}

// find says which call a piece belongs to, -1 for a new one. Endpoints differ:
// an index for each call, the same index for all, ids repeated in every piece,
// or nothing at all after the first piece.
func (a *assembly) find(d *callDelta) int {
	id := ""
	if d.id != nil {
		id = jsontext.Text(d.id)
	}
	at := -1
	switch {
	case d.indexed:
		for i, c := range slices.Backward(a.calls) {
			if c.indexed && c.index == d.index {
				at = i
				break
			}
		}
	case id != "":
		for i, c := range a.calls {
			if c.theirs == id {
				at = i
			}
		}
	default:
		at = len(a.calls) - 1
	}
	if at < 0 {
		return -1
	}
	c := a.calls[at]
	if id != "" && c.theirs != "" && id != c.theirs {
		return -1
	}
	// A name where one is known, after arguments that are complete, begins
	// another call; otherwise it is only repeated.
	if len(d.name) > 2 && c.name != "" && strings.HasSuffix(c.args.String(), "}") && json.Valid([]byte(c.args.String())) {
		return -1
	}
	return at
}

// unique makes the id under which a call is known to us.
func (a *assembly) unique(id string, at int) string {
	if id == "" {
		id = "call_" + strconv.Itoa(at)
	}
	for n, try := 2, id; ; n++ {
		taken := false
		for i, c := range a.calls {
			if i != at && c.id == try {
				taken = true
			}
		}
		if !taken {
			return try
		}
		try = id + "_" + strconv.Itoa(n)
	}
}

// broken are finish reasons that stand for a failure of the endpoint.
var broken = map[string]bool{"error": true, "network_error": true, "insufficient_system_resource": true, "abort": true}

func finishOf(s string) llm.FinishReason {
	switch s {
	case "length", "max_tokens", "model_length", "max_output_tokens", "MAX_TOKENS":
		return llm.FinishLength
	case "tool_calls", "function_call", "tool_use", "tool_call":
		return llm.FinishToolCalls
	case "content_filter", "sensitive", "safety", "SAFETY", "refusal", "blacklist", "recitation":
		return llm.FinishFilter
	}
	return llm.FinishStop
}

// response is the whole reply; false when a call has no name.
func (a *assembly) response() (*llm.Response, bool) {
	resp := &llm.Response{ID: a.id, Model: a.model, Finish: finishOf(a.finish), Usage: a.usage}
	m := &resp.Message
	m.Role, m.Content, m.Reasoning = llm.RoleAssistant, a.Text(), a.Reasoning()
	if len(a.calls) > 0 {
		m.ToolCalls = make([]llm.ToolCall, len(a.calls))
		for i, c := range a.calls {
			if c.name == "" {
				return nil, false
			}
			m.ToolCalls[i] = llm.ToolCall{ID: c.id, Name: c.name, Arguments: c.args.String()}
		}
	}
	switch {
	case a.refused && resp.Finish == llm.FinishStop:
		resp.Finish = llm.FinishFilter
	case len(a.calls) > 0 && resp.Finish == llm.FinishStop:
		resp.Finish = llm.FinishToolCalls
	case len(a.calls) == 0 && resp.Finish == llm.FinishToolCalls:
		resp.Finish = llm.FinishStop
	}
	m.Opaque = a.opaque()
	return resp, true
}
