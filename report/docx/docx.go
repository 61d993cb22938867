// Package docx writes a report as a document of Word: headings, lists and
// tables as such, with links, contents and page numbers that the program that
// opens it keeps up to date.
package docx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"dossier/lang"
	"dossier/report"
)

// Render returns the file. The same report gives the same bytes.
func Render(r *report.Report) ([]byte, error) {
	d := r.Document()
	w := &writer{doc: d}
	body := w.body()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	parts := []struct{ name, text string }{
		{"[Content_Types].xml", w.contentTypes()},
		{"_rels/.rels", packageRelations},
		{"docProps/core.xml", properties(d, r)},
		{"docProps/app.xml", application},
		{"word/document.xml", body},
		{"word/styles.xml", strings.ReplaceAll(styles, "LANGUAGE", languageTag(d.Lang))},
		{"word/numbering.xml", w.numbering()},
		{"word/settings.xml", settings},
		{"word/footer1.xml", footer(d.Title)},
		{"word/_rels/document.xml.rels", w.relations()},
	}
	for i, text := range w.charts {
		parts = append(parts, struct{ name, text string }{fmt.Sprintf("word/charts/chart%d.xml", i+1), text})
	}
	for _, part := range parts {
		f, err := archive.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = f.Write([]byte(part.text))
		}
		if err != nil {
			return nil, fmt.Errorf("docx: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("docx: %w", err)
	}
	return out.Bytes(), nil
}

// languageTag is a language as Word names it.
func languageTag(code lang.Code) string {
	switch code {
	case lang.Russian:
		return "ru-RU"
	case lang.Chinese:
		return "zh-CN"
	case lang.English:
		return "en-US"
	}
	return string(code)
}

// writer makes the text of a document.
type writer struct {
	doc    *report.Document
	out    strings.Builder
	links  []string // addresses, in the order of their relations
	lists  []int    // start numbers of the numbered lists
	within int      // the list being written, 0 for none
	charts []string // their files
	marks  int      // bookmarks so far
	heads  int      // headings so far
}

// escape returns text as XML. What XML can't hold is left out.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == '\ufffe' || r == '\uffff' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))))
	return b.String()
}

func (w *writer) body() string {
	w.out.WriteString(xml.Header + `<w:document ` + namespaces + `><w:body>`)
	w.paragraph("Title", "", []report.Span{{Text: w.doc.Title}})
	if w.doc.Question != "" {
		w.paragraph("Subtitle", "", []report.Span{{Text: w.doc.Question}})
	}
	for _, label := range append(append([]string{}, w.doc.Labels...), w.doc.Made) {
		if label != "" {
			w.paragraph("Label", "", []report.Span{{Text: label}})
		}
	}
	w.contents()
	for i := range w.doc.Blocks {
		b := &w.doc.Blocks[i]
		if i > 0 && w.doc.Blocks[i-1].Kind == report.Figure {
			w.paragraph("Caption", "", b.Spans)
			continue
		}
		if i > 0 && b.Quoted && b.Small && w.doc.Blocks[i-1].Quoted { // another quotation
			w.paragraph("AfterTable", "", nil)
		}
		w.block(b)
	}
	w.out.WriteString(`<w:sectPr><w:footerReference w:type="default" r:id="footer"/><w:pgSz w:w="11906" w:h="16838"/>` +
		`<w:pgMar w:top="1247" w:right="1247" w:bottom="1247" w:left="1247" w:header="600" w:footer="600" w:gutter="0"/></w:sectPr></w:body></w:document>`)
	return w.out.String()
}

// fewHeadings need no contents.
const fewHeadings = 3

// contents lists the headings with links to them. The page numbers are fields,
// which programs fill in when they lay the text out.
func (w *writer) contents() {
	var list []*report.Block
	parts := 0
	for i := range w.doc.Blocks {
		if b := &w.doc.Blocks[i]; listed(b) {
			list = append(list, b)
			if b.Level == 2 {
				parts++
			}
		}
	}
	if parts <= fewHeadings {
		return
	}
	w.paragraph("ContentsHeading", "", []report.Span{{Text: w.doc.Contents}})
	for i, b := range list {
		name := heading(i)
		fmt.Fprintf(&w.out, `<w:p><w:pPr><w:pStyle w:val="TOC%d"/></w:pPr>`, b.Level-1)
		fmt.Fprintf(&w.out, `<w:hyperlink w:anchor="%s" w:history="1"><w:r><w:t xml:space="preserve">%s</w:t></w:r><w:r><w:tab/></w:r>`, name, escape(words(b.Spans)))
		fmt.Fprintf(&w.out, `<w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> PAGEREF %s \h </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t></w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:hyperlink>`, name)
		w.out.WriteString(`</w:p>`)
	}
	if len(list) > shortContents {
		w.out.WriteString(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
	}
}

// shortContents are so many lines that the text begins on the same page.
const shortContents = 12

// listed reports whether a block stands in the contents.
func listed(b *report.Block) bool {
	return b.Kind == report.Heading && b.Level <= 3 && !b.Quoted && b.Depth == 0
}

func heading(i int) string { return fmt.Sprintf("_Toc%07d", i+1) }

// words is the text of spans.
func words(spans []report.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func (w *writer) block(b *report.Block) {
	if b.Kind != report.Item && b.Depth == 0 {
		w.within = 0
	}
	left := ""
	if b.Depth > 0 {
		left = fmt.Sprintf(`<w:ind w:left="%d"/>`, 480*b.Depth)
	}
	switch b.Kind {
	case report.Heading:
		anchor := ""
		if listed(b) {
			anchor = heading(w.heads)
			w.heads++
		}
		w.anchored(fmt.Sprintf("Heading%d", min(max(b.Level-1, 1), 4)), "", anchor, b.Spans)
	case report.Item:
		w.item(b)
	case report.Code:
		w.paragraph("Code", left, b.Spans)
	case report.Table:
		w.table(b)
	case report.Figure:
		w.figure(b)
	case report.Rule:
		w.paragraph("Rule", "", nil)
	default:
		style := "BodyText"
		switch {
		case b.Quoted && b.Small:
			style = "QuotePlace"
		case b.Quoted:
			style = "Quote"
		case b.Small:
			style = "Place"
		}
		if leads(b) {
			left = "<w:keepNext/>" + left
		}
		w.paragraph(style, left, b.Spans)
	}
}

// item writes an item of a list. A list of sources carries its numbers as text,
// so that they stay what the markers say.
func (w *writer) item(b *report.Block) {
	level := min(b.Depth, maxDepth) - 1
	if b.Anchor != "" {
		spans := append([]report.Span{{Text: b.Sign + "\t"}}, b.Spans...)
		w.anchored("Source", "", bookmark(b.Anchor), spans)
		return
	}
	list := dots
	if b.Sign != "•" {
		if w.within == 0 || b.Sign == "1." && level == 0 {
			w.lists = append(w.lists, 1)
			w.within = len(w.lists)
		}
		list = dots + w.within
	}
	w.paragraph("ListParagraph", fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, list), b.Spans)
}

// leads reports whether a paragraph only leads to what follows, which it then stays
// on one page with.
func leads(b *report.Block) bool {
	text := strings.TrimSpace(words(b.Spans))
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// bookmark is the name of an anchor as Word takes it.
func bookmark(anchor string) string { return strings.ReplaceAll(anchor, "-", "_") }

func (w *writer) paragraph(style, properties string, spans []report.Span) {
	w.anchored(style, properties, "", spans)
}

// anchored writes a paragraph, to which links lead if it has a name.
func (w *writer) anchored(style, properties, name string, spans []report.Span) {
	fmt.Fprintf(&w.out, `<w:p><w:pPr><w:pStyle w:val="%s"/>%s</w:pPr>`, style, properties)
	if name != "" {
		w.marks++
		fmt.Fprintf(&w.out, `<w:bookmarkStart w:id="%d" w:name="%s"/><w:bookmarkEnd w:id="%d"/>`, w.marks, name, w.marks)
	}
	w.spans(spans)
	w.out.WriteString(`</w:p>`)
}

func (w *writer) spans(spans []report.Span) {
	for i := range spans {
		s := &spans[i]
		switch {
		case s.Link == "":
			w.run(s)
		case strings.HasPrefix(s.Link, "#"):
			fmt.Fprintf(&w.out, `<w:hyperlink w:anchor="%s" w:history="1">`, bookmark(s.Link[1:]))
			w.run(s)
			w.out.WriteString(`</w:hyperlink>`)
		default:
			w.links = append(w.links, s.Link)
			fmt.Fprintf(&w.out, `<w:hyperlink r:id="link%d" w:history="1">`, len(w.links))
			w.run(s)
			w.out.WriteString(`</w:hyperlink>`)
		}
	}
}

// run writes text in one look.
func (w *writer) run(s *report.Span) {
	var look strings.Builder
	for _, p := range []struct {
		is  bool
		xml string
	}{
		{s.Link != "", `<w:rStyle w:val="Hyperlink"/>`},
		{s.Code, `<w:rFonts w:ascii="DejaVu Sans Mono" w:hAnsi="DejaVu Sans Mono" w:cs="Consolas"/>`},
		{s.Strong, `<w:b/>`},
		{s.Slant, `<w:i/>`},
		{s.Struck, `<w:strike/>`},
		{s.Warn, `<w:color w:val="8A4B00"/>`},
		{s.Link != "", `<w:color w:val="0B5CAD"/>`}, // tables hide that of the style
	} {
		if p.is {
			look.WriteString(p.xml)
		}
	}
	w.out.WriteString(`<w:r>`)
	if look.Len() > 0 {
		w.out.WriteString(`<w:rPr>` + look.String() + `</w:rPr>`)
	}
	for i, l := range strings.Split(s.Text, "\n") {
		if i > 0 {
			w.out.WriteString(`<w:br/>`)
		}
		for j, cell := range strings.Split(l, "\t") {
			if j > 0 {
				w.out.WriteString(`<w:tab/>`)
			}
			if cell != "" {
				w.out.WriteString(`<w:t xml:space="preserve">` + escape(cell) + `</w:t>`)
			}
		}
	}
	w.out.WriteString(`</w:r>`)
}

// table writes a table over the whole width, whose first row comes again on
// each page.
func (w *writer) table(b *report.Block) {
	columns := 0
	for _, row := range b.Rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return
	}
	w.out.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="ReportTable"/><w:tblW w:w="5000" w:type="pct"/><w:tblLayout w:type="autofit"/></w:tblPr><w:tblGrid>`)
	widths := shares(b.Rows, columns)
	for _, width := range widths {
		fmt.Fprintf(&w.out, `<w:gridCol w:w="%d"/>`, width)
	}
	w.out.WriteString(`</w:tblGrid>`)
	for i, row := range b.Rows {
		w.out.WriteString(`<w:tr>`)
		head := ""
		if i == 0 {
			w.out.WriteString(`<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>`)
			head = `<w:shd w:val="clear" w:color="auto" w:fill="F4F6F8"/>`
		}
		for j := range columns {
			fmt.Fprintf(&w.out, `<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/>%s</w:tcPr>`, widths[j], head)
			var cell []report.Span
			if j < len(row) {
				cell = row[j]
			}
			w.paragraph("Cell", "", cell)
			w.out.WriteString(`</w:tc>`)
		}
		w.out.WriteString(`</w:tr>`)
	}
	w.out.WriteString(`</w:tbl>`)
	w.paragraph("AfterTable", "", nil)
}

// textWidth is what lies between the margins, in twentieths of a point.
const textWidth = 11906 - 2*1247

// shares are the widths of columns, by how much text they hold.
func shares(rows [][][]report.Span, columns int) []int {
	weights, total := make([]int, columns), 0
	for i := range weights {
		weights[i] = 9
		for _, row := range rows {
			if i < len(row) {
				weights[i] = max(weights[i], min(34, len([]rune(words(row[i])))+7))
			}
		}
		total += weights[i]
	}
	for i := range weights {
		weights[i] = textWidth * weights[i] / total
	}
	return weights
}
