package reader

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

func newReader(t testing.TB, c Config) *Reader {
	r := New(c)
	t.Cleanup(r.Close)
	return r
}

// check holds for every page: blocks are parts of its text, in order.
func check(t interface{ Errorf(string, ...any) }, p *Page) {
	if !utf8.ValidString(p.Text) || !utf8.ValidString(p.Markdown) {
		t.Errorf("not UTF-8")
	}
	at := 0
	for i, b := range p.Blocks {
		if b.Start < at || b.End <= b.Start || b.End > len(p.Text) {
			t.Errorf("block %d is %d–%d after %d of %d", i, b.Start, b.End, at, len(p.Text))
			return
		}
		if !utf8.RuneStart(p.Text[b.Start]) || b.End < len(p.Text) && !utf8.RuneStart(p.Text[b.End]) {
			t.Errorf("block %d cuts a character", i)
		}
		at = b.End
	}
}

// outline is a page's blocks as text, one a line.
func outline(p *Page) string {
	var b strings.Builder
	for _, k := range p.Blocks {
		b.WriteString(string(k.Kind) + " " + strings.Join(k.Path, "/") + ": " + p.Text[k.Start:k.End] + "\n")
	}
	return b.String()
}

const enText = `<p>The council voted on Monday to close the old bridge, after engineers found cracks in two of its pillars.</p>
<h2>What the engineers found</h2>
<p>Traffic had <em>tripled</em> since 1990, the <a href="/report?x=1">report</a> says, and nobody had measured the load again. <img src="http://evil.example/pixel.png" alt="pixel"></p>
<ul><li>The first pillar moved by four centimetres.</li><li>The second one has cracks.</li></ul>
<blockquote><p>We should have seen it earlier, said the head of the department, and we did not.</p></blockquote>
<table><tr><th>Year</th><th>Cars</th></tr><tr><td>1990</td><td>8,000</td></tr><tr><td>2023</td><td>24,100</td></tr></table>
<pre>load = cars * weight
  / pillars</pre>
<p>A new bridge costs <b>forty million</b>, and the council has &lt;b&gt;ten&lt;/b&gt;, so the ferry will come back in the summer.</p>`

func TestHTML(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	p, err := r.Read(t.Context(), Document{URL: "https://www.site.example/a/b", Body: []byte(articleOf("en-US", "Old bridge is closed", "", enText))})
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	const want = `paragraph : The council voted on Monday to close the old bridge, after engineers found cracks in two of its pillars.
heading : What the engineers found
paragraph What the engineers found: Traffic had tripled since 1990, the report says, and nobody had measured the load again.
item What the engineers found: The first pillar moved by four centimetres.
item What the engineers found: The second one has cracks.
quote What the engineers found: We should have seen it earlier, said the head of the department, and we did not.
header What the engineers found: Year | Cars
row What the engineers found: 1990 | 8,000
row What the engineers found: 2023 | 24,100
code What the engineers found: load = cars * weight
  / pillars
paragraph What the engineers found: A new bridge costs forty million, and the council has <b>ten</b>, so the ferry will come back in the summer.
`
	if got := outline(p); got != want {
		t.Errorf("blocks\n%swant\n%s", got, want)
	}
	const markdown = "The council voted on Monday to close the old bridge, after engineers found cracks in two of its pillars.\n\n" +
		"## What the engineers found\n\n" +
		"Traffic had *tripled* since 1990, the [report](https://www.site.example/report?x=1) says, and nobody had measured the load again.\n\n" +
		"- The first pillar moved by four centimetres.\n- The second one has cracks.\n\n" +
		"> We should have seen it earlier, said the head of the department, and we did not.\n\n" +
		"| Year | Cars |\n| --- | --- |\n| 1990 | 8,000 |\n| 2023 | 24,100 |\n\n" +
		"```\nload = cars * weight\n  / pillars\n```\n\n" +
		`A new bridge costs **forty million**, and the council has \<b\>ten\</b\>, so the ferry will come back in the summer.`
	if p.Markdown != markdown {
		t.Errorf("Markdown\n%s\nwant\n%s", p.Markdown, markdown)
	}
	if p.Title != "Old bridge is closed" || p.Author != "Ann Lee" || p.Date != "2024-02-03" || p.Lang != "en" || p.Site != "The Site" || p.Format != HTML {
		t.Errorf("%+v", p)
	}
}

func TestNoArticle(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	p, err := r.Read(t.Context(), Document{Body: []byte(`<html><body><nav><a href="/a">First link</a> <a href="/b">Second link</a></nav></body></html>`)})
	if err != nil || p.Text != "First link Second link" || len(p.Warnings) != 1 || p.Scripted {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = r.Read(t.Context(), Document{Body: []byte(`<html><body><noscript>Enable JavaScript</noscript><p>Loading the page …</p><div id="root"></div><script src="a.js"></script></body></html>`)})
	if err != nil || !p.Scripted {
		t.Errorf("%+v, %v", p, err)
	}
}

const (
	ruText = `<p>Городской совет в понедельник решил закрыть старый мост: инженеры нашли трещины в двух опорах.</p><p>Движение с 1990 года выросло втрое, говорится в отчёте, а нагрузку с тех пор никто не измерял.</p>`
	zhText = `<p>市议会星期一决定关闭这座旧桥，因为工程师在两根桥墩上发现了裂缝。交通量自1990年以来增加了两倍。</p><p>报告说，从那以后没有人重新测量过桥的负荷，新桥需要四千万元，而市政府只有一千万元。</p>`
	twText = `<p>市議會星期一決定關閉這座舊橋，因為工程師在兩根橋墩上發現了裂縫。交通量自1990年以來增加了兩倍。</p><p>報告說，從那以後沒有人重新測量過橋的負荷，新橋需要四千萬元，而市政府只有一千萬元。</p>`
	jaText = `<p>市議会は月曜日、技術者が二本の橋脚にひび割れを見つけたため、古い橋を閉鎖することを決めた。交通量は三倍になっていた。</p><p>報告によると、それ以来だれも荷重を測り直していなかった。新しい橋には四千万円かかる。</p>`
)

func TestCharsets(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	for _, tt := range []struct {
		name, lang, text string
		enc              encoding.Encoding
	}{
		{"windows-1251", "ru", ruText, charmap.Windows1251},
		{"koi8-r", "ru", ruText, charmap.KOI8R},
		{"gb18030", "zh", zhText, simplifiedchinese.GB18030},
		{"gbk", "zh", zhText, simplifiedchinese.GBK},
		{"big5", "zh", twText, traditionalchinese.Big5},
		{"shift_jis", "ja", jaText, japanese.ShiftJIS},
		{"utf-16le", "ru", ruText, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"utf-8", "zh", zhText, unicode.UTF8},
	} {
		want := strings.NewReplacer("<p>", "", "</p>", "\n\n").Replace(tt.text)
		for head, kind := range map[string]string{
			`<meta charset="` + tt.name + `">`: "",
			"":                                 "text/html; charset=" + tt.name,
			" ":                                "",
		} {
			body, err := tt.enc.NewEncoder().String(articleOf("", "T", head, tt.text))
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.Read(t.Context(), Document{Body: []byte(body), ContentType: kind})
			if err != nil {
				t.Errorf("%s %q %q: %v", tt.name, head, kind, err)
				continue
			}
			check(t, p)
			if p.Text != strings.TrimSpace(want) || p.Lang != tt.lang {
				t.Errorf("%s %q %q: %s %s", tt.name, head, kind, p.Lang, p.Text)
			}
		}
	}
	// A server that is wrong about a page in UTF-8 is not believed.
	if got := decode([]byte("naïve — пример"), "text/plain; charset=iso-8859-1", false); got != "naïve — пример" {
		t.Error(got)
	}
	if got := decode([]byte("na\xefve caf\xe9"), "", false); got != "naïve café" {
		t.Error(got)
	}
	// What a page says of itself is believed before statistics.
	for _, short := range []string{"橋", "舊橋", "市議會決定關閉", "臺灣，雨天"} {
		want := `<meta charset="big5"><p>` + short
		body, err := traditionalchinese.Big5.NewEncoder().Bytes([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(body, "text/html", true); got != want {
			t.Errorf("%q is read as %q", want, got)
		}
	}
	// Without a declaration, with letters that mislead statistics.
	for _, e := range []encoding.Encoding{charmap.Windows1251, charmap.KOI8R, charmap.CodePage866} {
		for _, want := range []string{sampleRussian, "Паром отходит в 7:00 (ферри Finnlines)."} {
			body, err := e.NewEncoder().Bytes([]byte(want))
			if err != nil {
				t.Fatal(err)
			}
			if got := decode(body, "", false); got != want {
				t.Errorf("%v: %q is read as %q", e, want, got)
			}
		}
	}
	for _, want := range []string{"Ça été détérioré à Orléans, où l'été fût brûlé", "Äpfel, Öl, Übermut"} {
		body, err := charmap.Windows1252.NewEncoder().Bytes([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(body, "", false); got != want {
			t.Errorf("%q is read as %q", want, got)
		}
	}
}

func TestDOCX(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	p, err := r.Read(t.Context(), Document{Path: "x.docx", Body: docxOf(t, `
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Мост</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Совет решил </w:t></w:r><w:r><w:t>закрыть мост</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:del><w:r><w:delText>открыть</w:delText></w:r></w:del><w:r><w:t>.</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Sub"/></w:pPr><w:r><w:t>Причины</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>Трещины</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>в опорах</w:t></w:r></w:p>
<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>Надпись</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>Надпись</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Год</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Машин</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>1990</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>8000</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`)})
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	const want = `heading : Мост
paragraph Мост: Совет решил закрыть мост[2].
heading Мост: Причины
item Мост/Причины: Трещины
item Мост/Причины: в опорах
paragraph Мост/Причины: Надпись
header Мост/Причины: Год | Машин
row Мост/Причины: 1990 | 8000
note Мост/Причины: [2] См. приложение.
`
	if got := outline(p); got != want {
		t.Errorf("blocks\n%swant\n%s", got, want)
	}
	if p.Title != "Отчёт" || p.Author != "И. Петрова" || p.Date != "2024-03-05" || p.Lang != "ru" || p.Format != DOCX {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(p.Markdown, "## Причины\n\n- Трещины\n  - в опорах\n") {
		t.Errorf("Markdown\n%s", p.Markdown)
	}
}

func TestEPUB(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	p, err := r.Read(t.Context(), Document{Body: epubOf(t, "<h1>第二回</h1><p>贾夫人仙逝扬州城。</p>", "<h1>第一回</h1><p>甄士隐梦幻识通灵。</p><ol><li>一</li><li>二</li></ol>")})
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	const want = `heading : 第一回
paragraph 第一回: 甄士隐梦幻识通灵。
item 第一回: 一
item 第一回: 二
heading : 第二回
paragraph 第二回: 贾夫人仙逝扬州城。
`
	if got := outline(p); got != want {
		t.Errorf("blocks\n%swant\n%s", got, want)
	}
	if p.Title != "红楼梦" || p.Author != "曹雪芹" || p.Lang != "zh" || p.Format != EPUB || !strings.Contains(p.Markdown, "2. 二") {
		t.Errorf("%+v", p)
	}
}

func TestPDF(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	words := map[string]string{"1": "bridge", "2": "tunnel", "4": "harbour", "5": "market"}
	page := func(n string) []string {
		return []string{"Annual report of the company", "The council voted to close the old " + words[n] + " because of the cracks that en-",
			"gineers found in its pillars on page " + n + ".", "Traffic had tripled since then, and nobody had measured the " + words[n] + " again until now.", "Page " + n}
	}
	p, err := r.Read(t.Context(), Document{Body: pdfOf(page("1"), page("2"), nil, page("4"), page("5"))})
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	if p.Title != "A short report" || p.Author != "Ann Lee" || p.Date != "2023-04-17" || p.Lang != "en" || p.Format != PDF {
		t.Errorf("%+v", p)
	}
	if n := len(p.Blocks); n != 8 || p.Blocks[n-1].Page != 5 || p.Blocks[0].Page != 1 {
		t.Errorf("%d blocks\n%s", n, outline(p))
	}
	if !strings.Contains(p.Text, "that engineers found in its pillars on page 4.") || strings.Contains(p.Text, "Annual report") || strings.Contains(p.Text, "Page 4") {
		t.Errorf("text\n%s", p.Text)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "1 of 5 pages have no text") {
		t.Errorf("%q", p.Warnings)
	}
	var e *Error
	if _, err := r.Read(t.Context(), Document{Body: pdfOf(nil, nil)}); !errors.As(err, &e) || e.Reason != NoText || !strings.Contains(e.Why, "scan") {
		t.Errorf("a scan: %v", err)
	}
	if _, err := r.Read(t.Context(), Document{Body: []byte("%PDF-1.7\nnothing of the kind")}); !errors.As(err, &e) || e.Reason != Broken {
		t.Errorf("no PDF: %v", err)
	}
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		name string
		doc  Document
		want string
		meta string
	}{
		{"text", Document{Body: []byte("A title\r\n\r\nFirst line\r\nsecond line.  \n\n\n  Another one.\n")}, "heading : A title\nparagraph A title: First line\nsecond line.\nparagraph A title: Another one.\n", "text A title"},
		{"markdown", Document{Path: "a/B.MD", Body: []byte("---\ntitle: \"T\"\ndate: 2024-01-02\n---\n# One #\nText\nmore\n\n- a\n- b\n  c\n\nTwo\n---\n> q\n\n```\n# no heading\n\n```\n| a | b |\n| 1 | 2 |\n### Three\nend")},
			"heading : One\nparagraph One: Text\nmore\nitem One: a\nitem One: b\n  c\nheading One: Two\nquote One/Two: q\ncode One/Two: # no heading\nrow One/Two: a | b\nrow One/Two: 1 | 2\nheading One/Two: Three\nparagraph One/Two/Three: end\n", "markdown T"},
		{"json", Document{URL: "http://x/y.json?z", Body: []byte(`[{"b":[1,2],"name":"N","c":{"d":null,"e":[{"f":true}]}},3]`)}, "paragraph : 1.name: N\n1.b: 1, 2\n1.c.e[0].f: true\nparagraph : 2: 3\n", "json "},
		{"json lines", Document{Path: "a.jsonl", Body: []byte("{\"a\":1}\n{\"a\":2}\n")}, "paragraph : 1.a: 1\nparagraph : 2.a: 2\n", "json "},
		{"not json", Document{Path: "a.json", Body: []byte("{oops")}, "paragraph : {oops\n", "json {oops"},
		{"csv", Document{Path: "a.csv", Body: []byte("name;age\n\"Ann; Lee\";30\nBo;\n")}, "row : name: Ann; Lee; age: 30\nrow : name: Bo\n", "csv "},
		{"one line of csv", Document{Path: "a.csv", Body: []byte("a,b\n")}, "row : a; b\n", "csv "},
	} {
		p, err := New(Config{}).Read(t.Context(), tt.doc)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		check(t, p)
		if got := outline(p); got != tt.want {
			t.Errorf("%s: blocks\n%swant\n%s", tt.name, got, tt.want)
		}
		if got := string(p.Format) + " " + p.Title; got != tt.meta {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.meta)
		}
	}
	for reason, bodies := range map[Reason][]string{
		Unsupported: {"\x89PNG\r\n\x1a\n", "\xd0\xcf\x11\xe0", "{\\rtf1", "PK\x03\x04 nothing", "PK\x03\x04 xl/workbook.bin", "a\x00b", "\x1f\x8b\x08"},
		NoText:      {"", " \n\t"},
	} {
		for _, body := range bodies {
			var e *Error
			if _, err := New(Config{}).Read(t.Context(), Document{Body: []byte(body)}); !errors.As(err, &e) || e.Reason != reason {
				t.Errorf("%q: %v", body, err)
			}
		}
	}
	md := sanitizeMarkdown("![x](http://evil/p.png) <img src=x> <http://ok> 1 < 2")
	if md != `\![x](http://evil/p.png) \<img src=x> <http://ok> 1 < 2` {
		t.Error(md)
	}
}

func TestLimits(t *testing.T) {
	p, err := New(Config{MaxText: 10, MaxRows: 2}).Read(t.Context(), Document{Body: []byte("Привет, мир")})
	if err != nil || p.Text != "Приве" || len(p.Warnings) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = New(Config{MaxRows: 2}).Read(t.Context(), Document{Path: "a.csv", Body: []byte("n\n1\n2\n3\n")})
	if err != nil || len(p.Blocks) != 2 || len(p.Warnings) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	var e *Error
	if _, err := New(Config{MaxInput: 3}).Read(t.Context(), Document{Body: []byte("text")}); !errors.As(err, &e) || e.Reason != TooLarge {
		t.Error(err)
	}
}

// TestBombs feeds documents that are made to take all memory, time or stack.
// Each costs its page; the next one is read, and the parent stays small.
func TestBombs(t *testing.T) {
	r := newReader(t, Config{Workers: 1, Memory: 512 << 20, CPU: 20 * time.Second})
	blank := strings.Repeat(" ", 60<<20)
	bombs := []struct {
		name   string
		body   []byte
		reason Reason // "" where the text is saved
	}{
		{"a zip bomb of a DOCX", docxOf(t, blank), TooLarge},
		{"a zip bomb of an EPUB", epubOf(t, blank), TooLarge},
		{"a zip bomb of an ODT", odtOf(t, blank), TooLarge},
		{"a zip bomb of a PPTX", pptxOf(t, blank), TooLarge},
		{"a zip bomb of an XLSX", xlsxOf(t, blank, ""), TooLarge},
		{"nested ODT", odtOf(t, "<text:p>deep</text:p>"+strings.Repeat("<text:list><text:list-item><text:p>", 100_000)), ""},
		{"nested slides", pptxOf(t, strings.Repeat("<p:sp>", 200_000)+"<a:p><a:t>deep</a:t></a:p>"), ""},
		{"more strings than a sheet has", xlsxOf(t, `<row><c t="s"><v>0</v></c></row>`, "<si><t>deep</t></si>"+strings.Repeat("<si/>", 2_000_000)), ""},
		{"nested XML", docxOf(t, strings.Repeat("<w:p>", 300_000)+"<w:t>deep</w:t>"), ""},
		{"nested HTML", []byte("<html><body>" + strings.Repeat("<div>", 200_000) + "<p>deep</p>"), ""},
		{"nested tables", []byte("<html><body>" + strings.Repeat("<table><tr><td>", 30_000) + "deep"), ""},
		{"open formatting", []byte("<html><body>" + strings.Repeat("<b><i><a href=x><p>", 20_000) + "deep"), ""},
		{"many attributes", []byte("<html><body><p " + strings.Repeat("a=b ", 1_000_000) + ">deep</p>"), ""},
		{"more elements than memory", []byte("<html><body>" + strings.Repeat("<p>x", 4_000_000)), TooCostly},
		{"more pieces than a page has", []byte("<html><body><p>deep</p>" + strings.Repeat("<p>x, y.</p>", 60_000)), ""},
		{"a deep heading over much", []byte("<html><body><h2>" + strings.Repeat("deep ", 200_000) + "</h2>" + strings.Repeat("<p>The quick brown fox jumps, and runs.</p>", 20_000)), ""},
		{"data that is nothing but brackets", []byte("[" + strings.Repeat("[],", 20_000_000) + "[]]"), TooCostly},
		{"endless entity", docxOf(t, "<w:p><w:t>&a;deep</w:t></w:p>"), ""},
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	most := before.HeapInuse
	for _, b := range bombs {
		p, err := r.Read(t.Context(), Document{Body: b.body})
		var e *Error
		if b.reason != "" && (!errors.As(err, &e) || e.Reason != b.reason) || b.reason == "" && (err != nil || !strings.Contains(p.Text, "deep")) {
			t.Errorf("%s: %v", b.name, err)
		}
		runtime.ReadMemStats(&after)
		most = max(most, after.HeapInuse)
		if p, err := r.Read(t.Context(), Document{Body: []byte(articleOf("en", "Old bridge", "", enText))}); err != nil || len(p.Blocks) < 5 {
			t.Errorf("after %s: %v", b.name, err)
		}
	}
	if grown := int64(most) - int64(before.HeapInuse); grown > 100<<20 {
		t.Errorf("the parent grew by %d MiB", grown>>20)
	}
	r.mu.Lock()
	waiting := slices.Clone(r.idle)
	r.mu.Unlock()
	if len(waiting) != 1 {
		t.Errorf("%d children wait", len(waiting))
	}
	r.Close()
	for _, c := range waiting {
		if c.cmd.ProcessState == nil {
			t.Error("a child is still there")
		}
	}
}

func TestCancel(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := r.Read(ctx, Document{Body: []byte("<html><p>x")}); !errors.Is(err, cause) {
		t.Error(err)
	}
	slow := newReader(t, Config{Workers: 1, Timeout: time.Nanosecond})
	var e *Error
	if _, err := slow.Read(t.Context(), Document{Body: []byte("<html><p>x")}); !errors.As(err, &e) || e.Reason != TooCostly {
		t.Error(err)
	}
}

// TestWorkerKeepsNothing checks that a child sees no key of this process.
func TestWorkerKeepsNothing(t *testing.T) {
	t.Setenv("SECRET_KEY", "s3cret")
	c, err := startChild(1 << 28)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	for _, kv := range c.cmd.Env {
		if strings.Contains(kv, "s3cret") {
			t.Error(kv)
		}
	}
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Document{Path: "x" + rapid.SampledFrom([]string{".md", ".txt", ".1", ".rst", ".adoc", ".json", ".csv", ""}).Draw(t, "ext"), Body: []byte(rapid.String().Draw(t, "body"))}
		format, err := sniff(&d)
		if err != nil || format == PDF {
			return
		}
		p, err := parse(&d, format, limits{Text: 1 << 20, Rows: 100})
		if err == nil {
			check(t, p)
		}
	})
}

func fuzz(f *testing.F, format Format, of func(t testing.TB, s string) []byte, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parse(&Document{Body: of(t, s), URL: "http://x/"}, format, limits{Text: 1 << 20, Rows: 100})
		if err == nil {
			check(t, p)
		}
	})
}

func FuzzHTML(f *testing.F) {
	fuzz(f, HTML, func(_ testing.TB, s string) []byte { return []byte(s) }, articleOf("en", "T", "", enText), "<table><tr><td>a<td>b<tr><td>c<td>d", "<pre>\n<br><br>x", "<ol start=99999999999><li>x", "<a href='http://[::1'>x</a>")
}

func FuzzDOCX(f *testing.F) {
	fuzz(f, DOCX, docxOf, "<w:p><w:t>x</w:t></w:p>", "<w:tbl><w:tr><w:tc><w:tbl></w:tc>", "</w:tbl></w:tc>")
}

func FuzzEPUB(f *testing.F) {
	fuzz(f, EPUB, func(t testing.TB, s string) []byte { return epubOf(t, s) }, "<h1>x</h1>", "</body>")
}

func BenchmarkHTML(b *testing.B) {
	body := []byte(articleOf("en", "Old bridge", "", strings.Repeat(enText, 20)))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := parse(&Document{Body: body}, HTML, limits{Text: 1 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
