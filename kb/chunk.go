package kb

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
	"dossier/reader"
)

// How texts are cut was chosen by how well the chunks are found (the set
// retrieval_rurag_ru of bench/eval). Chunks of nearly one length are found
// better than paragraphs as they come, and below 900 letters it gets worse.
const (
	// DefaultChunkSize is the most that a chunk holds, in letters, unless
	// Options say otherwise.
	DefaultChunkSize = 1100
	// A block of up to this part of a chunk is not cut.
	wholeBlock = 8
	// A chunk that is this full, in percent, ends where a block does.
	nearlyFull = 75
)

// wide is how many letters a character of a script without spaces is worth: a
// text in Chinese says the same in about a third of the characters.
const wide = 3

// piece is a part of a text that is not taken apart further.
type piece struct {
	start, end int
	weight     int  // in letters
	begins     bool // a block
}

// Cut takes a page apart into chunks of at most size letters, in order and
// without overlap. A chunk stays under one heading and on one page, and begins
// with the headings that lead to it; what belongs together is joined as far as
// it fits and cut between blocks or, failing that, between sentences. Whatever
// carries a word is in a chunk.
func Cut(page *reader.Page, size int) []Chunk {
	if size <= 0 {
		size = DefaultChunkSize
	}
	c := cutter{text: page.Text, size: size}
	at := 0
	for _, b := range page.Blocks {
		if b.Start < at || b.End > len(c.text) || b.End < b.Start {
			continue // not in order: its text is covered as a gap
		}
		c.gap(at, b.Start)
		at = b.End
		if !hasWord(c.text[b.Start:b.End]) {
			continue
		}
		if b.Kind == reader.Heading {
			// Headings in a row lead to the same text.
			if !c.leading || b.Page != c.page {
				c.flush()
			}
			c.leading, c.page = true, b.Page
			c.path = append(slices.Clone(b.Path), c.text[b.Start:b.End])
			c.add(b.Start, b.End)
			continue
		}
		if b.Page != c.page || !c.leading && !slices.Equal(b.Path, c.path) {
			c.flush()
		}
		c.leading, c.page, c.path = false, b.Page, b.Path
		c.add(b.Start, b.End)
	}
	c.gap(at, len(c.text))
	c.flush()
	return c.out
}

type cutter struct {
	text    string
	size    int
	out     []Chunk
	section []piece
	path    []string
	page    int
	leading bool // the section so far is headings
}

// gap adds text that no block holds, paragraph by paragraph.
func (c *cutter) gap(from, to int) {
	if !hasWord(c.text[from:to]) {
		return
	}
	for from < to {
		end := to
		if i := strings.Index(c.text[from:to], "\n\n"); i >= 0 {
			end = from + i
		}
		if hasWord(c.text[from:end]) {
			c.add(from, end)
		}
		from = min(to, end+2)
	}
}

// add appends a span to the section, in pieces that fit into a chunk.
func (c *cutter) add(start, end int) {
	start, end = trim(c.text, start, end)
	first := len(c.section)
	if w := weigh(c.text[start:end]); w <= c.size/wholeBlock {
		c.section = append(c.section, piece{start: start, end: end, weight: w})
	} else {
		for _, s := range lang.Sentences(c.text[start:end]) {
			c.split(start+s.Start, start+s.End)
		}
	}
	if first < len(c.section) {
		c.section[first].begins = true
	}
}

// split adds a sentence, cut where there is white space if it is too long, and
// between any two characters where there is none.
func (c *cutter) split(start, end int) {
	for {
		weight, space, at := 0, -1, start
		for at < end && weight < c.size {
			r, n := utf8.DecodeRuneInString(c.text[at:])
			if unicode.IsSpace(r) && at > start {
				space = at
			}
			at += n
			weight += weightOf(r)
		}
		if at == end {
			if s, e := trim(c.text, start, end); s < e {
				c.section = append(c.section, piece{start: s, end: e, weight: weight})
			}
			return
		}
		if space > start+(at-start)/2 {
			at = space
		}
		if s, e := trim(c.text, start, at); s < e {
			c.section = append(c.section, piece{start: s, end: e, weight: weigh(c.text[s:e])})
		}
		start = at
	}
}

// flush makes chunks of the section. They are of about the same length, so
// that none is a mere tail.
func (c *cutter) flush() {
	total := 0
	for _, p := range c.section {
		total += p.weight
	}
	if total > 0 {
		target := total / ((total + c.size - 1) / c.size)
		weight, from := 0, 0
		for i, p := range c.section {
			if i > from && (weight+p.weight > c.size || weight+p.weight/2 > target || p.begins && weight > target*nearlyFull/100) {
				c.emit(c.section[from:i])
				weight, from = 0, i
			}
			weight += p.weight
		}
		c.emit(c.section[from:])
	}
	c.section = c.section[:0]
	c.leading, c.path, c.page = false, nil, 0
}

func (c *cutter) emit(pieces []piece) {
	start, end := pieces[0].start, pieces[len(pieces)-1].end
	if hasWord(c.text[start:end]) {
		c.out = append(c.out, Chunk{Start: start, End: end, Headings: c.path, Page: c.page})
	}
}

// trim leaves white space out at both ends of a span.
func trim(text string, start, end int) (int, int) {
	s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(s)
	return start, start + len(strings.TrimRightFunc(s, unicode.IsSpace))
}

// weigh returns the length of a text in letters.
func weigh(text string) int {
	n := 0
	for _, r := range text {
		n += weightOf(r)
	}
	return n
}

func weightOf(r rune) int {
	if r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return wide
	}
	return 1
}

func hasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}
