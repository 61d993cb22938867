package reader

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// readODT reads the text of an OpenDocument: headings, lists, tables, notes.
func (b *builder) readODT(body []byte) error {
	a, err := openArchive(body, ODT)
	if err != nil {
		return err
	}
	if manifest, err := a.part("META-INF/manifest.xml", ODT); err == nil && bytes.Contains(manifest, []byte("encryption-data")) {
		return &Error{Reason: Locked, Format: ODT, Why: "it is protected by a password"}
	}
	content, err := a.part("content.xml", ODT)
	if errors.Is(err, errMissing) {
		return &Error{Reason: Broken, Format: ODT, Why: "it has no text part"}
	}
	if err != nil {
		return err
	}
	o := &odt{b: b, styles: map[string]string{}}
	if part, err := a.part("styles.xml", ODT); err == nil {
		o.readStyles(part)
	}
	if part, err := a.part("meta.xml", ODT); err == nil {
		b.odtProperties(part)
	}
	o.readStyles(content)
	if err := o.read(content); err != nil {
		if b.text.Len() == 0 {
			return &Error{Reason: Broken, Format: ODT, Why: err.Error()}
		}
		b.warn("the document is damaged after this: " + err.Error())
	}
	return nil
}

// odt reads a document of text. The frames of paragraphs that are under way
// are a stack: a note stands inside a paragraph and has its own.
type odt struct {
	b      *builder
	styles map[string]string // style → the style that it is made from, or what it is called

	frames []*odtFrame
	lists  int
	items  []bool // for each open entry: something of it was written
	index  int    // tables of contents and indexes that are open
	tables int
	rows   []row
	cell   strings.Builder
	heads  bool // in the rows that head a table
	notes  []string
	inNote int
}

type odtFrame struct {
	text  strings.Builder
	style string
	level int // of a heading
}

func (o *odt) readStyles(part []byte) {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	for {
		t, err := x.Token()
		if err != nil {
			return
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "style" && value(e, "family") == "paragraph" && len(o.styles) < 10_000 {
			o.styles[value(e, "name")] = value(e, "parent-style-name")
		}
		if e.Name.Local == "body" {
			return
		}
	}
}

// styled says which of the styles that mean something a style is made from.
func (o *odt) styled(style string) string {
	for range 8 {
		name := strings.ToLower(strings.ReplaceAll(style, "_20_", " "))
		switch {
		case name == "title":
			return "title"
		case strings.HasPrefix(name, "preformatted"), strings.Contains(name, "source code"), strings.Contains(name, "listing"), name == "code":
			return "code"
		case strings.HasPrefix(name, "contents ") && !strings.HasPrefix(name, "contents heading"), strings.HasPrefix(name, "index "):
			return "contents"
		case name == "list heading":
			return "term"
		case name == "list contents":
			return "definition"
		case name == "quotations":
			return "quote"
		}
		parent := o.styles[style]
		if parent == "" || parent == style {
			return ""
		}
		style = parent
	}
	return ""
}

func (o *odt) read(part []byte) error {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	for !o.b.full {
		t, err := x.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			o.finish()
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "automatic-styles", "font-face-decls", "tracked-changes", "annotation", "forms", "sequence-decls", "bibliography-mark", "ruby-text", "note-citation", "title", "desc", "script":
				if err := x.Skip(); err != nil {
					o.finish()
					return err
				}
				continue
			}
			o.start(t)
		case xml.EndElement:
			o.end(t.Name.Local)
		case xml.CharData:
			if n := len(o.frames); n > 0 {
				o.frames[n-1].text.Write(t)
			}
		}
	}
	o.finish()
	return nil
}

func (o *odt) finish() {
	for len(o.frames) > 0 {
		o.endParagraph()
	}
	if len(o.rows) > 0 {
		o.b.table(o.rows)
		o.rows = nil
	}
	o.b.endCode()
	for _, s := range o.notes {
		o.b.add(Note, 0, s, escapeMarkdown(s))
	}
	o.notes = nil
}

func (o *odt) write(s string) {
	if n := len(o.frames); n > 0 {
		o.frames[n-1].text.WriteString(s)
	}
}

func (o *odt) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p", "h":
		if len(o.frames) >= 64 {
			return
		}
		f := &odtFrame{style: value(e, "style-name")}
		if e.Name.Local == "h" {
			f.level = 1
			if n, err := strconv.Atoi(value(e, "outline-level")); err == nil {
				f.level = min(max(n, 1), 6)
			}
		}
		o.frames = append(o.frames, f)
	case "tab":
		o.write("\t")
	case "line-break":
		o.write("\n")
	case "s":
		n, err := strconv.Atoi(value(e, "c"))
		if err != nil {
			n = 1
		}
		o.write(strings.Repeat(" ", min(max(n, 1), 80)))
	case "list":
		o.lists++
	case "list-item", "list-header":
		o.items = append(o.items, false)
	case "table-of-content", "alphabetical-index", "illustration-index", "table-index", "object-index", "user-index":
		o.index++
	case "table":
		o.b.endCode()
		o.tables++
	case "table-header-rows":
		o.heads = true
	case "table-row":
		if o.tables == 1 {
			o.rows = append(o.rows, row{header: o.heads})
		}
	case "note":
		o.inNote++
		o.write("[" + strconv.Itoa(len(o.notes)+1) + "]")
	}
}

func (o *odt) end(name string) {
	switch name {
	case "p", "h":
		o.endParagraph()
	case "list":
		o.lists = max(o.lists-1, 0)
	case "list-item", "list-header":
		if n := len(o.items); n > 0 {
			o.items = o.items[:n-1]
		}
	case "table-of-content", "alphabetical-index", "illustration-index", "table-index", "object-index", "user-index":
		o.index = max(o.index-1, 0)
	case "table-header-rows":
		o.heads = false
	case "note":
		o.inNote = max(o.inNote-1, 0)
	case "table-cell":
		if o.tables == 1 && len(o.rows) > 0 {
			last := &o.rows[len(o.rows)-1]
			last.cells = append(last.cells, strings.TrimSpace(o.cell.String()))
			o.cell.Reset()
		}
	case "table":
		if o.tables--; o.tables == 0 {
			o.b.table(knownHeader(o.rows))
			o.rows = nil
		}
		o.tables = max(o.tables, 0)
	}
}

// knownHeader leaves the header that a document names, and looks for one where
// it names none.
func knownHeader(rows []row) []row {
	cells := make([][]string, len(rows))
	for i := range rows {
		if rows[i].header {
			return rows
		}
		cells[i] = rows[i].cells
	}
	return headed(cells)
}

func (o *odt) endParagraph() {
	n := len(o.frames)
	if n == 0 {
		return
	}
	f := o.frames[n-1]
	raw, style, level := f.text.String(), f.style, f.level
	o.frames = o.frames[:n-1]
	text := strings.Join(strings.Fields(raw), " ")
	kind := o.styled(style)
	if n > 1 && o.inNote > 0 {
		if text != "" {
			o.notes = append(o.notes, "["+strconv.Itoa(len(o.notes)+1)+"] "+text)
		}
		return
	}
	if o.tables > 0 {
		o.cell.WriteString(text + " ")
		return
	}
	if kind == "code" && level == 0 {
		o.b.codeLine(strings.TrimRight(raw, " \t\n"))
		return
	}
	if text == "" {
		return
	}
	o.b.endCode()
	switch {
	case o.index > 0 || kind == "contents":
		o.b.contents(text, escapeMarkdown(text))
	case level > 0, kind == "title":
		o.b.heading(max(level, 1), text)
		if o.b.page.Title == "" && !contentsWord(text) {
			o.b.page.Title = text
		}
	case o.lists > 0:
		continued := false
		if n := len(o.items); n > 0 {
			continued, o.items[n-1] = o.items[n-1], true
		}
		o.b.item(min(o.lists, 8), 0, continued, text, escapeMarkdown(text))
	case kind == "term":
		o.b.add(Term, 1, text, escapeMarkdown(text))
	case kind == "definition":
		o.b.add(Definition, 1, text, ": "+escapeMarkdown(text))
	case kind == "quote":
		o.b.add(Quote, 0, text, "> "+escapeMarkdown(text))
	default:
		o.b.paragraph(text)
	}
}

// odtProperties reads title, author and date.
func (b *builder) odtProperties(part []byte) {
	var p struct {
		Meta struct {
			Title    string `xml:"title"`
			Creator  string `xml:"initial-creator"`
			Created  string `xml:"creation-date"`
			Language string `xml:"language"`
		} `xml:"meta"`
	}
	if xml.Unmarshal(part, &p) != nil {
		return
	}
	b.page.Title, b.page.Author, b.page.Lang = strings.TrimSpace(p.Meta.Title), strings.TrimSpace(p.Meta.Creator), baseLang(p.Meta.Language)
	if len(p.Meta.Created) >= 10 {
		b.page.Date = p.Meta.Created[:10]
	}
}
