package junk

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// phrases are ways in which something is said.
type phrases []phrase

// phrase is a pattern, and strings in small letters of which every text that it
// matches has one; none where that is not known. Few sentences have one, and to
// look for strings takes far less time than to match patterns.
type phrase struct {
	cues []string
	re   *regexp.Regexp
}

// pattern returns phrases, compiled when they are first asked for. Letters may be
// small or capital.
func pattern(parts ...string) func() phrases {
	return sync.OnceValue(func() phrases {
		list := make(phrases, len(parts))
		for i, part := range parts {
			re := regexp.MustCompile("(?i)" + part)
			tree, err := syntax.Parse(re.String(), syntax.Perl)
			if err != nil {
				panic(err) // it was compiled
			}
			list[i] = phrase{cues: cues(tree), re: re}
		}
		return list
	})
}

// in reports whether a text has one of the phrases; lower is the text in small
// letters.
func (list phrases) in(text, lower string) bool {
	return slices.ContainsFunc(list, func(p phrase) bool {
		hint := len(p.cues) == 0 || slices.ContainsFunc(p.cues, func(cue string) bool { return strings.Contains(lower, cue) })
		return hint && p.re.MatchString(text)
	})
}

// cues returns strings of which whatever matches an expression has one, or nil:
// of the parts that it must have, those of the one whose shortest is longest.
func cues(e *syntax.Regexp) []string {
	switch e.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(e.Rune))}
	case syntax.OpCharClass:
		var each []string
		for at := 0; at < len(e.Rune); at += 2 {
			for r := e.Rune[at]; r <= e.Rune[at+1]; r++ {
				if each = append(each, strings.ToLower(string(r))); len(each) > 8 {
					return nil // any of many is no hint
				}
			}
		}
		return each
	case syntax.OpCapture, syntax.OpPlus:
		return cues(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return cues(e.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, part := range e.Sub {
			if c := cues(part); shortest(c) > shortest(best) {
				best = c
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, way := range e.Sub {
			c := cues(way)
			if c == nil {
				return nil
			}
			all = append(all, c...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest of some strings, 0 of none.
func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}
