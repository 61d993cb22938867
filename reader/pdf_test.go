package reader

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// laid is a line of text on a page of a PDF: where it stands, in which size
// and font (F1 is Helvetica, F2 bold, F3 Courier).
type laid struct {
	x, y, size float64
	font, text string
}

// body is a line of text as most are.
func body(x, y float64, text string) laid { return laid{x, y, 10, "F1", text} }

// pdfLaid makes a PDF of pages of 600 by 800 points.
func pdfLaid(pages ...[]laid) []byte {
	var b bytes.Buffer
	var offsets []int
	b.WriteString("%PDF-1.4\n")
	object := func(body string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 6+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(pages)))
	for _, name := range []string{"Helvetica", "Helvetica-Bold", "Courier"} {
		object("<</Type/Font/Subtype/Type1/BaseFont/" + name + "/Encoding/WinAnsiEncoding>>")
	}
	for i, lines := range pages {
		var content strings.Builder
		for _, l := range lines {
			fmt.Fprintf(&content, "BT /%s %g Tf %g %g Td (%s) Tj ET\n", l.font, l.size, l.x, l.y, strings.NewReplacer("(", `\(`, ")", `\)`, `\`, `\\`).Replace(l.text))
		}
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R>>>>>>", 7+2*i))
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", content.Len(), content.String()))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes()
}

// TestPDFLayout reads a document as programs lay them out. What tells one page
// from the others is on it, so that only what heads and foots them is alike.
func TestPDFLayout(t *testing.T) {
	around := func(n int, chapter string, lines ...laid) []laid {
		return append(append([]laid{body(60, 770, fmt.Sprintf("Chapter %s   %d", chapter, n))}, lines...), body(298, 20, fmt.Sprint(n)))
	}
	pages := [][]laid{
		around(1, "0: Before all",
			laid{60, 720, 20, "F2", "Contents"},
			body(60, 690, "1 Kettles . . . . . . . . . . . . . . . . . . . . . . . . . . 2"),
			body(60, 676, "1.1 How they are filled . . . . . . . . . . . . . . . . . . . 2"),
			body(60, 662, "1.2 What they cost . . . . . . . . . . . . . . . . . . . . . . 3"),
			body(60, 648, "2 Columns . . . . . . . . . . . . . . . . . . . . . . . . . . 4")),
		around(2, "1: Kettles",
			laid{60, 720, 20, "F2", "1 Kettles"},
			body(60, 690, "A kettle is filled with water before it is switched on, and not the other way, because an"),
			body(60, 677, "empty one breaks; the manufacturer does not repair what was broken in this way, and engi-"),
			body(60, 664, "neers who looked at some of them found nothing to repair."),
			body(75, 651, "The second paragraph begins with an indent, as in many books, and it goes on for a while"),
			body(60, 638, "so that there is a second line."),
			laid{60, 606, 14, "F2", "1.1 How they are filled"},
			body(60, 580, "Fill it as follows:"),
			body(72, 560, "\x95 open the lid, which is done by pressing the button that is found on its handle, and wait"),
			body(82, 547, "until it is open;"),
			body(72, 530, "\x95 pour."),
			laid{60, 500, 10, "F3", "--level=N"},
			body(110, 487, "How full the kettle is to be when the command ends, in percent of what it can hold; a lower"),
			body(110, 474, "number makes tea sooner."),
			body(60, 440, "Run this command to see how full it is at this moment:"),
			laid{80, 420, 10, "F3", "kettle show"},
			laid{92, 407, 10, "F3", "--level"}),
		around(3, "1: Kettles",
			laid{60, 720, 14, "F2", "1.2 What they cost"},
			laid{60, 690, 10, "F2", "Kettle"}, laid{260, 690, 10, "F2", "Litres"}, laid{400, 690, 10, "F2", "Price"},
			body(60, 676, "small"), body(260, 676, "1.0"), body(400, 676, "$ 20"),
			body(60, 662, "large, with a whistle"), body(260, 662, "1.7"), body(400, 662, "$ 35"),
			body(60, 630, "Prices are those of last year and were not changed since then, whatever shops may say to it.")),
		around(4, "2: Columns",
			laid{60, 720, 20, "F2", "2 Columns"},
			body(60, 690, "Text in two columns is read down the"), body(320, 690, "end of the first one is the beginning of"),
			body(60, 677, "first of them before the second, even"), body(320, 677, "the second, as everybody knows who"),
			body(60, 664, "if the program that made it has written"), body(320, 664, "reads newspapers, where columns are"),
			body(60, 651, "each line across both, because that was"), body(320, 651, "so narrow that words are often parted"),
			body(60, 638, "the order in which a printer needed it,"), body(320, 638, "at the end of a line in order to fill it,"),
			body(60, 625, "long ago. A reader who does not know"), body(320, 625, "and where a heading spans several of"),
			body(60, 612, "this gets sentences that make no sense"), body(320, 612, "them, or a picture does, with a caption"),
			body(60, 599, "at all, half of each from one side of the"), body(320, 599, "that is set in letters smaller than those"),
			body(60, 586, "page and half from the other. After the"), body(320, 586, "that the text around them is set in.")),
	}
	r := newReader(t, Config{Workers: 1})
	p, err := r.Read(t.Context(), Document{Body: pdfLaid(pages...)})
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	const want = `pdf ""
heading 1 on page 1: Contents
under "Contents"
contents on page 1: 1 Kettles . . . . . . . . . . . . . . . . . . . . . . . . . . 2
contents on page 1: 1.1 How they are filled . . . . . . . . . . . . . . . . . . . 2
contents on page 1: 1.2 What they cost . . . . . . . . . . . . . . . . . . . . . . 3
contents on page 1: 2 Columns . . . . . . . . . . . . . . . . . . . . . . . . . . 4
under ""
heading 1 on page 2: 1 Kettles
under "1 Kettles"
paragraph on page 2: A kettle is filled with water before it is switched on, and not the other way, because an empty one breaks; the manufacturer does not repair what was broken in this way, and engineers who looked at some of them found nothing to repair.
paragraph on page 2: The second paragraph begins with an indent, as in many books, and it goes on for a while so that there is a second line.
heading 2 on page 2: 1.1 How they are filled
under "1 Kettles / 1.1 How they are filled"
paragraph on page 2: Fill it as follows:
item 1 on page 2: open the lid, which is done by pressing the button that is found on its handle, and wait until it is open;
item 1 on page 2: pour.
term 1 on page 2: --level=N
definition 1 on page 2: How full the kettle is to be when the command ends, in percent of what it can hold; a lower number makes tea sooner.
paragraph on page 2: Run this command to see how full it is at this moment:
code on page 2: kettle show
  |   --level
under "1 Kettles"
heading 2 on page 3: 1.2 What they cost
under "1 Kettles / 1.2 What they cost"
header on page 3: Kettle | Litres | Price
row on page 3: small | 1.0 | $ 20
row on page 3: large, with a whistle | 1.7 | $ 35
paragraph on page 3: Prices are those of last year and were not changed since then, whatever shops may say to it.
under ""
heading 1 on page 4: 2 Columns
under "2 Columns"
paragraph on page 4: Text in two columns is read down the first of them before the second, even if the program that made it has written each line across both, because that was the order in which a printer needed it, long ago. A reader who does not know this gets sentences that make no sense at all, half of each from one side of the page and half from the other. After the
paragraph on page 4: end of the first one is the beginning of the second, as everybody knows who reads newspapers, where columns are so narrow that words are often parted at the end of a line in order to fill it, and where a heading spans several of them, or a picture does, with a caption that is set in letters smaller than those that the text around them is set in.
`
	if got := structure(p); got != want {
		t.Errorf("blocks\n%swant\n%s", got, want)
	}
}
