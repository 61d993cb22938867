package search

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"dossier/lang"
)

// Rules are what a user does not want to see.
type Rules struct {
	// BlockedDomains are domains, with their subdomains, in any script. The URL
	// of a page stands for its domain.
	BlockedDomains []string `json:"blocked_domains,omitempty"`
	// BlockedKeywords are words and phrases that a hit must not have in its
	// title, snippet or URL. Case does not count. They are met by whole words;
	// where a script has no spaces between words, by any part of the text.
	BlockedKeywords []string `json:"blocked_keywords,omitempty"`
}

// Check says which of the rules can't be understood. Filtered leaves them out.
func (r Rules) Check() error {
	var wrong []error
	for _, d := range r.BlockedDomains {
		if _, err := domainOf(d); err != nil {
			wrong = append(wrong, fmt.Errorf("blocked domain %q is none: write it like example.org", d))
		}
	}
	for _, k := range r.BlockedKeywords {
		if keyword(k) == "" {
			wrong = append(wrong, fmt.Errorf("blocked keyword %q has no letter", k))
		}
	}
	return errors.Join(wrong...)
}

// Filtered holds hits to the rules and to their query, whatever the engine made
// of it: hits of blocked domains, with blocked keywords, of other sites, or from
// another time are dropped, and the trace tells why. A date that is known in
// part counts as every day it may be, and a hit without a date stays.
//
// The language of a query is a preference: a hit that is clearly in another one,
// because the engine says so or because its text leaves no doubt, is not
// dropped, it moves behind the others. It may be the only one that knows.
func Filtered(s Searcher, r Rules) Searcher { return r.filter(s) }

// Against says why the rules drop a hit, and which of them; "" if none does.
func (r Rules) Against(h Hit) (why DropReason, rule string) {
	return r.filter(nil).unwanted(h, Query{}, nil)
}

func (r Rules) filter(s Searcher) filtered {
	f := filtered{Searcher: s}
	for _, d := range r.BlockedDomains {
		if domain, err := domainOf(d); err == nil {
			f.domains = append(f.domains, domain)
		}
	}
	for _, k := range r.BlockedKeywords {
		if word := keyword(k); word != "" {
			f.keywords = append(f.keywords, word)
		}
	}
	return f
}

type filtered struct {
	Searcher

	domains, keywords []string
}

func (f filtered) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := f.Searcher.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	var sites []string
	for _, site := range q.Sites {
		if domain, err := domainOf(site); err == nil {
			sites = append(sites, domain)
		}
	}
	trace := TraceOf(ctx)
	kept := make([]Hit, 0, len(hits))
	for _, h := range hits {
		if why, rule := f.unwanted(h, q, sites); why != "" {
			trace.Dropped(Drop{URL: shownURL(h.URL), Engine: h.Engine, Why: why, Detail: rule})
			continue
		}
		kept = append(kept, h)
	}
	return preferred(kept, languageOf(q.Lang)), nil
}

// unwanted is why a hit is dropped, "" if it is not, and the rule that it met.
func (f filtered) unwanted(h Hit, q Query, sites []string) (DropReason, string) {
	host := hostOf(h.URL)
	for _, domain := range f.domains {
		if within(host, domain) {
			return BlockedDomain, domain
		}
	}
	if len(f.keywords) > 0 {
		text := leveled(h.Title) + "\n" + leveled(h.Snippet) + "\n" + leveled(wordsOfURL(h.URL))
		for _, word := range f.keywords {
			if contains(text, word) {
				return BlockedKeyword, word
			}
		}
	}
	if len(q.Sites) > 0 && !slices.ContainsFunc(sites, func(site string) bool { return within(host, site) }) {
		return OtherSite, host
	}
	if from, to, ok := span(h.Date); ok {
		if !q.Since.IsZero() && to.Before(dayOf(q.Since)) || !q.Until.IsZero() && from.After(dayOf(q.Until)) {
			return OutOfTime, h.Date
		}
	}
	return "", ""
}

// span returns the first and the last day that a date may mean: all of a year,
// of a month, or one day.
func span(date string) (from, to time.Time, ok bool) {
	for _, part := range []struct {
		layout        string
		years, months int
	}{{time.DateOnly, 0, 0}, {"2006-01", 0, 1}, {"2006", 1, 0}} {
		from, err := time.Parse(part.layout, date)
		if err != nil {
			continue
		}
		to := from
		if part.years+part.months > 0 {
			to = from.AddDate(part.years, part.months, -1)
		}
		return from, to, true
	}
	return time.Time{}, time.Time{}, false
}

// leveled is a text in which keywords can be found.
func leveled(text string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(text))), " ")
}

// keyword is a keyword as it stands in comparable texts, "" if it has no
// letter or digit.
func keyword(text string) string {
	if !strings.ContainsFunc(text, inWord) {
		return ""
	}
	return leveled(text)
}

// wordsOfURL are the words in a URL's host, path and query.
func wordsOfURL(raw string) string {
	_, text, _ := strings.Cut(raw, "://")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/?&=.-_+", r) {
			return ' '
		}
		return r
	}, text)
}

// contains says whether word stands in text by itself: not in the middle of a
// longer word, but for scripts without spaces, in which it ends where it ends.
func contains(text, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !(joined(before) && joined(first)) && !(joined(last) && joined(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// joined says whether r makes one word with letters beside it.
func joined(r rune) bool { return inWord(r) && !lang.Spaceless(r) }

const (
	// sure is the probability from which on a text's language is known,
	// sureRunes how long the text has to be for that, and enough the bytes after
	// which more text makes it no surer.
	sure      = 0.9
	sureRunes = 40
	enough    = 150
)

// preferred moves hits that are clearly in another language behind the others.
func preferred(hits []Hit, want lang.Code) []Hit {
	if want == "" {
		return hits
	}
	var others []Hit
	first := hits[:0]
	for _, h := range hits {
		if is := writtenIn(h); is != "" && is != want {
			others = append(others, h)
		} else {
			first = append(first, h)
		}
	}
	return append(first, others...)
}

// writtenIn is the language of a hit, "" if it is not known for certain.
func writtenIn(h Hit) lang.Code {
	if is := languageOf(h.Lang); is != "" {
		return is
	}
	text := head(h.Title+"\n"+h.Snippet, enough)
	if utf8.RuneCountInString(text) < sureRunes {
		return ""
	}
	if all := lang.DetectAll(text); len(all) > 0 && all[0].Prob >= sure {
		return all[0].Code
	}
	return ""
}
