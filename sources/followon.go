package sources

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
)

// StandAlone makes a question that goes on a conversation stand by itself, as far
// as rules can: each of the user's questions is read with the one before it and
// with what was answered to that.
func StandAlone(question string, history []llm.Message) string {
	earlier, answer := "", ""
	for _, m := range history {
		switch m.Role {
		case llm.RoleUser:
			earlier, answer = goesOn(m.Content, earlier, answer), ""
		case llm.RoleAssistant:
			answer = m.Content
		}
	}
	whole := goesOn(question, earlier, answer)
	if whole == question && lang.Detect(question) != lang.Chinese {
		whole = onTopic(question, history)
	}
	if whole == question {
		if _, own, leaned := strings.Cut(earlier, ": "); leaned && extract.Points(own) {
			earlier = own // its first word would read like a name
		}
		whole = extract.FollowOn(question, earlier)
	}
	if whole == question {
		whole = onTopic(question, history)
	}
	return whole
}

// goesOn reads a question with the one before it.
func goesOn(question, earlier, answer string) string {
	if earlier == "" {
		return question
	}
	if other, ok := elliptic(question); ok {
		return instead(earlier, other)
	}
	if extract.Points(question) && len(extract.Content(question)) <= ownContent {
		var about []string
		if asksName.MatchString(earlier) {
			about = telling(answer)
		}
		if len(about) == 0 {
			for _, name := range extract.Names(earlier) {
				// What an earlier question leaned on stands before it, and then its
				// first word reads like a name.
				words := slices.DeleteFunc(strings.Fields(name), func(w string) bool { return len(extract.Content(w)) == 0 })
				if len(words) > 0 {
					about = append(about, strings.Join(words, " "))
				}
			}
		}
		about = slices.DeleteFunc(about, func(w string) bool { return strings.Contains(strings.ToLower(question), strings.ToLower(w)) })
		if len(about) > 0 {
			return strings.Join(about, " ") + ": " + goingOn.ReplaceAllString(question, "")
		}
	}
	return question
}

// goingOn are words that only say that a question goes on: behind what it is
// about, their capital would read like a name's.
var goingOn = regexp.MustCompile(`^(?i:and|but|so|then|ok|okay|а|и|но|ну|тогда)[, ]+`)

const (
	// ownContent is how many words about its matter a question may have and still
	// not say what it is about: with more it does, whatever it points to.
	ownContent = 4
	// aboutAnswer bounds what is taken over from the answer before.
	aboutAnswer = 2
)

// ellipses are questions that only name something else to ask the same of.
var ellipses = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(?:(?:and|or|but|so|ok|okay)[, ]+)?(?:what|how) about (.+)$`),
	regexp.MustCompile(`(?i)^and (?:for |of |in |with |on )?((?:[^ ]+ ){0,3}[^ ]+)$`),
	regexp.MustCompile(`(?i)^(?:а|и|ну а) (?:что|как) (?:насч[её]т|касается|с|со|у|для|по поводу) (.+)$`),
	regexp.MustCompile(`(?i)^(?:а|и|ну а) (?:у |для |в |на |с )?((?:[^ ]+ ){0,3}[^ ]+)$`),
	regexp.MustCompile(`^(?:那么|那|而)?([^，。？?]{1,16}?)(?:呢|怎么样|又如何)$`),
}

// asking are words with which an ellipsis is a question of its own.
var asking = regexp.MustCompile(`(?i)\b(?:what|which|who|whom|whose|when|where|why|how|is|are|does|do|did|can|will)\b|(?:^| )(?:что|как|какой|какая|какое|какие|кто|где|когда|почему|зачем|сколько|можно|нужно|есть|ли)(?: |$)|什么|多少|几|哪|谁|怎么|为何|是否`)

// elliptic returns what a question names that only says "and what about it?".
func elliptic(question string) (other string, ok bool) {
	question = strings.TrimRight(strings.TrimSpace(question), "?？!！ ")
	for _, e := range ellipses {
		if m := e.FindStringSubmatch(question); m != nil && !asking.MatchString(m[1]) {
			return strings.TrimSpace(m[1]), true
		}
	}
	return "", false
}

// instead asks an earlier question of something else: of it in the place of what
// it is most like, or of both where nothing is.
func instead(earlier, other string) string {
	if old := likeness(earlier, other); old != "" {
		return strings.Replace(earlier, old, other, 1)
	}
	return other + ": " + earlier
}

var (
	// withNumber is a name with a number: RAID 5, RAID-5, Debian 12.
	withNumber = regexp.MustCompile(`[\pL][\pL\pN_]*[- ]?\d+(?:\.\d+)*`)
	// identifier is a word that is no word of a language.
	identifier = regexp.MustCompile(`[-$@]*[\pL\pN]+(?:[_.:/-]+[\pL\pN]+)+|--?[a-z][\w-]*|\b[A-Z]{2,}\d*\b`)
)

// likeness finds in a question the name in whose place another one may stand: of
// the same kind, and the only one of that kind.
func likeness(question, other string) string {
	for _, kind := range []func(text string) []string{
		func(text string) []string { return withNumber.FindAllString(text, -1) },
		func(text string) []string { return identifier.FindAllString(text, -1) },
		extract.Names,
	} {
		theirs := kind(question)
		named := len(kind(other)) > 0
		if r, _ := utf8.DecodeRuneInString(other); unicode.IsUpper(r) {
			named = true
		}
		if len(theirs) == 1 && named {
			return theirs[0]
		}
	}
	return ""
}

var (
	strongText = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	// itemTitle is the name of a section in the summary of a report, and no answer.
	itemTitle = regexp.MustCompile(`(?m)^- \*\*[^*]+\*\* — `)
)

// asksName are questions that a name answers: what comes next is mostly about it.
// After others it is about what they were about.
var asksName = regexp.MustCompile(`(?i)\b(?:who|whom|whose|which|where)\b|what(?: is|'s) the name|(?:^|[^\pL])(?:кто|кого|кому|кем|ком|чей|чья|чьё|чьи|как(?:ой|ая|ое|ие|ую|ого|им|ом)|котор\pL+|где|как (?:зовут|называ\pL+))(?:[^\pL]|$)|谁|哪|何处|什么名字|叫什么`)

// telling returns the names in the sentence of an answer that was marked as such:
// what a question after it points to.
func telling(answer string) []string {
	m := strongText.FindStringSubmatch(itemTitle.ReplaceAllString(answer, "- "))
	if m == nil {
		return nil
	}
	var out []string
	for _, name := range append(identifier.FindAllString(m[1], -1), extract.Names(m[1])...) {
		if !slices.Contains(out, name) && len(out) < aboutAnswer {
			out = append(out, name)
		}
	}
	return out
}
