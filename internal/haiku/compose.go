package haiku

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
)

//go:embed fragments
var files embed.FS

// section is a list of fragments for themes that have one of its words.
type section struct {
	words     []string // beginnings of words; none is for every theme
	fragments []string
}

// fragments are the sections of a language. In a file, a line in brackets has the
// words of a section, and each line below it is a fragment.
var fragments = sync.OnceValue(func() map[lang.Code][]section {
	out := make(map[lang.Code][]section)
	for _, code := range lang.Locales {
		raw, err := files.ReadFile("fragments/" + string(code) + ".txt")
		if err != nil {
			panic(err) // it is embedded
		}
		var list []section
		for line := range strings.Lines(string(raw)) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case line[0] == '[':
				list = append(list, section{words: strings.Fields(strings.Trim(line, "[]"))})
			default:
				s := &list[len(list)-1]
				s.fragments = append(s.fragments, line)
			}
		}
		out[code] = list
	}
	return out
})

// Compose makes a poem about a theme out of fragments, which intn chooses: it
// returns a number below its argument. It writes no sentences and understands
// nothing: a line is one or two fragments, and the first has the theme where that
// is short enough.
func Compose(theme string, code lang.Code, intn func(n int) int) Poem {
	theme = strings.Join(strings.Fields(theme), " ")
	choice := slices.DeleteFunc(shuffled(fragmentsFor(theme, code), intn), func(f string) bool { return strings.EqualFold(f, theme) })
	joint := map[lang.Code]string{lang.Chinese: "，"}[code]
	if joint == "" {
		joint = ", "
	}
	var lines []string
	for i, n := range Form {
		var line []string
		if own := Syllables(theme); i == 0 && own > 0 && own <= n && !strings.ContainsFunc(theme, unicode.IsDigit) {
			line, choice = fill(choice, n-own, 1)
			if line != nil || own == n {
				line = append([]string{theme}, line...)
			}
		}
		if line == nil {
			line, choice = fill(choice, n, 2)
		}
		lines = append(lines, capital(strings.Join(line, joint)))
	}
	return Measure(strings.Join(lines, "\n"))
}

// fill takes at most so many fragments that have n syllables together; nil if there
// are none.
func fill(choice []string, n, most int) (line, rest []string) {
	for i, f := range choice {
		left := append(append([]string{}, choice[:i]...), choice[i+1:]...)
		switch k := Syllables(f); {
		case k == n:
			return []string{f}, left
		case k < n && most > 1:
			if more, rest := fill(left, n-k, most-1); more != nil {
				return append([]string{f}, more...), rest
			}
		}
	}
	return nil, choice
}

// fragmentsFor are those of the first section that a theme has a word of, else
// those for every theme.
func fragmentsFor(theme string, code lang.Code) []string {
	var general []string
	for _, s := range fragments()[code] {
		if len(s.words) == 0 {
			general = s.fragments
			continue
		}
		for w := range strings.FieldsSeq(strings.ToLower(theme)) {
			for _, start := range s.words {
				if strings.HasPrefix(w, start) || code == lang.Chinese && strings.Contains(w, start) {
					return s.fragments
				}
			}
		}
	}
	return general
}

func shuffled(list []string, intn func(int) int) []string {
	out := append([]string{}, list...)
	for i := len(out) - 1; i > 0; i-- {
		j := intn(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
