package upstream

import (
	"strings"

	"dossier/llm"
)

// Transcript is the text and the reasoning of a reply while they grow. Each
// piece goes to Sink as it comes, as a part of the whole, without being copied.
type Transcript struct {
	Sink func(llm.Chunk) // nil when nobody listens
	Of   *Call           // of which only pieces count as progress; nil where bytes do

	text, reasoning strings.Builder
}

// MaxReply bounds the text of a reply, and MaxBody one that is not streamed:
// beyond them the other side is broken or hostile.
const (
	MaxReply = 16 << 20
	MaxBody  = 32 << 20
)

// TooLarge says whether the reply is larger than any reply of a model.
func (t *Transcript) TooLarge() bool { return t.text.Len()+t.reasoning.Len() > MaxReply }

// Send hands a piece to Sink, which is there.
func (t *Transcript) Send(piece llm.Chunk) {
	if t.Of != nil {
		t.Of.piece()
	}
	t.Sink(piece)
}

// AddText appends a piece of the text.
func (t *Transcript) AddText(piece []byte) {
	if len(piece) == 0 {
		return
	}
	n := t.text.Len()
	t.text.Write(piece)
	if t.Sink != nil {
		t.Send(llm.Chunk{Text: t.text.String()[n:]})
	}
}

// AddReasoning appends a piece of the reasoning.
func (t *Transcript) AddReasoning(piece []byte) {
	if len(piece) == 0 {
		return
	}
	n := t.reasoning.Len()
	t.reasoning.Write(piece)
	if t.Sink != nil {
		t.Send(llm.Chunk{Reasoning: t.reasoning.String()[n:]})
	}
}

// Text so far.
func (t *Transcript) Text() string { return t.text.String() }

// Reasoning so far.
func (t *Transcript) Reasoning() string { return t.reasoning.String() }
