// Package text is what engines do with words: cutting them to a length,
// naming authors, and ranking what a service lists without being asked for
// anything.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many characters of a text engines give at most: as a hit's snippet, as
// its text, and as the text of a page that was opened.
const (
	Snippet = 300
	Body    = 8_000
	Page    = 200_000
)

const mostNames = 8

// Cut returns as much of text as most characters hold, up to the end of a word
// where there is one in the second half.
func Cut(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	end, count := 0, 0
	for i := range text {
		if count == most {
			end = i
			break
		}
		count++
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	cut := text[:end]
	if !unicode.IsSpace(next) {
		if space := strings.LastIndexFunc(cut, unicode.IsSpace); space > len(cut)/2 {
			cut = cut[:space]
		}
	}
	return strings.TrimRightFunc(cut, unicode.IsSpace)
}

// Lead returns the beginning of text as a snippet: one line, with a mark where
// it was cut.
func Lead(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	cut := Cut(text, Snippet)
	if len(cut) < len(text) {
		cut += " …"
	}
	return cut
}

// Names returns the authors of something as one line, the first eight of many.
func Names(names []string) string {
	var known []string
	for _, name := range names {
		if name = strings.Join(strings.Fields(name), " "); name != "" {
			known = append(known, name)
		}
	}
	if len(known) > mostNames {
		return strings.Join(known[:mostNames], ", ") + " et al."
	}
	return strings.Join(known, ", ")
}

// Words returns the words of a text in lower case: runs of letters and digits,
// and of Chinese and Japanese, where words are not apart, each two neighbours.
func Words(text string) []string {
	var words []string
	var word strings.Builder
	var before rune // the ideograph that stands directly before, 0 without
	lone := false   // and is in no pair yet
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
		if lone {
			words = append(words, string(before))
		}
		before, lone = 0, false
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			if before == 0 {
				end()
				lone = true
			} else {
				words = append(words, string([]rune{before, r}))
				lone = false
			}
			before = r
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r) && word.Len() > 0:
			if before != 0 {
				end()
			}
			if r == 'ё' {
				r = 'е'
			}
			word.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return words
}

// alike says whether two words are forms of one: they begin alike for at least
// four letters and two thirds of the longer one. That holds for endings in any
// language that puts them there.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	common, longer := 0, max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	for i, r := range a {
		other := rune(-1)
		if i < len(b) {
			other, _ = utf8.DecodeRuneInString(b[i:])
		}
		if r != other {
			break
		}
		if unicode.IsDigit(r) {
			return false
		}
		common++
	}
	return common >= 4 && 3*common >= 2*longer
}
