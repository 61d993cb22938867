package reader

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the blocks of the samples as they are now")

// structure is a page's blocks, one a line, with what a reader of them sees.
func structure(p *Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q\n", p.Format, p.Title)
	path := ""
	for _, k := range p.Blocks {
		if at := strings.Join(k.Path, " / "); at != path {
			fmt.Fprintf(&b, "under %q\n", at)
			path = at
		}
		level := ""
		if k.Level > 0 {
			level = fmt.Sprintf(" %d", k.Level)
		}
		page := ""
		if k.Page > 0 {
			page = fmt.Sprintf(" on page %d", k.Page)
		}
		fmt.Fprintf(&b, "%s%s%s: %s\n", k.Kind, level, page, strings.ReplaceAll(p.Text[k.Start:k.End], "\n", "\n  | "))
	}
	return b.String()
}

// TestStructure reads the samples in testdata/structure: each has the shape of
// documents that tools make, and beside it the blocks that it consists of.
func TestStructure(t *testing.T) {
	files, err := filepath.Glob("testdata/structure/*")
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, Config{Workers: 1})
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".blocks") {
			continue
		}
		n++
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Read(t.Context(), Document{Path: file, Body: body})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		check(t, p)
		got := structure(p)
		if *update {
			if err := os.WriteFile(file+".blocks", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file + ".blocks")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got != string(want) {
			t.Errorf("%s:\n%swant\n%s", file, got, want)
		}
	}
	if n == 0 {
		t.Error("no samples")
	}
}

// FuzzText reads any text: its blocks stay parts of it, in order.
func FuzzText(f *testing.F) {
	seed(f, ".txt")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parse(&Document{Body: []byte(s)}, Text, limits{Text: 1 << 20})
		if err == nil {
			check(t, p)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	seed(f, ".md")
	fuzz(f, Markdown, func(_ testing.TB, s string) []byte { return []byte(s) }, "a|b\n-|-\n|", "> [!x]\n>", "x\n: y\n- [a](#b)", "```\n", "- a\n\n      b\n\n      c")
}

func FuzzRST(f *testing.F) {
	seed(f, ".rst")
	fuzz(f, RST, func(_ testing.TB, s string) []byte { return []byte(s) }, "==\na\n==", "+-+\n|", "== ==\na", ".. x:: y\n   z", "-a  b\n:c: d")
}

func FuzzASCIIDoc(f *testing.F) {
	seed(f, ".adoc")
	fuzz(f, ASCIIDoc, func(_ testing.TB, s string) []byte { return []byte(s) }, "|===\n|a|b\n\\|\n|===", "a::\n+\n----", "[cols=\"2*\"]\n|===\n|", "====\n****")
}

func FuzzODT(f *testing.F) {
	fuzz(f, ODT, odtOf, "<text:p>x</text:p>", "<text:list><text:list-item><text:p>", "<table:table><table:table-row></table:table>", "</text:p>")
}

func FuzzPPTX(f *testing.F) {
	fuzz(f, PPTX, func(t testing.TB, s string) []byte { return pptxOf(t, s) }, "<a:p><a:t>x</a:t></a:p>", "<a:tbl><a:tr><a:tc></a:tbl>", "</a:tc>")
}

func FuzzXLSX(f *testing.F) {
	fuzz(f, XLSX, func(t testing.TB, s string) []byte { return xlsxOf(t, s, s) }, "<row><c r=\"ZZZ1\"><v>1</v></c></row>", "<c t=\"s\"><v>-1</v></c>", "<si><t>x</t></si>")
}

func FuzzMan(f *testing.F) {
	seed(f, ".1", ".8")
	fuzz(f, Man, func(_ testing.TB, s string) []byte { return []byte(s) }, ".TS\n.\nT{\nT}", ".Bl\n.It Xo\n.Xc", ".TP\n.nf\n\\f(", "\\[u110000]\\s+\\*[")
}

// odtOf makes an OpenDocument of the inside of its text.
func odtOf(t testing.TB, text string) []byte {
	return zipped(t,
		[2]string{"mimetype", "application/vnd.oasis.opendocument.text"},
		[2]string{"styles.xml", `<office:document-styles xmlns:office="o" xmlns:style="s"><office:styles><style:style style:name="Mine" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/></office:styles></office:document-styles>`},
		[2]string{"meta.xml", `<office:document-meta xmlns:office="o" xmlns:dc="d" xmlns:meta="m"><office:meta><dc:title>Чайник</dc:title><meta:initial-creator>А. Заварка</meta:initial-creator><meta:creation-date>2021-04-05T10:00:00</meta:creation-date></office:meta></office:document-meta>`},
		[2]string{"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>` + text + `</office:text></office:body></office:document-content>`},
	)
}

const slideSpace = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`

// pptxOf makes a presentation of the insides of its slides.
func pptxOf(t testing.TB, slides ...string) []byte {
	var list, rels strings.Builder
	var files [][2]string
	for i, s := range slides {
		fmt.Fprintf(&list, `<p:sldId id="%d" r:id="r%d"/>`, 256+i, i)
		fmt.Fprintf(&rels, `<Relationship Id="r%d" Target="slides/slide%d.xml"/>`, i, len(slides)-i) // their names are in another order
		name := fmt.Sprintf("slide%d.xml", len(slides)-i)
		files = append(files, [2]string{"ppt/slides/" + name, `<p:sld ` + slideSpace + `>` + s + `</p:sld>`},
			[2]string{"ppt/slides/_rels/" + name + ".rels", `<Relationships><Relationship Id="n" Target="../notesSlides/` + name + `"/></Relationships>`},
			[2]string{"ppt/notesSlides/" + name, `<p:notes ` + slideSpace + `><p:sp><p:nvPr><p:ph type="body"/></p:nvPr><a:p><a:t>Say it slowly.</a:t></a:p></p:sp></p:notes>`})
	}
	files = append(files,
		[2]string{"ppt/presentation.xml", `<p:presentation ` + slideSpace + ` ` + officeSpace + `><p:sldIdLst>` + list.String() + `</p:sldIdLst></p:presentation>`},
		[2]string{"ppt/_rels/presentation.xml.rels", `<Relationships>` + rels.String() + `</Relationships>`})
	return zipped(t, files...)
}

// xlsxOf makes a workbook of the inside of a sheet and of its strings.
func xlsxOf(t testing.TB, sheet, texts string) []byte {
	return zipped(t,
		[2]string{"xl/workbook.xml", `<workbook ` + officeSpace + `><sheets><sheet name="Kettles" sheetId="1" r:id="r1"/><sheet name="Old" state="hidden" sheetId="2" r:id="r1"/></sheets></workbook>`},
		[2]string{"xl/_rels/workbook.xml.rels", officeRelations("/xl/worksheets/sheet1.xml")},
		[2]string{"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>`},
		[2]string{"xl/sharedStrings.xml", `<sst>` + texts + `</sst>`},
		[2]string{"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`})
}

func TestOffice(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	for _, tt := range []struct {
		name string
		body []byte
		want string
	}{
		{"ODT", odtOf(t, `<text:table-of-content><text:index-body><text:p>Налить 1</text:p></text:index-body></text:table-of-content><text:h text:outline-level="1">Чайник</text:h>
<text:p>Сначала<text:s text:c="2"/>налейте воду<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Холодную.</text:p></text:note-body></text:note>:</text:p>
<text:list><text:list-item><text:p>до половины</text:p><text:list><text:list-item><text:p>или меньше</text:p></text:list-item></text:list></text:list-item></text:list>
<text:p text:style-name="Mine">kettle on</text:p><text:p text:style-name="Mine"><text:s text:c="2"/>now</text:p>
<text:p text:style-name="List_20_Heading">Накипь</text:p><text:p text:style-name="List_20_Contents">Осадок.</text:p>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Чашек</text:p></table:table-cell><table:table-cell><text:p>Минут</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>8</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row></table:table>`),
			`odt "Чайник"
contents: Налить 1
heading 1: Чайник
under "Чайник"
paragraph: Сначала налейте воду[1]:
item 1: до половины
item 2: или меньше
code: kettle on
  |   now
term 1: Накипь
definition 1: Осадок.
header: Чашек | Минут
row: 8 | 5
note: [1] Холодную.
`},
		{"PPTX", pptxOf(t, `<p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><a:p><a:t>1</a:t></a:p></p:sp><p:sp><p:nvPr><p:ph idx="1"/></p:nvPr><a:p><a:t>fill </a:t><a:t>it</a:t></a:p><a:p><a:pPr lvl="1"/><a:t>with water</a:t></a:p></p:sp><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:t>Kettles</a:t></a:p></p:sp>`,
			`<p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:t>Limits</a:t></a:p></p:sp><a:tbl><a:tr><a:tc><a:p><a:t>Cups</a:t></a:p></a:tc><a:tc><a:p><a:t>Minutes</a:t></a:p></a:tc></a:tr><a:tr><a:tc><a:p><a:t>8</a:t></a:p></a:tc><a:tc><a:p><a:t>5</a:t></a:p></a:tc></a:tr></a:tbl>`),
			`pptx "Kettles"
heading 1 on page 1: Kettles
under "Kettles"
item 1 on page 1: fill it
item 2 on page 1: with water
note on page 1: Say it slowly.
under ""
heading 1 on page 2: Limits
under "Limits"
header on page 2: Cups | Minutes
row on page 2: 8 | 5
note on page 2: Say it slowly.
`},
		{"XLSX", xlsxOf(t, `<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Bought</t></is></c></row><row><c r="A2"><v>1.7000000000000002</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" s="1"><v>44291</v></c></row><row/>`, `<si><r><t>Lit</t></r><r><t>res</t></r><rPh><t>no</t></rPh></si>`),
			`xlsx ""
heading 1 on page 1: Kettles
under "Kettles"
row on page 1: Litres | Bought
row on page 1: 1.7 | TRUE | 2021-04-05
`},
	} {
		p, err := r.Read(t.Context(), Document{Body: tt.body})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		check(t, p)
		if got := structure(p); got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// seed adds the samples with an ending to a corpus.
func seed(f *testing.F, endings ...string) {
	for _, ending := range endings {
		files, err := filepath.Glob("testdata/structure/*" + ending)
		if err != nil || len(files) == 0 {
			f.Fatal("no samples", ending, err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(body))
		}
	}
}

// TestLongLines reads texts that are one line, or lines without an end: what is
// read in this process takes time that grows with them.
func TestLongLines(t *testing.T) {
	for _, unit := range []string{" 1. x\n", "- a\n", "a:\n  b\n", "a\n---\n", "x. "} {
		text := strings.Repeat(unit, (256<<10)/len(unit))
		for _, f := range []Format{Text, Man, Markdown, RST, ASCIIDoc} {
			began := time.Now()
			if p, err := parse(&Document{Body: []byte(text)}, f, limits{Text: 1 << 20}); err == nil {
				check(t, p)
			}
			if took := time.Since(began); took > 20*time.Second { // it takes milliseconds; squared it would be minutes
				t.Errorf("%s of %q took %v", f, unit, took)
			}
		}
	}
}
