package article

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// date chooses the day of publication: what the page gives as data first,
// then what it shows, then what its address says.
func (f *facts) date(u *url.URL, lang string) string {
	us := strings.EqualFold(lang, "en-US") || strings.EqualFold(lang, "en")
	try := func(s string) string { return parseDate(s, us) }
	if d := try(f.ld.published); d != "" {
		return d
	}
	for _, n := range []string{"article:published_time", "og:published_time", "datepublished", "og:article:published_time", "article:published", "article.published",
		"parsely-pub-date", "sailthru.date", "pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "publicationdate", "published-date", "published_date",
		"cxenseparse:recs:publishtime", "cxenseparse:publishtime", "dc.date.issued", "dcterms.date", "dcterms.created", "dcterms.issued", "dc.date.created", "dc.date", "dc.created", "article_date_original",
		"originalpublicationdate", "citation_date", "citation_publication_date", "citation_online_date", "rnews:datepublished", "bt:pubdate", "ptime", "weibo: article:create_at",
		"date", "mediator_published_time", "article:create", "apub:time", "og:release_date", "datecreated", "release_date", "article-publication-date"} {
		if d := try(f.meta[n]); d != "" {
			return d
		}
	}
	for _, s := range f.dates {
		if d := try(s); d != "" {
			return d
		}
	}
	for _, pass := range []func(timed) bool{func(t timed) bool { return t.published }, func(t timed) bool { return !t.weak }} {
		for _, t := range f.times {
			if !pass(t) {
				continue
			}
			if d := try(t.value); d != "" {
				return d
			}
			if d := try(t.text); d != "" {
				return d
			}
		}
	}
	for _, s := range f.dateText {
		if d := try(s); d != "" {
			return d
		}
	}
	if u != nil {
		if d := pathDate(u.Path); d != "" {
			return d
		}
		if d := parseDate(u.Path, false); d != "" {
			return d
		}
	}
	for _, s := range f.loose {
		if d := try(s); d != "" {
			return d
		}
	}
	for _, n := range []string{"article:modified_time", "og:updated_time", "lastmod", "last-modified", "dcterms.modified", "datemodified", "revised"} {
		if d := try(f.meta[n]); d != "" {
			return d
		}
	}
	return ""
}

// pathDate finds /2019/11/19/ or /20191119 in a path.
func pathDate(path string) string {
	for i := 0; i+8 <= len(path); i++ {
		if path[i] != '/' && path[i] != '-' && path[i] != '_' {
			continue
		}
		rest := path[i+1:]
		if len(rest) >= 10 && isSep(rest[4]) && rest[7] == rest[4] {
			if d := day(rest[:4], rest[5:7], rest[8:10]); d != "" {
				return d
			}
		}
		if len(rest) >= 9 && isSep(rest[4]) && isSep(rest[6]) { // /2019/8/19
			if d := day(rest[:4], rest[5:6], strings.TrimRight(rest[7:9], "/-")); d != "" {
				return d
			}
		}
		if len(rest) >= 8 && (len(rest) == 8 || !isDigit(rest[8])) {
			if d := day(rest[:4], rest[4:6], rest[6:8]); d != "" {
				return d
			}
		}
	}
	return ""
}

func isSep(c byte) bool   { return c == '/' || c == '-' || c == '_' || c == '.' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// day checks a year, month and day and writes them as one date.
func day(y, m, d string) string {
	yn, err1 := strconv.Atoi(y)
	mn, err2 := strconv.Atoi(m)
	dn, err3 := strconv.Atoi(d)
	if err1 != nil || err2 != nil || err3 != nil || yn < 1990 || yn > time.Now().Year()+1 || mn < 1 || mn > 12 || dn < 1 || dn > 31 {
		return ""
	}
	t := time.Date(yn, time.Month(mn), dn, 0, 0, 0, 0, time.UTC)
	if t.Day() != dn {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", yn, mn, dn)
}

// monthNames begin the names of the months, in the languages that write them
// with letters. A name is looked up by its longest known beginning.
var monthNames = []string{
	"jan jän ene gen янв січ sty led ιαν ocak oca يناير जन",
	"feb fev fév février лют фев lut úno únor φεβ şub şubat فبراير",
	"mar mär maa maart март мар бер березня бер mrz μαρ marzo مارس břez",
	"apr avr abr апр кві kwi dub απρ nis nisan abril أبريل",
	"may mai mag мая май тра трав maj mei maio mayo μαϊ μαΐ kvě مايو",
	"jun juin giu июн чер czer cze červen ιουν haz يونيو",
	"jul juil lug июл лип lip červenec ιουλ tem يوليو",
	"aug aoû aou ago авг сер sie srp αυγ ağu أغسطس",
	"sep set sept сен вер wrz zář σεπ eyl سبتمبر",
	"oct okt ott out окт жов paź říj οκτ eki أكتوبر",
	"nov ноя лис lis νοε kas نوفمبر",
	"dec dez déc dic дек гру gru pro δεκ ara ديسمبر",
}

var months = func() map[string]string {
	m := map[string]string{}
	for i, names := range monthNames {
		for n := range strings.FieldsSeq(names) {
			m[n] = strconv.Itoa(i + 1)
		}
	}
	return m
}()

func month(word string) string {
	runes := []rune(word)
	for n := min(len(runes), 8); n >= 3; n-- {
		if m := months[string(runes[:n])]; m != "" {
			return m
		}
	}
	return ""
}

// parseDate finds the first date in a text. us says that 1/2/2020 is in
// January.
func parseDate(s string, us bool) string {
	if len(s) < 6 {
		return ""
	}
	if len(s) > 160 {
		s = s[:160]
	}
	tokens := dateTokens(s)
	for i := range tokens {
		var t [5]string
		copy(t[:], tokens[i:min(i+5, len(tokens))])
		a, b, c := t[0], t[1], t[2]
		switch {
		case len(a) == 4 && isNumber(a): // 2020-01-02, 2020 January 2
			if m := month(b); m != "" {
				b = m
			}
			if d := day(a, b, c); d != "" {
				return d
			}
		case len(a) == 8 && isNumber(a):
			if d := day(a[:4], a[4:6], a[6:]); d != "" {
				return d
			}
		case len(a) <= 2 && isNumber(a):
			if b == "de" || b == "of" { // 2 de enero de 2020
				b, c = t[2], t[3]
				if c == "de" || c == "del" || c == "of" {
					c = t[4]
				}
			} else if m := month(b); m != "" && (c == "de" || c == "г") {
				c = t[3]
			}
			if m := month(b); m != "" {
				if d := day(c, m, a); d != "" {
					return d
				}
				continue
			}
			if len(c) != 4 {
				continue
			}
			if us {
				a, b = b, a
			}
			if d := day(c, b, a); d != "" {
				return d
			}
			if d := day(c, a, b); d != "" {
				return d
			}
		default:
			if m := month(a); m != "" { // January 2, 2020
				if d := day(c, m, b); d != "" {
					return d
				}
			}
		}
	}
	return ""
}

// dateTokens splits a text into numbers and lower-case words. What follows a
// number directly (2nd, 2020T10) is dropped.
func dateTokens(s string) []string {
	var tokens []string
	kind := 0 // 1 number, 2 letters
	start := 0
	afterNumber := false
	add := func(end int) {
		if kind == 1 {
			tokens = append(tokens, s[start:end])
		} else if kind == 2 {
			w := strings.ToLower(s[start:end])
			if !(afterNumber && (len(w) <= 2 || w == "t")) {
				tokens = append(tokens, w)
			}
		}
	}
	for i, r := range s {
		k := 0
		switch {
		case r >= '0' && r <= '9':
			k = 1
		case r == '年' || r == '月' || r == '日' || r == '년' || r == '월' || r == '일':
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			k = 2
		}
		if k == kind {
			continue
		}
		add(i)
		afterNumber = kind == 1 && k == 2
		kind, start = k, i
	}
	add(len(s))
	return tokens
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
