package reader

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readDOCX reads the text of a Word document: headings, lists, tables, and
// its notes at the end.
func (b *builder) readDOCX(body []byte) error {
	a, err := openArchive(body, DOCX)
	if err != nil {
		return err
	}
	main, err := a.part("word/document.xml", DOCX)
	if err != nil {
		return partError(err)
	}
	d := &docx{b: b, styles: map[string]docxStyle{}}
	if part, err := a.part("word/styles.xml", DOCX); err == nil {
		d.readStyles(part)
	}
	if part, err := a.part("docProps/core.xml", DOCX); err == nil {
		b.coreProperties(part)
	}
	if err := d.read(main); err != nil {
		if b.text.Len() == 0 {
			return &Error{Reason: Broken, Format: DOCX, Why: err.Error()}
		}
		b.warn("the document is damaged after this: " + err.Error())
	}
	for _, name := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if part, err := a.part(name, DOCX); err == nil {
			d.readNotes(part)
		}
	}
	return nil
}

// partError names a part that an archive should have.
func partError(err error) error {
	if err == errMissing {
		return &Error{Reason: Broken, Format: DOCX, Why: "it has no text part"}
	}
	return err
}

type docx struct {
	b      *builder
	styles map[string]docxStyle

	para   strings.Builder
	style  string
	level  int // outline level of the paragraph itself, from 1
	listed bool
	depth  int // of the list item
	cell   strings.Builder
	rows   []row
	tables int // how many tables deep
}

// docxStyle is what a style makes of a paragraph.
type docxStyle struct {
	kind   Kind // Heading, Item, Code, Contents, Note, Quote; "" for a paragraph
	level  int  // of a heading or an item, from 1
	parent string
}

// headingNames are the names of the styles of headings, before their level.
// Word names them in English whatever its language; others do not.
var headingNames = []string{"heading", "заголовок", "标题", "標題", "見出し", "überschrift", "titre", "título", "titolo", "nagłówek", "nadpis", "rubrik", "kop", "başlık", "제목", "otsikko", "overskrift", "címsor"}

// docxStyleOf reads the name of a style.
func docxStyleOf(name string) (kind Kind, level int) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, h := range headingNames {
		if rest, ok := strings.CutPrefix(name, h); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n > 0 && n < 10 {
				return Heading, n
			}
		}
	}
	switch {
	case name == "title":
		return Heading, 1
	case strings.HasPrefix(name, "toc ") && name != "toc heading", strings.HasPrefix(name, "index ") && name != "index heading", name == "table of figures":
		return Contents, 0
	case strings.Contains(name, "preformatted"), strings.Contains(name, "source code"), name == "code", strings.HasPrefix(name, "code "), name == "macro", strings.Contains(name, "listing"):
		return Code, 0
	case name == "caption":
		return Note, 0
	case name == "quote", name == "intense quote":
		return Quote, 0
	case name == "list heading", name == "definition term":
		return Term, 1
	case name == "list contents", name == "definition":
		return Definition, 1
	}
	if rest, ok := strings.CutPrefix(name, "list "); ok && !strings.HasPrefix(rest, "paragraph") {
		level = 1
		if n, err := strconv.Atoi(rest[strings.LastIndexByte(rest, ' ')+1:]); err == nil {
			level = min(max(n, 1), 8)
		}
		if strings.HasPrefix(rest, "bullet") || strings.HasPrefix(rest, "number") {
			return Item, level
		}
	}
	return "", 0
}

// style is what a style is or, where it says nothing itself, what the one is
// that it is based on.
func (d *docx) styleOf(id string) docxStyle {
	for range 8 {
		s, ok := d.styles[id]
		if !ok || s.kind != "" || s.parent == "" {
			return s
		}
		id = s.parent
	}
	return docxStyle{}
}

// value is the w:val of an element.
func value(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (d *docx) readStyles(part []byte) {
	x := xml.NewDecoder(bytes.NewReader(part))
	id := ""
	for {
		t, err := x.Token()
		if err != nil {
			return
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		style := d.styles[id]
		switch e.Name.Local {
		case "style":
			id = value(e, "styleId")
			continue
		case "name":
			style.kind, style.level = docxStyleOf(value(e, "val"))
		case "basedOn":
			style.parent = value(e, "val")
		case "outlineLvl":
			if n, err := strconv.Atoi(value(e, "val")); err == nil && n >= 0 && n < 9 && style.kind == "" {
				style.kind, style.level = Heading, n+1
			}
		case "numPr":
			if style.kind == "" {
				style.kind, style.level = Item, 1
			}
		default:
			continue
		}
		if id != "" && len(d.styles) < 10_000 {
			d.styles[id] = style
		}
	}
}

func (d *docx) read(part []byte) error {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	for !d.b.full {
		t, err := x.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			d.endParagraph()
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == "Fallback" { // says the same again for older programs
				if err := x.Skip(); err != nil {
					return err
				}
				continue
			}
			if err := d.start(x, t); err != nil {
				return err
			}
		case xml.EndElement:
			d.end(t.Name.Local)
		}
	}
	d.endParagraph()
	d.b.endCode()
	return nil
}

func (d *docx) start(x *xml.Decoder, e xml.StartElement) error {
	switch e.Name.Local {
	case "p":
		d.endParagraph()
	case "pStyle":
		d.style = value(e, "val")
	case "outlineLvl":
		if n, err := strconv.Atoi(value(e, "val")); err == nil && n < 9 {
			d.level = n + 1
		}
	case "numPr":
		d.listed = true
	case "ilvl":
		d.depth, _ = strconv.Atoi(value(e, "val"))
	case "t":
		text, err := charData(x)
		d.para.WriteString(text)
		return err
	case "tab":
		d.para.WriteByte('\t')
	case "br", "cr":
		d.para.WriteByte(' ')
	case "noBreakHyphen":
		d.para.WriteByte('-')
	case "footnoteReference", "endnoteReference":
		d.para.WriteString("[" + value(e, "id") + "]")
	case "tbl":
		d.endParagraph()
		d.b.endCode()
		d.tables++
	case "tr":
		if d.tables == 1 {
			d.rows = append(d.rows, row{})
		}
	case "tblHeader":
		if d.tables == 1 && len(d.rows) > 0 {
			d.rows[len(d.rows)-1].header = value(e, "val") != "0" && value(e, "val") != "false"
		}
	}
	return nil
}

func (d *docx) end(name string) {
	switch name {
	case "p":
		d.endParagraph()
	case "tc":
		if d.tables == 1 && len(d.rows) > 0 {
			last := &d.rows[len(d.rows)-1]
			last.cells = append(last.cells, strings.TrimSpace(d.cell.String()))
			d.cell.Reset()
		}
	case "tbl":
		if d.tables--; d.tables == 0 {
			d.b.table(knownHeader(d.rows))
			d.rows = nil
		}
		d.tables = max(d.tables, 0)
	}
}

// charData reads the text of an element up to its end.
func charData(x *xml.Decoder) (string, error) {
	var s strings.Builder
	for {
		t, err := x.Token()
		if err != nil {
			return s.String(), err
		}
		switch t := t.(type) {
		case xml.CharData:
			s.Write(t)
		case xml.StartElement:
			if err := x.Skip(); err != nil {
				return s.String(), err
			}
		case xml.EndElement:
			return s.String(), nil
		}
	}
}

func (d *docx) endParagraph() {
	raw := d.para.String()
	text := strings.Join(strings.Fields(raw), " ")
	style, level, listed, depth := d.styleOf(d.style), d.level, d.listed, d.depth
	d.para.Reset()
	d.style, d.level, d.listed, d.depth = "", 0, false, 0
	if d.tables > 0 {
		if text != "" {
			d.cell.WriteString(text + " ")
		}
		return
	}
	kind := style.kind
	switch {
	case level > 0:
		kind = Heading
	case kind == Heading:
		level = style.level
	case listed && kind != Code && kind != Contents:
		kind = Item
		if depth == 0 && style.kind == Item {
			depth = style.level - 1
		}
	case kind == Item:
		depth = style.level - 1
	}
	if kind == Code {
		d.b.codeLine(strings.TrimRight(strings.ReplaceAll(raw, "\t", "    "), " "))
		return
	}
	if text == "" {
		return
	}
	d.b.endCode()
	switch kind {
	case Heading:
		d.b.heading(level, text)
		if d.b.page.Title == "" && !contentsWord(text) {
			d.b.page.Title = text
		}
	case Item:
		d.b.item(min(max(depth, 0), 8)+1, 0, false, text, escapeMarkdown(text))
	case Contents:
		d.b.contents(text, escapeMarkdown(text))
	case Quote:
		d.b.add(Quote, 0, text, "> "+escapeMarkdown(text))
	case Note:
		d.b.add(Note, 0, text, escapeMarkdown(text))
	case Term:
		d.b.add(Term, 1, text, escapeMarkdown(text))
	case Definition:
		d.b.add(Definition, 1, text, ": "+escapeMarkdown(text))
	default:
		d.b.paragraph(text)
	}
}

func (d *docx) readNotes(part []byte) {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	id := ""
	var text strings.Builder
	for {
		t, err := x.Token()
		if err != nil {
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "footnote", "endnote":
				id = value(t, "id")
				if kind := value(t, "type"); kind != "" && kind != "normal" {
					id = ""
				}
				text.Reset()
			case "t":
				s, err := charData(x)
				if err != nil {
					return
				}
				text.WriteString(s)
			}
		case xml.EndElement:
			if t.Name.Local == "footnote" || t.Name.Local == "endnote" {
				if s := strings.Join(strings.Fields(text.String()), " "); s != "" && id != "" {
					s = fmt.Sprintf("[%s] %s", id, s)
					d.b.add(Note, 0, s, escapeMarkdown(s))
				}
			}
		}
	}
}

// coreProperties reads title, author and date of an Office document.
func (b *builder) coreProperties(part []byte) {
	var p struct {
		Title    string `xml:"title"`
		Creator  string `xml:"creator"`
		Created  string `xml:"created"`
		Language string `xml:"language"`
	}
	if xml.Unmarshal(part, &p) != nil {
		return
	}
	b.page.Title, b.page.Author, b.page.Lang = strings.TrimSpace(p.Title), strings.TrimSpace(p.Creator), baseLang(p.Language)
	if len(p.Created) >= 10 {
		b.page.Date = p.Created[:10]
	}
}
