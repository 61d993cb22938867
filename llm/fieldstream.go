package llm

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// StreamField returns a function that takes the pieces in which a JSON object
// arrives. It passes the text of one of its string fields on as it comes: one at
// the top, or below it, with the names on the way and dots between.
func StreamField(field string, sink func(text string)) (feed func(piece string)) {
	f := &fieldStream{path: strings.Split(field, "."), sink: sink}
	return f.feed
}

// fieldStream picks the text of one string field of a JSON object out of the
// pieces in which the object arrives. A nil one does nothing.
type fieldStream struct {
	path  []string // names from the top of the object to the field
	sink  func(string)
	reset func()

	sent    bool // sink got something since the last reset
	depth   int  // of brackets
	state   fieldState
	keys    [][]byte // the last string at each depth of the path
	colon   bool     // and a colon followed the one at this depth
	escape  []byte   // an escape that isn't complete
	high    rune     // the first half of a surrogate pair
	wanted  bool     // the string is the field's
	out     strings.Builder
	tagTail string // a possible beginning of </think>
	thought bool
}

type fieldState byte

const (
	outside fieldState = iota
	inString
	done
)

// chunks is the sink for a Model, nil when nobody listens.
func (f *fieldStream) chunks() func(Chunk) {
	if f == nil {
		return nil
	}
	return func(c Chunk) {
		switch {
		case c.Restart:
			f.restart()
		case c.Tool != nil:
			if c.Tool.Index == 0 {
				f.feed(c.Tool.Arguments)
			}
		case c.Text != "":
			f.feed(c.Text)
		}
	}
}

// restart forgets everything; whoever heard something is told.
func (f *fieldStream) restart() {
	if f == nil {
		return
	}
	if f.sent && f.reset != nil {
		f.reset()
	}
	*f = fieldStream{path: f.path, sink: f.sink, reset: f.reset}
}

// whole tells a text of which nothing was heard while it arrived.
func (f *fieldStream) whole(text string) {
	if f != nil && !f.sent && text != "" {
		f.sent = true
		f.sink(text)
	}
}

func (f *fieldStream) feed(text string) {
	text = f.skipThoughts(text)
	for i := 0; i < len(text) && f.state != done; i++ {
		f.next(text[i])
	}
	if f.out.Len() > 0 {
		// A rune may arrive in two pieces.
		s := f.out.String()
		f.out.Reset()
		if cut := wholeRunes(s); cut < len(s) {
			f.out.WriteString(s[cut:])
			s = s[:cut]
		}
		if s != "" {
			f.sent = true
			f.sink(s)
		}
	}
}

// wholeRunes is the length of s without an unfinished rune at its end.
func wholeRunes(s string) int {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return i
			}
			break
		}
	}
	return len(s)
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// skipThoughts drops a <think> block in front of the object.
func (f *fieldStream) skipThoughts(text string) string {
	if f.depth > 0 || f.state != outside {
		return text
	}
	text = f.tagTail + text
	f.tagTail = ""
	if !f.thought {
		lead := strings.TrimLeft(text, " \r\n\t")
		switch {
		case strings.HasPrefix(lead, thinkOpen):
			f.thought = true
			text = lead[len(thinkOpen):]
		case lead != "" && strings.HasPrefix(thinkOpen, lead):
			f.tagTail = lead
			return ""
		default:
			return text
		}
	}
	if i := strings.Index(text, thinkClose); i >= 0 {
		f.thought = false
		return text[i+len(thinkClose):]
	}
	f.tagTail = text[max(0, len(text)-len(thinkClose)+1):]
	return ""
}

func (f *fieldStream) next(c byte) {
	if f.state == inString {
		f.inString(c)
		return
	}
	switch c {
	case '{', '[':
		if f.depth > 0 || c == '{' {
			f.depth++
		}
		f.colon = false
		f.forget()
	case '}', ']':
		f.depth--
		if f.depth <= 0 {
			f.depth = 0
		}
	case ':':
		f.colon = true
	case ',':
		f.colon = false
		f.forget()
	case '"':
		if f.depth == 0 {
			return // prose before the object
		}
		f.state = inString
		f.high = 0
		f.wanted = f.colon && f.here()
		if !f.colon {
			f.forget()
		}
	}
}

// forget drops the name at this depth.
func (f *fieldStream) forget() {
	if f.depth == 0 || f.depth > len(f.path) {
		return
	}
	for len(f.keys) < f.depth {
		f.keys = append(f.keys, nil)
	}
	f.keys[f.depth-1] = f.keys[f.depth-1][:0]
}

// here says whether the value that begins is that of the field.
func (f *fieldStream) here() bool {
	if f.depth != len(f.path) {
		return false
	}
	for i, name := range f.path {
		if string(f.keys[i]) != name {
			return false
		}
	}
	return true
}

func (f *fieldStream) inString(c byte) {
	switch {
	case len(f.escape) > 0:
		f.escape = append(f.escape, c)
		f.unescape()
	case c == '\\':
		f.escape = append(f.escape, c)
	case c == '"':
		f.state = outside
		if f.wanted {
			f.flushHalf()
			f.state = done
		}
	default:
		f.put(string([]byte{c}))
	}
}

func (f *fieldStream) put(s string) {
	if f.wanted {
		f.flushHalf()
		f.out.WriteString(s)
	} else if f.depth <= len(f.path) && !f.colon {
		f.keys[f.depth-1] = append(f.keys[f.depth-1], s...)
	}
}

// flushHalf writes a surrogate that stayed alone.
func (f *fieldStream) flushHalf() {
	if f.high != 0 {
		f.high = 0
		f.out.WriteRune(utf8.RuneError)
	}
}

// unescape writes the escape once it is complete.
func (f *fieldStream) unescape() {
	e := f.escape
	if e[1] != 'u' {
		f.escape = e[:0]
		switch e[1] {
		case 'n':
			f.put("\n")
		case 't':
			f.put("\t")
		case 'r':
			f.put("\r")
		case 'b':
			f.put("\b")
		case 'f':
			f.put("\f")
		default:
			f.put(string(e[1:2]))
		}
		return
	}
	if len(e) < 6 {
		return
	}
	f.escape = e[:0]
	var r rune
	for _, c := range e[2:6] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 {
			f.put(string(utf8.RuneError))
			return
		}
		r = r<<4 | rune(d)
	}
	switch {
	case f.high != 0 && utf16.IsSurrogate(r):
		pair := utf16.DecodeRune(f.high, r)
		f.high = 0
		f.put(string(pair))
	case r >= 0xD800 && r < 0xDC00:
		f.flushHalf()
		f.high = r
	default:
		f.put(string(r))
	}
}
