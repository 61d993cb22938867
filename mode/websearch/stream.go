package websearch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
)

// stream passes an answer on while a model writes it, sentence by sentence: what
// points somewhere is taken out before anybody sees it, and where an address
// ends is plain only then.
type stream struct {
	emit func(event.AnswerDelta)
	raw  strings.Builder
	sent string // what was passed on
}

// write takes the next piece.
func (s *stream) write(text string) {
	s.raw.WriteString(text)
	raw := s.raw.String()
	s.pass(raw[:sentencesEnd(raw)])
}

// reset voids what was passed on: the model starts over.
func (s *stream) reset() {
	s.raw.Reset()
	s.sent = ""
	s.emit(event.AnswerDelta{Reset: true})
}

// whole is what there is of the answer in whole sentences.
func (s *stream) whole() string {
	raw := s.raw.String()
	return strings.TrimSpace(raw[:sentencesEnd(raw)])
}

// end passes the rest on.
func (s *stream) end() { s.pass(s.raw.String()) }

func (s *stream) pass(raw string) {
	text := cite.Sanitize(raw)
	switch rest, goesOn := strings.CutPrefix(text, s.sent); {
	case !goesOn: // what came now ended a link that had begun before
		s.emit(event.AnswerDelta{Text: text, Reset: true})
	case rest != "":
		s.emit(event.AnswerDelta{Text: rest})
	}
	s.sent = text
}

// sentencesEnd is where the last sentence, or line, of a text ends that is whole.
func sentencesEnd(text string) int {
	end, ended := 0, false
	for i, r := range text {
		switch {
		case r == '\n', ended && unicode.IsSpace(r):
			end, ended = i, false
		case strings.ContainsRune("。！？", r):
			end, ended = i+utf8.RuneLen(r), false
		default:
			ended = strings.ContainsRune(".!?…", r) || ended && strings.ContainsRune(")]”»\"'*_", r)
		}
	}
	return end
}
