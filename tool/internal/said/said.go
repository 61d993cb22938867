// Package said cleans what servers outside say of themselves and their tools:
// it is data, and ends up before a model, in a log or on a terminal.
package said

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/internal/base/logs"
	"dossier/tool"
)

// Cleaner cleans words and masks the keys that it was told of.
type Cleaner struct {
	logs.Redactor
}

// Text is what was said, without keys and without what a terminal or a reader
// would be fooled by, in so many characters.
func (c *Cleaner) Text(s string, most int) string {
	if len(s) > 8*most {
		s = s[:8*most] // the rest would be cut anyway; a torn character becomes U+FFFD
	}
	return tool.Cut(strings.TrimSpace(c.Redact(Visible(s))), most)
}

// Line is Text in one line.
func (c *Cleaner) Line(s string, most int) string {
	return strings.Join(strings.Fields(c.Text(s, most)), " ")
}

// Visible drops control characters and characters that show nothing and can
// hide words: tags, marks of direction and of zero width.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE0FFF || r == 0x200B || r == 0x200E || r == 0x200F || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF {
			return -1
		}
		return r
	}, logs.Printable(s))
}

// MostName is how long the name of a tool may be.
const MostName = 64

// Name makes a name that models may call a tool by; empty when nothing of it
// could be part of one.
func Name(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
		if b.Len() == MostName {
			break
		}
	}
	if strings.Trim(b.String(), "_-") == "" {
		return ""
	}
	return b.String()
}
