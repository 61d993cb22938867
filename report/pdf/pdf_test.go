package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/internal/base/fonts"
	"dossier/lang"
	"dossier/reader"
	"dossier/report"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	dir, err := os.MkdirTemp("", "pdf")
	if err != nil {
		panic(err)
	}
	compiled = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// compiled keeps the PDF parser's machine code.
var compiled string

// squeezed is a text without spaces: where lines are broken does not matter.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// unpacked joins what the streams of a file hold.
func unpacked(data []byte) []byte {
	var out bytes.Buffer
	for part := range bytes.SplitSeq(data, []byte("stream\n")) {
		if r, err := zlib.NewReader(bytes.NewReader(part)); err == nil {
			_, _ = io.Copy(&out, r) // up to where another stream begins
		}
	}
	return out.Bytes()
}

// What is written can be read out of the file again, in the order in which it
// is read on paper, in every language.
func TestTextInReadingOrder(t *testing.T) {
	rd := reader.New(reader.Config{CacheDir: compiled})
	t.Cleanup(rd.Close)
	for name, s := range languages {
		r := s.report(3, 2)
		got := Render(r, Options{})
		page, err := rd.Read(context.Background(), reader.Document{URL: "report.pdf", Body: got.Data})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, at := squeezed(page.Text), 0
		for _, want := range []string{
			s.title, s.question, r.Summary, r.Sections[0].Title, s.sentence, s.cell + ": " + s.sentence, "8,2", "4.9 → 5", ":= range 10 {", `fmt.Println(i, "` + s.cell + `") // ≤ ±5 % ✓`,
			r.Sections[1].Title, r.Sections[2].Title, r.Conclusion, "2024-01-11", r.Sources[0].Title, s.quote, r.Sources[11].Title, s.quote,
		} {
			found := strings.Index(text[at:], squeezed(want))
			if found < 0 {
				t.Errorf("%s: %q does not come after what stands before it:\n%s", name, want, page.Text)
				break
			}
			at += found
		}
		if page.Title != s.title {
			t.Errorf("%s: the title is %q", name, page.Title)
		}
		if !bytes.Contains(unpacked(got.Data), []byte("/Lang("+name+")/ViewerPreferences")) {
			t.Errorf("%s: the file does not say its language", name)
		}
	}
}

// Each part of a report is tagged with what it is, in reading order: those who
// have it read to them know headings, lists and tables.
func TestTags(t *testing.T) {
	r := &report.Report{
		Question: "How cold?", Title: "Pumps", Lang: lang.English, Kind: report.Research, Summary: "Cold [1].",
		Sections: []report.Section{{Title: "Limits", Text: "- one\n  - below\n- two\n\n  more\n\nAfter.\n\n> said\n\n```\nx\n```\n\n| a | b |\n| --- | --- |\n| c | d |"}},
		Sources:  []report.Source{{Source: cite.Source{Number: 1, URI: "https://example.org/a", Kind: cite.Web}}},
	}
	var tags []string
	for _, m := range regexp.MustCompile(`/StructElem/S/(\w+)`).FindAllSubmatch(unpacked(Render(r, Options{}).Data), -1) {
		tags = append(tags, string(m[1]))
	}
	got, want := strings.Join(tags, " "), "Document H1 P "+ // title, question
		"H2 P Link H2 L LI Lbl LBody L LI Lbl LBody LI Lbl LBody P P BlockQuote Code Table TR TH TH TR TD TD "+
		"H2 Table TR TH TH TH TH TH TR TD Link TD Link TD TD TD L LI Lbl LBody Link" // sources
	if got != want {
		t.Errorf("the tags are\n%s, not\n%s", got, want)
	}
}

// A plot is drawn, not a picture: its lines are lines and its words are words. It
// stands on one page with its caption and says what it shows.
func TestFigure(t *testing.T) {
	point := func(year int, value float64) series.Point {
		return series.Point{Label: fmt.Sprint(year), At: float64(year), Value: value, Written: fmt.Sprint(value) + "五", Passage: cite.Passage{Source: 1}}
	}
	plot := series.Plot{Title: "容量", Unit: "GW", Dated: true, Lines: []series.Line{{Points: []series.Point{point(2019, 5), point(2020, 7), point(2023, 9.5)}}}}
	for blank := range 12 {
		r := &report.Report{
			Question: "?", Lang: lang.Chinese, Kind: report.Research, Sections: []report.Section{{Title: "A", Text: strings.Repeat("Text.\n\n", 20+blank), Plots: []series.Plot{plot}}},
			Sources: []report.Source{{Source: cite.Source{Number: 1, URI: "https://example.org/a", Kind: cite.Web}}},
		}
		got := Render(r, Options{})
		data := string(unpacked(got.Data))
		if len(got.Missing) > 0 || strings.Contains(data, "/Image") || !strings.Contains(data, "/StructElem/S/Figure") || !strings.Contains(data, "/Alt<FEFF56FE") {
			t.Fatalf("the figure is not there, or lacks %q", string(got.Missing))
		}
		if blank > 0 {
			continue
		}
		rd := reader.New(reader.Config{CacheDir: compiled})
		t.Cleanup(rd.Close)
		page, err := rd.Read(context.Background(), reader.Document{URL: "report.pdf", Body: got.Data})
		if err != nil {
			t.Fatal(err)
		}
		pages := map[int]string{}
		for _, b := range page.Blocks {
			pages[b.Page] += squeezed(page.Text[b.Start:b.End])
		}
		for n, text := range pages {
			if has := strings.Contains(text, "9.5五"); has != strings.Contains(text, "图1容量（GW）。数据来源：[1]") || has && !strings.Contains(text, "2023") {
				t.Errorf("page %d has a part of the figure: %s", n, text)
			}
		}
	}
}

// No character is shown as a box, in any of the scripts that doctor looks for.
func TestNoGlyphIsMissing(t *testing.T) {
	for name, r := range samples() {
		if got := Render(r, Options{}); len(got.Missing) > 0 {
			t.Errorf("%s: no font has %q", name, string(got.Missing))
		}
	}
	for script, text := range fonts.Samples() {
		r := &report.Report{Question: text, Text: text + " **" + text + "** `" + text + "` — “…” → ≤ ≥ × ± ° € № § • ☐ ☑ ✓ ½ ² ₂ µ Ω ∑ √ ∞ ≈"}
		if got := Render(r, Options{}); len(got.Missing) > 0 {
			t.Errorf("%s: no font has %q", script, string(got.Missing))
		}
	}
}

func TestMissingGlyphsAreNamed(t *testing.T) {
	r := &report.Report{Question: "who?", Text: "A hat \U0001F3A9 and \U0001F3A9, \u0e01."}
	got := Render(r, Options{FontDirs: []string{t.TempDir()}})
	if string(got.Missing) != "\u0e01\U0001F3A9" {
		t.Errorf("missing are %q", string(got.Missing))
	}
}

// The page that the contents name is the one with the heading.
func TestContentsNameThePage(t *testing.T) {
	rd := reader.New(reader.Config{CacheDir: compiled})
	t.Cleanup(rd.Close)
	s := languages["en"]
	r := s.report(6, 5)
	page, err := rd.Read(context.Background(), reader.Document{URL: "report.pdf", Body: Render(r, Options{}).Data})
	if err != nil {
		t.Fatal(err)
	}
	pageOf := map[string]int{}
	for _, b := range page.Blocks {
		text := strings.TrimSpace(page.Text[b.Start:b.End])
		if b.Page > 1 && pageOf[text] == 0 {
			pageOf[text] = b.Page
		}
	}
	entries := regexp.MustCompile(`(\d\. What limits the output [a-z]+)(?: \.)* (\d+)`).FindAllStringSubmatch(page.Text, -1)
	if len(entries) != 6 {
		t.Fatalf("%d entries in\n%s", len(entries), page.Text)
	}
	for _, e := range entries {
		if got := fmt.Sprint(pageOf[e[1]]); got != e[2] {
			t.Errorf("%q is on page %s and in the contents on %s", e[1], got, e[2])
		}
	}
}

// Links lead to the pages that were read, and markers to entries of the list.
func TestLinks(t *testing.T) {
	r := languages["en"].report(2, 1)
	data := unpacked(Render(r, Options{}).Data)
	for _, want := range []string{"/URI(https://example.org/0/article-about-heat-pumps", "/Dest[", "/Outlines", "/Title<FEFF"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the file has no %s", want)
		}
	}
	r.Sections[0].Text = "[here](http://evil.example/) <http://evil.example/> http://evil.example/ ![x](http://evil.example/x.png)"
	if bytes.Contains(unpacked(Render(r, Options{}).Data), []byte("evil.example")) {
		t.Error("a link of a model's got into the file")
	}
}

func TestSameBytes(t *testing.T) {
	a, b := languages["zh"].report(2, 2), languages["zh"].report(2, 2)
	if !bytes.Equal(Render(a, Options{}).Data, Render(b, Options{}).Data) {
		t.Error("the same report gives two files")
	}
}

// Odd reports are set without a fault: empty ones, words without end, tables
// with long cells, deep lists.
func TestOddReports(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for name, text := range map[string]string{
		"empty":         "",
		"a long word":   long,
		"a long cell":   "| a | b |\n| --- | --- |\n| " + strings.Repeat("word ", 3000) + " | " + long + " |",
		"many columns":  strings.Repeat("| a ", 40) + "|\n" + strings.Repeat("| --- ", 40) + "|\n" + strings.Repeat("| long word ", 40) + "|",
		"a deep list":   deep(30),
		"code":          "```\n" + long + "\n" + strings.Repeat("line\n", 200) + "```",
		"a long quote":  "> " + strings.Repeat("word ", 4000),
		"only markers":  "[1] [2] [?]",
		"blank table":   "| |\n| --- |\n| |",
		"nested quotes": "> > > " + long,
		"bad text":      "a\xff\x00\u202eb\ufeff",
	} {
		for _, kind := range []report.Kind{report.Answer, report.Research} {
			got := Render(&report.Report{Question: long, Title: text, Kind: kind, Text: text, Summary: text, Conclusion: text, Notes: []string{text}}, Options{})
			if got.Pages == 0 || !bytes.HasPrefix(got.Data, []byte("%PDF-")) {
				t.Errorf("%s: no file", name)
			}
		}
	}
}

func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- item\n")
	}
	return b.String()
}

// Nothing is set outside of the page's edges.
func TestLinesFit(t *testing.T) {
	l := newLetters(languages["ru"].report(1, 1).Document(), nil)
	f := face{size: bodySize}
	for _, text := range []string{languages["ru"].sentence, strings.Repeat("https://example.org/path/", 20), strings.Repeat("й", 500)} {
		lines := l.lines([]report.Span{{Text: text}}, 200, f)
		if i := slices.IndexFunc(lines, func(l textLine) bool { return l.width() > 200 }); i >= 0 {
			t.Errorf("line %q is %.1f wide", lines[i].String(), lines[i].width())
		}
		var again strings.Builder
		for _, l := range lines {
			again.WriteString(l.String())
		}
		if squeezed(again.String()) != squeezed(text) {
			t.Errorf("%q was broken into %q", text, again.String())
		}
	}
}

// A line does not begin with a full stop, or with the marker of the sentence
// before it.
func TestLinesBreakWhereTheyMay(t *testing.T) {
	for _, tc := range []struct {
		a, b rune
		want bool
	}{{'热', '泵', true}, {'泵', '。', false}, {'（', '热', false}, {'w', 'x', false}, {' ', 'x', true}, {'x', ' ', false}, {'/', 'x', true}, {'한', '국', false}} {
		if got := breaks(tc.a, tc.b); got != tc.want {
			t.Errorf("%q|%q: %v", tc.a, tc.b, got)
		}
	}
	l := newLetters(&report.Document{}, nil)
	spans := []report.Span{{Text: "some words "}, {Text: "[1]", Link: "#source-1"}}
	for width := 60.0; width < 120; width++ {
		for _, line := range l.lines(spans, width, face{size: 10}) {
			if strings.HasPrefix(line.String(), "[") {
				t.Fatalf("a line of %v begins with a marker", width)
			}
		}
	}
}

// A number stays with the sign of its unit.
func TestUnitsStayWithNumbers(t *testing.T) {
	l := newLetters(&report.Document{}, nil)
	for width := 40.0; width < 140; width++ {
		for _, line := range l.lines([]report.Span{{Text: "about 60 % of it at 20 °C"}}, width, face{size: 10}) {
			if text := line.String(); strings.HasPrefix(text, "%") || strings.HasPrefix(text, "°") {
				t.Fatalf("a line of %v begins %q", width, text)
			}
		}
	}
}

// What leads to something is not left alone at the end of a page: a heading, a
// line that ends with a colon, the place of a quotation, a source before its
// quotation, a figure before its caption.
func TestNothingIsLeftAlone(t *testing.T) {
	rd := reader.New(reader.Config{CacheDir: compiled})
	t.Cleanup(rd.Close)
	point := func(year int, value float64) series.Point {
		return series.Point{Label: fmt.Sprint(year), At: float64(year), Value: value, Written: fmt.Sprint(value), Passage: cite.Passage{Source: 1}}
	}
	for blank := 0; blank < 25; blank += 3 {
		r := &report.Report{Question: "?", Lang: lang.English, Kind: report.Research, Text: strings.Repeat("Text.\n\n", 6+blank)}
		for i := range 12 {
			q := report.Quote{Text: fmt.Sprintf("Words %d.", i), Passage: cite.Passage{Source: i + 1, Start: 10 * i, End: 10*i + 1}}
			s := report.Section{Title: fmt.Sprintf("Part %d", i), Text: fmt.Sprintf("Of %d:", i), Quotes: []report.Quote{q}}
			if i == 3 {
				s.Plots = []series.Plot{{Title: "Grows", Dated: true, Lines: []series.Line{{Points: []series.Point{point(2019, 5), point(2020, 7), point(2023, 9.5)}}}}}
			}
			r.Sections = append(r.Sections, s)
			r.Sources = append(r.Sources, report.Source{Source: cite.Source{Number: i + 1, Title: fmt.Sprintf("Title %d", i), URI: fmt.Sprintf("https://example.org/%d", i), Kind: cite.Web}, Passages: []report.Quote{{Text: fmt.Sprintf("Said %d.", i), Passage: cite.Passage{Source: i + 1, Start: 500, End: 510}}}})
		}
		page, err := rd.Read(context.Background(), reader.Document{URL: "report.pdf", Body: Render(r, Options{}).Data})
		if err != nil {
			t.Fatal(err)
		}
		on := func(text string) (last int) {
			end := regexp.MustCompile(regexp.QuoteMeta(text) + `(?:\D|$)`)
			for _, b := range page.Blocks {
				if end.MatchString(page.Text[b.Start:b.End]) {
					last = b.Page
				}
			}
			return last
		}
		for i := range 12 {
			for _, pair := range [][2]string{
				{fmt.Sprintf("%d. Part %d", i+1, i), fmt.Sprintf("Words %d.", i)}, {fmt.Sprintf("Of %d:", i), fmt.Sprintf("Words %d.", i)}, {fmt.Sprintf("example.org/%d", i), fmt.Sprintf("Said %d.", i)},
				{"2023", "Figure 1. Grows. Values from [1]"},
			} {
				if a, b := on(pair[0]), on(pair[1]); a != b || a == 0 {
					t.Fatalf("%d lines before: %q is on page %d and %q on %d", blank, pair[0], a, pair[1], b)
				}
			}
		}
	}
}

func BenchmarkHundredPages(b *testing.B) {
	r := languages["ru"].report(60, 6)
	for b.Loop() {
		got := Render(r, Options{})
		b.ReportMetric(float64(got.Pages), "pages")
	}
}
