package docx

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/lang"
	"dossier/reader"
	"dossier/report"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func sample(text string) *report.Report {
	return &report.Report{
		Version: report.Version, Run: "r7", Created: time.Date(2026, 11, 15, 5, 30, 0, 0, time.UTC), Kind: report.Research, Lang: lang.Russian, Outcome: report.Answered,
		Question: "Как работает насос?", Title: "Насосы & <тепло>", Model: "model-1", Summary: "Кратко о главном [1].",
		Sections: []report.Section{{Title: "Мощность", Text: text}, {Title: "Цена", Text: "Дорого."}}, Conclusion: "Итог [2].",
		Sources: []report.Source{
			{Source: cite.Source{Number: 1, URI: "https://example.org/a?b=1&c=2", Title: "Первый", Kind: cite.Web, Date: "2024"}},
			{Source: cite.Source{Number: 2, URI: "/d/second.md", Title: "Второй", Kind: cite.File}},
		},
	}
}

const everything = "Слова **сильные** и *косые* `x < 1` [1].\n\n### Ниже\n\n- точка\n  - глубже\n\n1. один\n2. два\n\n| что | сколько |\n| --- | --- |\n| предел | -25 [1] |\n\n> цитата\n\n```\nkod\n\tв две строки\n```\n\n---\n\n1. снова один"

// parts unpacks a file; every part has to be XML.
func parts(t *testing.T, data []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
	return out
}

func TestParts(t *testing.T) {
	data, err := Render(sample(everything))
	if err != nil {
		t.Fatal(err)
	}
	got := parts(t, data)
	body := got["word/document.xml"]
	for _, want := range []string{
		`<w:pStyle w:val="Heading1"/>`, `<w:pStyle w:val="Heading2"/>`, `<w:pStyle w:val="TOC1"/>`, `<w:tblHeader/>`, `<w:pStyle w:val="Quote"/>`, `<w:pStyle w:val="Code"/>`,
		`<w:hyperlink w:anchor="source_1"`, `w:name="source_1"`, `<w:ilvl w:val="1"/><w:numId w:val="1"/>`, `<w:numId w:val="2"/>`, `<w:numId w:val="3"/>`, `PAGEREF _Toc0000001`,
		`<w:b/></w:rPr><w:t xml:space="preserve">сильные`, `<w:i/></w:rPr><w:t xml:space="preserve">косые`, `x &lt; 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the text has no %s", want)
		}
	}
	if !strings.Contains(got["word/_rels/document.xml.rels"], `Target="https://example.org/a?b=1&amp;c=2"`) {
		t.Error("the address of a source is not linked")
	}
	if !strings.Contains(got["docProps/core.xml"], "Насосы &amp; &lt;тепло&gt;") || !strings.Contains(got["docProps/core.xml"], "ru-RU") {
		t.Errorf("properties: %s", got["docProps/core.xml"])
	}
	if !strings.Contains(got["word/footer1.xml"], "NUMPAGES") {
		t.Error("the footer has no page number")
	}
	again, err := Render(sample(everything))
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("another file the second time: %v", err)
	}
}

// A plot is a chart of Word's own, with its values and what it shows in words.
func TestCharts(t *testing.T) {
	r := sample("Текст [1].")
	point := func(label string, at, value float64) series.Point {
		return series.Point{Label: label, At: at, Value: value, Written: fmt.Sprint(value), Passage: cite.Passage{Source: 1}}
	}
	r.Sections[0].Plots = []series.Plot{
		{Title: "Мощность <b>", Unit: "ГВт", Dated: true, Lines: []series.Line{{Points: []series.Point{point("2019", 2019, 5), point("2020", 2020, 7), point("2023", 2023, 9.5)}}}},
		{Title: "Доли", Lines: []series.Line{{Name: "a", Points: []series.Point{point("да & нет", 0, -5), point("нет", 0, 7)}}, {Name: "b", Points: []series.Point{point("нет", 0, 3)}}}},
	}
	data, err := Render(r)
	if err != nil {
		t.Fatal(err)
	}
	got := parts(t, data)
	for part, wants := range map[string][]string{
		"word/document.xml":            {`r:id="chart1"`, `r:id="chart2"`, `descr="Рис. 1. Мощность &lt;b&gt;, ГВт. 2019: 5; 2020: 7; 2023: 9.5"`, `<w:pStyle w:val="Caption"/>`},
		"word/_rels/document.xml.rels": {`Target="charts/chart1.xml"`, `Target="charts/chart2.xml"`},
		"[Content_Types].xml":          {`PartName="/word/charts/chart2.xml"`},
		// Years without a value have their place.
		"word/charts/chart1.xml": {`<c:lineChart>`, `<c:ptCount val="5"/>`, `<c:pt idx="3"><c:v>2022</c:v></c:pt>`, `<c:pt idx="4"><c:v>9.5</c:v></c:pt>`},
		"word/charts/chart2.xml": {`<c:barChart>`, `<c:v>да &amp; нет</c:v>`, `<c:pt idx="0"><c:v>-5</c:v></c:pt>`, `<c:legend>`},
	} {
		for _, want := range wants {
			if !strings.Contains(got[part], want) {
				t.Errorf("%s has no %s:\n%s", part, want, got[part])
			}
		}
	}
}

// What is written can be read again, with its structure.
func TestReadAgain(t *testing.T) {
	data, err := Render(sample(everything))
	if err != nil {
		t.Fatal(err)
	}
	r := reader.New(reader.Config{})
	t.Cleanup(r.Close)
	page, err := r.Read(context.Background(), reader.Document{URL: "report.docx", Body: data})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[reader.Kind]string{}
	for _, b := range page.Blocks {
		kinds[b.Kind] += page.Text[b.Start:b.End] + "\n"
	}
	for kind, want := range map[reader.Kind]string{reader.Heading: "1. Мощность", reader.Item: "глубже", reader.Row: "предел", reader.Paragraph: "Слова сильные и косые"} {
		if !strings.Contains(kinds[kind], want) {
			t.Errorf("%s: %q has no %q", kind, kinds[kind], want)
		}
	}
}

// What models and pages write can't break the file or lead anywhere.
func TestForeignText(t *testing.T) {
	for _, text := range []string{"a\x00b\x0b\xff", "]]></w:t>", "[x](http://evil.example/) http://evil.example/", strings.Repeat("| a ", 70) + "|\n" + strings.Repeat("| --- ", 70) + "|", strings.Repeat("> ", 40) + "x"} {
		data, err := Render(sample(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, part := range parts(t, data) {
			if strings.HasSuffix(name, ".rels") && strings.Contains(part, "evil") {
				t.Errorf("%q: a link of a model's got into the file", text)
			}
		}
	}
}

// A line that only leads to what follows is not the last one of its page.
func TestLeadsStayWithWhatFollows(t *testing.T) {
	data, err := Render(sample("Словами 4 источников:\n\nОдин пишет так.\n\n有人说：\n\n这样。"))
	if err != nil {
		t.Fatal(err)
	}
	body := parts(t, data)["word/document.xml"]
	for text, want := range map[string]bool{"Словами 4 источников:": true, "有人说：": true, "Один пишет так.": false} {
		at := strings.Index(body, text)
		if at < 0 {
			t.Fatalf("%q is not there", text)
		}
		if own := body[strings.LastIndex(body[:at], "<w:p>"):at]; strings.Contains(own, "<w:keepNext/>") != want {
			t.Errorf("%q: %s", text, own)
		}
	}
}
