package table

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"

	"dossier/lang"
)

// A Keyer makes the keys under which terms are found: forms of a word that
// differ only in their endings have the same. It is not safe for concurrent
// use.
type Keyer struct{ env *snowballstem.Env }

// Key returns the key of a term: the stems of its words, in order, with a
// space between them. A Chinese term is its own key.
func (k *Keyer) Key(term string, code lang.Code) string {
	if code == lang.Chinese {
		return term
	}
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(term, func(r rune) bool { return !InWord(r) }) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(k.Stem(Fold(word), code))
	}
	return b.String()
}

// Stem returns the stem of a folded word.
func (k *Keyer) Stem(word string, code lang.Code) string {
	if len(word) < 3 || strings.ContainsAny(word, "0123456789") {
		return word
	}
	if code == lang.Russian {
		if strings.HasSuffix(word, "пись") {
			return strings.TrimSuffix(word, "ь") // запись is a noun, and no verb that ends in -сь
		}
		if stem := neuters[word]; stem != "" {
			return stem
		}
	}
	if k.env == nil {
		k.env = snowballstem.NewEnv(word)
	} else {
		k.env.SetCurrent(word)
	}
	switch code {
	case lang.Russian:
		russian.Stem(k.env)
	case lang.English:
		english.Stem(k.env)
	}
	if stem := k.env.Current(); stem != "" {
		return stem
	}
	return word
}

// neuters are the forms of the ten nouns that are like время, времени, which
// the stemmer takes for two words.
var neuters = func() map[string]string {
	m := map[string]string{}
	for _, stem := range []string{"врем", "им", "плем", "сем", "знам", "плам", "брем", "тем", "стрем", "вым"} {
		m[stem+"я"] = stem
		for _, ending := range []string{"ени", "енем", "ена", "ен", "енам", "енами", "енах"} {
			m[stem+ending] = stem
		}
	}
	return m
}()

// InWord reports characters of words. A hyphen and an apostrophe part words.
func InWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Fold writes a word as tables do: in lower case, ё as е, without stress.
func Fold(word string) string {
	plain := true
	for i := range len(word) {
		c := word[i]
		plain = plain && c < 0x80 && (c < 'A' || c > 'Z')
	}
	if plain {
		return word
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'ё' || r == 'Ё':
			return 'е'
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}
