package jsontext

import "bytes"

// Template is the text around the one string that changes from event to event
// of a stream. An event with the same text around it means the same, so it
// need not be taken apart again. The zero value matches nothing.
type Template struct {
	set            bool
	prefix, suffix []byte
}

// Match returns what stands between the quotes of the changing string.
func (t *Template) Match(data []byte) ([]byte, bool) {
	if !t.set || !bytes.HasPrefix(data, t.prefix) {
		return nil, false
	}
	rest := data[len(t.prefix):]
	end := StringEnd(rest, 0)
	if end < 0 || !bytes.Equal(rest[end:], t.suffix) {
		return nil, false
	}
	return rest[:end], true
}

// Set remembers an event whose changing string is value: the raw JSON string
// that a Reader over data returned.
func (t *Template) Set(data, value []byte) {
	at := cap(data) - cap(value) // both reach to the end of the same array
	t.set = at >= 0 && len(value) >= 2 && value[0] == '"' && at+len(value) <= len(data)
	if t.set {
		t.prefix = append(t.prefix[:0], data[:at+1]...)
		t.suffix = append(t.suffix[:0], data[at+len(value)-1:]...)
	}
}

// Clear makes the template match nothing.
func (t *Template) Clear() { t.set = false }
