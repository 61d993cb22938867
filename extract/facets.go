package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
)

// mostFacets bounds the parts of a question.
const mostFacets = 6

// Facets splits a question that asks for several things into questions that
// can be answered each alone. It knows a few forms (several questions in a
// row, "when and where", "the causes and effects of X", "compare X and Y by
// Z", "X和Y分别") and returns the question itself when it sees none of them.
func Facets(question string) []string {
	question = strings.Join(strings.Fields(question), " ")
	if question == "" {
		return nil
	}
	if weighs.MatchString(question) {
		return []string{question} // what tells two things apart speaks of both
	}
	for _, split := range []func(string) []string{severalQuestions, compared, askedTwice, listed, respectively, paired} {
		if parts := split(question); len(parts) > 1 && len(parts) <= mostFacets {
			return parts
		}
	}
	return []string{question}
}

// severalQuestions splits questions that follow each other.
func severalQuestions(question string) []string {
	var parts []string
	for _, s := range lang.Sentences(question) {
		rest := s.In(question)
		for {
			at := strings.IndexAny(rest, "?？")
			if at < 0 {
				break
			}
			_, size := utf8.DecodeRuneInString(rest[at:])
			parts = append(parts, strings.TrimSpace(rest[:at+size]))
			rest = strings.TrimSpace(rest[at+size:])
		}
		if strings.ContainsFunc(rest, unicode.IsLetter) {
			return nil // a statement may be about any of them
		}
	}
	return standAlone(parts)
}

var (
	// A word that asks, "and", and another one: When and where was X born?
	twice = regexp.MustCompile(`(?i)^(when|where|who|why|how|what|когда|где|кто|почему|зачем|как|куда|откуда|wann|wo|wer|warum|wie|was|quand|où|qui|pourquoi|comment)` +
		`(?: and | и |, и | und | et )(when|where|who|why|how|what|когда|где|кто|почему|зачем|как|куда|откуда|wann|wo|wer|warum|wie|was|quand|où|qui|pourquoi|comment) (.+)$`)
	// A whole question, "and", and another one.
	second = regexp.MustCompile(`(?i)(?:, and|,? and|, и|\s+и|, а|, und|\s+und|, et)\s+((?:(?:in|at|on|by|for|from|to|under|with|в|во|на|до|за|из|к|о|от|по|при|с|у)\s)?` +
		`(?:who|whom|whose|when|where|why|how|what|which|кто|кого|кем|когда|где|куда|откуда|почему|зачем|сколько|скольких|как|чем|какой|какая|какое|какие|каком|какую|каким|каких|какого|каков|какова|wer|wann|wo|warum|wie|was|welche[rsn]?)\s.+)$`)
	asksFirst = regexp.MustCompile(`(?i)^(?:\S+\s){0,2}(?:who|whom|whose|when|where|why|how|what|which|кто|кого|что|когда|где|куда|откуда|почему|зачем|сколько|как|какой|какая|какое|какие|каком|какую|каков|какова|wer|wann|wo|warum|wie|was|welche[rsn]?)\s`)
	// What asks how two things differ, or how many of those before.
	weighs  = regexp.MustCompile(`(?i)\b(?:difference|differences|differ|distinguish) |(?:разниц|отлича|различи|различа)|\sиз них|\bof (?:them|these|those)\b|不同|区别|區別|差异|差異|差别|相比|其中`)
	list    = regexp.MustCompile(`(?i)^((?:what|which) (?:is|are|was|were) the |(?:describe|explain|list|name) the )(.+?) (of|for|in) (.+)$`)
	compare = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^compare (.+?) (?:and|with|to|vs\.?) (.+?) (?:by|on|in terms of|regarding|with respect to) (.+?)[.?!]?$`),
		regexp.MustCompile(`(?i)^сравни(?:те|ть)? (.+?) (?:и|с|со) (.+?) (?:по|с точки зрения|в отношении) (.+?)[.?!]?$`),
		regexp.MustCompile(`^(?:请)?(?:比较|对比)(?:一下)?(.+?)(?:和|与|跟|同)(.+?)的(.+?)[。？！]?$`),
	}
)

// compared splits a comparison by something into what to find out about each.
func compared(question string) []string {
	for _, form := range compare {
		m := form.FindStringSubmatch(question)
		if m == nil {
			continue
		}
		a, b, by := strings.TrimSpace(m[1]), strings.TrimSpace(m[2]), strings.TrimSpace(m[3])
		if han(question) {
			return []string{a + "的" + by, b + "的" + by}
		}
		return []string{a + ": " + by, b + ": " + by}
	}
	return nil
}

// askedTwice splits two questions about one thing.
func askedTwice(question string) []string {
	if m := twice.FindStringSubmatch(question); m != nil && !strings.EqualFold(m[1], m[2]) {
		return []string{m[1] + " " + m[3], capital(m[2]) + " " + m[3]}
	}
	if m := second.FindStringSubmatchIndex(question); m != nil {
		first := strings.TrimRight(question[:m[0]], " ,") + "?"
		if asksFirst.MatchString(first) {
			return standAlone([]string{first, capital(question[m[2]:m[3]])})
		}
	}
	if han(question) {
		var parts []string
		for part := range strings.FieldsFuncSeq(question, func(r rune) bool { return strings.ContainsRune("，,；;", r) }) {
			if !asksHan(part) {
				return nil
			}
			parts = append(parts, strings.TrimSpace(part))
		}
		return standAlone(parts)
	}
	return nil
}

func asksHan(part string) bool {
	for _, ask := range []string{"谁", "誰", "什么", "什麼", "哪", "多少", "几", "幾", "何", "吗", "嗎", "怎"} {
		if strings.Contains(part, ask) {
			return true
		}
	}
	return false
}

// listed splits an enumeration of what to tell of one thing.
func listed(question string) []string {
	m := list.FindStringSubmatch(question)
	if m == nil || strings.ContainsFunc(m[2], unicode.IsUpper) {
		return nil // capitals: a name that has "and" in it
	}
	items := regexp.MustCompile(`, and | and |, `).Split(m[2], -1)
	var parts []string
	for _, item := range items {
		if n := len(strings.Fields(item)); n < 1 || n > 3 {
			return nil
		}
		parts = append(parts, m[1]+strings.TrimPrefix(item, "the ")+" "+m[3]+" "+m[4])
	}
	return parts
}

var (
	apart  = regexp.MustCompile(`^(.+)(?:和|与|與|及|、)(.+?)(?:分别|分別)(.*)$`)
	joined = regexp.MustCompile(`^(.+)(?:和|与|與|及|、)(.+)$`)
)

// respectively splits "X和Y分别…", where Y reaches as far as it is like X.
func respectively(question string) []string {
	m := apart.FindStringSubmatch(question)
	if m == nil || quoted(question) {
		return nil
	}
	before, after, tail := []rune(m[1]), []rune(m[2]), m[3]
	n := alikeEnd(before, after)
	if n == 0 {
		n = min(len(before), len(after), 2)
		if len(after) <= 4 {
			n = len(after)
		}
	}
	if n > len(before) || n > len(after) {
		return nil
	}
	head := string(before[:len(before)-n])
	return []string{string(before) + string(after[n:]) + tail, head + string(after) + tail}
}

// paired splits "主演和导演" where the two end alike, which names seldom do.
func paired(question string) []string {
	m := joined.FindStringSubmatch(question)
	if m == nil || quoted(m[2]) || !asksHan(m[2]) || strings.ContainsAny(m[1], "和与與、") {
		return nil
	}
	before, after := []rune(m[1]), []rune(m[2])
	n := alikeEnd(before, after)
	if n < 2 || n > 4 {
		return nil
	}
	return []string{string(before) + string(after[n:]), string(before[:len(before)-n]) + string(after)}
}

// alikeEnd returns the number of characters, up to four, after which after
// ends like before does and is something else: 男单, 女单; 2022年, 2023年. It
// is 0 if there is none.
func alikeEnd(before, after []rune) int {
	if len(before) == 0 {
		return 0
	}
	if digits := trailingDigits(before); digits > 0 && len(after) > digits && trailingDigits(after[:digits]) == digits && !unicode.IsDigit(after[digits]) {
		return digits
	}
	last := before[len(before)-1]
	for n := 2; n <= 5 && n <= len(before) && n <= len(after); n++ {
		if after[n-1] == last && !slices.Equal(after[:n], before[len(before)-n:]) {
			return n
		}
	}
	return 0
}

func trailingDigits(s []rune) int {
	n := 0
	for n < len(s) && unicode.IsDigit(s[len(s)-1-n]) {
		n++
	}
	return n
}

// quoted reports whether a title opens or closes in s without its other half,
// so that a word between may belong to it.
func quoted(s string) bool {
	return strings.Count(s, "《") != strings.Count(s, "》") || strings.Count(s, "“") != strings.Count(s, "”")
}

// standAlone gives parts that lean on the first one its names. Where it has
// none to give, nothing is split.
func standAlone(parts []string) []string {
	if len(parts) < 2 {
		return nil
	}
	about := strings.Join(names(parts[0]), " ")
	for i, part := range parts[1:] {
		if !leans(part) && len(names(part)) > 0 {
			continue
		}
		if about == "" {
			if leans(part) || han(part) {
				return nil
			}
			continue
		}
		if !strings.Contains(part, about) {
			parts[i+1] = about + ": " + part
		}
	}
	return parts
}

// FollowOn makes a question that leans on an earlier one stand by itself, as far
// as rules can: it gets the names of the earlier one, or where that has none, the
// words that say what it is about.
func FollowOn(question, earlier string) string {
	if !leans(question) && (!goesOn(question) || says(question)) {
		return question
	}
	about := append(names(earlier), identifiers(earlier)...)
	if len(about) == 0 {
		about = contentWords(earlier)
	}
	about = slices.DeleteFunc(about, func(word string) bool { return strings.Contains(question, word) })
	if len(about) == 0 {
		return question
	}
	return strings.Join(about, " ") + ": " + question
}

// goesOn reports whether a question opens or ends like one that takes up what
// was said before.
func goesOn(question string) bool { return continues.MatchString(question) }

// says reports whether a question says what it is about: something by its own name,
// and what of it is asked.
func says(question string) bool {
	return len(identifiers(question)) > 0 && len(contentWords(question)) > 1
}

var continues = regexp.MustCompile(`(?i)^(?:and|but|or|so|what about|how about|а|и|но|а что|und|aber|et|y)\s|^(?:那|那么|那麼|还有|還有)|呢[？?]?$`)

// identifiers returns the words of a text that are written as no word of a
// language is: with a sign or a capital inside them.
func identifiers(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(text) {
		word := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if strings.ContainsAny(word, "_/.$@") || strings.ContainsFunc(strings.TrimPrefix(word, firstRune(word)), unicode.IsUpper) {
			if !slices.ContainsFunc(names(text), func(n string) bool { return strings.Contains(n, word) }) {
				out = append(out, word)
			}
		}
	}
	return out
}

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

var pointers = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`it its he she they him her them his hers their theirs this that these those there then
он она оно они его ее её ему ей их им него нее неё них ним ней этот эта это эти этого этой этом там тогда
er sie es ihn ihm ihr ihre sein seine dies diese dieser dieses dort il elle ils elles son sa ses`) {
		m[w] = true
	}
	return m
}()

// leans reports whether a question points to something outside it, or is too
// short to name what it is about.
func leans(part string) bool {
	words := lowerWords(part)
	if pointsBack(words) {
		return true
	}
	if han(part) {
		return strings.ContainsAny(part, "它他她其该該这這那") || utf8.RuneCountInString(part) < 8
	}
	return len(words) < 3
}

// names returns the names of a text in order: titles in quotes and, in scripts
// with capitals, runs of capitalised words that don't open a sentence.
func names(text string) []string {
	var out []string
	for _, q := range [][2]string{{"《", "》"}, {"«", "»"}, {"“", "”"}, {"「", "」"}, {`"`, `"`}} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, q[0])
			if !ok {
				break
			}
			name, more, ok := strings.Cut(after, q[1])
			if !ok {
				break
			}
			out, rest = append(out, q[0]+name+q[1]), more
		}
	}
	for _, s := range lang.Sentences(text) {
		var run []string
		flush := func() {
			if name := strings.Join(run, " "); name != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.Contains(o, name) }) {
				out = append(out, name)
			}
			run = nil
		}
		for i, w := range strings.Fields(s.In(text)) {
			word := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first, _ := utf8.DecodeRuneInString(word)
			if capitalised := unicode.IsUpper(first) || unicode.IsDigit(first) && len(run) > 0; !capitalised || i == 0 || word == "I" {
				flush()
				continue
			}
			run = append(run, word)
			if !strings.HasSuffix(w, word) {
				flush() // punctuation ends a name
			}
		}
		flush()
	}
	return out
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
