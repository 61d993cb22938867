package anthropic

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"dossier/llm"
	"dossier/llm/internal/jsontext"
	"dossier/llm/internal/sse"
	"dossier/llm/internal/upstream"
)

// assembly puts a reply together.
type assembly struct {
	upstream.Transcript

	format    string // the tool that stands in for structured output
	id, model string
	blocks    []*block
	calls     []*block
	stop      string
	refusal   string
	usage     counts
	started   bool
	scratch   []byte
}

// block is a content block, whole or in pieces.
type block struct {
	index   int // as the stream numbers it
	kind    string
	raw     json.RawMessage // as it began
	at      int             // of a tool call: its position among the calls
	id      string
	name    string
	text    strings.Builder // text, thinking or compaction
	input   strings.Builder // partial_json
	sign    strings.Builder
	cites   []json.RawMessage
	isReply bool // a forced tool call whose input is the reply's text
}

func (a *assembly) unquoted(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return a.plain(raw[1 : len(raw)-1])
}

func (a *assembly) plain(in []byte) []byte {
	if jsontext.Plain(in) {
		return in
	}
	a.scratch = jsontext.AppendUnquoted(a.scratch[:0], in)
	return a.scratch
}

func (a *assembly) addInput(b *block, piece []byte) {
	if len(piece) == 0 {
		return
	}
	n := b.input.Len()
	b.input.Write(piece)
	switch {
	case b.isReply:
		a.AddText(piece)
	case b.kind == "tool_use" && a.Sink != nil:
		a.Send(llm.Chunk{Tool: &llm.ToolDelta{Index: b.at, Arguments: b.input.String()[n:]}})
	}
}

// begin takes in a block as it starts, or a whole one.
func (a *assembly) begin(index int, raw []byte) *block {
	b := &block{index: index, raw: append(json.RawMessage(nil), raw...)}
	var text, thinking, id, name []byte
	r := jsontext.NewReader(b.raw)
	if r.Object() {
		for key, ok := r.Key(); ok; key, ok = r.Key() {
			switch string(key) {
			case "type":
				b.kind = jsontext.Text(r.Raw())
			case "text":
				text = r.Raw()
			case "thinking":
				thinking = r.Raw()
			case "id":
				id = r.Raw()
			case "name":
				name = r.Raw()
			default:
				r.Skip()
			}
		}
	}
	a.blocks = append(a.blocks, b)
	switch b.kind {
	case "text":
		t := a.unquoted(text)
		b.text.Write(t)
		a.AddText(t)
	case "thinking":
		t := a.unquoted(thinking)
		b.text.Write(t)
		a.AddReasoning(t)
	case "tool_use":
		b.name = jsontext.Text(name)
		if b.isReply = a.format != "" && b.name == a.format; b.isReply {
			break
		}
		b.at = len(a.calls)
		b.id = a.unique(jsontext.Text(id), b.at)
		a.calls = append(a.calls, b)
		if a.Sink != nil {
			a.Send(llm.Chunk{Tool: &llm.ToolDelta{Index: b.at, ID: b.id, Name: b.name}})
		}
	}
	return b
}

func (a *assembly) unique(id string, at int) string {
	if id == "" {
		id = "call_" + strconv.Itoa(at)
	}
	for n, try := 2, id; ; n++ {
		taken := false
		for _, c := range a.calls {
			taken = taken || c.id == try
		}
		if !taken {
			return try
		}
		try = id + "_" + strconv.Itoa(n)
	}
}

// finish ends a block: a tool call whose input came whole, or not at all, gets
// it now.
func (a *assembly) finish(b *block) {
	if b.kind != "tool_use" || b.input.Len() > 0 {
		return
	}
	input := jsontext.Member(b.raw, "input")
	if len(input) == 0 || input[0] != '{' {
		input = []byte("{}")
	}
	var compact json.RawMessage
	if raw, err := json.Marshal(json.RawMessage(input)); err == nil {
		compact = raw
	} else {
		compact = input
	}
	a.addInput(b, compact)
}

func (a *assembly) find(index int) *block {
	for _, b := range slices.Backward(a.blocks) {
		if b.index == index {
			return b
		}
	}
	return nil
}

// whole is the block as it goes back to the API.
func (b *block) whole() json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(b.raw, &m) != nil {
		return b.raw
	}
	set := func(key, text string) {
		if text != "" {
			m[key] = llm.AppendString(nil, text)
		}
	}
	switch b.kind {
	case "text":
		set("text", b.text.String())
	case "thinking":
		set("thinking", b.text.String())
		set("signature", b.sign.String())
	case "compaction":
		set("content", b.text.String())
	}
	if len(b.cites) > 0 {
		if raw, err := json.Marshal(b.cites); err == nil {
			m["citations"] = raw
		}
	}
	if in := b.input.String(); in != "" && json.Valid([]byte(in)) {
		m["input"] = json.RawMessage(in)
	}
	if b.id != "" {
		m["id"] = llm.AppendString(nil, b.id)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return b.raw
	}
	return raw
}

// finishOf translates a stop reason.
func finishOf(s string) llm.FinishReason {
	switch s {
	case "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "tool_use":
		return llm.FinishToolCalls
	case "refusal":
		return llm.FinishFilter
	}
	return llm.FinishStop
}

func (a *assembly) response(call *upstream.Call) (*llm.Response, error) {
	resp := &llm.Response{ID: a.id, Model: a.model, Finish: finishOf(a.stop), Usage: a.usage.usage()}
	if a.refusal != "" && a.Text() == "" {
		a.AddText([]byte(a.refusal))
	}
	m := &resp.Message
	m.Role, m.Content, m.Reasoning = llm.RoleAssistant, a.Text(), a.Reasoning()
	for _, c := range a.calls {
		if c.name == "" {
			return nil, call.Error(llm.ErrMalformed, "the reply has a tool call without a name")
		}
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.id, Name: c.name, Arguments: c.input.String()})
	}
	switch {
	case len(a.calls) > 0 && resp.Finish == llm.FinishStop:
		resp.Finish = llm.FinishToolCalls
	case len(a.calls) == 0 && resp.Finish == llm.FinishToolCalls:
		resp.Finish = llm.FinishStop
	}
	blocks := make([]json.RawMessage, 0, len(a.blocks))
	for _, b := range a.blocks {
		if !b.isReply {
			blocks = append(blocks, b.whole())
		}
	}
	m.Opaque = writeOpaque(blocks)
	return resp, nil
}

// readWhole reads a reply that is one JSON object.
func readWhole(call *upstream.Call, a *assembly) (*llm.Response, error) {
	body, err := call.Lines().UpTo(upstream.MaxBody)
	if err != nil {
		return nil, call.ReadError(err)
	}
	r := jsontext.NewReader(body)
	if r.Next() != '{' {
		return nil, call.NotOurs(body)
	}
	var content, kind []byte
	failed := false
	r.Object()
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "type":
			kind = r.Raw()
		case "error":
			failed = r.Raw() != nil
		case "id":
			a.id = jsontext.Text(r.Raw())
		case "model":
			a.model = jsontext.Text(r.Raw())
		case "content":
			content = r.Raw()
		case "stop_reason":
			a.stop = jsontext.Text(r.Raw())
		case "stop_details":
			a.refusal = jsontext.Text(jsontext.Member(r.Raw(), "explanation"))
		case "usage":
			a.usage.add(r.Raw())
		default:
			r.Skip()
		}
	}
	switch {
	case !r.End():
		return nil, call.NotOurs(body)
	case failed || string(kind) == `"error"`:
		return nil, call.Failure(0, body)
	case len(content) == 0 || content[0] != '[' || a.stop == "":
		return nil, call.Error(llm.ErrMalformed, "the reply has no content or no stop reason")
	}
	list := jsontext.NewReader(content)
	list.Array()
	for i := 0; list.Elem(); i++ {
		if raw := list.Raw(); len(raw) > 0 && raw[0] == '{' {
			a.finish(a.begin(i, raw))
		}
	}
	return a.response(call)
}

// form is what an event that carries one piece of a block looks like.
type form struct {
	jsontext.Template
	kind  string // of the delta
	block *block
}

// readStream reads a streamed reply.
func readStream(call *upstream.Call, a *assembly) (*llm.Response, error) {
	lines := call.Lines()
	switch lines.Peek() {
	case '{', '<', '[':
		return readWhole(call, a)
	}
	a.Of = call.InPieces()
	var e event
	var f form
	for {
		if a.TooLarge() {
			return nil, call.ReadError(sse.ErrTooLarge)
		}
		data, err := lines.Next()
		if err != nil {
			if a.stop != "" && call.Alive() {
				return a.response(call)
			}
			return nil, call.ReadError(err)
		}
		if in, ok := f.Match(data); ok {
			a.delta(f.block, f.kind, a.plain(in))
			continue
		}
		for !e.parse(data) {
			more, err := lines.More(data)
			if err == io.EOF && lines.Tail() {
				return nil, call.ReadError(io.EOF)
			}
			if err == io.EOF {
				return nil, call.NotOurs(data)
			}
			if err != nil {
				return nil, call.ReadError(err)
			}
			data = more
		}
		f.Clear()
		switch string(e.kind) {
		case `"error"`:
			return nil, call.Failure(0, data)
		case `"message_start"`:
			a.start(e.message)
		case `"content_block_start"`:
			a.begin(e.index, e.block)
		case `"content_block_delta"`:
			a.add(&e, &f, data)
		case `"content_block_stop"`:
			if b := a.find(e.index); b != nil {
				a.finish(b)
			}
		case `"message_delta"`:
			a.usage.add(e.usage)
			if s := jsontext.Text(jsontext.Member(e.delta, "stop_reason")); s != "" {
				a.stop = s
				call.Ending()
			}
			if why := jsontext.Text(jsontext.Member(jsontext.Member(e.delta, "stop_details"), "explanation")); why != "" {
				a.refusal = why
			}
		case `"message_stop"`:
			if a.stop == "" {
				return nil, call.Error(llm.ErrMalformed, "the stream stopped without a stop reason")
			}
			call.Drain()
			return a.response(call)
		default:
			if e.failure != nil {
				return nil, call.Failure(0, data)
			}
		}
	}
}

// start takes in message_start; some endpoints send it twice.
func (a *assembly) start(message []byte) {
	if a.started {
		return
	}
	a.started = true
	a.id = jsontext.Text(jsontext.Member(message, "id"))
	a.model = jsontext.Text(jsontext.Member(message, "model"))
	a.usage.add(jsontext.Member(message, "usage"))
	// Blocks that were made before the stream began (a container's, say).
	list := jsontext.NewReader(jsontext.Member(message, "content"))
	if list.Array() {
		for i := 0; list.Elem(); i++ {
			if raw := list.Raw(); len(raw) > 0 && raw[0] == '{' {
				a.finish(a.begin(-1-i, raw))
			}
		}
	}
}

// add takes in content_block_delta and remembers its form.
func (a *assembly) add(e *event, f *form, data []byte) {
	b := a.find(e.index)
	if b == nil {
		return
	}
	var kind string
	var value []byte
	r := jsontext.NewReader(e.delta)
	if !r.Object() {
		return
	}
	for key, ok := r.Key(); ok; key, ok = r.Key() {
		switch string(key) {
		case "type":
			kind = jsontext.Text(r.Raw())
		case "text", "partial_json", "thinking", "signature", "content":
			value = r.Raw()
		case "citation":
			b.cites = append(b.cites, append(json.RawMessage(nil), r.Raw()...))
		default:
			r.Skip()
		}
	}
	a.delta(b, kind, a.unquoted(value))
	switch kind {
	case "text_delta", "input_json_delta", "thinking_delta":
		f.kind, f.block = kind, b
		f.Set(data, value)
	}
}

func (a *assembly) delta(b *block, kind string, piece []byte) {
	switch kind {
	case "text_delta":
		b.text.Write(piece)
		a.AddText(piece)
	case "thinking_delta":
		b.text.Write(piece)
		a.AddReasoning(piece)
	case "input_json_delta":
		a.addInput(b, piece)
	case "signature_delta":
		b.sign.Write(piece)
	case "compaction_delta":
		b.text.Write(piece)
	}
}
