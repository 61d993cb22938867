package article

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func parse(t testing.TB, source string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func extract(t testing.TB, source string) string {
	t.Helper()
	doc := parse(t, source)
	meta := ReadMeta(doc, "https://site.example/x")
	var texts []string
	for _, b := range Content(doc, &meta) {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

const (
	one   = "The council voted on Monday to close the old bridge, after engineers had found cracks in two of its pillars."
	two   = "Traffic had tripled since 1990, the report says, and nobody had measured the load again in all those years."
	three = "A new bridge costs forty million, the council has ten, and so the ferry will come back in the summer."
	other = "Something else happened in another town, and our reporter was there to see it with her own eyes, she says."
)

func p(s string) string { return "<p>" + s + "</p>" }

func TestContent(t *testing.T) {
	article := one + "\n" + two + "\n" + three
	text := p(one) + p(two) + p(three)
	for _, tt := range []struct{ name, source, want string }{
		{"bare", text, article},
		{"between navigation and footer", `<nav><a href=/>Home</a><a href=/x>News</a></nav>` + text + `<footer>` + p("All rights reserved by The Site, which is a company.") + `</footer>`, article},
		{"comments longer than the article", `<div class=post-content>` + text + `</div><div id=comments>` + strings.Repeat(p(other), 12) + `</div>`, article},
		{"a cookie dialog longer than the article", `<div class="cookie-modal-wrap">` + strings.Repeat(p(other), 8) + `</div><div>` + text + `</div>`, article},
		{"teasers with text", `<main><div itemprop=articleBody>` + text + `</div><ul>` + strings.Repeat(`<li><h3><a href=/x>Another story</a></h3>`+p(other)+`</li>`, 3) + `</ul></main>`, article},
		{"lists of links inside", `<article>` + p(one) + `<ul><li><a href=/a>First of the related stories</a></li><li><a href=/b>Second of them</a></li></ul>` + p(two) + p(three) + `</article>`, article},
		{"fixtures between paragraphs", `<article>` + p(one) + p("Advertisement") + p(two) + p(`Read more: <a href=/x>Another story about bridges</a>`) + p(three) + p("Follow us on Twitter") + `</article>`, article},
		{"hidden and captions", `<article>` + p(one) + `<p style="display: none">` + other + `</p><figure><img><figcaption>` + other + `</figcaption></figure>` + p(two) + `<span class=newsCaption>The bridge. Image: X</span>` + p(three) + `</article>`, article},
		{"in a form", `<form id=aspnet>` + text + `</form>`, article},
		{"in what is named after noise", `<div class="above-footer"><div class="article-body">` + text + `</div></div>`, article},
		{"line breaks", `<div>` + one + `<br><br>` + two + `<br/> <br/>` + three + `</div>`, article},
		{"a part of a heading", `<article><h1>Title</h1>` + p(one) + `<h2>Why</h2>` + p(two) + p(three) + `<h2>Related</h2></article>`, one + "\nWhy\n" + two + "\n" + three},
		{"topics in class names", `<article class="post tag-cookies category-comments">` + text + `</article>` + p("Short."), article},
		{"nothing", `<nav><a href=/>Home</a></nav>`, ""},
	} {
		if got := extract(t, "<html><body>"+tt.source); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestKnownBody: the page gives the article's text as data, and that decides.
func TestKnownBody(t *testing.T) {
	body := one + " " + two + " " + three
	ld := `<script type="application/ld+json">{"@graph":[{"@type":["NewsArticle"],"articleBody":"` + strings.ReplaceAll(body, "bridge", "&lt;b&gt;bridge&lt;/b&gt;") + `"}]}</script>`
	page := `<div class=article-body>` + p(one) + p(other) + p(two) + p(three) + p(other) + `</div>`
	if got, want := extract(t, ld+page), one+"\n"+two+"\n"+three; got != want {
		t.Errorf("%s", got)
	}
	// A text that is cut off does not.
	cut := `<script type="application/ld+json">{"@type":"NewsArticle","articleBody":"` + one + `"}</script>`
	if got := extract(t, cut+page); !strings.Contains(got, three) {
		t.Errorf("%s", got)
	}
}

func TestDates(t *testing.T) {
	for in, want := range map[string]string{
		"2019-11-19T10:20:30+01:00": "2019-11-19", "20191119": "2019-11-19", "2019/11/19": "2019-11-19",
		"November 19, 2019": "2019-11-19", "Nov. 19th, 2019 at 5 pm": "2019-11-19", "Tue, 19 Nov 2019 10:00:00 GMT": "2019-11-19",
		"19.11.2019": "2019-11-19", "19/11/2019": "2019-11-19", "Posted on 19 November 2019 by Ann": "2019-11-19",
		"19 ноября 2019 г.": "2019-11-19", "1 мая 2020": "2020-05-01", "2019年11月19日 10:00": "2019-11-19", "2019년 11월 19일": "2019-11-19",
		"19. März 2020": "2020-03-19", "19 de noviembre de 2019": "2019-11-19", "1er août 2019": "2019-08-01", "19 listopada 2019": "2019-11-19",
		"": "", "no date": "", "2019": "", "31.02.2019": "", "1234567890123": "", "99999999": "", "12:30": "",
	} {
		if got := parseDate(in, false); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := parseDate("11/12/2019", true); got != "2019-11-12" {
		t.Errorf("in America: %s", got)
	}
	for in, want := range map[string]string{"/2019/11/19/story": "2019-11-19", "/news/20191119-story": "2019-11-19", "/2019/1/2/x": "2019-01-02", "/id/201911190": "", "/a": ""} {
		if got := pathDate(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestMeta(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         Meta
	}{
		{"the head", `<html lang=de-AT><head><title>Die Brücke - Neue Zeitung</title><meta property=og:site_name content="Neue Zeitung"><meta name=author content="Von Eva Maier"><meta property=article:published_time content=2020-05-06T00:00:00Z>`,
			Meta{Title: "Die Brücke", Author: "Eva Maier", Site: "Neue Zeitung", Lang: "de-AT", Date: "2020-05-06"}},
		{"the headline that is shown", `<title>Old bridge is closed after a vote | News</title><body><h1>Site</h1><h1>Old bridge is closed</h1><time datetime=2020-05-06>today</time>`,
			Meta{Title: "Old bridge is closed", Site: "site.example", Date: "2020-05-06"}},
		{"linked data", `<script type="application/ld+json">[{"@type":"NewsArticle","headline":"H &amp; M","datePublished":"2020-05-06","author":[{"name":"Ann"},{"name":"Bo"}],"publisher":{"name":"P"},
"inLanguage":"en"}]</script>`, Meta{Title: "H & M", Author: "Ann, Bo", Site: "P", Lang: "en", Date: "2020-05-06"}},
		{"text after the headline", `<body>1 January 2001<h1>Something that happened</h1><p>By Ann, 6 May 2020</p>`, Meta{Title: "Something that happened", Site: "site.example", Date: "2020-05-06"}},
		{"nothing", ``, Meta{Site: "site.example"}},
	} {
		if got := ReadMeta(parse(t, tt.source), "https://www.site.example/x"); got != tt.want {
			t.Errorf("%s:\n%+v, want\n%+v", tt.name, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]nameWords{
		"postMeta_bar-2": noise | content, "article-body": content | body, "ArticleBody": content | body, "has-sidebar": 0,
		"field-label-hidden": 0, "hidden": hidden, "sr-only": hidden, "newsCaption": content | caption, "jsx-123": 0, "": 0,
	} {
		if got := judge(name, nil); got != want {
			t.Errorf("%s: %b, want %b", name, got, want)
		}
	}
}

// TestManual reads pages of manuals: all of them but what is around the text.
func TestManual(t *testing.T) {
	const head = `<html><head><meta name=generator content="DocBook XSL Stylesheets V1.79"></head><body>`
	for _, tt := range []struct{ name, source, want string }{
		{"short cells and terms", head + `<div class=navheader><table><tr><th>Title</th></tr></table></div><dl><dt>-a</dt><dd>All.</dd></dl><table><tr><td>1</td><td>2</td></tr></table>`, "-a\nAll.\n1\n2"},
		{"contents and lists of links", head + `<h1>Title</h1><div class=toc><p>Contents</p><ul><li><a href=#a>First</a></li></ul></div>` + p(one) + `<ul><li><a href=/a>a</a></li><li><a href=/b>b</a></li><li><a href=/c>c</a></li></ul>`,
			"Title\n[Contents]\n[First]\n" + one + "\n[a]\n[b]\n[c]"},
		{"links that a sentence leads up to", head + p("It knows these:") + `<ul><li><a href=/a>a</a></li><li><a href=/b>b</a></li><li><a href=/c>c</a></li></ul>`, "It knows these:\na\nb\nc"},
		{"a section that is called contents", head + `<div id=contents>` + p(one) + p(two) + `</div>`, one + "\n" + two},
		{"a sidebar of text and one of links", head + p(one) + `<div class=sidebar>` + p(two) + `</div><div class=sidebar><a href=/a>a</a> <a href=/b>b</a></div>`, one + "\n" + two + "\n[a b]"},
		{"marks of links, anchors that XML closes", head + `<h2>Title<a class=headerlink href=#t>¶</a></h2><a id=x/>` + p(one), "Title\n" + one},
		{"the main part", head + `<div role=navigation><a href=/>Home</a></div><div role=main>` + p(one) + `</div><aside>` + p("Version 3") + `</aside><footer>` + p("Made with care.") + `</footer>`, one},
	} {
		doc := parse(t, tt.source)
		meta := ReadMeta(doc, "https://site.example/x")
		var texts []string
		for _, b := range Content(doc, &meta) {
			if b.Contents {
				b.Text = "[" + b.Text + "]"
			}
			texts = append(texts, b.Text)
		}
		if got := strings.Join(texts, "\n"); got != tt.want || !meta.Manual {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, meta.Manual, got, tt.want)
		}
	}
	for source, want := range map[string]bool{
		"<p>x":                                   true,
		"<meta property=og:title content=x><p>x": false,
		"<script src=https://ads.example/a.js></script><p>x": false,
		"<meta name=generator content=WordPress><p>x":        false,
	} {
		if meta := ReadMeta(parse(t, source), ""); meta.Manual != want {
			t.Errorf("the file %s: %v", source, meta.Manual)
		}
		if meta := ReadMeta(parse(t, source), "https://site.example/"); meta.Manual {
			t.Errorf("the page %s is taken for one of a manual", source)
		}
	}
}
