package lang

import (
	"unicode"
	"unicode/utf8"
)

// script is a writing system as detection needs it: Han stands for Chinese
// until kana or Hangul beside it say otherwise.
type script uint8

const (
	none script = iota
	latin
	cyrillic
	arabic
	han
	kana
	hangul
	greek
	hebrew
	devanagari
	bengali
	tamil
	telugu
	kannada
	malayalam
	gujarati
	gurmukhi
	sinhala
	thai
	lao
	khmer
	myanmar
	georgian
	armenian
	ethiopic
	other // a letter of a script that has no language here
	scripts
)

// soleLanguage names the language of scripts that one language dominates.
var soleLanguage = [scripts]Code{
	han: Chinese, kana: "ja", hangul: "ko", greek: "el", hebrew: "he", devanagari: "hi", bengali: "bn",
	tamil: "ta", telugu: "te", kannada: "kn", malayalam: "ml", gujarati: "gu", gurmukhi: "pa",
	sinhala: "si", thai: "th", lao: "lo", khmer: "km", myanmar: "my", georgian: "ka", armenian: "hy",
	ethiopic: "am",
}

// rareScripts are looked up by table; the scripts of most text are found by
// range in scriptOf.
var rareScripts = []struct {
	table *unicode.RangeTable
	is    script
}{
	{unicode.Latin, latin}, {unicode.Cyrillic, cyrillic}, {unicode.Arabic, arabic}, {unicode.Han, han},
	{unicode.Hiragana, kana}, {unicode.Katakana, kana}, {unicode.Hangul, hangul}, {unicode.Greek, greek},
	{unicode.Hebrew, hebrew}, {unicode.Devanagari, devanagari}, {unicode.Bengali, bengali},
	{unicode.Tamil, tamil}, {unicode.Telugu, telugu}, {unicode.Kannada, kannada},
	{unicode.Malayalam, malayalam}, {unicode.Gujarati, gujarati}, {unicode.Gurmukhi, gurmukhi},
	{unicode.Sinhala, sinhala}, {unicode.Thai, thai}, {unicode.Lao, lao}, {unicode.Khmer, khmer},
	{unicode.Myanmar, myanmar}, {unicode.Georgian, georgian}, {unicode.Armenian, armenian},
	{unicode.Ethiopic, ethiopic},
}

// scriptOf returns the script of a letter and none for everything else.
func scriptOf(r rune) script {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return latin
		}
		return none
	case 0x0400 <= r && r <= 0x0481, 0x048a <= r && r <= 0x052f:
		return cyrillic
	case 0x4e00 <= r && r <= 0x9fff, r == '〇':
		return han
	case r == 'ー': // lengthens a vowel; Unicode gives it to no script
		return kana
	}
	if !unicode.IsLetter(r) {
		return none
	}
	for _, s := range rareScripts {
		if unicode.Is(s.table, r) {
			return s.is
		}
	}
	return other
}

// wordless reports whether the script is written without spaces, so that
// letters rather than words measure how much of it there is.
func (s script) wordless() bool {
	switch s {
	case han, kana, thai, lao, khmer, myanmar:
		return true
	}
	return false
}

// Spaceless reports letters of scripts that put no spaces between words
// (Chinese, Japanese, Thai, Lao, Khmer, Burmese).
func Spaceless(r rune) bool {
	return r > unicode.MaxLatin1 && scriptOf(r).wordless()
}
