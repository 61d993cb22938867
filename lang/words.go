package lang

import (
	"unicode"
	"unicode/utf8"
)

// Words counts the words of text the way word processors do. Each Chinese
// character and each kana is one word; so is every other run of characters
// without white space that has a letter or a digit: "don't", "state-of-the-art",
// "3.14" and a URL count one each, a lone dash none. An em dash, an ellipsis
// and CJK punctuation end a word like a space does. Scripts without spaces
// other than these (Thai, Khmer, Lao, Burmese) count one word per run.
func Words(text string) int {
	count := 0
	counted := false // the run at hand already has a letter or digit
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case ideographic(r):
			count++
			counted = false
		case breaksWord(r):
			counted = false
		case !counted && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			count++
			counted = true
		}
	}
	return count
}

// ideographic reports whether r counts as a word by itself.
func ideographic(r rune) bool {
	if r < 0x2e80 {
		return false
	}
	s := scriptOf(r)
	return s == han || s == kana
}

func breaksWord(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r <= ' ' || r == 0x7f
	case r == '—' || r == '…' || r == '\u200b' || r == utf8.RuneError:
		return true
	case 0x3000 <= r && r <= 0x303f, 0xff00 <= r && r <= 0xffef && !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return true
	}
	return unicode.IsSpace(r)
}

// SharedPrefix is how many letters two words begin with alike.
func SharedPrefix(a, b string) int {
	n := 0
	for a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		s, other := utf8.DecodeRuneInString(b)
		if r != s {
			break
		}
		a, b = a[size:], b[other:]
		n++
	}
	return n
}

// Invisible reports characters that leave no mark on a page: soft hyphens,
// joiners, marks of direction, variation selectors.
func Invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, 0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x2064,
		0x2066 <= r && r <= 0x2069, r == 0xfeff, 0xfe00 <= r && r <= 0xfe0f, r == 0x61c, r == 0x180e:
		return true
	}
	return false
}
