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
	d := &docx{b: b, styles: map[string]int{}}
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
	styles map[string]int // style → heading level

	para   strings.Builder
	style  string
	level  int // outline level of the paragraph itself, from 1
	listed bool
	depth  int // of the list item
	cell   strings.Builder
	rows   [][]string
	tables int // how many tables deep
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
		switch e.Name.Local {
		case "style":
			id = value(e, "styleId")
		case "name":
			name := strings.ToLower(value(e, "val"))
			if name == "title" {
				d.styles[id] = 1
			} else if n, ok := strings.CutPrefix(name, "heading "); ok {
				if level, err := strconv.Atoi(n); err == nil {
					d.styles[id] = level
				}
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(value(e, "val")); err == nil && n < 9 && d.styles[id] == 0 {
				d.styles[id] = n + 1
			}
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
		d.tables++
	case "tr":
		if d.tables == 1 {
			d.rows = append(d.rows, nil)
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
			d.rows[len(d.rows)-1] = append(d.rows[len(d.rows)-1], strings.TrimSpace(d.cell.String()))
			d.cell.Reset()
		}
	case "tbl":
		if d.tables--; d.tables == 0 {
			d.b.table(headed(d.rows))
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
	text := strings.Join(strings.Fields(d.para.String()), " ")
	style, level, listed, depth := d.style, d.level, d.listed, d.depth
	d.para.Reset()
	d.style, d.level, d.listed, d.depth = "", 0, false, 0
	if text == "" {
		return
	}
	if d.tables > 0 {
		d.cell.WriteString(text + " ")
		return
	}
	if level == 0 {
		level = d.styles[style]
	}
	switch {
	case level > 0:
		d.b.heading(level, text)
		if d.b.page.Title == "" {
			d.b.page.Title = text
		}
	case listed:
		d.b.item(min(depth, 8)+1, 0, false, text, escapeMarkdown(text))
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
