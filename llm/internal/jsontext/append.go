// Package jsontext writes and reads JSON text without reflection and, where
// the caller owns the buffers, without allocating. It serves the hot paths of
// model calls: encoding a conversation, and taking a streamed chunk apart.
package jsontext

import (
	"math/bits"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// unsafeBytes has a high bit set in each byte of w that cannot stand in a JSON
// string as it is: a control character, a quote or a backslash. Bits above the
// lowest one set may be wrong; a word that is zero is certain.
func unsafeBytes(w uint64) uint64 {
	quote := w ^ (ones * '"')
	slash := w ^ (ones * '\\')
	ctl := (w - ones*0x20) &^ w
	return (ctl | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as in
// encoding/json; HTML characters stay as they are.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	dst = append(dst, '"')
	start, i := 0, 0
	for i < len(s) {
		if i+8 <= len(s) {
			t := s[i : i+8]
			w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
				uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
			bad := unsafeBytes(w)
			if bad == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(bad) / 8
		}
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
