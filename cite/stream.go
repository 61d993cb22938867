package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stream passes a text on while a model writes it, sentence by sentence: what
// points somewhere is taken out before anybody sees it, and where an address
// ends is plain only then.
type Stream struct {
	// Pass gets what is new of the text, or, again, all of it: what came last
	// changed what was passed on before.
	Pass func(text string, again bool)

	raw  strings.Builder
	ends sentenceEnds
	read int    // of raw, what was passed on
	sent string // as it was passed on
}

// Write takes the next piece.
func (s *Stream) Write(piece string) {
	s.raw.WriteString(piece)
	s.passTo(s.ends.in(piece))
}

// Reset forgets what came so far: the model starts over.
func (s *Stream) Reset() {
	s.raw.Reset()
	s.ends, s.read, s.sent = sentenceEnds{}, 0, ""
}

// Whole is what there is of the text in whole sentences, as it was written.
func (s *Stream) Whole() string { return strings.TrimSpace(s.raw.String()[:s.ends.last]) }

// Passed is all that was passed on.
func (s *Stream) Passed() string { return s.sent }

// End passes the rest on.
func (s *Stream) End() { s.passTo(s.raw.Len()) }

func (s *Stream) passTo(end int) {
	if end == s.read {
		return
	}
	s.read = end
	text := Sanitize(s.raw.String()[:end])
	switch rest, goesOn := strings.CutPrefix(text, s.sent); {
	case !goesOn: // what came now ended a link that had begun before
		s.Pass(text, true)
	case rest != "":
		s.Pass(rest, false)
	}
	s.sent = text
}

// sentenceEnds finds where the last sentence, or line, that is whole ends in a
// text that comes in pieces.
type sentenceEnds struct {
	seen, last int // bytes
	ended      bool
}

// in reads on and returns the end.
func (e *sentenceEnds) in(piece string) int {
	for i, r := range piece {
		switch {
		case r == '\n', e.ended && unicode.IsSpace(r):
			e.last, e.ended = e.seen+i, false
		case strings.ContainsRune("。！？", r):
			e.last, e.ended = e.seen+i+utf8.RuneLen(r), false
		default:
			e.ended = strings.ContainsRune(".!?…", r) || e.ended && strings.ContainsRune(")]”»\"'*_", r)
		}
	}
	e.seen += len(piece)
	return e.last
}
