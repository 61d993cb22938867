package series

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var (
	yearForm    = pattern(`(?i)^(\d{4})(?:\s*(?:г\.?|год|года|году|年|年度|[EFP]|[*†]))?$|^(?:FY|CY)\s?(\d{4})$|^(\d{4})[/–-](?:\d{2})?(\d{2})(?:\s*гг?\.?)?$`)
	isoForm     = pattern(`^(\d{4})[-./](\d{1,2})(?:[-./](\d{1,2}))?$`)
	monthForm   = pattern(`(?i)^(?:(\d{1,2})\.?\s+)?(\p{L}{3,9})\.?,?\s+(\d{4})(?:\s*(?:г\.?|года?))?$`)
	hanForm     = pattern(`^(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*日)?$`)
	quarterForm = pattern(`(?i)^(?:Q([1-4])\s*['’]?(\d{4})|(\d{4})\s*Q([1-4])|([1-4])\s*(?:-?[йо]|-й)?\s*кв(?:артал|\.)?\s*(\d{4})(?:\s*г(?:\.|ода)?)?|(\d{4})\s*年?第?([1-4一二三四])季度)$`)
)

// monthStarts are the beginnings of the names of months.
var monthStarts = []string{
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
	"янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек",
}

// when reads a label as a year or a date: the year with a fraction.
func when(label string) (float64, bool) {
	label = strings.TrimSpace(label)
	number := func(s string) float64 { n, _ := strconv.ParseFloat(s, 64); return n }
	year := func(y, month, day float64) (float64, bool) {
		ok := y >= 1500 && y <= 2100 && month >= 1 && month <= 12 && day >= 0 && day <= 31
		return y + (month-1)/12 + max(day-1, 0)/372, ok
	}
	if m := yearForm().FindStringSubmatch(label); m != nil && (m[4] == "" || number(m[4]) == float64((int(number(m[3]))+1)%100)) {
		return year(number(m[1]+m[2]+m[3]), 1, 0)
	}
	for _, form := range []func() *regexp.Regexp{isoForm, hanForm} {
		if m := form().FindStringSubmatch(label); m != nil {
			return year(number(m[1]), number(m[2]), number(m[3]))
		}
	}
	if m := quarterForm().FindStringSubmatch(label); m != nil {
		quarter := number(m[1] + m[4] + m[5] + m[8])
		if i := strings.Index("一二三四", m[8]); m[8] > "9" {
			quarter = float64(i/len("一") + 1)
		}
		return year(number(m[2]+m[3]+m[6]+m[7]), 3*quarter-2, 0)
	}
	if m := monthForm().FindStringSubmatch(label); m != nil {
		for i, start := range monthStarts {
			if strings.HasPrefix(strings.ToLower(m[2]), start) {
				return year(number(m[3]), float64(i%12+1), number(m[1]))
			}
		}
	}
	return 0, false
}

// amount is a number in a cell.
type amount struct {
	value   float64
	written string // the number with its sign, without the unit
	unit    string
}

var (
	amountForm = pattern(`^[~≈≤≥<>]?\s*(([+\-−–]?)\s*([$€£¥₽]?)\s*(\d[\d.,\x{a0}\x{202f}\x{2009} ]*))\s*([^\d\s][^\d]{0,24})?$`)
	footnote   = pattern(`(?:\s*(?:\[\w{1,3}\]|[*†‡]+))+$`)
)

// amounts reads a column of cells; entry i is nil where cell i is no number. How
// the column writes decimals is seen from all of it.
func amounts(cells []string) []*amount {
	comma, dots := false, false
	for _, c := range cells {
		comma = comma || decimalComma().MatchString(c)
		dots = dots || strings.Count(c, ".") > 1
	}
	out := make([]*amount, len(cells))
	for i, c := range cells {
		m := amountForm().FindStringSubmatch(footnote().ReplaceAllString(strings.TrimSpace(c), ""))
		if m == nil {
			continue
		}
		value, ok := digits(strings.TrimSpace(m[4]), comma, dots)
		if !ok {
			continue
		}
		if m[2] == "-" || m[2] == "−" || m[2] == "–" {
			value = -value
		}
		out[i] = &amount{value, strings.TrimSpace(m[1]), strings.TrimSpace(m[3] + strings.TrimSpace(m[5]))}
	}
	return out
}

var (
	decimalComma = pattern(`\d,(?:\d{1,2}|\d{4,})(?:\D|$)`)
	grouped      = pattern(`^\d{1,3}(?:[ \x{a0}\x{202f}\x{2009},.]\d{3})+$`)
)

// digits reads a number; comma says that a comma parts decimals, dots that a full
// stop parts thousands.
func digits(s string, comma, dots bool) (float64, bool) {
	s = strings.TrimRight(s, ".,")
	whole, fraction := s, ""
	mark := "."
	if comma {
		mark = ","
	}
	if i := strings.LastIndex(s, mark); i >= 0 && (mark != "." || !dots) {
		whole, fraction = s[:i], s[i+1:]
	}
	if strings.ContainsAny(whole, " \u00a0\u202f\u2009,.") && !grouped().MatchString(whole) {
		return 0, false
	}
	whole = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", ",", "", ".", "").Replace(whole)
	value, err := strconv.ParseFloat(whole+"."+fraction+"0", 64)
	return value, err == nil
}

// unitIn returns a name without the unit that it ends with, and the unit: in
// "Output, TWh", "Output (TWh)" and "产量（万吨）" it is set apart.
func unitIn(name string) (bare, unit string) {
	name = strings.TrimSpace(name)
	if m := unitForm().FindStringSubmatch(name); m != nil {
		unit = strings.TrimSpace(m[2] + m[3])
		if n := utf8.RuneCountInString(unit); n > 0 && n <= 20 && !strings.ContainsAny(unit, "0123456789") {
			return strings.TrimSpace(m[1]), unit
		}
	}
	return name, ""
}

var unitForm = pattern(`^(.*?)(?:[,，]\s*([^,，()（）]+)|\s*[(（\[]([^()（）\[\]]+)[)）\]])$`)

// oneUnit returns the unit that all have who name one; ok is false where they
// differ.
func oneUnit(units ...string) (unit string, ok bool) {
	for _, u := range units {
		switch {
		case u == "" || sameUnit(u, unit):
		case unit == "":
			unit = u
		default:
			return "", false
		}
	}
	return unit, true
}

func sameUnit(a, b string) bool {
	plain := func(u string) string { return strings.ToLower(strings.Trim(u, ". ")) }
	return plain(a) == plain(b)
}
