package entail

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is a quantity or a part of a date in a text.
type Number struct {
	Value      float64
	Start, End int
	Unit       string // what is counted: "%", "км", "people"; lower case, often empty
	Year       bool   // four digits where a year stands
}

var (
	numberShape = pattern(`\d{1,3}(?:[ \x{a0}\x{202f}\x{2009}]\d{3})+(?:[.,]\d{1,2})?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?`)
	scaleShape  = pattern(`(?i)^[ \t\x{a0}]*(thousand|million|billion|trillion|mln|bln|тыс\p{L}*|млн|миллион\p{L}*|млрд|миллиард\p{L}*|трлн|триллион\p{L}*|万亿|千万|百万|万|萬|亿|億)`)
	unitShape   = pattern(`^[ \t\x{a0}-]*([%‰°$€£¥₽]|\p{L}+)`)
)

func scaleOf(word string) float64 {
	word = strings.ToLower(word)
	switch {
	case word == "thousand", strings.HasPrefix(word, "тыс"):
		return 1e3
	case word == "million", word == "mln", word == "млн", strings.HasPrefix(word, "миллион"), word == "百万":
		return 1e6
	case word == "billion", word == "bln", word == "млрд", strings.HasPrefix(word, "миллиард"):
		return 1e9
	case word == "trillion", word == "трлн", strings.HasPrefix(word, "триллион"), word == "万亿":
		return 1e12
	case word == "千万":
		return 1e7
	case word == "亿", word == "億":
		return 1e8
	}
	return 1e4 // 万
}

// numerals are numbers written as words. One is left out: it is an article or
// a pronoun more often than a number.
var numerals = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
	"nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
	"ninety": 90, "hundred": 100, "dozen": 12,
	"два": 2, "две": 2, "двух": 2, "двумя": 2, "три": 3, "трех": 3, "трёх": 3, "четыре": 4, "четырех": 4, "четырёх": 4,
	"пять": 5, "пяти": 5, "шесть": 6, "шести": 6, "семь": 7, "семи": 7, "восемь": 8, "восьми": 8, "девять": 9, "девяти": 9,
	"десять": 10, "десяти": 10, "одиннадцать": 11, "двенадцать": 12, "двадцать": 20, "тридцать": 30, "сорок": 40,
	"пятьдесят": 50, "сто": 100, "тысяча": 1000,
}

// hanDigits count only next to a measure or a scale, which Numbers checks.
var hanDigits = map[rune]float64{'二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9, '十': 10}

const hanMeasures = "个個年月日岁歲人名位次天种種家条條件倍米亿億万萬千百分项項座台部届屆元点點号號"

// Numbers finds the numbers of a text in order.
func Numbers(text string) []Number {
	var out []Number
	for _, at := range numberShape().FindAllStringIndex(text, -1) {
		start, end := at[0], at[1]
		if before, _ := utf8.DecodeLastRuneInString(text[:start]); start > 0 && (unicode.IsLetter(before) && before < 0x2e80 || before == '_') {
			continue // B12, mp3: part of a name
		}
		n := Number{Value: parse(text[start:end]), Start: start, End: end}
		if m := scaleShape().FindStringSubmatchIndex(text[end:]); m != nil {
			n.Value *= scaleOf(text[end+m[2] : end+m[3]])
			n.End = end + m[3]
		}
		out = append(out, n)
	}
	words(text, func(w string, start, end int) {
		if v, ok := numerals[w]; ok {
			n := Number{Value: v, Start: start, End: end}
			if m := scaleShape().FindStringSubmatchIndex(text[end:]); m != nil {
				n.Value *= scaleOf(text[end+m[2] : end+m[3]])
				n.End = end + m[3]
			}
			out = append(out, n)
		}
	})
	for i, r := range text {
		v, ok := hanDigits[r]
		if !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if strings.ContainsRune(hanMeasures, next) {
			out = append(out, Number{Value: v, Start: i, End: i + utf8.RuneLen(r)})
		}
	}
	for i := range out {
		out[i].Unit = unitAt(text, out[i])
		out[i].Year = out[i].year(text)
	}
	return out
}

func unitAt(text string, n Number) string {
	if m := unitShape().FindStringSubmatch(text[n.End:]); m != nil {
		unit := strings.ToLower(m[1])
		if r, size := utf8.DecodeRuneInString(unit); r >= 0x2e80 {
			return unit[:size]
		}
		switch unit {
		case "percent", "процент", "процента", "процентов", "проц":
			return "%"
		}
		return unit
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:n.Start]); strings.ContainsRune("$€£¥₽", before) {
		return string(before)
	}
	return ""
}

var (
	beforeYear = pattern(`(?i)(?:^|[^\p{L}])(?:in|since|from|until|till|by|of|to|before|after|around|circa|year|в|во|с|со|к|до|по|от|после|около)[ \t\x{a0}]+$`)
	afterYear  = pattern(`(?i)^(?:[ \t\x{a0}]*(?:года?|году|годом|гг?\b|年)|[ \t]*(?:[.,;:)\]–—-]|and\b|to\b|и\b|$))`)
)

// year reports whether a number is a year by where it stands.
func (n Number) year(text string) bool {
	if n.End-n.Start != 4 || n.Value < 1000 || n.Value > 2100 || n.Value != math.Trunc(n.Value) {
		return false
	}
	return beforeYear().MatchString(text[max(0, n.Start-24):n.Start]) || afterYear().MatchString(text[n.End:])
}

// parse reads digits with either decimal mark: a comma before exactly three
// digits parts thousands, as in English.
func parse(s string) float64 {
	s = strings.Map(func(r rune) rune {
		if r == ' ' || r == 0xa0 || r == 0x202f || r == 0x2009 {
			return -1
		}
		return r
	}, s)
	if i := strings.IndexByte(s, ','); i >= 0 {
		if strings.Count(s, ",") > 1 || len(s)-i-1 == 3 || strings.Contains(s, ".") {
			s = strings.ReplaceAll(s, ",", "")
		} else {
			s = strings.Replace(s, ",", ".", 1)
		}
	}
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

// IsMonth says whether a word in lower case is the name of a month.
func IsMonth(word string) bool { _, ok := months[word]; return ok }

// months say which number the month of a date may be written as.
var months = map[string]float64{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8,
	"sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
	"января": 1, "февраля": 2, "марта": 3, "апреля": 4, "мая": 5, "июня": 6, "июля": 7, "августа": 8, "сентября": 9,
	"октября": 10, "ноября": 11, "декабря": 12, "январь": 1, "февраль": 2, "март": 3, "апрель": 4, "май": 5, "июнь": 6,
	"июль": 7, "август": 8, "сентябрь": 9, "октябрь": 10, "ноябрь": 11, "декабрь": 12,
	"январе": 1, "феврале": 2, "марте": 3, "апреле": 4, "мае": 5, "июне": 6, "июле": 7, "августе": 8, "сентябре": 9,
	"октябре": 10, "ноябре": 11, "декабре": 12,
}

// words calls f with each word of the text in lower case; an apostrophe
// belongs to it.
func words(text string, f func(word string, start, end int)) {
	start := -1
	for i, r := range text {
		in := r < 0x2e80 && (unicode.IsLetter(r) || start >= 0 && (r == '\'' || r == '’' || unicode.IsMark(r)))
		if in && start < 0 {
			start = i
		}
		if !in && start >= 0 {
			f(strings.ToLower(strings.ReplaceAll(text[start:i], "’", "'")), start, i)
			start = -1
		}
	}
	if start >= 0 {
		f(strings.ToLower(strings.ReplaceAll(text[start:], "’", "'")), start, len(text))
	}
}
