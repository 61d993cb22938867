package llmtest

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// text makes a string that the property's name asks for.
func (m *maker) text(n node, at spot) json.RawMessage {
	least, most := n.count("minLength", 0), n.count("maxLength", math.MaxInt)
	if n.has("pattern") {
		var p string
		if json.Unmarshal(n["pattern"], &p) == nil {
			if s, ok := matching(p, least, most, m.sentence(n, at)); ok {
				return encode(s)
			}
		}
	}
	s := m.sentence(n, at)
	for utf8.RuneCountInString(s) < least {
		s += " " + m.words.point(at.index+1)
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most])
	}
	return encode(s)
}

func (m *maker) sentence(n node, at spot) string {
	var format string
	if json.Unmarshal(n["format"], &format) == nil {
		switch format {
		case "date":
			return "2026-01-01"
		case "time":
			return "12:00:00Z"
		case "date-time":
			return "2026-01-01T12:00:00Z"
		case "duration":
			return "P1D"
		case "email":
			return "test@example.com"
		case "hostname":
			return "example.com"
		case "ipv4":
			return "192.0.2.1"
		case "ipv6":
			return "2001:db8::1"
		case "uuid":
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", at.index+1)
		case "uri", "url", "iri", "uri-reference":
			return fmt.Sprintf("https://example.com/%d", at.index+1)
		}
	}
	name := strings.ToLower(at.name)
	switch {
	case strings.Contains(name, "reason"), strings.Contains(name, "thought"), name == "rationale", name == "explanation":
		return m.words.reasoning
	case strings.Contains(name, "quer"), strings.Contains(name, "question"), name == "topic", name == "task":
		if at.index > 0 {
			return fmt.Sprintf("%s (%d)", m.words.question, at.index+1)
		}
		return m.words.question
	case name == "title", name == "name", name == "heading":
		return shorten(m.words.question, 60)
	case name == "language", name == "lang", name == "locale":
		return m.words.lang
	case name == "url", name == "uri", name == "link", name == "urls", name == "links":
		return fmt.Sprintf("https://example.com/%d", at.index+1)
	case name == "date":
		return "2026-01-01"
	case name == "id", strings.HasSuffix(name, "_id"):
		return fmt.Sprintf("id-%d", at.index+1)
	case strings.Contains(name, "answer"), name == "text", name == "content", name == "summary", name == "report", name == "message", name == "response":
		return m.words.answer
	}
	return m.words.point(at.index + 1)
}

// matching makes a string of a pattern: the text at hand if it fits, else the
// shortest that does and is long enough.
func matching(pattern string, least, most int, at string) (string, bool) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	fits := func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= least && n <= most && re.MatchString(s)
	}
	if fits(at) {
		return at, true
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for more := 0; more <= max(least, 16); more++ {
		var b strings.Builder
		generate(&b, tree, more)
		if fits(b.String()) {
			return b.String(), true
		}
	}
	return "", false
}

// generate writes a match of the expression with more repetitions than
// needed.
func generate(b *strings.Builder, e *syntax.Regexp, more int) {
	repeat := func(n int) {
		for range n {
			generate(b, e.Sub[0], more)
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		b.WriteRune(classRune(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		if e.Op == syntax.OpPlus {
			repeat(more)
		}
		repeat(1)
	case syntax.OpStar:
		repeat(more)
	case syntax.OpQuest:
		repeat(min(more, 1))
	case syntax.OpRepeat:
		n := e.Min + more
		if e.Max >= 0 {
			n = min(n, e.Max)
		}
		repeat(n)
	case syntax.OpConcat:
		for _, s := range e.Sub {
			generate(b, s, more)
		}
	case syntax.OpAlternate:
		generate(b, e.Sub[0], more)
	}
}

// classRune prefers a letter or digit of the class to its first rune.
func classRune(ranges []rune) rune {
	for _, want := range "a1A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}
