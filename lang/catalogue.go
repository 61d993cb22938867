package lang

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed messages/*.txt
var messageFiles embed.FS

// Locales are the languages that have a message catalogue, English first.
var Locales = []Code{English, Russian, Chinese}

// Catalogue returns the language of the messages to show to a reader of code:
// code itself where it has a catalogue, else English.
func Catalogue(code Code) Code {
	if slices.Contains(Locales, code) {
		return code
	}
	return English
}

// ForAnswer returns the language in which to answer text, for a reader whose
// locale is fallback (English when empty): the language text is written in,
// where words that several languages share count for the reader's locale and
// for the languages with a catalogue. A text without letters, or one that may
// be in any of many languages such as a lone name, is answered in fallback. In a
// short text in Cyrillic, Latin words are taken for names of things: "пароль root".
func ForAnswer(text string, fallback Code) Code {
	if fallback == "" || fallback == Unknown {
		fallback = English
	}
	if own, ok := inCyrillic(text); ok {
		if code := ofFewWords(own, fallback); code != "" {
			return code
		}
		text = own
	}
	guesses := DetectAll(text)
	for i, g := range guesses {
		switch {
		case g.Code == fallback:
			guesses[i].Prob *= 10
		case slices.Contains(Locales, g.Code):
			guesses[i].Prob *= 3
		}
	}
	rank(guesses)
	if len(guesses) == 0 || guesses[0].Prob < 0.5 || guesses[0].Code == Unknown {
		return fallback
	}
	return guesses[0].Code
}

// inCyrillic returns the words of a text that are in Cyrillic, if it is a text in
// that script with names in another.
func inCyrillic(text string) (own string, ok bool) {
	var words []string
	ours, others := 0, 0
	for word := range strings.FieldsSeq(text) {
		n, latin := 0, 0
		for _, r := range word {
			switch {
			case unicode.Is(unicode.Cyrillic, r):
				n++
			case unicode.IsLetter(r):
				latin++
			}
		}
		if n > 0 {
			words = append(words, word)
		}
		ours, others = ours+n, others+latin
	}
	return strings.Join(words, " "), ours > 0 && 2*ours >= others
}

// ofFewWords is the language of a few words in Cyrillic, too few to be told
// apart by their letters: the reader's, if it is written so, or Russian, unless a
// letter is not of its alphabet. For longer texts it is empty.
func ofFewWords(text string, fallback Code) Code {
	const few = 24 // letters
	n := 0
	for _, r := range strings.ToLower(text) {
		if !unicode.IsLetter(r) {
			continue
		}
		if n++; n > few || r != 'ё' && (r < 'а' || r > 'я') {
			return ""
		}
	}
	switch fallback {
	case "uk", "be", "bg", "sr", "mk", "kk", "mn":
		return fallback
	}
	return Russian
}

// Text returns the message key in the language code, or in English where code
// has no catalogue. args are pairs of a placeholder's name and its value, as
// in slog; a message with plural forms takes its form from the value of "n". A
// key that no catalogue has is returned as it is, so that the gap shows.
func Text(code Code, key string, args ...any) string {
	c := Catalogue(code)
	m, ok := catalogues()[c][key]
	if !ok {
		if m, ok = catalogues()[English][key]; !ok {
			return key
		}
		c = English
	}
	text := m.text
	var pairs []string
	form := ""
	for i := 0; i+1 < len(args); i += 2 {
		name, value := fmt.Sprint(args[i]), args[i+1]
		pairs = append(pairs, "{"+name+"}", fmt.Sprint(value))
		if name == "n" {
			form = plural(c, value)
		}
	}
	if m.forms != nil {
		if text, ok = m.forms[form]; !ok {
			text = m.forms[lastForm(c)]
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// A message has one text, or one per plural form.
type message struct {
	text  string
	forms map[string]string
}

var catalogues = sync.OnceValue(func() map[Code]map[string]message {
	out := map[Code]map[string]message{}
	for _, c := range Locales {
		name := "messages/" + string(c) + ".txt"
		data, err := messageFiles.ReadFile(name)
		if err == nil {
			out[c], err = parseMessages(string(data))
		}
		if err != nil {
			panic(fmt.Sprintf("lang: %s: %v", name, err)) // an embedded file is broken: a build error
		}
	}
	return out
})

// parseMessages reads a catalogue: "key = text" lines, comments that begin
// with #, and indented lines that continue a text after a line break.
func parseMessages(data string) (map[string]message, error) {
	out := map[string]message{}
	var key string
	var lines []string
	flush := func() error {
		if key == "" {
			return nil
		}
		text := strings.TrimPrefix(strings.Join(lines, "\n"), "\n")
		name, form, plural := strings.Cut(strings.TrimSuffix(key, "]"), "[")
		m, seen := out[name]
		if seen && (!plural || m.forms == nil || m.forms[form] != "") || text == "" {
			return fmt.Errorf("%s: repeated or empty", key)
		}
		if plural {
			if m.forms == nil {
				m.forms = map[string]string{}
			}
			m.forms[form] = text
		} else {
			m.text = text
		}
		out[name] = m
		return nil
	}
	for n, line := range strings.Split(data, "\n") {
		switch {
		case strings.HasPrefix(line, "\t") && key != "":
			lines = append(lines, strings.TrimRight(line[1:], " \t\r"))
			continue
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		k, text, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("line %d: no %q", n+1, "=")
		}
		key, lines = strings.TrimSpace(k), []string{strings.TrimSpace(text)}
	}
	return out, flush()
}

// pluralForms lists the forms that a language needs, the general one last.
var pluralForms = map[Code][]string{
	English: {"one", "other"},
	Russian: {"one", "few", "many"},
	Chinese: {"other"},
}

func lastForm(c Code) string { return pluralForms[c][len(pluralForms[c])-1] }

// plural returns the form for the number value; what is no whole number takes
// the general form.
func plural(c Code, value any) string {
	var n int64
	if _, err := fmt.Sscan(fmt.Sprint(value), &n); err != nil || fmt.Sprint(n) != fmt.Sprint(value) {
		return lastForm(c)
	}
	n = max(n, -n)
	switch c {
	case English:
		if n == 1 {
			return "one"
		}
	case Russian:
		switch {
		case n%10 == 1 && n%100 != 11:
			return "one"
		case 2 <= n%10 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
			return "few"
		}
	}
	return lastForm(c)
}
