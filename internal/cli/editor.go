package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"dossier/internal/base/term"
)

// editor reads lines from a terminal in raw mode, with the keys that shells
// have and a history. It knows how wide characters are.
type editor struct {
	in     *bufio.Reader
	out    io.Writer
	width  func() int
	prompt string

	history []string
	past    int    // place in the history, len(history) for the new line
	kept    []rune // the new line while an old one is shown
	line    []rune
	at      int // the cursor, in runes
	row     int // that of the cursor, from the first of the line
}

// Keys beside characters.
type key int

const (
	character key = iota
	enter
	endOfInput
	left
	right
	wordLeft
	wordRight
	toStart
	toEnd
	up
	down
	erase
	remove
	eraseLine
	eraseRest
	eraseWord
	redraw
	unknown
)

var controls = map[rune]key{
	'\r': enter, '\n': enter, 0x01: toStart, 0x02: left, 0x05: toEnd, 0x06: right, 0x08: erase, 0x7f: erase, 0x0b: eraseRest,
	0x0c: redraw, 0x0e: down, 0x10: up, 0x15: eraseLine, 0x17: eraseWord, 0x03: endOfInput, 0x04: remove,
}

var sequences = map[string]key{
	"[A": up, "OA": up, "[B": down, "OB": down, "[C": right, "OC": right, "[D": left, "OD": left, "[H": toStart, "OH": toStart, "[F": toEnd, "OF": toEnd,
	"[1~": toStart, "[7~": toStart, "[4~": toEnd, "[8~": toEnd, "[3~": remove, "[1;5C": wordRight, "[1;5D": wordLeft, "[1;3C": wordRight, "[1;3D": wordLeft,
	"f": wordRight, "b": wordLeft,
}

// read reads a line. It ends with io.EOF on Ctrl-D in an empty line and on
// Ctrl-C.
func (e *editor) read() (string, error) {
	e.line, e.at, e.row, e.past, e.kept = nil, 0, 0, len(e.history), nil
	e.draw()
	for {
		k, r, err := e.key()
		if err != nil {
			return "", err
		}
		switch {
		case k == enter:
			e.at = len(e.line)
			e.draw()
			_, _ = io.WriteString(e.out, "\r\n")
			text := string(e.line)
			if strings.TrimSpace(text) != "" {
				e.history = append(e.history, text)
			}
			return text, nil
		case k == endOfInput || k == remove && len(e.line) == 0:
			_, _ = io.WriteString(e.out, "\r\n")
			return "", io.EOF
		case k == character:
			e.line = slices.Insert(e.line, e.at, r)
			e.at++
		default:
			e.edit(k)
		}
		if e.in.Buffered() == 0 {
			e.draw()
		}
	}
}

// edit does what a key is for.
func (e *editor) edit(k key) {
	switch k {
	case left:
		e.at = max(0, e.at-1)
	case right:
		e.at = min(len(e.line), e.at+1)
	case wordLeft:
		e.at = e.wordStart()
	case wordRight:
		for e.at < len(e.line) && unicode.IsSpace(e.line[e.at]) {
			e.at++
		}
		for e.at < len(e.line) && !unicode.IsSpace(e.line[e.at]) {
			e.at++
		}
	case toStart:
		e.at = 0
	case toEnd:
		e.at = len(e.line)
	case up:
		e.recall(-1)
	case down:
		e.recall(1)
	case erase:
		e.cut(max(0, e.at-1), e.at)
	case remove:
		e.cut(e.at, min(len(e.line), e.at+1))
	case eraseLine:
		e.cut(0, e.at)
	case eraseRest:
		e.cut(e.at, len(e.line))
	case eraseWord:
		e.cut(e.wordStart(), e.at)
	case redraw:
		_, _ = io.WriteString(e.out, "\x1b[H\x1b[J")
		e.row = 0
	}
}

func (e *editor) wordStart() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.line[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.line[at-1]) {
		at--
	}
	return at
}

func (e *editor) cut(from, to int) {
	e.line = slices.Delete(e.line, from, to)
	e.at = from
}

// recall shows another line of the history.
func (e *editor) recall(by int) {
	next := e.past + by
	if next < 0 || next > len(e.history) {
		return
	}
	if e.past == len(e.history) {
		e.kept = slices.Clone(e.line)
	}
	if e.past = next; next == len(e.history) {
		e.line = e.kept
	} else {
		e.line = []rune(e.history[next])
	}
	e.at = len(e.line)
}

// key reads a key or a character.
func (e *editor) key() (key, rune, error) {
	r, _, err := e.in.ReadRune()
	if err != nil {
		return unknown, 0, err
	}
	if k, ok := controls[r]; ok {
		return k, 0, nil
	}
	if r == 0x1b {
		return e.sequence()
	}
	if r == '\t' {
		r = ' '
	}
	if term.Clean(string(r)) == "" || r == unicode.ReplacementChar {
		return unknown, 0, nil
	}
	return character, r, nil
}

// sequence reads what follows an escape.
func (e *editor) sequence() (key, rune, error) {
	var b strings.Builder
	for b.Len() < 16 {
		r, _, err := e.in.ReadRune()
		if err != nil {
			return unknown, 0, err
		}
		b.WriteRune(r)
		if text := b.String(); text != "[" && text != "O" && r >= 0x40 {
			k, ok := sequences[text]
			if !ok {
				k = unknown
			}
			return k, 0, nil
		}
	}
	return unknown, 0, nil
}

// draw writes the line over what was there and puts the cursor where it belongs.
func (e *editor) draw() {
	width := max(e.width(), 8)
	var b strings.Builder
	if e.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r" + e.prompt + string(e.line))
	endRow, endCol := position(e.prompt+string(e.line), width)
	if endCol == 0 && endRow > 0 {
		b.WriteString("\r\n") // the terminal waits at the end of the row
	}
	b.WriteString("\x1b[J")
	row, col := position(e.prompt+string(e.line[:e.at]), width)
	if up := endRow - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", col)
	}
	e.row = row
	_, _ = io.WriteString(e.out, b.String())
}

// position is where the cursor is after a text.
func position(text string, width int) (row, col int) {
	for _, r := range text {
		n := term.RuneWidth(r)
		if col+n > width {
			row, col = row+1, 0
		}
		col += n
	}
	if col == width {
		return row + 1, 0
	}
	return row, col
}
