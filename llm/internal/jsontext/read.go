package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep values may nest, so that hostile text cannot
// exhaust the stack.
const maxDepth = 256

// Reader walks over one JSON text. It is strict about structure and lenient
// inside strings, where raw control characters pass. After the first mistake
// every method reports "no more" and OK is false.
//
//	if r.Object() {
//		for key, ok := r.Key(); ok; key, ok = r.Key() {
//			… r.Raw() or another Object or Array, exactly one per key
//		}
//	}
type Reader struct {
	b     []byte
	i     int
	fresh bool // directly after '{' or '[': no comma is due
	bad   bool
}

// NewReader returns a Reader over b, which it neither changes nor keeps.
func NewReader(b []byte) Reader { return Reader{b: b} }

// End says whether the text was well-formed and is used up.
func (r *Reader) End() bool {
	r.space()
	return !r.bad && r.i == len(r.b)
}

func (r *Reader) space() {
	for r.i < len(r.b) {
		switch r.b[r.i] {
		case ' ', '\t', '\r', '\n':
			r.i++
		default:
			return
		}
	}
}

// Next is the first byte of the next value: '{', '[', '"', 't', 'f', 'n', a
// digit or '-'; 0 at the end.
func (r *Reader) Next() byte {
	r.space()
	if r.bad || r.i >= len(r.b) {
		return 0
	}
	return r.b[r.i]
}

// Object enters an object. Anything else is skipped and gives false.
func (r *Reader) Object() bool { return r.enter('{') }

// Array enters an array. Anything else is skipped and gives false.
func (r *Reader) Array() bool { return r.enter('[') }

func (r *Reader) enter(open byte) bool {
	if r.Next() != open {
		r.Skip()
		return false
	}
	r.i++
	r.fresh = true
	return true
}

// Key gives the next member's name as it is written between its quotes, and
// false after the last one.
func (r *Reader) Key() ([]byte, bool) {
	if !r.more('}') {
		return nil, false
	}
	if r.Next() != '"' {
		r.bad = true
		return nil, false
	}
	start := r.i + 1
	r.skipString()
	if r.bad {
		return nil, false
	}
	key := r.b[start : r.i-1]
	if r.Next() != ':' {
		r.bad = true
		return nil, false
	}
	r.i++
	return key, true
}

// Elem says whether the array has another element.
func (r *Reader) Elem() bool { return r.more(']') }

func (r *Reader) more(end byte) bool {
	c := r.Next()
	switch {
	case c == end:
		r.i++
		r.fresh = false
		return false
	case r.fresh && c != 0:
		r.fresh = false
		return true
	case c == ',':
		r.i++
		if r.Next() == end {
			r.bad = true
			return false
		}
		return true
	}
	r.bad = true
	return false
}

// Raw skips the next value and returns its text; nil for null and after a
// mistake. It is a part of the text given, not a copy.
func (r *Reader) Raw() []byte {
	r.space()
	start := r.i
	r.Skip()
	if r.bad || r.b[start] == 'n' {
		return nil
	}
	return r.b[start:r.i]
}

// Int reads the next value as a whole number. A fraction is cut off; what is
// no number, or too large, gives 0 and false.
func (r *Reader) Int() (int, bool) { return Int(r.Raw()) }

// Skip passes over the next value.
func (r *Reader) Skip() {
	r.skip(0)
	r.fresh = false
}

func (r *Reader) skip(depth int) {
	switch c := r.Next(); {
	case depth > maxDepth || c == 0:
		r.bad = true
	case c == '"':
		r.skipString()
	case c == '{':
		r.i++
		r.fresh = true
		for _, ok := r.Key(); ok; _, ok = r.Key() {
			r.skip(depth + 1)
			r.fresh = false
		}
	case c == '[':
		r.i++
		r.fresh = true
		for r.Elem() {
			r.skip(depth + 1)
			r.fresh = false
		}
	case c == 't':
		r.literal("true")
	case c == 'f':
		r.literal("false")
	case c == 'n':
		r.literal("null")
	default:
		r.number()
	}
}

func (r *Reader) literal(word string) {
	if len(r.b)-r.i < len(word) || string(r.b[r.i:r.i+len(word)]) != word {
		r.bad = true
		return
	}
	r.i += len(word)
}

func (r *Reader) number() {
	i := r.i
	if i < len(r.b) && r.b[i] == '-' {
		i++
	}
	digits := func() bool {
		start := i
		for i < len(r.b) && r.b[i] >= '0' && r.b[i] <= '9' {
			i++
		}
		return i > start
	}
	zero := i < len(r.b) && r.b[i] == '0'
	first := i
	if !digits() || zero && i > first+1 {
		r.bad = true
		return
	}
	if i < len(r.b) && r.b[i] == '.' {
		i++
		if !digits() {
			r.bad = true
			return
		}
	}
	if i < len(r.b) && (r.b[i] == 'e' || r.b[i] == 'E') {
		i++
		if i < len(r.b) && (r.b[i] == '+' || r.b[i] == '-') {
			i++
		}
		if !digits() {
			r.bad = true
			return
		}
	}
	r.i = i
}

// skipString passes over a string; r.i is at its opening quote.
func (r *Reader) skipString() {
	end := StringEnd(r.b, r.i+1)
	if end < 0 {
		r.bad = true
		return
	}
	r.i = end + 1
}

// StringEnd finds the closing quote of a string whose text begins at b[i]; -1
// when there is none.
func StringEnd(b []byte, i int) int {
	// Most strings are short: names, ids, a word.
	for near := min(len(b), i+24); i < near; i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	for i < len(b) {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1
		}
		// Only an odd number of backslashes directly before the quote escapes it.
		n := 0
		for q-n > 0 && b[i+q-n-1] == '\\' {
			n++
		}
		if n&1 == 0 {
			return i + q
		}
		i += q + 1
	}
	return -1
}

// Int reads a JSON number as a whole number, see Reader.Int.
func Int(raw []byte) (int, bool) {
	if len(raw) == 0 {
		return 0, false
	}
	neg := raw[0] == '-'
	if neg {
		raw = raw[1:]
	}
	n := 0
	for i, c := range raw {
		if c == '.' && i > 0 {
			break
		}
		if c < '0' || c > '9' || n > 1<<53 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if len(raw) == 0 {
		return 0, false
	}
	if neg {
		n = -n
	}
	return n, true
}

// AppendText appends the text of a JSON string (its raw form, with quotes).
// Escapes are resolved and invalid UTF-8 becomes U+FFFD. What is no string
// adds nothing.
func AppendText(dst, raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return dst
	}
	return AppendUnquoted(dst, raw[1:len(raw)-1])
}

// Text is the text of a JSON string, "" for anything else.
func Text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	in := raw[1 : len(raw)-1]
	if Plain(in) {
		return string(in)
	}
	var short [256]byte // most are
	return string(AppendUnquoted(short[:0], in))
}

// Written is the text of a JSON string and of any other value what stands there,
// without spaces between: the arguments of a call, which are mostly a string and
// sometimes the object itself.
func Written(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		return Text(raw)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Plain says whether what stands between a string's quotes is its text as it
// is: no escapes, valid UTF-8.
func Plain(in []byte) bool {
	return bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in)
}

// AppendUnquoted is AppendText for what stands between the quotes.
func AppendUnquoted(dst, in []byte) []byte {
	for len(in) > 0 {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			return appendValid(dst, in)
		}
		dst = appendValid(dst, in[:n])
		in = in[n+1:]
		if len(in) == 0 {
			return utf8.AppendRune(dst, utf8.RuneError)
		}
		c := in[0]
		in = in[1:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'u':
			var r rune
			r, in = unicodeEscape(in)
			dst = utf8.AppendRune(dst, r)
		default:
			// Not JSON, but harmless: keep what was written.
			dst = append(dst, '\\', c)
		}
	}
	return dst
}

// unicodeEscape reads what follows `\u`, a surrogate pair included.
func unicodeEscape(in []byte) (rune, []byte) {
	r, ok := hex4(in)
	if !ok {
		return utf8.RuneError, in
	}
	in = in[4:]
	if !utf16.IsSurrogate(r) {
		return r, in
	}
	if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
		if low, ok := hex4(in[2:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, in[6:]
			}
		}
	}
	return utf8.RuneError, in
}

func hex4(in []byte) (rune, bool) {
	if len(in) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range in[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func appendValid(dst, in []byte) []byte {
	if utf8.Valid(in) {
		return append(dst, in...)
	}
	for len(in) > 0 {
		r, n := utf8.DecodeRune(in)
		dst = utf8.AppendRune(dst, r)
		in = in[n:]
	}
	return dst
}

// Member is the value of one member of a JSON object, nil when there is none.
func Member(raw []byte, name string) []byte {
	r := NewReader(raw)
	var found []byte
	if r.Object() {
		for key, ok := r.Key(); ok; key, ok = r.Key() {
			if v := r.Raw(); string(key) == name {
				found = v
			}
		}
	}
	return found
}
