package lang

import (
	_ "embed" // the book of phrases
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed phrases.txt
var phraseFile string

// Retell returns in another language what the program has said in English, if the
// book of phrases has it. Errors are written, wrapped and recorded in English;
// readers of other languages are told them at the edge, whatever they went through
// on the way.
func Retell(to Code, english string) (string, bool) {
	if to == English || !slices.Contains(Locales, to) {
		return english, to == English
	}
	return phrases().retell(to, english, 0)
}

// Retold is what Retell returns: a text that is not in the book stays as it is.
func Retold(to Code, english string) string {
	said, _ := Retell(to, english)
	return said
}

// A phrase is something that the program says, and how to say it otherwise.
type phrase struct {
	english string
	fits    *regexp.Regexp
	names   []string // of the placeholders, as fits finds them
	literal int      // how much of it is no placeholder
	in      map[Code]string
}

// book has the phrases without placeholders by their words, and the others, those
// that say most themselves first.
type book struct {
	exact    map[string]*phrase
	patterns []*phrase
}

// deepest is how far what stands in a phrase is looked into.
const deepest = 6

func (b *book) retell(to Code, english string, depth int) (string, bool) {
	if p := b.exact[strings.Join(strings.Fields(english), " ")]; p != nil {
		return p.in[to], true
	}
	if depth == deepest {
		return english, false
	}
	for _, p := range b.patterns {
		found := p.fits.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		if p.in[to] == "{why}" { // what is around it says nothing to readers
			if text, ok := b.retell(to, found[slices.Index(p.names, "why")+1], depth+1); ok {
				return text, true
			}
			continue
		}
		var pairs []string
		for i, name := range p.names {
			value := found[i+1]
			if name == "why" || name == "what" {
				value = b.reason(to, value, depth+1)
			}
			pairs = append(pairs, "{"+name+"}", value)
		}
		return strings.NewReplacer(pairs...).Replace(p.in[to]), true
	}
	return english, false
}

// reason retells why something is so: the whole, or what it is made of as far as
// the book has that. What others said stays in their words.
func (b *book) reason(to Code, english string, depth int) string {
	if text, ok := b.retell(to, english, depth); ok {
		return text
	}
	for _, between := range []string{"\n", "; "} {
		if one, rest, ok := strings.Cut(english, between); ok && depth < deepest {
			return b.reason(to, one, depth+1) + between + b.reason(to, rest, depth)
		}
	}
	if who, rest, ok := strings.Cut(english, ": "); ok && depth < deepest {
		return who + ": " + b.reason(to, rest, depth+1)
	}
	return english
}

var phrases = sync.OnceValue(func() *book {
	b, err := parsePhrases(phraseFile)
	if err != nil {
		panic(fmt.Sprintf("lang: phrases.txt: %v", err)) // an embedded file is broken: a build error
	}
	return b
})

// parsePhrases reads a book: a line in English, and below it an indented line for
// each other language, with its code in front. Lines that begin with # are comments.
//
// {name} stands for anything, {n} for a number, {http} for the status of a reply
// in parentheses, or nothing. {why} and {what} are retold themselves.
func parsePhrases(data string) (*book, error) {
	b := &book{exact: map[string]*phrase{}}
	seen := map[string]bool{}
	var last *phrase
	for n, line := range strings.Split(data, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			code, text, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || last == nil || last.in[Code(code)] != "" {
				return nil, fmt.Errorf("line %d: %q belongs to nothing", n+1, line)
			}
			last.in[Code(code)] = text
		case seen[line]:
			return nil, fmt.Errorf("line %d: %q is there twice", n+1, line)
		default:
			seen[line] = true
			last = newPhrase(line)
			if len(last.names) == 0 {
				b.exact[line] = last
			} else {
				b.patterns = append(b.patterns, last)
			}
		}
	}
	for _, p := range append(slices.Collect(maps.Values(b.exact)), b.patterns...) {
		for _, c := range Locales[1:] {
			if p.in[c] == "" {
				return nil, fmt.Errorf("%q has no %s", p.english, c)
			}
		}
	}
	slices.SortStableFunc(b.patterns, func(a, b *phrase) int { return b.literal - a.literal })
	return b, nil
}

var gap = regexp.MustCompile(`\{(\w+)\}`)

func newPhrase(english string) *phrase {
	p := &phrase{english: english, in: map[Code]string{}}
	fits, end := strings.Builder{}, 0
	fits.WriteString(`(?s)^`)
	for _, at := range gap.FindAllStringSubmatchIndex(english, -1) {
		fits.WriteString(regexp.QuoteMeta(english[end:at[0]]))
		p.literal += at[0] - end
		name := english[at[2]:at[3]]
		switch name {
		case "n":
			fits.WriteString(`(-?[\d.]+)`)
		case "http":
			fits.WriteString(`((?: \(HTTP \d+\))?)`)
		default:
			fits.WriteString(`(.*?)`)
		}
		p.names, end = append(p.names, name), at[1]
	}
	p.literal += len(english) - end
	fits.WriteString(regexp.QuoteMeta(english[end:]) + `$`)
	p.fits = regexp.MustCompile(fits.String())
	return p
}
