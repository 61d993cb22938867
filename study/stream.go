package study

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
)

// stream passes a section on while a model writes it, in whole sentences: what
// points somewhere is taken out before anybody sees it, and where an address ends
// is plain only then.
type stream struct {
	section int
	emit    func(event.ReportDelta)
	raw     strings.Builder
	sent    string
}

// write takes the next piece.
func (s *stream) write(text string) {
	s.raw.WriteString(text)
	raw := s.raw.String()
	clean := cite.Sanitize(raw[:wholeSentences(raw)])
	if rest, goesOn := strings.CutPrefix(clean, s.sent); goesOn && rest != "" {
		s.emit(event.ReportDelta{Section: s.section, Text: rest})
		s.sent = clean
	}
}

// reset forgets what came so far: the model starts over. The section that
// follows whole is what holds.
func (s *stream) reset() {
	s.raw.Reset()
	s.sent = ""
}

// whole is what there is in whole sentences.
func (s *stream) whole() string {
	raw := s.raw.String()
	return strings.TrimSpace(raw[:wholeSentences(raw)])
}

// wholeSentences is where the last sentence, or line, of a text ends that is
// whole.
func wholeSentences(text string) int {
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
