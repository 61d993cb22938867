package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind says how the surface of a token becomes a term.
type kind uint8

const (
	latin    kind = iota // stemmed in the document's language
	cyrillic             // stemmed as Russian
	arabicWord
	tamilWord
	number
	character // one character of a script without spaces
	gram      // two neighbouring ones
	whole     // an identifier, whose parts follow as words
	plain     // any other word
)

// maxSurface bounds the bytes of a token: longer runs are no words.
const maxSurface = 64

// scanner cuts text into tokens. A token is a run of letters and digits with
// its case, width and stress marks folded away; of a script without spaces,
// each character and each pair of neighbouring ones. What is written like an
// identifier (shared_buffers, git-blame, --force, $@) is a token as a whole,
// too, before its parts.
type scanner struct {
	text    string
	pos     int
	surface []byte // the folded token; valid until the next call of next
	start   int    // byte span in text
	end     int
	kind    kind
	paired  bool // the character at pos was given, its pair was not
	parts   int  // up to where an identifier that was given reaches
}

func (s *scanner) reset(text string) {
	s.text, s.pos, s.paired, s.parts = text, 0, false, 0
}

// asciiClass of a byte: 0 separates, else what it folds to.
var asciiFold = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = byte(c)
		t[c-0x20] = byte(c)
	}
	return t
}()

// next finds the next token.
func (s *scanner) next() bool {
	text := s.text
	for s.pos < len(text) {
		c := text[s.pos]
		if c < utf8.RuneSelf {
			if s.pos >= s.parts && (asciiFold[c] != 0 || c == '-' || c == '$') && s.identifier() {
				return true
			}
			if asciiFold[c] != 0 {
				s.word()
				return true
			}
			s.pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[s.pos:])
		if spaceless(r) {
			if s.character(r, size) {
				return true
			}
			continue
		}
		if letter, _ := foldRune(r); letter != 0 {
			s.word()
			return true
		}
		s.pos += size
	}
	return false
}

// character gives the character at pos and then, if another follows, the pair
// of both.
func (s *scanner) character(r rune, size int) bool {
	s.start, s.end = s.pos, s.pos+size
	s.surface = utf8.AppendRune(s.surface[:0], r)
	if !s.paired {
		s.paired, s.kind = true, character
		return true
	}
	s.paired = false
	s.pos = s.end
	next, nextSize := utf8.DecodeRuneInString(s.text[s.end:])
	if nextSize == 0 || !spaceless(next) {
		return false
	}
	s.surface = utf8.AppendRune(s.surface, next)
	s.end += nextSize
	s.kind = gram
	return true
}

// joins are the signs that make one identifier of several words.
const joins = "_-."

// identifier gives what is written like one at pos; its parts are to follow.
func (s *scanner) identifier() bool {
	text, i := s.text, s.pos
	if i > 0 && asciiFold[text[i-1]] != 0 {
		return false // in the middle of a word
	}
	signs := 0
	switch text[i] {
	case '$':
		i++
		if i < len(text) && asciiFold[text[i]] == 0 && strings.IndexByte("@*#?!$-", text[i]) >= 0 {
			s.whole(i + 1)
			return true
		}
		return false
	case '-':
		if i > 0 && strings.IndexByte(" \t\n([{|,'\"`=", text[i-1]) < 0 {
			return false
		}
		for i < len(text) && text[i] == '-' && i-s.pos < 2 {
			i++
		}
		if i == len(text) || asciiFold[text[i]] <= '9' {
			return false
		}
		signs++
	}
	letters := false
	for i < len(text) {
		c := text[i]
		if asciiFold[c] != 0 {
			letters = letters || asciiFold[c] > '9'
			i++
			continue
		}
		if c >= utf8.RuneSelf || strings.IndexByte(joins, c) < 0 || i+1 == len(text) || asciiFold[text[i+1]] == 0 {
			break
		}
		signs++
		i++
	}
	if signs == 0 || !letters || i-s.pos > maxSurface || i < len(text) && text[i] >= utf8.RuneSelf && wordy(text[i:]) {
		return false
	}
	s.whole(i)
	return true
}

// wordy reports whether a text begins with a letter of a script with spaces.
func wordy(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	letter, _ := foldRune(r)
	return letter != 0 && !spaceless(r)
}

// whole gives the text up to end as one token.
func (s *scanner) whole(end int) {
	s.start, s.end, s.parts, s.kind = s.pos, end, end, whole
	s.surface = s.surface[:0]
	for _, c := range []byte(s.text[s.pos:end]) {
		if f := asciiFold[c]; f != 0 {
			c = f
		}
		s.surface = append(s.surface, c)
	}
}

// word reads a run of letters and digits that begins at pos.
func (s *scanner) word() {
	text, i, out := s.text, s.pos, s.surface[:0]
	s.start = i
	s.kind = number
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			f := asciiFold[c]
			if f == 0 {
				if s.kind == number && (c == '.' || c == ',') && i+1 < len(text) && digit(text[i+1]) && i > s.start {
					// 3.14 is one number, and 1,000 is 1000.
					if c == '.' {
						out = append(out, c)
					} else if !thousands(text[i+1:]) {
						break
					}
					i++
					continue
				}
				break
			}
			if s.kind == number && f > '9' {
				s.kind = latin
			}
			out = append(out, f)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if spaceless(r) {
			break
		}
		if r == 0x306 && len(out) > 1 && string(out[len(out)-2:]) == "и" {
			out = append(out[:len(out)-2], "й"...) // й written as two characters
			i += size
			continue
		}
		letter, k := foldRune(r)
		if letter == 0 {
			if !ignorable(r) {
				break
			}
			i += size
			continue
		}
		if s.kind == number {
			s.kind = k
		}
		out = utf8.AppendRune(out, letter)
		i += size
	}
	s.pos, s.end = i, i
	if len(out) > maxSurface {
		cut := maxSurface
		for cut > 0 && !utf8.RuneStart(out[cut]) {
			cut--
		}
		out = out[:cut]
	}
	s.surface = out
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// thousands reports whether text begins with exactly three digits.
func thousands(text string) bool {
	n := 0
	for n < len(text) && n < 4 && digit(text[n]) {
		n++
	}
	return n == 3
}

// foldRune folds the case and width of a letter or digit and says how its
// word is stemmed. It returns 0 for anything that is not part of a word.
func foldRune(r rune) (rune, kind) {
	switch {
	case r < utf8.RuneSelf:
		switch f := asciiFold[r]; {
		case f == 0:
			return 0, plain
		case f <= '9':
			return rune(f), number
		default:
			return rune(f), latin
		}
	case 0x400 <= r && r <= 0x52f:
		switch {
		case r == 'ё' || r == 'Ё':
			return 'е', cyrillic
		case 0x430 <= r && r <= 0x44f:
			return r, cyrillic
		case 0x410 <= r && r <= 0x42f:
			return r + 0x20, cyrillic
		case 0x483 <= r && r <= 0x489:
			return 0, plain
		}
		return unicode.ToLower(r), cyrillic
	case 0xff10 <= r && r <= 0xff5a: // full-width digits and letters
		return foldRune(r - 0xfee0)
	case r < 0x2b0 || 0x1e00 <= r && r <= 0x1eff:
		switch {
		case r == 'ı' || r == 'İ':
			return 'i', latin
		case unicode.IsLetter(r):
			return unicode.ToLower(r), latin
		case r == '²' || r == '³' || r == '¹' || 0xbc <= r && r <= 0xbe:
			return r, number
		}
		return 0, plain
	case 0x600 <= r && r <= 0x6ff || 0x750 <= r && r <= 0x77f:
		switch {
		case r == 'ـ' || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return 0, plain
		}
		return r, arabicWord
	case 0xb80 <= r && r <= 0xbff && (unicode.IsLetter(r) || unicode.IsMark(r)):
		return r, tamilWord
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return unicode.ToLower(r), plain
	case r >= 0x900 && unicode.IsMark(r):
		return r, plain // vowel signs of Indic scripts
	}
	return 0, plain
}

// ignorable characters may stand inside a word without being part of it:
// stress marks, soft hyphens, joiners.
func ignorable(r rune) bool {
	return r == 0xad || r == 'ـ' || 0x200b <= r && r <= 0x200d || r == 0xfeff ||
		0x300 <= r && r <= 0x36f || 0x483 <= r && r <= 0x489 || 0x64b <= r && r <= 0x65f
}

// spaceless reports whether r is a letter of a script whose words are not
// parted by spaces, or of Hangul, whose words carry their particles.
func spaceless(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case 0x4e00 <= r && r <= 0x9fff, // Han
		0x3041 <= r && r <= 0x3096, 0x30a1 <= r && r <= 0x30fc && r != '・', // kana
		0x3400 <= r && r <= 0x4dbf, r == '々', r == '〇',
		0xac00 <= r && r <= 0xd7a3, // Hangul
		0xf900 <= r && r <= 0xfaff, 0x20000 <= r && r <= 0x323af:
		return true
	case r <= 0x0eff, 0x1000 <= r && r <= 0x109f, 0x1780 <= r && r <= 0x17ff: // Thai, Lao; Burmese; Khmer
		return unicode.IsLetter(r) || unicode.IsMark(r)
	}
	return false
}
