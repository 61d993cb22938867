package kb

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
	"dossier/reader"
)

// How long a chunk is, in letters. It is what is found and what is quoted: long
// enough to be understood, short enough to be read.
const (
	// DefaultChunkSize is the most that a chunk holds unless Options say
	// otherwise: about 110 words.
	DefaultChunkSize = 700
	// A chunk that has this part of that takes in no other paragraph.
	enough = 0.4
)

// cutting is the version of Cut and of what of a chunk is indexed. It is raised
// with each change that gives other chunks of the same page.
const cutting = 1

// wide is how many letters a character of a script without spaces is worth: a
// text in Chinese says the same in about a third of the characters.
const wide = 3

// piece is a part of a text that is not taken apart further.
type piece struct {
	start, end int
	weight     int // in letters
	kind       reader.Kind
	// tied says that it is understood only with what stands before it: an item
	// with the line above its list, code with the sentence that introduces it, a
	// definition with its term, what follows a heading.
	tied bool
	// head is the first row of the table that it is a row of.
	head string
}

// Cut takes a page apart into chunks of at most size letters, in order and
// without overlap. A chunk stays under one heading and on one page, and begins
// with the headings that lead to it. What belongs together stays together as
// far as it fits: a term and its definition, a list and the line above it, code
// and the sentence before it. Rows of a table are chunks by themselves, under
// its first row as if that were a heading. What is too long is cut between sentences. Whatever carries a word is in a chunk.
func Cut(page *reader.Page, size int) []Chunk {
	if size <= 0 {
		size = DefaultChunkSize
	}
	c := cutter{text: page.Text, size: size}
	contents := !slices.ContainsFunc(page.Blocks, func(b reader.Block) bool { return b.Kind != reader.Contents && b.Kind != reader.Heading })
	at := 0
	for _, b := range page.Blocks {
		if b.Start < at || b.End > len(c.text) || b.End < b.Start {
			continue // not in order: its text is covered as a gap
		}
		c.gap(at, b.Start)
		at = b.End
		if !hasWord(c.text[b.Start:b.End]) || b.Kind == reader.Contents && !contents {
			continue
		}
		if b.Kind == reader.Heading {
			// Headings in a row lead to the same text.
			if !c.leading || b.Page != c.page {
				c.flush()
			}
			c.leading, c.page = true, b.Page
			c.path = append(slices.Clone(b.Path), c.text[b.Start:b.End])
			c.add(b.Start, b.End, b.Kind)
			continue
		}
		if b.Page != c.page || !c.leading && !slices.Equal(b.Path, c.path) {
			c.flush()
		}
		c.leading, c.page, c.path = false, b.Page, b.Path
		c.add(b.Start, b.End, b.Kind)
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
	head    string
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
			c.add(from, end, reader.Paragraph)
		}
		from = min(to, end+2)
	}
}

// add appends a block to the section, in pieces that fit into a chunk.
func (c *cutter) add(start, end int, kind reader.Kind) {
	start, end = trim(c.text, start, end)
	switch kind {
	case reader.Header:
		c.head = strings.Trim(c.text[start:end], "| \t")
	case reader.Row:
	default:
		c.head = ""
	}
	first := len(c.section)
	if w := weigh(c.text[start:end]); w <= c.size {
		c.section = append(c.section, piece{start: start, end: end, weight: w})
	} else {
		for _, s := range lang.Sentences(c.text[start:end]) {
			c.split(start+s.Start, start+s.End)
		}
	}
	for i := first; i < len(c.section); i++ {
		p := &c.section[i]
		p.kind = kind
		if kind == reader.Row {
			p.head = c.head
		}
		p.tied = i > first || first > 0 && c.ties(c.section[first-1], kind)
	}
}

// ties says whether a block of this kind belongs to the piece before it.
func (c *cutter) ties(before piece, kind reader.Kind) bool {
	if before.kind == reader.Heading {
		return true
	}
	switch kind {
	case reader.Definition:
		return before.kind == reader.Term || before.kind == reader.Definition
	case reader.Term:
		return before.kind == reader.Term // several have one definition
	case reader.Item:
		return before.kind == reader.Item || before.kind == reader.Paragraph || before.kind == reader.Definition
	case reader.Row:
		return before.kind == reader.Header
	case reader.Code:
		return before.kind != reader.Row
	}
	last, _ := utf8.DecodeLastRuneInString(c.text[before.start:before.end])
	return last == ':' || last == '：'
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

// flush makes chunks of the section.
func (c *cutter) flush() {
	for from := 0; from < len(c.section); {
		// A group is a piece and what is tied to it.
		to, weight := from+1, c.section[from].weight
		for to < len(c.section) {
			next, w := c.group(to)
			fits := weight+w <= c.size
			switch {
			case c.section[to].tied && fits:
			case c.section[to].tied && weight+c.section[to].weight <= c.size:
				next, w = to+1, c.section[to].weight
			case !c.section[to].tied && fits && float64(weight) < enough*float64(c.size) && c.joins(from, to):
			default:
				w = -1
			}
			if w < 0 {
				break
			}
			to, weight = next, weight+w
		}
		c.emit(c.section[from:to])
		from = to
	}
	c.section = c.section[:0]
	c.leading, c.path, c.page, c.head = false, nil, 0, ""
}

// group returns the end of the group that begins at a piece, and its weight.
func (c *cutter) group(at int) (end, weight int) {
	weight = c.section[at].weight
	for end = at + 1; end < len(c.section) && c.section[end].tied; end++ {
		weight += c.section[end].weight
	}
	return end, weight
}

// joins says whether two groups may share a chunk.
func (c *cutter) joins(from, to int) bool {
	apart := func(k reader.Kind) bool { return k == reader.Row || k == reader.Header || k == reader.Term }
	return !apart(c.section[from].kind) && !apart(c.section[to].kind)
}

func (c *cutter) emit(pieces []piece) {
	start, end := pieces[0].start, pieces[len(pieces)-1].end
	if hasWord(c.text[start:end]) {
		path := c.path
		if head := pieces[0].head; head != "" {
			path = append(slices.Clone(path), head)
		}
		c.out = append(c.out, Chunk{Start: start, End: end, Headings: path, Page: c.page})
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
