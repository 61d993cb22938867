package pdfdoc

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
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
	one.Box(1, 2, 3, 4, Color{1, 0.5, 0})
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
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	return out.String()
}

func TestFile(t *testing.T) {
	data := sample().Bytes()
	for _, want := range []string{
		"/Lang(en)", "/Title<FEFF0041002000280074", `/URI(https://example.org/\(x\))`, "/XYZ null 150 null", "/CreationDate(D:20260102030405Z)", "/Count 2/Kids", "/Count -2", "/W[1[500 500 ]]", "+Letters",
	} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if n := bytes.Count(data, []byte("/Subtype/Link")); n != 2 {
		t.Errorf("%d links, and one of three leads nowhere", n)
	}
	text := streams(t, data)
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

// Every object stands where the table says.
func TestTableOfObjects(t *testing.T) {
	data := sample().Bytes()
	_, table, _ := bytes.Cut(data, []byte("\nxref\n"))
	for i, found := range regexp.MustCompile(`(\d{10}) 00000 n`).FindAllSubmatch(table, -1) {
		at, err := strconv.Atoi(string(found[1]))
		if err != nil || !bytes.HasPrefix(data[at:], fmt.Appendf(nil, "%d 0 obj\n", i+1)) {
			t.Errorf("object %d is not at %d", i+1, at)
		}
	}
	var start int
	if _, err := fmt.Sscanf(string(data[bytes.LastIndex(data, []byte("startxref")):]), "startxref\n%d", &start); err != nil || !bytes.HasPrefix(data[start:], []byte("xref\n")) {
		t.Errorf("the table is not at %d: %v", start, err)
	}
}
