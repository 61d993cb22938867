package report

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"dossier/cite"
	"dossier/lang"
)

// Changes are what differs between a report and an earlier one of the same
// question. They are found by rules: sources are compared by their addresses and
// the texts that were read there, sentences by their words.
type Changes struct {
	// Run and Made say which report it is compared with.
	Run  string    `json:"run,omitempty"`
	Made time.Time `json:"made,omitzero"`
	// Before is the outcome of that report, if it is another.
	Before Outcome `json:"before,omitempty"`
	// Sources that the report uses and the earlier one did not, the other way
	// round, and those of which another text was read.
	NewSources     []SourceName `json:"new_sources,omitempty"`
	GoneSources    []SourceName `json:"gone_sources,omitempty"`
	ChangedSources []SourceName `json:"changed_sources,omitempty"`
	// Sentences that only one of them has, and those that say it in other words.
	New     []string   `json:"new,omitempty"`
	Gone    []string   `json:"gone,omitempty"`
	Changed []Reworded `json:"changed,omitempty"`
}

// SourceName says which source is meant.
type SourceName struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// Reworded is a sentence as it was and as it is.
type Reworded struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// ChangeCount is how much has changed.
type ChangeCount struct {
	NewSources     int `json:"new_sources"`
	GoneSources    int `json:"gone_sources"`
	ChangedSources int `json:"changed_sources"`
	New            int `json:"new"`
	Gone           int `json:"gone"`
	Changed        int `json:"changed"`
}

// Count counts the changes.
func (c *Changes) Count() ChangeCount {
	return ChangeCount{len(c.NewSources), len(c.GoneSources), len(c.ChangedSources), len(c.New), len(c.Gone), len(c.Changed)}
}

// None says that nothing has changed.
func (c *Changes) None() bool { return c.Before == "" && c.Count() == (ChangeCount{}) }

// Compare finds out what a report has that an earlier one had not, and the other
// way round.
func Compare(before, after *Report) *Changes {
	c := &Changes{Run: before.Run, Made: before.Created}
	if before.Outcome != after.Outcome {
		c.Before = before.Outcome
	}
	c.sources(before, after)
	c.sentences(statements(before), statements(after))
	return c
}

func (c *Changes) sources(before, after *Report) {
	was := map[string]*Source{}
	for i := range before.Sources {
		was[cite.Canonical(before.Sources[i].URI)] = &before.Sources[i]
	}
	for i := range after.Sources {
		s := &after.Sources[i]
		key := cite.Canonical(s.URI)
		old := was[key]
		delete(was, key)
		switch {
		case old == nil:
			c.NewSources = append(c.NewSources, after.sourceName(s))
		case old.Snapshot != s.Snapshot && old.Snapshot != "" && s.Snapshot != "":
			c.ChangedSources = append(c.ChangedSources, after.sourceName(s))
		}
	}
	for i := range before.Sources {
		if s := &before.Sources[i]; was[cite.Canonical(s.URI)] == s {
			c.GoneSources = append(c.GoneSources, before.sourceName(s))
		}
	}
}

// sourceName is the title of a source with where it lies, as it is told.
func (r *Report) sourceName(s *Source) SourceName {
	name, at := r.shortName(s), r.locationOf(s, nil).label
	if at != "" && at != name {
		name += " · " + at
	}
	return SourceName{URI: s.URI, Name: line(name)}
}

// statement is a sentence with its words as they are compared.
type statement struct {
	text  string
	words []string
}

// statements are the sentences of a report's answer, each once.
func statements(r *Report) []statement {
	var out []statement
	seen := map[string]bool{}
	add := func(text string) {
		s := statement{text: line(text), words: wordsOf(text)}
		key := strings.Join(s.words, " ")
		if len(s.words) == 0 || seen[key] {
			return
		}
		seen[key] = true
		out = append(out, s)
	}
	for _, text := range r.texts() {
		for _, claim := range cite.Split(markOfFailure().ReplaceAllString(text, "")) {
			add(claim.Text)
		}
	}
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			for _, shown := range display(q.Text) {
				for _, span := range lang.Sentences(shown.text) {
					add(span.In(shown.text))
				}
			}
		}
	}
	return out
}

// wordsOf are the words of a text; a character is one where words are not set
// apart.
func wordsOf(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, string(word)), nil
		}
	}
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case lang.Spaceless(r):
			end()
			words = append(words, string(r))
		default:
			word = append(word, unicode.ToLower(r))
		}
	}
	end()
	return words
}

// alike is the share of words that two sentences have in common from which on they
// are one that was changed.
const alike = 0.6

// mostCompared bounds the pairs of sentences that are looked at: of longer reports
// only what is the same in both is found.
const mostCompared = 4_000_000

func (c *Changes) sentences(before, after []statement) {
	was := map[string]bool{}
	for _, s := range before {
		was[strings.Join(s.words, " ")] = true
	}
	var fresh []statement
	for _, s := range after {
		if key := strings.Join(s.words, " "); was[key] {
			delete(was, key)
		} else {
			fresh = append(fresh, s)
		}
	}
	lost := slices.DeleteFunc(slices.Clone(before), func(s statement) bool { return !was[strings.Join(s.words, " ")] })
	near := len(fresh)*len(lost) <= mostCompared
	for _, s := range fresh {
		best, at := 0.0, -1
		for i := 0; near && i < len(lost); i++ {
			if share := common(s.words, lost[i].words); share > best {
				best, at = share, i
			}
		}
		if best < alike {
			c.New = append(c.New, s.text)
			continue
		}
		c.Changed = append(c.Changed, Reworded{lost[at].text, s.text})
		lost = slices.Delete(lost, at, at+1)
	}
	for _, s := range lost {
		c.Gone = append(c.Gone, s.text)
	}
}

// common is how much two lists of words have in common, from 0 to 1.
func common(a, b []string) float64 {
	count := make(map[string]int, len(a))
	for _, w := range a {
		count[w]++
	}
	both := 0
	for _, w := range b {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// mostTold is how many changes of a kind are told in a report, and longestTold how
// many characters of a sentence; the JSON form has all.
const mostTold, longestTold = 20, 400

// Told tells in sentences of the report's language what has changed; none for a
// report that was compared with nothing.
func (r *Report) Told() []string {
	c := r.Changes
	if c == nil {
		return nil
	}
	out := []string{r.say("changes.since", "date", c.Made.UTC().Format("2006-01-02 15:04"), "run", c.Run)}
	if c.None() {
		return append(out, r.say("changes.none"))
	}
	if c.Before != "" {
		out = append(out, r.say("changes.outcome", "before", r.say("outcome."+string(c.Before)), "after", r.say("outcome."+string(r.Outcome))))
	}
	told := func(key string, n int, args func(i int) []any) {
		for i := range min(n, mostTold) {
			out = append(out, r.say(key, args(i)...))
		}
		if n > mostTold {
			out = append(out, r.say("changes.more", "n", n-mostTold))
		}
	}
	for _, of := range []struct {
		key  string
		list []SourceName
	}{{"changes.source.new", c.NewSources}, {"changes.source.changed", c.ChangedSources}, {"changes.source.gone", c.GoneSources}} {
		told(of.key, len(of.list), func(i int) []any { return []any{"name", of.list[i].Name} })
	}
	told("changes.changed", len(c.Changed), func(i int) []any {
		return []any{"before", clip(c.Changed[i].Before), "after", clip(c.Changed[i].After)}
	})
	told("changes.new", len(c.New), func(i int) []any { return []any{"text", clip(c.New[i])} })
	told("changes.gone", len(c.Gone), func(i int) []any { return []any{"text", clip(c.Gone[i])} })
	return out
}

func clip(text string) string {
	if runes := []rune(text); len(runes) > longestTold {
		return string(runes[:longestTold-1]) + "…"
	}
	return text
}
