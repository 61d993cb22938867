// Package term makes text of unknown origin safe to show: what a model, a page
// or a user said must not move the cursor, set a title, write to the clipboard
// or reverse the direction of what follows it.
package term

import (
	"strings"
	"unicode/utf8"
)

// Stripper removes escape sequences and control characters from a text that
// arrives in pieces; a sequence may begin in one piece and end in another. The
// zero value is ready. It is not safe for concurrent use.
type Stripper struct {
	state state
	// length of the sequence so far, so that one that is never closed can't
	// swallow the rest of the text.
	length int
}

type state uint8

const (
	ground       state = iota
	escape             // after ESC
	intermediate       // after ESC and intermediate bytes
	control            // in a control sequence (CSI)
	command            // in a command string (OSC, DCS, SOS, PM, APC)
	commandEsc         // after ESC in a command string
)

// Longest sequences that are taken for one; beyond that the rest is text.
const (
	maxControl = 128
	maxCommand = 4096
)

// Clean returns s without escape sequences, control characters other than line
// feed and tab, and characters that override the direction of text.
func Clean(s string) string {
	var st Stripper
	return st.Clean(s)
}

// Line is Clean for a text that has to stay on one line: runs of white space
// become single spaces.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Clean returns the next piece of the text without what a terminal would act
// upon.
func (s *Stripper) Clean(piece string) string {
	if s.state == ground && plain(piece) {
		return piece
	}
	var b strings.Builder
	b.Grow(len(piece))
	for _, r := range piece {
		s.next(&b, r)
	}
	return b.String()
}

// plain says whether nothing in the text has to be removed.
func plain(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if hidden(r) {
			return false
		}
	}
	return true
}

// hidden says whether a character is never shown as it is.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates
		return true
	}
	return false
}

func (s *Stripper) enter(st state) { s.state, s.length = st, 0 }

func (s *Stripper) next(b *strings.Builder, r rune) {
	s.length++
	switch s.state {
	case ground:
	case escape:
		switch {
		case r == '[':
			s.enter(control)
			return
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			s.enter(command)
			return
		case r >= 0x20 && r <= 0x2f:
			s.enter(intermediate)
			return
		case r >= 0x30 && r <= 0x7e:
			s.enter(ground)
			return
		}
		s.enter(ground)
	case intermediate:
		if r >= 0x20 && r <= 0x2f && s.length < maxControl {
			return
		}
		s.enter(ground)
		if r >= 0x30 && r <= 0x7e {
			return
		}
	case control:
		if r >= 0x20 && r <= 0x3f && s.length < maxControl {
			return
		}
		s.enter(ground)
		if r >= 0x40 && r <= 0x7e {
			return
		}
	case command:
		switch {
		case r == 0x1b:
			s.state = commandEsc
			return
		case r == 0x07 || r == 0x9c:
			s.enter(ground)
			return
		case r != '\n' && s.length < maxCommand:
			return
		}
		s.enter(ground)
	case commandEsc:
		if r == '\\' {
			s.enter(ground)
			return
		}
		// The string was broken off by another sequence.
		s.enter(escape)
		s.next(b, r)
		return
	}
	s.text(b, r)
}

// text takes a character outside of any sequence.
func (s *Stripper) text(b *strings.Builder, r rune) {
	switch r {
	case 0x1b:
		s.enter(escape)
	case 0x9b:
		s.enter(control)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.enter(command)
	default:
		if !hidden(r) {
			b.WriteRune(r)
		}
	}
}
