package pdfdoc

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// file is the PDF being put together: objects by number, from 1.
type file struct {
	objects [][]byte
}

// reserve returns the number of an object to come.
func (f *file) reserve() int {
	f.objects = append(f.objects, nil)
	return len(f.objects)
}

func (f *file) set(n int, format string, args ...any) {
	f.objects[n-1] = fmt.Appendf(nil, format, args...)
}

func (f *file) add(format string, args ...any) int {
	n := f.reserve()
	f.set(n, format, args...)
	return n
}

// stream adds packed data with what a dictionary says of it.
func (f *file) stream(dict string, data []byte) int {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return f.add("<</Length %d/Filter/FlateDecode%s>>\nstream\n%s\nendstream", b.Len(), dict, b.Bytes())
}

// Bytes returns the file.
func (d *Document) Bytes() []byte {
	f := &file{}
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
	for i, p := range d.pages {
		var content bytes.Buffer
		p.bytes(&content)
		n := f.stream("", content.Bytes())
		var notes strings.Builder
		for _, l := range *p.links {
			action := ""
			if name, inside := strings.CutPrefix(l.target, "#"); inside {
				to, ok := d.anchors[name]
				if !ok {
					continue
				}
				action = "/Dest" + at(to)
			} else {
				action = "/A<</S/URI/URI" + literal(l.target) + ">>"
			}
			fmt.Fprintf(&notes, "%d 0 R ", f.add("<</Type/Annot/Subtype/Link/Rect[%s %s %s %s]/Border[0 0 0]%s>>", num(l.box[0]), num(l.box[1]), num(l.box[2]), num(l.box[3]), action))
		}
		annots := ""
		if notes.Len() > 0 {
			annots = "/Annots[" + notes.String() + "]"
		}
		f.set(numbers[p], "<</Type/Page/Parent %d 0 R/MediaBox[0 0 %s %s]/Resources<</Font<<%s>>>>/Contents %d 0 R%s>>", tree, num(p.width), num(p.height), fonts.String(), n, annots)
		kids[i] = fmt.Sprintf("%d 0 R", numbers[p])
	}
	f.set(tree, "<</Type/Pages/Count %d/Kids[%s]>>", len(d.pages), strings.Join(kids, " "))
	outline := ""
	if len(d.bookmarks) > 0 {
		outline = fmt.Sprintf("/Outlines %d 0 R/PageMode/UseOutlines", f.outline(d.bookmarks, at))
	}
	f.set(catalog, "<</Type/Catalog/Pages %d 0 R/Lang%s/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked false>>%s>>", tree, literal(d.Lang), outline)
	info := "<<"
	for _, field := range [][2]string{{"Title", d.Title}, {"Subject", d.Subject}, {"Author", d.Author}, {"Creator", d.Creator}, {"Producer", d.Creator}} {
		if field[1] != "" {
			info += "/" + field[0] + unicode(field[1])
		}
	}
	if !d.Created.IsZero() {
		info += "/CreationDate" + literal("D:"+d.Created.UTC().Format("20060102150405")+"Z")
	}
	return f.bytes(catalog, f.add("%s>>", info))
}

// bytes writes the objects with the table of where they stand.
func (f *file) bytes(catalog, info int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	starts := make([]int, len(f.objects))
	for i, object := range f.objects {
		starts[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	sum := sha256.Sum256(b.Bytes())
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(f.objects)+1)
	for _, at := range starts {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root %d 0 R/Info %d 0 R/ID[<%x><%x>]>>\nstartxref\n%d\n%%%%EOF\n", len(f.objects)+1, catalog, info, sum[:16], sum[:16], table)
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
		f.set(n.number, "<</Title%s/Dest%s/Parent %d 0 R%s%s%s%s%s>>", unicode(list[i].title), at(list[i].to), n.parent,
			entry("First", n.first), entry("Last", n.last), entry("Prev", n.before), entry("Next", n.after), count)
	}
	f.set(root.number, "<</Type/Outlines%s%s/Count %d>>", entry("First", root.first), entry("Last", root.last), root.count)
	return root.number
}
