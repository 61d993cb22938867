package pdfdoc

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// letters is a face with a glyph for each ASCII character, half as wide as high.
type letters struct{}

func (letters) Glyph(r rune) uint16 {
	if r < 128 {
		return uint16(r)
	}
	return 0
}
func (letters) Advance(uint16) int { return 500 }
func (letters) Measures() (ascent, descent, capitals int, box [4]int) {
	return 800, -200, 700, [4]int{0, -200, 500, 800}
}
func (letters) Subset(glyphs []uint16) []byte { return fmt.Append(nil, glyphs) }

func sample() *Document {
	d := &Document{Title: "A (title) é", Lang: "en", Creator: "test", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	f := d.Font(letters{}, "Letters")
	one, two := d.Page(100, 200), d.Page(100, 200)
	before := one.Reserve()
	one.Text(10, 20, "ab", Look{Font: f, Size: 10})
	before.Text(10, 10, "ba", Look{Font: f, Size: 10, Slant: true, Heavy: true})
	d.Open(Figure, About{Alt: "a box"})
	one.Box(1, 2, 3, 4, Color{1, 0.5, 0})
	d.Close()
	one.Line(1, 2, 3, 4, 1, Color{})
	one.Link(0, 0, 10, 10, "https://example.org/(x)")
	one.Link(0, 0, 10, 10, "#there")
	one.Link(0, 0, 10, 10, "#nowhere")
	two.Anchor("there", 50)
	for _, b := range []struct {
		level int
		title string
	}{{2, "one"}, {3, "one a"}, {3, "one b"}, {2, "two"}} {
		two.Bookmark(b.level, b.title, 10)
	}
	return d
}

// streams unpacks the streams of a file.
func streams(t *testing.T, data []byte) string {
	t.Helper()
	var out strings.Builder
	for part := range bytes.SplitSeq(data, []byte("stream\n")) {
		if text := unpacked(part); text != nil {
			out.Write(append(text, '\n'))
		}
	}
	return out.String()
}

// unpacked is what a stream holds, nil if it is none.
func unpacked(part []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(part))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return text
}

func TestFile(t *testing.T) {
	data := sample().Bytes()
	text := streams(t, data)
	for _, want := range []string{
		"/Lang(en)", "/Title<FEFF0041002000280074", `/URI(https://example.org/\(x\))`, "/XYZ null 150 null", "/CreationDate(D:20260102030405Z)", "/Count 2/Kids", "/Count -2", "/W[1[500 500 ]]", "+Letters",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "/Subtype/Link"); n != 2 {
		t.Errorf("%d links, and one of three leads nowhere", n)
	}
	// b was used first, in what was reserved only later: a is 1.
	if first, second := strings.Index(text, "<00020001> Tj"), strings.Index(text, "<00010002> Tj"); first < 0 || second < first {
		t.Errorf("what was reserved does not come first:\n%s", text)
	}
	for _, want := range []string{"<0001><0061>", "<0002><0062>", "1 0.5 0 rg 1 194 3 4 re f"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if !bytes.Equal(data, sample().Bytes()) {
		t.Error("the same calls give two files")
	}
}

// Text belongs to the part of the document that was open when it was written, or
// when its place was reserved; the rest is decoration.
func TestStructure(t *testing.T) {
	d := &Document{}
	look := Look{Font: d.Font(letters{}, "Letters"), Size: 10}
	p := d.Page(100, 200)
	p.Text(0, 0, "number of the page", look)
	d.Open(Heading(1), About{})
	late := p.Reserve()
	d.Close()
	d.Open(Table, About{Lang: "ru"})
	d.Open(Decoration, About{})
	d.Open(Row, About{}) // the header again
	p.Link(0, 0, 10, 10, "https://example.org/")
	d.Close()
	d.Close()
	d.Open(Row, About{})
	d.Open(HeaderCell, About{})
	p.Text(0, 0, "a", look)
	p.Line(0, 0, 1, 1, 1, Color{})
	p.Text(0, 0, "b", look)
	d.Open(Reference, About{})
	p.Link(0, 0, 10, 10, "https://example.org/")
	d.Close()
	d.Close()
	d.Close()
	d.Close()
	late.Text(0, 0, "c", look)
	text := streams(t, d.Bytes())
	var marks []string
	for _, m := range regexp.MustCompile(`/(\w+)(?:<</MCID (\d)>>)? ?B[MD]C`).FindAllStringSubmatch(text, -1) {
		marks = append(marks, m[1]+m[2])
	}
	if got := strings.Join(marks, " "); got != "Artifact H12 TH0 Artifact TH1" {
		t.Errorf("marked are %s", got)
	}
	if begun, ended := len(marks), strings.Count(text, "EMC"); begun != ended {
		t.Errorf("%d pieces are begun and %d ended", begun, ended)
	}
	var tree []string
	for _, m := range regexp.MustCompile(`/StructElem/S/(\w+)`).FindAllStringSubmatch(text, -1) {
		tree = append(tree, m[1])
	}
	if got := strings.Join(tree, " "); got != "Document H1 Table TR TH Link" {
		t.Errorf("the structure is %s", got)
	}
	for _, want := range []string{"/Marked true", "/Lang(ru)", "/Scope/Column", "/Type/OBJR"} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%d times %s", n, want)
		}
	}
}

// Every object stands where the table says.
func TestTableOfObjects(t *testing.T) {
	data := sample().Bytes()
	var start int
	if _, err := fmt.Sscanf(string(data[bytes.LastIndex(data, []byte("startxref")):]), "startxref\n%d", &start); err != nil {
		t.Fatal(err)
	}
	stream := func(at int) []byte {
		_, packed, _ := bytes.Cut(data[at:], []byte("stream\n"))
		return unpacked(packed)
	}
	packs, n := map[int][]byte{}, 0
	for row := range slices.Chunk(stream(start), 7) {
		if at := int(binary.BigEndian.Uint32(row[1:])); row[0] == 1 {
			if !bytes.HasPrefix(data[at:], fmt.Appendf(nil, "%d 0 obj\n", n)) {
				t.Errorf("object %d is not at %d", n, at)
			}
			packs[n] = stream(at)
		}
		n++
	}
	n = 0
	for row := range slices.Chunk(stream(start), 7) {
		if row[0] == 2 {
			pack := packs[int(binary.BigEndian.Uint32(row[1:]))]
			if fields := strings.Fields(string(pack)); fields[2*binary.BigEndian.Uint16(row[5:])] != strconv.Itoa(n) {
				t.Errorf("object %d is not in its pack", n)
			}
		}
		n++
	}
	if n < 20 {
		t.Errorf("%d objects", n)
	}
}

// Characters of all planes can be read out of the file, and stand in titles.
func TestOtherPlanes(t *testing.T) {
	d := &Document{Title: "𠮷"}
	p := d.Page(100, 200)
	p.Text(0, 0, "𠮷a𝔸", Look{Font: d.Font(letters{}, "Letters"), Size: 10})
	p.Bookmark(2, "🎩", 0)
	text := streams(t, d.Bytes())
	for _, want := range []string{"<0001><D842DFB7>", "<0003><D835DD38>", "/Title<FEFFD842DFB7>", "/Title<FEFFD83CDFA9>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
