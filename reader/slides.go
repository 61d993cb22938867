package reader

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

// relations reads the file that says which part of an Office document is
// meant by an id: id → path in the archive.
func (a *archive) relations(of string, f Format) map[string]string {
	dir, name := path.Split(of)
	part, err := a.part(dir+"_rels/"+name+".rels", f)
	if err != nil {
		return nil
	}
	var rels struct {
		List []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
			Mode   string `xml:"TargetMode,attr"`
		} `xml:"Relationship"`
	}
	if xml.Unmarshal(part, &rels) != nil {
		return nil
	}
	got := map[string]string{}
	for _, r := range rels.List {
		if r.Mode == "External" {
			continue
		}
		if from, ok := strings.CutPrefix(r.Target, "/"); ok {
			got[r.ID] = from
		} else {
			got[r.ID] = path.Join(dir, r.Target)
		}
	}
	return got
}

// readPPTX reads slides in their order: the title is a heading, the text
// entries of a list, what the speaker says a note.
func (b *builder) readPPTX(body []byte, l limits) error {
	a, err := openArchive(body, PPTX)
	if err != nil {
		return err
	}
	const main = "ppt/presentation.xml"
	part, err := a.part(main, PPTX)
	if errors.Is(err, errMissing) {
		return &Error{Reason: Broken, Format: PPTX, Why: "it has no list of slides"}
	}
	if err != nil {
		return err
	}
	var deck struct {
		Slides []struct {
			ID string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if err := xml.Unmarshal(part, &deck); err != nil {
		return &Error{Reason: Broken, Format: PPTX, Why: "its list of slides: " + err.Error()}
	}
	if part, err := a.part("docProps/core.xml", PPTX); err == nil {
		b.coreProperties(part)
	}
	rels := a.relations(main, PPTX)
	for i, s := range deck.Slides {
		if i >= l.Pages && l.Pages > 0 {
			b.warn("only the first " + strconv.Itoa(l.Pages) + " slides are read")
			break
		}
		name := rels[s.ID]
		part, err := a.part(name, PPTX)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); ok && e.Reason == TooLarge {
				return err
			}
			b.warn("a slide could not be read: " + strconv.Itoa(i+1))
			continue
		}
		b.at = i + 1
		slide := &slide{b: b}
		slide.read(part)
		slide.write()
		for _, target := range a.relations(name, PPTX) {
			if !strings.HasPrefix(target, "ppt/notesSlides/") {
				continue
			}
			if part, err := a.part(target, PPTX); err == nil {
				notes := &slideNotes{}
				(&slideReader{take: notes.take}).read(part)
				for _, s := range notes.texts {
					b.add(Note, 0, s, escapeMarkdown(s))
				}
			}
		}
	}
	return nil
}

// slide collects what is on one: its title comes first wherever it stands.
type slide struct {
	b     *builder
	title string
	parts []slidePart
}

type slidePart struct {
	kind  Kind
	level int
	text  string
	rows  []row
}

func (s *slide) read(part []byte) {
	r := &slideReader{take: s.take, table: func(rows []row) { s.parts = append(s.parts, slidePart{kind: Row, rows: rows}) }}
	r.read(part)
}

func (s *slide) take(place string, level int, text string) {
	switch place {
	case "title", "ctrTitle":
		s.title = strings.TrimSpace(s.title + " " + text)
	case "dt", "ftr", "sldNum", "hdr":
	case "subTitle":
		s.parts = append(s.parts, slidePart{kind: Paragraph, text: text})
	default:
		s.parts = append(s.parts, slidePart{kind: Item, level: level + 1, text: text})
	}
}

func (s *slide) write() {
	if s.title != "" {
		s.b.heading(1, s.title)
		if s.b.page.Title == "" {
			s.b.page.Title = s.title
		}
	}
	for _, p := range s.parts {
		switch p.kind {
		case Row:
			s.b.table(knownHeader(p.rows))
		case Item:
			s.b.item(min(p.level, 8), 0, false, p.text, escapeMarkdown(p.text))
		default:
			s.b.paragraph(p.text)
		}
	}
}

type slideNotes struct{ texts []string }

func (n *slideNotes) take(place string, _ int, text string) {
	if place == "body" {
		n.texts = append(n.texts, text)
	}
}

// slideReader reads the paragraphs and tables of a slide.
type slideReader struct {
	take  func(place string, level int, text string)
	table func([]row)
}

func (r *slideReader) read(part []byte) {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	place, level := "", 0
	var text, cell strings.Builder
	var rows []row
	inTable := false
	for {
		t, err := x.Token()
		if err == io.EOF || err != nil {
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "Fallback":
				if x.Skip() != nil {
					return
				}
			case "sp":
				place = ""
			case "ph":
				if place = value(t, "type"); place == "" {
					place = "body"
				}
			case "p":
				text.Reset()
				level = 0
			case "pPr":
				level, _ = strconv.Atoi(value(t, "lvl"))
			case "br":
				text.WriteByte(' ')
			case "t":
				s, err := charData(x)
				text.WriteString(s)
				if err != nil {
					return
				}
			case "tbl":
				inTable, rows = true, nil
			case "tr":
				rows = append(rows, row{})
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "p":
				s := strings.Join(strings.Fields(text.String()), " ")
				text.Reset()
				if inTable {
					cell.WriteString(s + " ")
				} else if s != "" {
					r.take(place, min(max(level, 0), 8), s)
				}
			case "tc":
				if len(rows) > 0 {
					last := &rows[len(rows)-1]
					last.cells = append(last.cells, strings.TrimSpace(cell.String()))
				}
				cell.Reset()
			case "tbl":
				if inTable = false; r.table != nil && len(rows) > 0 {
					r.table(rows)
				}
				rows = nil
			}
		}
	}
}
