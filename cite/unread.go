package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/cite/internal/entail"
	"dossier/index"
	"dossier/lang"
)

// Vocabulary is everything that was read, for the names in it.
type Vocabulary struct {
	text  string // in lower case
	codes map[lang.Code]bool
}

// NewVocabulary returns the words of some texts in their languages.
func NewVocabulary(texts []string, codes []lang.Code) *Vocabulary {
	v := &Vocabulary{text: strings.ToLower(strings.Join(texts, "\n")), codes: make(map[lang.Code]bool)}
	for _, c := range codes {
		v.codes[c] = true
	}
	return v
}

// leastName is how many letters a name has at least.
const leastName = 4

// Unread says whether a claim tells of what nobody has read: it has a number that
// stands in none of the passages, denies what they say in the same words, or has a
// name that stands in nothing that was read in its language. Whoever calls such a
// claim borne out is not believed.
func (v *Vocabulary) Unread(claim string, passages []string) bool {
	read := make([]*entail.Passage, len(passages))
	for i, p := range passages {
		read[i] = entail.ReadPassage(p, "")
	}
	code := lang.Detect(claim)
	if f, _ := entail.Features(entail.ReadClaim(claim, code), read); invented(f) {
		return true
	}
	// German writes all nouns like names.
	return v.codes[code] && code != "de" && slices.ContainsFunc(namesIn(claim, code), func(name string) bool { return !v.has(name) })
}

// namesIn are the words of a claim that are written like names, in lower case. One
// that opens a sentence is none, one in capitals may stand for several, and a month
// may have been read as a number.
func namesIn(claim string, code lang.Code) []string {
	var out []string
	end := 0
	for _, t := range index.Tokens(claim, code) {
		word := claim[t.Start:t.End] // which may lie in the one before
		opens := end == 0 || strings.ContainsAny(claim[min(end, t.Start):t.Start], ".!?:“”\"«»(*")
		end = t.End
		first, _ := utf8.DecodeRuneInString(word)
		if opens || t.Number || !unicode.IsUpper(first) || strings.ToUpper(word) == word || utf8.RuneCountInString(word) < leastName {
			continue
		}
		if name := strings.ToLower(word); !entail.IsMonth(name) {
			out = append(out, name)
		}
	}
	return out
}

// has says whether a name was read, in whatever form: a word of which it shares
// most.
func (v *Vocabulary) has(name string) bool {
	letters := []rune(name)
	stem := string(letters[:leastName])
	for from := 0; ; {
		at := strings.Index(v.text[from:], stem)
		if at < 0 {
			return false
		}
		from += at
		before, _ := utf8.DecodeLastRuneInString(v.text[:from])
		word := v.text[from:]
		if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }); end >= 0 {
			word = word[:end]
		}
		longer := max(len(letters), utf8.RuneCountInString(word))
		if !unicode.IsLetter(before) && 3*lang.SharedPrefix(name, word) >= 2*longer {
			return true
		}
		from += len(stem)
	}
}
