package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"

	"dossier/lang"
)

// tongue numbers the languages in which Latin words are stemmed. Segments
// store the code, not the number.
type tongue uint8

// tongues lists those languages; the first is for words in documents of
// another script, the last one leaves words as they are.
var tongues = []struct {
	code lang.Code
	stem func(*snowballstem.Env) bool
}{
	{"en", english.Stem}, {"de", german.Stem}, {"fr", french.Stem}, {"es", spanish.Stem}, {"it", italian.Stem},
	{"pt", portuguese.Stem}, {"nl", dutch.Stem}, {"sv", swedish.Stem}, {"da", danish.Stem}, {"nb", norwegian.Stem},
	{"fi", finnish.Stem}, {"ro", romanian.Stem}, {"hu", hungarian.Stem}, {"tr", turkish.Stem}, {"ga", irish.Stem},
	{lang.Unknown, nil},
}

const (
	inEnglish tongue = 0
	inNone    tongue = 15
	noTongue  tongue = 255 // not decided
)

// tongueOf returns the language's number, and inNone for Latin languages
// without a stemmer.
func tongueOf(code lang.Code) tongue {
	switch code {
	case "nn", "no":
		code = "nb"
	}
	for i := range tongues {
		if tongues[i].code == code {
			return tongue(i)
		}
	}
	return inNone
}

// stemmer turns surfaces into terms. It is not safe for concurrent use.
type stemmer struct{ env *snowballstem.Env }

// term returns the term of the surface word in language t: its stem without
// diacritics.
func (s *stemmer) term(word string, k kind, t tongue) string {
	var stem func(*snowballstem.Env) bool
	switch k {
	case latin:
		stem = tongues[t].stem
		if len(word) < 3 || hasDigit(word) {
			stem = nil
		}
	case cyrillic:
		stem = russian.Stem
	case arabicWord:
		stem = arabic.Stem
	case tamilWord:
		stem = tamil.Stem
	}
	if stem != nil {
		if !norm.NFC.IsNormalString(word) {
			word = norm.NFC.String(word)
		}
		if s.env == nil {
			s.env = snowballstem.NewEnv(word)
		} else {
			s.env.SetCurrent(word)
		}
		stem(s.env)
		if cut := s.env.Current(); cut != "" {
			word = cut
		}
	}
	if k == latin {
		word = bare(word)
	}
	return word
}

func hasDigit(word string) bool { return strings.ContainsAny(word, "0123456789") }

// bare takes the diacritics off Latin letters.
func bare(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	if ascii {
		return word
	}
	out := make([]byte, 0, len(word))
	for _, r := range norm.NFD.String(word) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			out = append(out, "ss"...)
		case r == 'æ':
			out = append(out, "ae"...)
		case r == 'œ':
			out = append(out, "oe"...)
		case r == 'ø':
			out = append(out, 'o')
		case r == 'ł':
			out = append(out, 'l')
		case r == 'đ' || r == 'ð':
			out = append(out, 'd')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}
