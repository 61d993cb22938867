package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// set returns the words as a set.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// leading abbreviations stand before what they belong to, so that a full stop
// after them never ends a sentence.
var leading = set(`
	dr mr mrs ms mx prof rev hon st gen col capt lt sgt sen rep gov pres messrs mt
	vs cf eg ie e.g i.e viz ca approx fig figs eq eqs sec ch vol vols nos pp ed eds trans resp incl excl
	dept univ assn ave blvd
	напр т.е т.к т.н т.о т.ч проф акад доц канд докт им ул пер просп пл бул наб кв корп стр рис табл илл гл разд
	пп ст см ср тов гр г-н г-жа св мл ст-ца оз обл р-н пос дер ред изд сост вып соч собр чел
	англ фин фр франц нем итал ит исп лат греч др-греч др.-греч др.-евр др.-рус порт польск укр белор рус яп япон кит кор араб ивр санскр швед норв нидерл голл венг
	чеш рум болг серб хорв груз арм азерб каз узб тат башк эст латыш перс монг вьетн тайск урожд букв
	z.b d.h bzw ggf usw nr bspw evtl hrsg sog vgl m.e p.ej núm pág sr sra dra`)

// trailing abbreviations may also end a sentence: they do when the next word
// is capitalised.
var trailing = set(`
	etc inc ltd co corp jr sr bros llc a.m p.m u.s u.k u.n e.u b.c a.d ph.d m.d no
	др пр гг вв руб коп тыс млн млрд трлн т.д т.п н.э км кг см мм мин сек час ок род осн ум`)

// spacedTail are the last letters of abbreviations written with a space, by
// the letter before: т. д., т. п., н. э.
var spacedTail = map[string]string{"д": "т", "п": "т", "э": "н", "m": "a p", "s": "u", "k": "u"}

// spacedHead are letters that begin such abbreviations: т. е., н. э., и. о.
var spacedHead = set("т н и e i")

// abbreviates reports whether the full stop between before and rest belongs to
// an abbreviation, an initial or a number rather than to the end of a sentence.
func abbreviates(before, rest string) bool {
	word, ahead := lastWord(before)
	if word == "" {
		return false
	}
	next := firstLetter(rest)
	lower := strings.ToLower(word)
	if utf8.RuneCountInString(word) == 1 {
		return letterAbbreviates(word, lower, ahead, next)
	}
	if leading[lower] {
		// After a number it is a unit or a count: 5 см., 300 стр.
		number, _ := utf8.DecodeLastRuneInString(strings.TrimRight(ahead, " \u00a0"))
		first, _ := utf8.DecodeRuneInString(lower)
		unit := unicode.IsDigit(number) && unicode.Is(unicode.Cyrillic, first)
		return next != 0 && !(unit && unicode.IsUpper(next))
	}
	if trailing[lower] {
		return unicode.IsDigit(next)
	}
	return initials(word) && next != 0
}

// letterAbbreviates decides for a single letter before the full stop.
func letterAbbreviates(word, lower, ahead string, next rune) bool {
	r, _ := utf8.DecodeRuneInString(word)
	previous, _ := lastWord(strings.TrimRight(strings.TrimRight(ahead, " \u00a0"), "."))
	switch {
	case next == 0 || !unicode.IsLetter(r):
		return false // a digit before a full stop ends a sentence like any word
	case unicode.IsUpper(r):
		// An initial; but "I" after a word is the pronoun.
		p, _ := utf8.DecodeLastRuneInString(previous)
		return !(word == "I" && unicode.IsLower(p))
	case strings.Contains(spacedTail[lower], strings.ToLower(previous)) && previous != "":
		return false
	case spacedHead[lower]:
		return true
	case lower == "г" || lower == "в" || lower == "с" || lower == "ч" || lower == "м" || lower == "л" || lower == "p":
		// After a number it is a unit (2020 г., XX в., 5 м); before a name it
		// is a place (г. Москва).
		p, _ := utf8.DecodeLastRuneInString(previous)
		return !unicode.IsDigit(p) && !roman(previous)
	}
	return unicode.Is(unicode.Cyrillic, r)
}

// lastWord returns the word that ends before, with the inner full stops of
// "e.g" and "т.е", and what stands ahead of it.
func lastWord(before string) (word, ahead string) {
	i := len(before)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(before[:i])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '-' || ideographic(r) {
			break
		}
		i -= size
	}
	return strings.Trim(before[i:], ".-"), before[:i]
}

// initials reports "А.С" and "J.R.R": capital letters with full stops between.
func initials(word string) bool {
	for part := range strings.SplitSeq(word, ".") {
		r, size := utf8.DecodeRuneInString(part)
		if size != len(part) || !unicode.IsUpper(r) {
			return false
		}
	}
	return strings.Contains(word, ".")
}

func roman(word string) bool {
	return word != "" && strings.Trim(word, "IVXLCDMХІ") == ""
}
