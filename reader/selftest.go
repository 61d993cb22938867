package reader

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Check is what a self-test found out about one format.
type Check struct {
	Format Format
	// Sample says what was read, where a format has several.
	Sample string
	OK     bool
	Took   time.Duration
	Detail string // what is wrong
}

// Sentences of the samples, in three scripts. The letters that are easily lost
// are in them.
const (
	sampleEnglish = "The ferry to the island leaves at seven in the morning and returns before it is dark."
	sampleRussian = "Ещё до рассвета паром отходит к острову, а возвращается, когда темнеет: объявление об этом висит на пристани."
	sampleChinese = "去岛上的渡船早上七点出发，天黑之前返回，码头上贴着时刻表。"
)

// specimen is a small document with its words.
type specimen struct {
	format Format
	name   string
	path   string // its ending tells the format of a text
	body   func() ([]byte, error)
	words  []string
}

var allWords = []string{sampleEnglish, sampleRussian, sampleChinese}

func specimens() []specimen {
	text := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	paragraphs := "<p>" + strings.Join(allWords, "</p><p>") + "</p>"
	return []specimen{
		{HTML, "", "a.html", text("<!DOCTYPE html><html><head><title>Sample</title></head><body><article><h1>Sample</h1>" + paragraphs + "</article></body></html>"), allWords},
		{PDF, "", "a.pdf", samplePDF, allWords},
		{DOCX, "", "a.docx", sampleDOCX, allWords},
		{EPUB, "", "a.epub", func() ([]byte, error) { return sampleEPUB(paragraphs) }, allWords},
		{ODT, "", "a.odt", sampleODT, allWords},
		{PPTX, "", "a.pptx", samplePPTX, allWords},
		{XLSX, "", "a.xlsx", sampleXLSX, allWords},
		{Man, "", "a.1", text(".TH SAMPLE 1\n.SH DESCRIPTION\n" + strings.Join(allWords, "\n.PP\n") + "\n"), allWords},
		{RST, "", "a.rst", text("Sample\n======\n\n" + strings.Join(allWords, "\n\n") + "\n"), allWords},
		{ASCIIDoc, "", "a.adoc", text("= Sample\n\n" + strings.Join(allWords, "\n\n") + "\n"), allWords},
		{Markdown, "", "a.md", text("# Sample\n\n" + strings.Join(allWords, "\n\n") + "\n"), allWords},
		{JSON, "", "a.json", text(fmt.Sprintf("{%q: [%q, %q]}", sampleEnglish, sampleRussian, sampleChinese)), allWords},
		{CSV, "", "a.csv", text("one,two\n" + sampleEnglish + ",1\n\"" + sampleRussian + "\",2\n" + sampleChinese + ",3\n"), allWords},
		{Text, "UTF-8", "a.txt", text(strings.Join(allWords, "\n\n")), allWords},
		{Text, "windows-1251", "a.txt", func() ([]byte, error) { return charmap.Windows1251.NewEncoder().Bytes([]byte(sampleRussian + "\n")) }, []string{sampleRussian}},
		{Text, "GB 18030", "a.txt", func() ([]byte, error) {
			return simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(sampleChinese + "\n"))
		}, []string{sampleChinese}},
	}
}

// Samples returns the documents of the self-test, one of each format: each says
// in three languages when the ferry to the island leaves.
func Samples() ([]Document, error) {
	var out []Document
	seen := make(map[string]bool)
	for _, s := range specimens() {
		body, err := s.body()
		if err != nil {
			return nil, fmt.Errorf("the sample of %s: %w", s.format, err)
		}
		if !seen[s.path] {
			seen[s.path] = true
			out = append(out, Document{Path: s.path, Body: body})
		}
	}
	return out, nil
}

// SelfTest reads a small sample of each format, the risky ones in a child as
// always, and checks that the words come out. It stops early only when ctx
// ends.
func (r *Reader) SelfTest(ctx context.Context) []Check {
	var out []Check
	for _, s := range specimens() {
		began := time.Now()
		detail := r.try(ctx, s)
		out = append(out, Check{Format: s.format, Sample: s.name, OK: detail == "", Took: time.Since(began), Detail: detail})
		if ctx.Err() != nil {
			break
		}
	}
	return out
}

// try reads a sample and says what is wrong.
func (r *Reader) try(ctx context.Context, s specimen) string {
	body, err := s.body()
	if err != nil {
		return "making the sample: " + err.Error()
	}
	page, err := r.Read(ctx, Document{Path: s.path, Body: body})
	if err != nil {
		return err.Error()
	}
	if page.Format != s.format {
		return fmt.Sprintf("taken for %s", page.Format)
	}
	text := strings.Join(strings.Fields(page.Text), " ")
	for _, w := range s.words {
		if !strings.Contains(text, w) {
			return fmt.Sprintf("%q is not in what was read", w)
		}
	}
	return ""
}

// packed makes a ZIP file of names and contents.
func packed(files ...[2]string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func sampleDOCX() ([]byte, error) {
	var body strings.Builder
	for _, w := range allWords {
		body.WriteString("<w:p><w:r><w:t>" + w + "</w:t></w:r></w:p>")
	}
	return packed(
		[2]string{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		[2]string{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body.String() + `</w:body></w:document>`},
	)
}

const officeSpace = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// officeRelations is the part that says which part is meant by the id r1.
func officeRelations(target string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Target="` + target + `"/></Relationships>`
}

func sampleODT() ([]byte, error) {
	return packed(
		[2]string{"mimetype", "application/vnd.oasis.opendocument.text"},
		[2]string{"content.xml", `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>` +
			strings.Join(allWords, "</text:p><text:p>") + `</text:p></office:text></office:body></office:document-content>`},
	)
}

func samplePPTX() ([]byte, error) {
	return packed(
		[2]string{"ppt/presentation.xml", `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` + officeSpace + `><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>`},
		[2]string{"ppt/_rels/presentation.xml.rels", officeRelations("slides/slide1.xml")},
		[2]string{"ppt/slides/slide1.xml", `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:sp><p:txBody><a:p><a:r><a:t>` +
			strings.Join(allWords, "</a:t></a:r></a:p><a:p><a:r><a:t>") + `</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`},
	)
}

func sampleXLSX() ([]byte, error) {
	return packed(
		[2]string{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` + officeSpace + `><sheets><sheet name="Sample" sheetId="1" r:id="r1"/></sheets></workbook>`},
		[2]string{"xl/_rels/workbook.xml.rels", officeRelations("worksheets/sheet1.xml")},
		[2]string{"xl/sharedStrings.xml", `<sst><si><t>` + strings.Join(allWords, "</t></si><si><t>") + `</t></si></sst>`},
		[2]string{"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row><row r="3"><c r="A3" t="s"><v>2</v></c></row></sheetData></worksheet>`},
	)
}

func sampleEPUB(paragraphs string) ([]byte, error) {
	return packed(
		[2]string{"mimetype", "application/epub+zip"},
		[2]string{"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`},
		[2]string{"book.opf", `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Sample</dc:title></metadata><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>`},
		[2]string{"c.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Sample</title></head><body>` + paragraphs + `</body></html>`},
	)
}

// samplePDF is a page in a font of which only the names of its characters are
// known: what they are is told by a table, as in most PDFs that programs make.
func samplePDF() ([]byte, error) {
	codes := map[rune]int{}
	var names, content strings.Builder
	content.WriteString("BT /F 11 Tf 40 760 Td 20 TL")
	for _, w := range allWords {
		content.WriteString(" <")
		for _, r := range w {
			if codes[r] == 0 {
				codes[r] = len(codes) + 1
				fmt.Fprintf(&names, "<%04X> <", codes[r])
				for _, u := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(&names, "%04X", u)
				}
				names.WriteString(">\n")
			}
			fmt.Fprintf(&content, "%04X", codes[r])
		}
		content.WriteString("> Tj T*")
	}
	content.WriteString(" ET")
	const mostNames = 100 // in one list of the table
	var table strings.Builder
	table.WriteString("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange <0000> <FFFF> endcodespacerange\n")
	lines := strings.SplitAfter(strings.TrimSuffix(names.String(), "\n"), "\n")
	for len(lines) > 0 {
		n := min(len(lines), mostNames)
		fmt.Fprintf(&table, "%d beginbfchar\n%s\nendbfchar\n", n, strings.TrimSuffix(strings.Join(lines[:n], ""), "\n"))
		lines = lines[n:]
	}
	table.WriteString("endcmap end end")
	stream := func(s string) string { return fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(s), s) }
	var b bytes.Buffer
	var offsets []int
	b.WriteString("%PDF-1.4\n")
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 1200 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
		stream(content.String()),
		"<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 8 0 R>>",
		"<</Type/Font/Subtype/CIDFontType2/BaseFont/Sample/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 7 0 R/DW 1000>>",
		"<</Type/FontDescriptor/FontName/Sample/Flags 4/FontBBox[0 -200 1000 800]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>",
		stream(table.String()),
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes(), nil
}
