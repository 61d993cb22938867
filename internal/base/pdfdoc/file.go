package pdfdoc

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// file is the PDF being put together: objects by number, from 1.
type file struct {
	objects [][]byte
	streams map[int]bool // which of them are streams
}

// reserve returns the number of an object to come.
func (f *file) reserve() int {
	f.objects = append(f.objects, nil)
	return len(f.objects)
}

func (f *file) setf(n int, format string, args ...any) {
	f.objects[n-1] = fmt.Appendf(nil, format, args...)
}

func (f *file) add(format string, args ...any) int {
	n := f.reserve()
	f.setf(n, format, args...)
	return n
}

// stream adds packed data with what a dictionary says of it.
func (f *file) stream(dict string, data []byte) int {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	n := f.add("<</Length %d/Filter/FlateDecode%s>>\nstream\n%s\nendstream", b.Len(), dict, b.Bytes())
	f.streams[n] = true
	return n
}

// Bytes returns the file.
func (d *Document) Bytes() []byte {
	f := &file{streams: map[int]bool{}}
	catalog, tree := f.reserve(), f.reserve()
	numbers := make(map[*Page]int, len(d.pages))
	for _, p := range d.pages {
		numbers[p] = f.reserve()
	}
	// Contents come before fonts, which have to know all glyphs; those are known
	// since Text.
	var fonts strings.Builder
	for _, font := range d.fonts {
		if len(font.runes) > 0 {
			fmt.Fprintf(&fonts, "/F%d %d 0 R", font.number, font.write(f))
		}
	}
	kids := make([]string, len(d.pages))
	at := func(p place) string {
		return fmt.Sprintf("[%d 0 R/XYZ null %s null]", numbers[p.page], num(p.page.height-p.y))
	}
	links := map[*link]linkObject{}
	for i, p := range d.pages {
		var content bytes.Buffer
		p.bytes(&content)
		n := f.stream("", content.Bytes())
		var notes strings.Builder
		for _, l := range p.links {
			var action, said string
			if name, inside := strings.CutPrefix(l.target, "#"); inside {
				to, ok := d.anchors[name]
				if !ok {
					continue
				}
				action = "/Dest" + at(to)
			} else {
				action, said = "/A<</S/URI/URI"+literal(l.target)+">>", "/Contents"+unicode(l.target)
			}
			key := len(d.pages) + len(links)
			o := linkObject{f.add("<</Type/Annot/Subtype/Link/Rect[%s %s %s %s]/Border[0 0 0]/F 4/StructParent %d%s%s>>", num(l.box[0]), num(l.box[1]), num(l.box[2]), num(l.box[3]), key, action, said), key}
			links[l] = o
			fmt.Fprintf(&notes, "%d 0 R ", o.number)
		}
		annots := ""
		if notes.Len() > 0 {
			annots = "/Annots[" + notes.String() + "]/Tabs/S"
		}
		f.setf(numbers[p], "<</Type/Page/Parent %d 0 R/MediaBox[0 0 %s %s]/Resources<</Font<<%s>>>>/Contents %d 0 R/StructParents %d%s>>", tree, num(p.width), num(p.height), fonts.String(), n, i, annots)
		kids[i] = fmt.Sprintf("%d 0 R", numbers[p])
	}
	f.setf(tree, "<</Type/Pages/Count %d/Kids[%s]>>", len(d.pages), strings.Join(kids, " "))
	outline := ""
	if len(d.bookmarks) > 0 {
		outline = fmt.Sprintf("/Outlines %d 0 R/PageMode/UseOutlines", f.outline(d.bookmarks, at))
	}
	f.setf(catalog, "<</Type/Catalog/Pages %d 0 R/Lang%s/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked true>>/StructTreeRoot %d 0 R%s>>", tree, literal(d.Lang), d.tags(f, numbers, links), outline)
	var info strings.Builder
	info.WriteString("<<")
	for _, field := range [][2]string{{"Title", d.Title}, {"Subject", d.Subject}, {"Author", d.Author}, {"Creator", d.Creator}, {"Producer", d.Creator}} {
		if field[1] != "" {
			info.WriteString("/" + field[0] + unicode(field[1]))
		}
	}
	if !d.Created.IsZero() {
		info.WriteString("/CreationDate" + literal("D:"+d.Created.UTC().Format("20060102150405")+"Z"))
	}
	return f.bytes(catalog, f.add("%s>>", info.String()))
}

// together is how many objects are packed as one.
const together = 200

// bytes writes the objects with the table of where they stand. Those that are no
// streams are packed, many at a time.
func (f *file) bytes(catalog, info int) []byte {
	type place struct{ kind, at, index int } // of an object: 1 and where, or 2 and in which pack as which
	places := make([]place, len(f.objects), 2*len(f.objects))
	var small []int
	for n := range f.objects {
		if !f.streams[n+1] {
			small = append(small, n)
		}
	}
	for pack := range slices.Chunk(small, together) {
		var index, bodies bytes.Buffer
		for i, n := range pack {
			fmt.Fprintf(&index, "%d %d ", n+1, bodies.Len())
			bodies.Write(append(f.objects[n], '\n'))
			places[n] = place{2, len(f.objects) + 1, i}
		}
		f.stream(fmt.Sprintf("/Type/ObjStm/N %d/First %d", len(pack), index.Len()), append(index.Bytes(), bodies.Bytes()...))
		places = append(places, place{})
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	write := func(n int) {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n+1, f.objects[n])
	}
	for n := range f.objects {
		if f.streams[n+1] {
			places[n] = place{1, b.Len(), 0}
			write(n)
		}
	}
	sum := sha256.Sum256(b.Bytes())
	start, n := b.Len(), len(f.objects)
	table := make([]byte, 7, 7*(n+2)) // object 0 is none
	for _, p := range append(places, place{1, start, 0}) {
		table = append(table, byte(p.kind))
		table = binary.BigEndian.AppendUint32(table, uint32(p.at))
		table = binary.BigEndian.AppendUint16(table, uint16(p.index))
	}
	f.stream(fmt.Sprintf("/Type/XRef/Size %d/W[1 4 2]/Root %d 0 R/Info %d 0 R/ID[<%x><%x>]", n+2, catalog, info, sum[:16], sum[:16]), table)
	write(n)
	fmt.Fprintf(&b, "startxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}

// literal writes a string of bytes.
func literal(s string) string {
	return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "\r", `\r`, "\n", `\n`).Replace(s) + ")"
}

// unicode writes a string of text.
func unicode(s string) string { return "<FEFF" + utf16Hex(s) + ">" }

func utf16Hex(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}

// write adds the font with the glyphs that were used.
func (f *Font) write(out *file) int {
	data := f.face.Subset(f.glyphs)
	font := out.stream(fmt.Sprintf("/Length1 %d", len(data)), data)
	tag := make([]byte, 6)
	for i, n := range slices.Backward(tag) {
		tag[i] = 'A' + n + byte(f.number>>(5-i)&1)
	}
	name := string(tag) + "+" + f.name
	ascent, descent, capitals, box := f.face.Measures()
	descriptor := out.add("<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[%d %d %d %d]/ItalicAngle 0/Ascent %d/Descent %d/CapHeight %d/StemV 80/FontFile2 %d 0 R>>",
		name, box[0], box[1], box[2], box[3], ascent, descent, capitals, font)
	var widths strings.Builder
	for _, g := range f.glyphs {
		fmt.Fprintf(&widths, "%d ", f.face.Advance(g))
	}
	descendant := out.add("<</Type/Font/Subtype/CIDFontType2/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor %d 0 R/DW 1000/W[1[%s]]/CIDToGIDMap/Identity>>", name, descriptor, widths.String())
	return out.add("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]/ToUnicode %d 0 R>>", name, descendant, out.stream("", f.characters()))
}

// characters is the table by which glyphs are read as text.
func (f *Font) characters() []byte {
	const most = 100 // entries of a part, by the standard
	var b bytes.Buffer
	b.WriteString("/CIDInit/ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n/CMapName/Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000><FFFF>\nendcodespacerange\n")
	id := 0
	for part := range slices.Chunk(f.runes, most) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for _, r := range part {
			id++
			fmt.Fprintf(&b, "<%04X><%s>\n", id, utf16Hex(string(r)))
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict/CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}

// outline adds the bookmarks as a tree and returns its root.
func (f *file) outline(list []bookmark, at func(place) string) int {
	type node struct {
		number, parent, first, last, before, after, count int
		level                                             int
	}
	root := &node{number: f.reserve()}
	nodes := make([]*node, len(list))
	byNumber := map[int]*node{root.number: root}
	open := []*node{root}
	for i, b := range list {
		n := &node{number: f.reserve(), level: b.level}
		nodes[i], byNumber[n.number] = n, n
		for len(open) > 1 && open[len(open)-1].level >= b.level {
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		n.parent, n.before = parent.number, parent.last
		if parent.first == 0 {
			parent.first = n.number
		} else {
			byNumber[parent.last].after = n.number
		}
		parent.last = n.number
		parent.count++
		open = append(open, n)
	}
	entry := func(name string, n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("/%s %d 0 R", name, n)
	}
	for i, n := range nodes {
		count := ""
		if n.count > 0 {
			count = fmt.Sprintf("/Count -%d", n.count) // closed
		}
		f.setf(n.number, "<</Title%s/Dest%s/Parent %d 0 R%s%s%s%s%s>>", unicode(list[i].title), at(list[i].to), n.parent,
			entry("First", n.first), entry("Last", n.last), entry("Prev", n.before), entry("Next", n.after), count)
	}
	f.setf(root.number, "<</Type/Outlines%s%s/Count %d>>", entry("First", root.first), entry("Last", root.last), root.count)
	return root.number
}
