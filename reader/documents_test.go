package reader

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	WorkerMain()
	os.Exit(m.Run())
}

// zipped packs files by name, in the order given.
func zipped(t testing.TB, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`

// docxOf makes a Word document of the inside of its body.
func docxOf(t testing.TB, body string) []byte {
	return zipped(t,
		[2]string{"[Content_Types].xml", `<Types/>`},
		[2]string{"docProps/core.xml", `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Отчёт</dc:title><dc:creator>И. Петрова</dc:creator><dcterms:created>2024-03-05T10:00:00Z</dcterms:created></cp:coreProperties>`},
		[2]string{"word/styles.xml", `<w:styles ` + wordSpace + `><w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Sub"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`},
		[2]string{"word/footnotes.xml", `<w:footnotes ` + wordSpace + `><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>См. приложение.</w:t></w:r></w:p></w:footnote></w:footnotes>`},
		[2]string{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordSpace + `><w:body>` + body + `</w:body></w:document>`},
	)
}

func epubOf(t testing.TB, chapters ...string) []byte {
	files := [][2]string{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`},
	}
	var items, spine strings.Builder
	for i, c := range chapters {
		fmt.Fprintf(&items, `<item id="c%d" href="ch%%20%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		fmt.Fprintf(&spine, `<itemref idref="c%d"/>`, len(chapters)-1-i) // the reading order is the spine's
		files = append(files, [2]string{fmt.Sprintf("OEBPS/ch %d.xhtml", i), `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>` + c + `</body></html>`})
	}
	files = append(files, [2]string{"OEBPS/book.opf", `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>红楼梦</dc:title><dc:creator>曹雪芹</dc:creator><dc:language>zh-CN</dc:language><dc:date>1791-01-01</dc:date></metadata><manifest>` + items.String() + `</manifest><spine>` + spine.String() + `</spine></package>`})
	return zipped(t, files...)
}

// pdfOf makes a PDF of pages of lines; a page of no lines has only a picture.
// Its text is in Helvetica, so in ASCII.
func pdfOf(pages ...[]string) []byte {
	var b bytes.Buffer
	var offsets []int
	b.WriteString("%PDF-1.4\n")
	object := func(n int, body string) {
		for len(offsets) <= n {
			offsets = append(offsets, 0)
		}
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 5+2*i)
	}
	object(1, "<</Type/Catalog/Pages 2 0 R>>")
	object(2, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(pages)))
	object(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	object(4, "<</Title(A short report)/Author(Ann Lee)/CreationDate(D:20230417120000Z)>>")
	for i, lines := range pages {
		content := "0 0 100 100 re f"
		if len(lines) > 0 {
			content = "BT /F1 11 Tf 50 780 Td 14 TL"
			for _, l := range lines {
				content += " (" + strings.NewReplacer("(", `\(`, ")", `\)`, `\`, `\\`).Replace(l) + ") Tj T*"
			}
			content += " ET"
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		z.Write([]byte(content))
		z.Close()
		object(5+2*i, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>", 6+2*i))
		object(6+2*i, fmt.Sprintf("<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream", packed.Len(), packed.String()))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets))
	for _, o := range offsets[1:] {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R/Info 4 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets), start)
	return b.Bytes()
}

// articleOf is a page as sites make them: the text is one part of many.
func articleOf(lang, title, head, text string) string {
	return `<!DOCTYPE html><html lang="` + lang + `"><head>` + head + `<title>` + title + ` | The Site</title>
<meta property="og:site_name" content="The Site"><meta name="author" content="By Ann Lee">
<script type="application/ld+json">{"@type":"NewsArticle","headline":"` + title + `","datePublished":"2024-02-03T10:00:00Z"}</script></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News and more news</a></li></ul></nav>
<div class="cookie-banner"><p>We use cookies to make this site work. You can read about it, or accept all of them.</p></div>
<main><article><h1>` + title + `</h1><p class="byline">By Ann Lee, 3 February 2024</p><div class="share-bar"><a href="#">Share</a></div>
<div class="article-body">` + text + `</div></article>
<section class="related"><h2>More</h2><ul><li><a href="/1">Another story that you may like to read</a></li><li><a href="/2">And one more story about it</a></li></ul></section></main>
<div id="comments"><p>First! I do not agree with a word of this, and I have read all of it, twice.</p></div>
<footer><p>Copyright 2024 The Site. All rights reserved, wherever you are.</p></footer></body></html>`
}
