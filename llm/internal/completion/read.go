// Package completion reads replies in the format of chat completions, whole or
// streamed, with the many ways in which endpoints write them.
package completion

import (
	"io"

	"dossier/llm"
	"dossier/llm/internal/jsontext"
	"dossier/llm/internal/sse"
	"dossier/llm/internal/upstream"
)

// Read reads a reply that is one JSON object. Its content goes to sink as
// if it had been streamed.
func Read(call *upstream.Call, sink func(llm.Chunk)) (*llm.Response, error) {
	body, err := call.Lines().UpTo(upstream.MaxBody)
	if err != nil {
		return nil, call.ReadError(err)
	}
	var c chunk
	if !c.parse(body) {
		return nil, call.NotOurs(body)
	}
	if c.failure != nil {
		return nil, call.Failure(0, body)
	}
	a := assembly{Transcript: upstream.Transcript{Sink: sink}}
	a.add(&c)
	return finished(call, &a)
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

// ReadStream reads a streamed reply.
func ReadStream(call *upstream.Call, sink func(llm.Chunk)) (*llm.Response, error) {
	lines := call.Lines()
	// An endpoint may ignore "stream", or be no such endpoint at all.
	switch lines.Peek() {
	case '{', '<', '[':
		return Read(call, sink)
	}
	a := assembly{Transcript: upstream.Transcript{Sink: sink, Of: call.InPieces()}}
	var c chunk
	var t form
	for {
		if a.TooLarge() {
			return nil, call.ReadError(sse.ErrTooLarge)
		}
		data, err := lines.Next()
		if err != nil {
			// The reply is whole once a finish reason was given, even when the
			// connection then ends without [DONE].
			if a.finish != "" && call.Alive() {
				return finished(call, &a)
			}
			return nil, call.ReadError(err)
		}
		if in, ok := t.Match(data); ok {
			switch t.kind {
			case formText:
				a.AddText(a.unquoted(in))
			case formReasoning:
				a.AddReasoning(a.unquoted(in))
			case formArguments:
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
				return nil, call.NotOurs(data)
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

// form is what an event that carries one piece looks like.
type form struct {
	jsontext.Template
	kind int
	call int // whose arguments, for formArguments
}

const (
	formText = iota
	formReasoning
	formArguments
)

// learn remembers the form of an event that carried one piece and nothing
// else new.
func (a *assembly) learn(t *form, c *chunk, data []byte) {
	d := &c.delta
	t.Clear()
	if c.choices != 1 || c.finish != nil || c.usage != nil || d.details != nil || d.state != nil || len(d.refuse) > 2 || !d.present {
		return
	}
	content, reasoning := len(d.content) > 2, len(d.reasoning) > 2
	switch {
	case content && !reasoning && len(d.calls) == 0:
		t.kind = formText
		t.Set(data, d.content)
	case reasoning && !content && len(d.calls) == 0:
		t.kind = formReasoning
		t.Set(data, d.reasoning)
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
		t.kind, t.call = formArguments, at
		t.Set(data, piece.args)
	}
}
