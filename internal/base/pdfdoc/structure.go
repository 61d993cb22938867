package pdfdoc

import (
	"fmt"
	"strings"
)

// Tag is what a part of a document is.
type Tag string

// The tags, as the standard names them.
const (
	Paragraph  Tag = "P"
	List       Tag = "L"
	Item       Tag = "LI"
	Label      Tag = "Lbl" // of an item or an entry
	Body       Tag = "LBody"
	Quote      Tag = "BlockQuote"
	Code       Tag = "Code"
	Table      Tag = "Table"
	Row        Tag = "TR"
	HeaderCell Tag = "TH"
	Cell       Tag = "TD"
	Contents   Tag = "TOC"
	Entry      Tag = "TOCI"
	Reference  Tag = "Link"
	Figure     Tag = "Figure"
	Decoration Tag = "Artifact" // what is not read out, with all in it
)

// Heading is the tag of a heading, of level 1 for the document's title.
func Heading(level int) Tag { return Tag(fmt.Sprintf("H%d", min(max(level, 1), 6))) }

// About is what is known of a part of a document.
type About struct {
	Lang string // as in "en", where it is another than the document's
	Alt  string // what is said of a figure to those who can't see it
}

// element is a part of the document in the order in which it is read.
type element struct {
	tag    Tag
	about  About
	parent *element
	kids   []kid
	number int // of its object
}

// kid is what an element holds: another element, a marked piece of the content
// of a page, or a link there.
type kid struct {
	element *element
	page    *Page
	mark    int
	link    *link
}

// Open begins a part of the document within the one that is open: text and
// links belong to it until Close. What is written while none is open is
// decoration, as the numbers of pages.
func (d *Document) Open(tag Tag, about About) {
	parent := d.innermost()
	if tag == Decoration || parent == decoration {
		d.open = append(d.open, decoration)
		return
	}
	if parent == nil {
		parent = &d.root
	}
	e := &element{tag: tag, about: about, parent: parent}
	parent.kids = append(parent.kids, kid{element: e})
	d.open = append(d.open, e)
}

// Close ends the part that was opened last.
func (d *Document) Close() { d.open = d.open[:len(d.open)-1] }

func (d *Document) innermost() *element {
	if len(d.open) == 0 {
		return nil
	}
	return d.open[len(d.open)-1]
}

// decoration stands for content that belongs to nothing.
var decoration = &element{tag: Decoration}

// within is what text on the page belongs to now.
func (p *Page) within() *element {
	switch e := p.doc.innermost(); {
	case p.reserved != nil && e != decoration:
		return p.reserved
	case e == nil:
		return decoration
	default:
		return e
	}
}

// drawing is what shapes belong to: a figure, or nothing.
func (p *Page) drawing() *element {
	if e := p.within(); e.tag == Figure {
		return e
	}
	return decoration
}

// mark begins content of an element where the content before it is another's.
func (p *Page) mark(e *element) {
	if p.marked == e {
		return
	}
	p.unmark()
	p.marked = e
	if e == decoration {
		p.writef("/Artifact BMC\n")
		return
	}
	n := len(p.whole.marks)
	p.whole.marks = append(p.whole.marks, e)
	e.kids = append(e.kids, kid{page: p.whole, mark: n})
	p.writef("/%s<</MCID %d>>BDC\n", e.tag, n)
}

// unmark ends the content that was begun.
func (p *Page) unmark() {
	if p.marked != nil {
		p.writef("EMC\n")
		p.marked = nil
	}
}

// tags adds the structure of the document and returns its root. Pages are keys of
// its table from 0 on, links have those after them: links gives the objects of
// links and their keys.
func (d *Document) tags(f *file, pages map[*Page]int, links map[*link]linkObject) int {
	root := f.reserve()
	d.root.tag = "Document"
	d.root.write(f, root, pages, links)
	var table strings.Builder
	for i, p := range d.pages {
		fmt.Fprintf(&table, "%d[", i)
		for _, e := range p.marks {
			fmt.Fprintf(&table, "%d 0 R ", e.number)
		}
		table.WriteString("]")
	}
	for _, p := range d.pages {
		for _, l := range p.links {
			if o, ok := links[l]; ok && l.within != decoration {
				fmt.Fprintf(&table, "%d %d 0 R ", o.key, l.within.number)
			}
		}
	}
	f.setf(root, "<</Type/StructTreeRoot/K %d 0 R/ParentTree %d 0 R/ParentTreeNextKey %d>>", d.root.number, f.add("<</Nums[%s]>>", table.String()), len(d.pages)+len(links))
	return root
}

// linkObject is a link in the file.
type linkObject struct{ number, key int }

// write adds the element with all below it; parent is the object that it belongs
// to.
func (e *element) write(f *file, parent int, pages map[*Page]int, links map[*link]linkObject) {
	e.number = f.reserve()
	var own *Page // the page of its first piece
	var kids strings.Builder
	for _, k := range e.kids {
		if own == nil {
			own = k.page
		}
		switch {
		case k.element != nil:
			k.element.write(f, e.number, pages, links)
			fmt.Fprintf(&kids, "%d 0 R ", k.element.number)
		case k.link != nil:
			if o, ok := links[k.link]; ok {
				fmt.Fprintf(&kids, "<</Type/OBJR/Pg %d 0 R/Obj %d 0 R>>", pages[k.page], o.number)
			}
		case k.page == own:
			fmt.Fprintf(&kids, "%d ", k.mark)
		default:
			fmt.Fprintf(&kids, "<</Type/MCR/Pg %d 0 R/MCID %d>>", pages[k.page], k.mark)
		}
	}
	more := ""
	if own != nil {
		more += fmt.Sprintf("/Pg %d 0 R", pages[own])
	}
	if e.about.Lang != "" {
		more += "/Lang" + literal(e.about.Lang)
	}
	if e.about.Alt != "" {
		more += "/Alt" + unicode(e.about.Alt)
	}
	if e.tag == HeaderCell {
		more += "/A<</O/Table/Scope/Column>>"
	}
	f.setf(e.number, "<</Type/StructElem/S/%s/P %d 0 R/K[%s]%s>>", e.tag, parent, kids.String(), more)
}
