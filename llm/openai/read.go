package openai

import (
	"io"

	"dossier/llm"
	"dossier/llm/internal/jsontext"
	"dossier/llm/internal/upstream"
)

// readWhole reads a reply that is one JSON object. Its content goes to sink as
// if it had been streamed.
func readWhole(call *upstream.Call, sink func(llm.Chunk)) (*llm.Response, error) {
	body, err := call.Lines().Rest()
	if err != nil {
		return nil, call.ReadError(err)
	}
	var c chunk
	if !c.parse(body) {
		return nil, notOurs(call, body)
	}
	if c.failure != nil {
		return nil, call.Failure(0, body)
	}
	a := assembly{sink: sink}
	a.add(&c)
	return finished(call, &a)
}

// notOurs explains a body that is not in the API's format.
func notOurs(call *upstream.Call, body []byte) error {
	for _, b := range body {
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		case '<':
			return call.Error(llm.ErrMalformed, "the endpoint answered with a web page instead of JSON; check the base URL")
		}
		break
	}
	if len(body) == 0 {
		return call.Error(llm.ErrMalformed, "the endpoint answered with nothing")
	}
	return call.Error(llm.ErrMalformed, "the endpoint's answer is not the JSON of a chat completion: "+string(body[:min(len(body), 200)]))
}

// finished makes the response of a reply that the endpoint called complete.
func finished(call *upstream.Call, a *assembly) (*llm.Response, error) {
	if broken[a.finish] {
		return nil, call.Error(llm.ErrServer, "the endpoint gave up: finish reason "+a.finish)
	}
	if !a.choices {
		return nil, call.Error(llm.ErrMalformed, "the reply has no choices")
	}
	resp, ok := a.response()
	if !ok {
		return nil, call.Error(llm.ErrMalformed, "the reply has a tool call without a name")
	}
	return resp, nil
}

// readStream reads a streamed reply.
func readStream(call *upstream.Call, sink func(llm.Chunk)) (*llm.Response, error) {
	lines := call.Lines()
	// An endpoint may ignore "stream", or be no such endpoint at all.
	switch lines.Peek() {
	case '{', '<', '[':
		return readWhole(call, sink)
	}
	a := assembly{sink: sink}
	var c chunk
	var t template
	for {
		data, err := lines.Next()
		if err != nil {
			// The reply is whole once a finish reason was given, even when the
			// connection then ends without [DONE].
			if a.finish != "" && call.Alive() {
				return finished(call, &a)
			}
			return nil, call.ReadError(err)
		}
		if in, ok := t.match(data); ok {
			switch t.kind {
			case templateText:
				a.addText(a.unquoted(in))
			case templateReasoning:
				a.addReasoning(a.unquoted(in))
			case templateArguments:
				a.addArguments(t.call, a.unquoted(in))
			}
			continue
		}
		if string(data) == "[DONE]" {
			call.Drain()
			return finished(call, &a)
		}
		for !c.parse(data) {
			more, err := lines.More(data)
			if err == io.EOF && lines.Tail() {
				return nil, call.ReadError(io.EOF)
			}
			if err == io.EOF {
				return nil, notOurs(call, data)
			}
			if err != nil {
				return nil, call.ReadError(err)
			}
			data = more
		}
		if c.failure != nil {
			return nil, call.Failure(0, data)
		}
		if string(lines.Event()) == "error" && c.choices == 0 {
			return nil, call.Failure(0, data)
		}
		done := a.finish != ""
		a.add(&c)
		if a.finish != "" && !done {
			call.Ending()
		}
		a.learn(&t, &c, data)
	}
}

// learn remembers the form of an event that carried one piece and nothing
// else new.
func (a *assembly) learn(t *template, c *chunk, data []byte) {
	d := &c.delta
	t.kind = templateNone
	if c.choices != 1 || c.finish != nil || c.usage != nil || d.details != nil || len(d.refuse) > 2 || !d.present {
		return
	}
	content, reasoning := len(d.content) > 2, len(d.reasoning) > 2
	switch {
	case content && !reasoning && len(d.calls) == 0:
		t.set(templateText, data, d.content)
	case reasoning && !content && len(d.calls) == 0:
		t.set(templateReasoning, data, d.reasoning)
	case len(d.calls) == 1 && !content && !reasoning:
		piece := &d.calls[0]
		// With an id or a name in it the event may begin another call.
		if jsontext.Text(piece.id) != "" || jsontext.Text(piece.name) != "" || piece.extra != nil || piece.args == nil {
			return
		}
		at := a.find(piece)
		if at < 0 || a.calls[at].name == "" {
			return
		}
		t.call = at
		t.set(templateArguments, data, piece.args)
	}
}
