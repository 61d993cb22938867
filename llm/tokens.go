package llm

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EstimateTokens says how many tokens a text takes, without a vocabulary and
// rather too many than too few: letters are weighed by script, with weights
// at the upper end of what vocabularies of 100,000 tokens and more need.
func EstimateTokens(text string) int { return tokens(text) }

func tokens[T ~string | ~[]byte](text T) int { return int(math.Ceil(estimate(text))) }

// The weights are tokens per character.
const (
	perLatin    = 0.29 // at least one token per word
	perCyrillic = 0.5
	perGreek    = 0.6 // Greek, Hebrew, Arabic, Armenian, Georgian
	perHan      = 1.15
	perKana     = 1.0 // kana, Hangul
	perOther    = 1.3 // Indic and South-East Asian scripts, symbols
	perDigit    = 0.7
	perMark     = 0.75 // ASCII punctuation
	perBreak    = 0.6  // a line break, or a run of blanks beyond the first
)

func estimate[T ~string | ~[]byte](text T) float64 {
	var total, word float64
	var last byte
	flush := func() {
		if word > 0 {
			total += max(1, word)
			word = 0
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch {
			case c|0x20 >= 'a' && c|0x20 <= 'z':
				word += perLatin
			case c >= '0' && c <= '9':
				flush()
				total += perDigit
			case c == ' ':
				flush()
				if last == ' ' {
					total += perBreak / 4
				}
			case c < ' ' || c == 0x7f:
				flush()
				total += perBreak
			default:
				flush()
				total += perMark
			}
			last = c
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		last = 0
		i += n
		switch w := weigh(r); {
		case w < perHan && w != perKana: // an alphabet
			word += w
		default:
			flush()
			total += w
		}
	}
	flush()
	return total
}

func weigh(r rune) float64 {
	switch {
	case r < 0x250:
		return 2 * perLatin // accented letters break words up
	case r >= 0x400 && r < 0x530:
		return perCyrillic
	case r >= 0x370 && r < 0x400, r >= 0x530 && r < 0x700:
		return perGreek
	case r >= 0x2010 && r <= 0x2027, r >= 0x3000 && r <= 0x303f:
		return perKana // typographic marks
	case unicode.Is(unicode.Han, r):
		return perHan
	case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return perKana
	case r > 0xffff:
		return 3 // emoji and rare characters are several bytes-tokens
	}
	return perOther
}

const (
	perMessage = 5 // role and separators
	perRequest = 4
)

// CountMessage estimates the tokens of one message.
func CountMessage(m *Message) int {
	n := estimate(m.Content) + estimate(m.Name)
	for _, c := range m.ToolCalls {
		n += estimate(c.Name) + estimate(c.Arguments) + perMessage
	}
	return int(math.Ceil(n)) + perMessage
}

// CountRequest estimates the tokens that a request takes of the window, not
// counting the reply.
func CountRequest(req *Request) int {
	n := perRequest + countFrame(req)
	for i := range req.Messages {
		n += CountMessage(&req.Messages[i])
	}
	return n
}

// mostTokens is what CountRequest says at most, at a glance: no byte weighs
// more than perOther. Mostly that is enough to know that a request fits.
func mostTokens(req *Request) int {
	bytes, frame := 0, perRequest
	for i := range req.Messages {
		m := &req.Messages[i]
		bytes += len(m.Content) + len(m.Name)
		frame += perMessage + 1
		for j := range m.ToolCalls {
			bytes += len(m.ToolCalls[j].Name) + len(m.ToolCalls[j].Arguments)
			frame += perMessage
		}
	}
	for i := range req.Tools {
		t := &req.Tools[i]
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
		frame += 2*perMessage + 3
	}
	if req.Format != nil {
		bytes += len(req.Format.Schema)
		frame += perMessage + 1
	}
	return int(math.Ceil(float64(bytes)*perOther)) + frame
}

// countFrame counts what a request has beside messages.
func countFrame(req *Request) int {
	n := 0
	for _, t := range req.Tools {
		n += EstimateTokens(t.Name) + EstimateTokens(t.Description) + tokens(t.Parameters) + 2*perMessage
	}
	if req.Format != nil {
		n += tokens(req.Format.Schema) + perMessage
	}
	return n
}

// betweenWords moves the ends of a cut to where words end and begin, if that is
// near: half a word, or half an address, says something else than the whole.
func betweenWords(text string, head, tail int) (from, to int) {
	const near = 300 // bytes
	if i := strings.LastIndexAny(text[max(0, head-near):head], " \n\t"); i >= 0 {
		head = max(0, head-near) + i
	}
	if i := strings.IndexAny(text[tail:min(len(text), tail+near)], " \n\t"); i >= 0 {
		tail += i
	}
	return head, tail
}

// CutMiddle shortens a text to about so many tokens by leaving out its middle,
// with a mark that says how much is missing. A text that fits is returned as
// it is.
func CutMiddle(text string, tokens int) string {
	total := estimate(text)
	if total <= float64(tokens) {
		return text
	}
	const markTokens = 16
	keep := max(0, float64(tokens-markTokens)) / total
	for {
		head := int(float64(len(text)) * keep * 0.6)
		tail := len(text) - int(float64(len(text))*keep*0.4)
		for head > 0 && !utf8.RuneStart(text[head]) {
			head--
		}
		for tail < len(text) && !utf8.RuneStart(text[tail]) {
			tail++
		}
		head, tail = betweenWords(text, head, tail)
		mark := fmt.Sprintf("\n[… %d characters left out …]\n", utf8.RuneCountInString(text[head:tail]))
		out := text[:head] + mark + text[tail:]
		if head == 0 || EstimateTokens(out) <= tokens {
			return out
		}
		keep *= 0.9 // the ends are denser than the middle
	}
}
