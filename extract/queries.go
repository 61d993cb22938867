package extract

import (
	"slices"
	"strings"
	"unicode"

	"dossier/extract/internal/evidence"
	"dossier/index"
)

// Queries returns up to three ways to search for a facet, the facet itself first: its
// content words alone, and its names and numbers alone where there are several.
func Queries(facet string) []string {
	facet = strings.TrimSpace(facet)
	if facet == "" {
		return nil
	}
	out := []string{facet}
	content := contentWords(facet)
	add(&out, strings.Join(content, " "), 2)
	telling := names(facet)
	for _, t := range index.Tokens(facet, "") {
		surface := facet[t.Start:t.End]
		if t.Number && !slices.ContainsFunc(telling, func(n string) bool { return strings.Contains(n, surface) }) {
			telling = append(telling, surface)
		}
	}
	if len(telling) > 1 {
		add(&out, strings.Join(telling, " "), 2)
	}
	return out
}

// FollowUps returns up to three queries for a facet that the passages found so far don't
// answer: without the words that none of them has, and with a name that stands
// where most of the question's other words do, which the answer may be about.
// Both are left out where there is nothing to go by.
func FollowUps(facet string, passages []Passage) []string {
	facet = strings.TrimSpace(facet)
	content := contentWords(facet)
	if len(content) == 0 || len(passages) == 0 {
		return nil
	}
	read := readAll(facet, passages, nil, Options{})
	var known, unknown []string
	for _, w := range content {
		if read.Question.Has(w, read.Pages) {
			known = append(known, w)
		} else {
			unknown = append(unknown, w)
		}
	}
	out := []string{facet}
	if len(unknown) > 0 && len(known) > 0 {
		add(&out, strings.Join(known, " "), 1)
	}
	if bridge := bridgeOf(facet, read, passages); bridge != "" {
		rest := unknown
		if len(rest) == 0 {
			rest = content
		}
		add(&out, bridge+" "+strings.Join(rest, " "), 2)
	}
	if about := names(facet); len(about) > 0 {
		add(&out, strings.Join(about, " "), 1)
	}
	return out[1:]
}

// bridgeOf returns the first name, beside those of the facet, in the sentence
// that most likely answers it.
func bridgeOf(facet string, read *evidence.Reading, passages []Passage) string {
	page, unit := read.Best()
	if page < 0 {
		return ""
	}
	lower := strings.ToLower(facet)
	for _, name := range names(read.Pages[page].Units[unit].In(passages[page].Text)) {
		if bare := strings.Trim(name, "《》«»“”「」\""); !strings.Contains(lower, strings.ToLower(bare)) && len(bare) > 2 {
			return name
		}
	}
	return ""
}

// add appends a query of at least so many words that is not there yet.
func add(out *[]string, query string, words int) {
	if len(strings.Fields(query)) < words && !han(query) || query == "" {
		return
	}
	if !slices.ContainsFunc(*out, func(o string) bool { return strings.EqualFold(o, query) }) {
		*out = append(*out, query)
	}
}

// contentWords returns the words of a question that say what it is about.
// Chinese characters are kept together but for words that ask.
func contentWords(question string) []string {
	var out []string
	end, run := 0, -1
	flush := func(at int) {
		if run >= 0 {
			if s := strings.TrimFunc(question[run:at], func(r rune) bool { return strings.ContainsRune("的是了在有吗呢", r) || unicode.IsSpace(r) }); s != "" {
				out = append(out, s)
			}
			run = -1
		}
	}
	for _, t := range index.Tokens(question, "") {
		surface := question[t.Start:t.End]
		switch spaceless := t.Pair || han(surface); {
		case !spaceless:
			flush(min(end, t.Start))
			if !t.Function {
				out = append(out, surface)
			}
		case t.Pair && t.Function:
			flush(t.Start)
			end = t.End
		case t.Start >= end || run >= 0:
			if run >= 0 && t.Start > end {
				flush(end)
			}
			if run < 0 && !t.Function {
				run = t.Start
			}
			end = max(end, t.End)
		}
	}
	flush(end)
	return out
}
