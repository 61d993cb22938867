// Package pdfdoc writes PDF files: text in fonts that are embedded with the
// glyphs that are used, shapes, links, bookmarks and what is known of the
// document. The text can be searched and copied, and is tagged with what it is,
// for those who have it read to them. What is written depends on nothing but the
// calls, byte for byte.
//
// Places are in points from the left and upper edge of a page; text stands on
// its baseline.
package pdfdoc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Face is a font to embed. Widths and measures are in thousandths of the size.
type Face interface {
	Glyph(r rune) uint16 // 0 where there is none
	Advance(glyph uint16) int
	Measures() (ascent, descent, capitals int, box [4]int)
	// Subset is a TrueType file with some glyphs, numbered from 1.
	Subset(glyphs []uint16) []byte
}

// Document is a PDF file in the making.
type Document struct {
	Title, Subject, Author, Creator string
	Lang                            string // as in "en"
	Created                         time.Time

	pages     []*Page
	fonts     []*Font
	anchors   map[string]place
	bookmarks []bookmark
	root      element
	open      []*element // the innermost last
}

type place struct {
	page *Page
	y    float64
}

type bookmark struct {
	level int
	title string
	to    place
}

// Font is a face as a document uses it.
type Font struct {
	face   Face
	name   string
	number int
	ids    map[rune]uint16
	runes  []rune   // by id, from 1
	glyphs []uint16 // by id, from 1
}

// Font embeds a face under a name.
func (d *Document) Font(face Face, name string) *Font {
	f := &Font{face: face, name: name, number: len(d.fonts) + 1, ids: map[rune]uint16{}}
	d.fonts = append(d.fonts, f)
	return f
}

// Has reports whether the font has a glyph for a character.
func (f *Font) Has(r rune) bool { return f.face.Glyph(r) != 0 }

// Width is that of a text at a size.
func (f *Font) Width(text string, size float64) float64 {
	n := 0
	for _, r := range text {
		n += f.face.Advance(f.face.Glyph(r))
	}
	return float64(n) * size / 1000
}

// id is the number of a character's glyph in the embedded font.
func (f *Font) id(r rune) uint16 {
	id, ok := f.ids[r]
	if !ok {
		f.runes = append(f.runes, r)
		f.glyphs = append(f.glyphs, f.face.Glyph(r))
		id = uint16(len(f.runes))
		f.ids[r] = id
	}
	return id
}

// Page is a page, or a part of its content.
type Page struct {
	doc           *Document
	width, height float64
	content       []any // []byte, or *Page for a part that is filled in later
	whole         *Page
	reserved      *element // what a part belongs to, whatever is open when it is written
	marked        *element // whose content is being written, nil before any
	// Of whole pages:
	links []*link
	marks []*element // whose each marked piece of content is
}

type link struct {
	box    [4]float64
	target string
	within *element
}

// Page adds a page.
func (d *Document) Page(width, height float64) *Page {
	p := &Page{doc: d, width: width, height: height}
	p.whole = p
	d.pages = append(d.pages, p)
	return p
}

// Pages is how many there are.
func (d *Document) Pages() int { return len(d.pages) }

// Reserve returns a part of the page whose content comes where it was reserved,
// whenever it is written.
func (p *Page) Reserve() *Page {
	part := &Page{doc: p.doc, width: p.width, height: p.height, whole: p.whole, reserved: p.doc.innermost()}
	p.unmark()
	p.content = append(p.content, part)
	return part
}

func (p *Page) writef(format string, args ...any) {
	p.content = append(p.content, fmt.Appendf(nil, format, args...))
}

// Color is one in RGB, each from 0 to 1.
type Color [3]float64

func (c Color) String() string { return num(c[0]) + " " + num(c[1]) + " " + num(c[2]) }

// num writes a number as PDF does.
func num(f float64) string {
	s := strconv.FormatFloat(f, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Look is how text is set.
type Look struct {
	Font  *Font
	Size  float64
	Color Color
	Slant bool // leaning, where there is no italic font
	Heavy bool // with thicker strokes, where there is no bold font
}

// Text writes text from x on, on a line.
func (p *Page) Text(x, y float64, text string, look Look) {
	if text == "" {
		return
	}
	codes := make([]byte, 0, 2*len(text))
	for _, r := range text {
		codes = binary.BigEndian.AppendUint16(codes, look.Font.id(r))
	}
	lean := "0"
	if look.Slant {
		lean = "0.2"
	}
	heavy := ""
	if look.Heavy {
		heavy = fmt.Sprintf("2 Tr %s w %s RG ", num(look.Size/36), look.Color)
	}
	p.mark(p.within())
	p.writef("q BT %s/F%d %s Tf %s rg 1 0 %s 1 %s %s Tm <%x> Tj ET Q\n", heavy, look.Font.number, num(look.Size), look.Color, lean, num(x), num(p.height-y), codes)
}

// Box fills a rectangle.
func (p *Page) Box(x, y, width, height float64, c Color) {
	p.mark(p.drawing())
	p.writef("%s rg %s %s %s %s re f\n", c, num(x), num(p.height-y-height), num(width), num(height))
}

// Line draws a line.
func (p *Page) Line(x1, y1, x2, y2, thick float64, c Color) {
	p.mark(p.drawing())
	p.writef("%s RG %s w %s %s m %s %s l S\n", c, num(thick), num(x1), num(p.height-y1), num(x2), num(p.height-y2))
}

// Path draws a line through places, with dashes where it has some: lengths drawn
// and left out in turn.
func (p *Page) Path(places [][2]float64, thick float64, dash []float64, c Color) {
	if len(places) < 2 {
		return
	}
	p.mark(p.drawing())
	var b strings.Builder
	for i, at := range places {
		op := "l"
		if i == 0 {
			op = "m"
		}
		b.WriteString(num(at[0]) + " " + num(p.height-at[1]) + " " + op + " ")
	}
	lengths := make([]string, len(dash))
	for i, l := range dash {
		lengths[i] = num(l)
	}
	p.writef("q %s RG %s w 1 j [%s] 0 d %sS Q\n", c, num(thick), strings.Join(lengths, " "), b.String())
}

// Dot fills a circle.
func (p *Page) Dot(x, y, radius float64, c Color) {
	p.mark(p.drawing())
	y = p.height - y
	p.writef("q %s RG %s w 1 J %s %s m %s %s l S Q\n", c, num(2*radius), num(x), num(y), num(x), num(y))
}

// Link makes a rectangle lead to an address, or with "#" to an anchor.
func (p *Page) Link(x, y, width, height float64, target string) {
	l := &link{box: [4]float64{x, p.height - y - height, x + width, p.height - y}, target: target, within: p.within()}
	p.whole.links = append(p.whole.links, l)
	if l.within != decoration {
		l.within.kids = append(l.within.kids, kid{page: p.whole, link: l})
	}
}

// Anchor names a place, for links.
func (p *Page) Anchor(name string, y float64) {
	if p.doc.anchors == nil {
		p.doc.anchors = map[string]place{}
	}
	p.doc.anchors[name] = place{p.whole, y}
}

// Bookmark lists a place in the outline of the document, below the last one of
// a lower level.
func (p *Page) Bookmark(level int, title string, y float64) {
	p.doc.bookmarks = append(p.doc.bookmarks, bookmark{level, title, place{p.whole, y}})
}

// bytes joins the content of a page.
func (p *Page) bytes(b *bytes.Buffer) {
	p.unmark()
	for _, c := range p.content {
		switch c := c.(type) {
		case []byte:
			b.Write(c)
		case *Page:
			c.bytes(b)
		}
	}
}
