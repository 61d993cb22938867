package markdown

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"dossier/internal/base/term"
)

// style says how a character looks. The colours are those of the terminal's own
// palette, which its user chose to go with a light or a dark ground.
type style uint16

const (
	strong style = 1 << iota
	slanted
	struck
	mono
	place   // where something stands: a link, the number of a source
	title   // the heading of all
	heading // any other
	dim     // signs of ours
	doubt   // what is not borne out
)

// codes are the escapes of styles; a later one wins.
var codes = []struct {
	style style
	code  string
}{{dim, "2"}, {strong, "1"}, {title, "1;4"}, {heading, "1"}, {slanted, "3"}, {struck, "9"}, {mono, "36"}, {place, "32"}, {doubt, "31"}}

// cell is a character with its look.
type cell struct {
	r     rune
	style style
	href  string
}

func plain(text string, s style) []cell {
	out := make([]cell, 0, len(text))
	for _, r := range text {
		if r == '\t' || r == '\n' {
			r = ' '
		}
		out = append(out, cell{r: r, style: s})
	}
	return out
}

// linked makes a text lead somewhere.
func linked(text []cell, to string) []cell {
	for i := range text {
		text[i].href = to
	}
	return text
}

func written(text []cell) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(c.r)
	}
	return b.String()
}

func columns(text []cell) int {
	n := 0
	for _, c := range text {
		n += term.RuneWidth(c.r)
	}
	return n
}

var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(?:\d{1,3}|\?)\]`) })

// markers makes the numbers of sources in a text lead to them.
func (w *writer) markers(text []cell) {
	if w.look.Source == nil {
		return
	}
	all := written(text)
	for _, at := range marker().FindAllStringIndex(all, -1) {
		first := len([]rune(all[:at[0]]))
		found := text[first : first+at[1]-at[0]]
		if found[0].style&mono != 0 || found[0].href != "" {
			continue
		}
		s, to := doubt, ""
		if n, err := strconv.Atoi(strings.Trim(all[at[0]:at[1]], "[]")); err == nil {
			if to = w.look.Source(n); to == "" {
				continue
			}
			s = place
		}
		for i := range found {
			found[i].style, found[i].href = s, to
		}
	}
}

// wrap breaks a text into lines of at most width columns: between words, between
// characters of scripts without spaces, and within a word that is longer than a
// line.
func wrap(text []cell, width int) [][]cell {
	var out [][]cell
	var line []cell
	size := 0
	end := func() {
		for len(line) > 0 && line[len(line)-1].r == ' ' {
			line = line[:len(line)-1]
		}
		out, line, size = append(out, line), nil, 0
	}
	for len(text) > 0 {
		if text[0].r == '\n' {
			end()
			text = text[1:]
			continue
		}
		n := unit(text)
		piece, space := text[:n], text[0].r == ' '
		text = text[n:]
		taken := columns(piece)
		if space {
			if size > 0 && size+taken <= width {
				line, size = append(line, piece...), size+taken
			} else if size > 0 {
				end()
			}
			continue
		}
		if size > 0 && size+taken > width {
			end()
		}
		for taken > width {
			cut := cutting(piece, width)
			line = append(line, piece[:cut]...)
			end()
			piece = piece[cut:]
			taken = columns(piece)
		}
		line, size = append(line, piece...), size+taken
	}
	if len(line) > 0 {
		end()
	}
	return out
}

// unit is the length of what can't be parted at the start of a text: a word with
// the signs at its ends, or a space.
func unit(text []cell) int {
	if text[0].r == ' ' {
		return 1
	}
	for i := 1; i < len(text); i++ {
		switch before, r := text[i-1].r, text[i].r; {
		case r == ' ' || r == '\n':
			return i
		case term.RuneWidth(r) == 0, closes(r), opens(before):
		case term.RuneWidth(r) == 2 || term.RuneWidth(before) == 2:
			return i
		}
	}
	return len(text)
}

// closes and opens report signs that don't begin, and don't end, a line.
func closes(r rune) bool {
	return unicode.In(r, unicode.Pe, unicode.Pf) || strings.ContainsRune("、。，．！？：；…,.!?:;%％々ー", r)
}

func opens(r rune) bool { return unicode.In(r, unicode.Ps, unicode.Pi) }

// cutting is where to break a word that is longer than a line: behind a sign
// that parts it if there is one near the end.
func cutting(word []cell, width int) int {
	size, cut := 0, 0
	for i, c := range word {
		if size += term.RuneWidth(c.r); size > width {
			break
		}
		cut = i + 1
	}
	for i := cut; i > cut*2/3; i-- {
		if strings.ContainsRune("/-_.&?=,", word[i-1].r) {
			return i
		}
	}
	return max(cut, 1)
}

// cells writes characters with their looks.
func (w *writer) cells(text []cell) string {
	var b strings.Builder
	for len(text) > 0 {
		n := 1
		for n < len(text) && text[n].style == text[0].style && text[n].href == text[0].href {
			n++
		}
		piece := w.styled(written(text[:n]), text[0].style)
		if to := text[0].href; to != "" && !w.look.Plain {
			piece = "\x1b]8;;" + to + "\x1b\\" + piece + "\x1b]8;;\x1b\\"
		}
		b.WriteString(piece)
		text = text[n:]
	}
	return b.String()
}

// styled is a text in a style.
func (w *writer) styled(text string, s style) string {
	if w.look.Plain || s == 0 || text == "" {
		return text
	}
	var on []string
	for _, c := range codes {
		if s&c.style != 0 {
			on = append(on, c.code)
		}
	}
	return "\x1b[" + strings.Join(on, ";") + "m" + text + "\x1b[0m"
}
