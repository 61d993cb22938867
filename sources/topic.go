package sources

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
	"dossier/llm"
)

const (
	fewTerms       = 4 // of a question that says little by itself
	mostTerms      = 3 // of the conversation that are added to one
	leastMessages  = 2 // in which such a term stands
	recentMessages = 4 // that are looked at
)

// recurring returns the words that the conversation keeps coming back to: those
// of what the user said that stand in most messages. A question that says
// enough by itself gets none.
func recurring(question string, history []llm.Message) string {
	own := map[string]bool{}
	for _, t := range index.Tokens(question, "") {
		if !t.Function {
			own[t.Term] = true
		}
	}
	if len(own) > fewTerms {
		return ""
	}
	type term struct {
		surface  string
		messages int
		order    int
		user     bool
	}
	terms := map[string]*term{}
	recent := history[max(0, len(history)-recentMessages):] // talk moves on
	for n, m := range recent {
		seen := map[string]bool{}
		for _, t := range index.Tokens(m.Content, "") {
			if t.Function || t.Number || own[t.Term] || seen[t.Term] || t.End-t.Start < 3 {
				continue
			}
			seen[t.Term] = true
			if terms[t.Term] == nil {
				terms[t.Term] = &term{surface: m.Content[t.Start:t.End], order: n*1000 + len(seen)}
			}
			terms[t.Term].messages++
			terms[t.Term].user = terms[t.Term].user || m.Role == llm.RoleUser
		}
	}
	var best []*term
	for _, t := range terms {
		if t.user && t.messages >= leastMessages {
			best = append(best, t)
		}
	}
	slices.SortFunc(best, func(a, b *term) int {
		return cmp.Or(cmp.Compare(b.messages, a.messages), cmp.Compare(a.order, b.order))
	})
	best = first(best, mostTerms)
	slices.SortFunc(best, func(a, b *term) int { return cmp.Compare(a.order, b.order) })
	var out []string
	for _, t := range best {
		out = append(out, t.surface)
	}
	return strings.Join(out, " ")
}

// shortQuestion is how many characters a Chinese question has at most that does
// not say what it is about.
const shortQuestion = 12

// onTopic puts before a question that says little by itself what the conversation
// is about, rather nothing than too much: a whole conversation put before a
// question hides it. In a script without capitals that is what the last question
// and its answer both speak of.
func onTopic(question string, history []llm.Message) string {
	if lang.Detect(question) != lang.Chinese {
		if about := recurring(question, history); about != "" {
			return about + ": " + question
		}
		return question
	}
	if utf8.RuneCountInString(question) > shortQuestion {
		return question
	}
	if about := shared(history); about != "" && !strings.Contains(question, about) {
		return about + "：" + question
	}
	return question
}

// shared is the longest run of Chinese characters that the last question and
// its answer have in common; without one, the question if it is not much more
// than a name.
func shared(history []llm.Message) string {
	asked, answer := "", ""
	for _, m := range slices.Backward(history) {
		if m.Role == llm.RoleUser {
			asked = m.Content
			break
		}
		answer = m.Content + "\n" + answer
	}
	runes := []rune(asked)
	best := ""
	for i := range runes {
		for j := i + 1; j <= len(runes) && unicode.Is(unicode.Han, runes[j-1]); j++ {
			if part := string(runes[i:j]); j-i > 1 && len(part) > len(best) && strings.Contains(answer, part) {
				best = part
			}
		}
	}
	if best == "" && len(runes) <= shortName {
		best = asked
	}
	return best
}

// shortName is how many characters a name has for the most.
const shortName = 4
