package report

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"dossier/cite"
	"dossier/lang"
)

func TestJSONRoundTrip(t *testing.T) {
	for _, kind := range kinds {
		r := newFixture(t, inLanguages[1]).report(t, kind)
		data, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r, again) {
			t.Errorf("%s: %+v became %+v", kind, r, again)
		}
		if Markdown(r) != Markdown(again) || HTML(r) != HTML(again) {
			t.Errorf("%s: rendered otherwise after storing", kind)
		}
	}
	if _, err := Parse([]byte(`{"version":2}`)); err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("a newer version: %v", err)
	}
	if _, err := Parse([]byte(`{`)); err == nil {
		t.Error("half a report was read")
	}
}

func TestRenderingLeavesTheReport(t *testing.T) {
	for _, kind := range kinds {
		r := newFixture(t, inLanguages[0]).report(t, kind)
		before, _ := json.Marshal(r)
		if a, b := Markdown(r), Markdown(r); a != b {
			t.Errorf("%s: rendered differently the second time", kind)
		}
		if a, b := HTML(r), HTML(r); a != b {
			t.Errorf("%s: the page differs the second time", kind)
		}
		if after, _ := json.Marshal(r); string(before) != string(after) {
			t.Errorf("%s: rendering changed the report", kind)
		}
	}
}

// A quote that differs from its source in one character is found out.
func TestCheckFindsABrokenQuote(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	rapid.Check(t, func(t *rapid.T) {
		snap := f.snapshots[mustSource(f, 1).Snapshot]
		start := rapid.IntRange(0, len(snap.Text)-12).Draw(t, "start")
		end := rapid.IntRange(start+8, len(snap.Text)).Draw(t, "end")
		q, err := QuoteAt(mustSource(f, 1), snap, cite.Passage{Start: start, End: end})
		if err != nil {
			return // it cuts a character
		}
		r := &Report{Sections: []Section{{Quotes: []Quote{q}}}}
		if err := r.Gather(f.ledger, f.snapshots); err != nil {
			t.Fatal(err)
		}
		quote := &r.Sections[0].Quotes[0]
		runes := []rune(quote.Text)
		at := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
		with := rapid.SampledFrom([]rune("aя中1 -")).Draw(t, "with")
		if runes[at] == with {
			return
		}
		runes[at] = with
		quote.Text = string(runes)
		if r.Check(f.snapshots) == nil {
			t.Fatalf("%q passes for %q", quote.Text, q.Text)
		}
	})
}

func mustSource(f *fixture, number int) cite.Source {
	s, ok := f.ledger.Source(number)
	if !ok {
		panic("no such source")
	}
	return s
}

func TestCheckAndGatherRefuse(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	good := f.report(t, "partial")
	for name, spoil := range map[string]func(r *Report){
		"a nearest passage": func(r *Report) {
			r.Nearest = []Quote{{Text: "never said", Passage: cite.Passage{Source: 1, Start: 0, End: 10}}}
		},
		"a conflict":        func(r *Report) { r.Conflicts[0].B.Quote += "!" },
		"a listed passage":  func(r *Report) { r.Sources[0].Passages[0].Text = "x" },
		"a span outside":    func(r *Report) { r.Sections[0].Quotes[0].Passage.End = 1 << 20 },
		"a source unlisted": func(r *Report) { r.Sources = r.Sources[1:] },
		"a claim's quotation": func(r *Report) {
			r.Claims = []cite.Checked{{Claim: cite.Claim{Sources: []int{1}, Quotes: []string{"words that nobody ever wrote"}}, Verified: true}}
		},
	} {
		data, _ := JSON(good)
		r, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		spoil(r)
		if r.Check(f.snapshots) == nil {
			t.Errorf("%s passes", name)
		}
	}
	for name, r := range map[string]*Report{
		"an unknown source": {Nearest: []Quote{{Passage: cite.Passage{Source: 9, End: 1}}}},
		"an unknown number": {Claims: []cite.Checked{{Claim: cite.Claim{Sources: []int{9}}}}},
		"a span outside":    {Nearest: []Quote{{Passage: cite.Passage{Source: 1, End: 1 << 20}}}},
	} {
		if r.Gather(f.ledger, f.snapshots) == nil {
			t.Errorf("%s is gathered", name)
		}
	}
	if (&Report{Nearest: []Quote{{Passage: cite.Passage{Source: 1, End: 1}}}}).Gather(f.ledger, cite.Snapshots{}) == nil {
		t.Error("a source without a snapshot is gathered")
	}
}

func TestGatherFollowsMarkers(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	r := &Report{Text: "The pump is quiet and works in winter [3]. Nobody knows more about it [77].", Sections: []Section{{Text: "The test says the same thing [2]."}}}
	if err := r.Gather(f.ledger, f.snapshots); err != nil {
		t.Fatal(err)
	}
	if len(r.Sources) != 2 || r.Sources[0].Number != 2 || r.Sources[1].Number != 3 {
		t.Errorf("%+v", r.Sources)
	}
	page := HTML(r)
	if !strings.Contains(page, `<a href="#source-3">[3]</a>`) || !strings.Contains(page, `id="source-3"`) || strings.Contains(page, "#source-77") {
		t.Errorf("%s", page)
	}
}

func TestPlaces(t *testing.T) {
	at := &Quote{Passage: cite.Passage{Line: 12}}
	paged := &Quote{Passage: cite.Passage{Line: 12, Page: 3}}
	for _, tc := range []struct {
		source      cite.Source
		q           *Quote
		base        string
		label, href string
	}{
		{cite.Source{URI: "/d/docs/cli.md"}, at, "/d", "docs/cli.md:12", "file:///d/docs/cli.md"},
		{cite.Source{URI: "/d/docs/cli.md"}, nil, "/d/docs/cli.md", "cli.md", "file:///d/docs/cli.md"},
		{cite.Source{URI: "/other/a b#.txt"}, at, "/d", "/other/a b#.txt:12", "file:///other/a%20b%23.txt"},
		{cite.Source{URI: "/d/x.pdf"}, paged, "/d", "x.pdf, p. 3", "file:///d/x.pdf#page=3"},
		{cite.Source{URI: "/d/x.DOCX"}, at, "/d/", "x.DOCX", "file:///d/x.DOCX"},
		{cite.Source{URI: "notes.txt"}, at, "", "notes.txt:12", ""},
		{cite.Source{URI: "C:/d/x.md"}, at, "", "C:/d/x.md:12", "file:///C:/d/x.md"},
		{cite.Source{URI: "https://a.org/x?y=1", Kind: cite.Web}, at, "", "a.org/x", "https://a.org/x?y=1"},
		{cite.Source{URI: "https://a.org/", Kind: cite.Web}, &Quote{Link: "https://a.org/#:~:text=b"}, "", "a.org", "https://a.org/#:~:text=b"},
		{cite.Source{URI: "https://a.org/", Kind: cite.Web}, &Quote{Link: "https://evil.org/"}, "", "a.org", "https://a.org/"},
		{cite.Source{URI: "javascript:alert(1)", Kind: cite.Web}, at, "", "javascript:alert(1)", ""},
		{cite.Source{URI: "https://a.org@evil.org/", Kind: cite.Web}, at, "", "evil.org", ""},
	} {
		r := &Report{Lang: lang.English, Base: tc.base}
		if got := r.locationOf(&Source{Source: tc.source}, tc.q); got.label != tc.label || got.href != tc.href {
			t.Errorf("%s: %q %q, want %q %q", tc.source.URI, got.label, got.href, tc.label, tc.href)
		}
	}
}

func TestLowerHeadings(t *testing.T) {
	in := "# A\n\n```\n# not one\n```\n### B\n###### C\n"
	if got, want := lowerHeadings(in, 3), "### A\n\n```\n# not one\n```\n##### B\n###### C\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lowerHeadings("### A\n", 2); got != "### A\n" {
		t.Errorf("got %q", got)
	}
}

// attacks are what a page may try to get into a report.
var attacks = []string{
	"[x](http://evil.example)", "[x](<http://evil.example>)", "![x](http://evil.example/a.png)", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
	"<http://evil.example>", "http://evil.example", "www.evil.example", "me@evil.example", "mailto:me@evil.example", "javascript:alert(1)",
	"[x](javascript:alert(1))", "[x][y]\n\n[y]: http://evil.example", "# heading\n\n# another", "heading\n===", "a\n---", "| a | b |\n| - | - |\n| c | d |", "a | b\n-|-\nc | d",
	"```\ncode\n```\n<b>", "~~~\nx", "`` ` ``<b>`", "`a` [x](http://evil.example) `b`", "- [x](http://evil.example)\n- b", "1. a\n2. b", "> > q", "&lt;script&gt;", "&#60;script&#62; &#x202e;",
	"\u202etxet\u202c", "\x1b[31mred\x1b]0;t\x07", "a\x00b", "\xff\xfe", "***bold** <i>", "**[x](http://evil.example)**", "**a <b> c**", "\\[x](http://evil.example)", "\\\\[x](http://evil.example)",
	"\\`<script>`", "[!NOTE]\nx", "[[wiki]]", "[1]", "[1](http://evil.example)", "[^1]\n\n[^1]: http://evil.example", "<!-- x", "<?php", "<![CDATA[", "    indented http://evil.example",
	"\thttp://evil.example", "a  \nb", "$x$", "ftp://evil.example", "HTTP://EVIL.EXAMPLE", "x://y", "http:\\\\evil.example", "](http://evil.example)", "\"><script>", "' onmouseover='x",
	"http\u200b://evil.example", "!\n[x](http://evil.example)", "[a\n](http://evil.example)", "*[x*](http://evil.example)", "://", "`http://evil.example", "a|`b|c`|d\n|-|-|-|", ":-|-:\n",
}

// hostile is a report in which everything that comes from outside is text.
func hostile(f *fixture, text string, model bool) *Report {
	snap := f.snapshots.Add(text + ".")
	passage := cite.Passage{Source: 1, Start: 0, End: len(text), Line: 1, HeadingPath: []string{text, text}}
	q := Quote{Text: text, Passage: passage, Link: text}
	web := Quote{Text: text, Passage: passage, Link: "https://example.org/a" + text}
	web.Passage.Source = 2
	statement := cite.Statement{Passage: passage, Date: text, Quote: text, Value: text}
	r := &Report{
		Version: Version, Run: text, Question: text, Title: text + " ", Lang: lang.Code(text), Outcome: Partial, Extractive: !model, Model: text,
		Sections: []Section{{Title: text, Quotes: []Quote{q, web}}}, Nearest: []Quote{q}, Notes: []string{text}, Base: text,
		Coverage:  Coverage{Facets: Share{1, 2}, Missing: []string{text, text}, Claims: Share{1, 1}},
		Conflicts: []cite.Conflict{{A: statement, B: statement}},
		Sources: []Source{
			{Source: cite.Source{Number: 1, URI: text, Title: text, Author: text, Site: text, Date: text, Lang: lang.Code(text), Snapshot: snap.Hash, Kind: cite.File}, Passages: []Quote{q, q}},
			{Source: cite.Source{Number: 2, URI: "https://example.org/a", Title: text, Kind: cite.Web, CopyOf: 1}, Passages: []Quote{web}},
			{Source: cite.Source{Number: 3, URI: text, Title: text, Kind: cite.Web}, Passages: []Quote{web}},
		},
	}
	if model {
		r.Text, r.Sections[0].Text = text, text
	}
	return r
}

// own reports whether a link leads to a source that the hostile report has.
func own(r *Report, href string) bool {
	if strings.HasPrefix(href, "#source-") || strings.HasPrefix(href, "https://example.org/a") {
		return true
	}
	for _, s := range r.Sources {
		if s.Number == 2 {
			continue
		}
		if link := webURL(s.URI); s.Kind == cite.Web && link != "" && strings.HasPrefix(href, link) {
			return true
		}
		if link := fileURL(s.URI); s.Kind == cite.File && link != "" && strings.HasPrefix(href, link) {
			return true
		}
	}
	return false
}

var elements = strings.Fields("html head meta title style body main h1 h2 h3 h4 h5 h6 p div span strong mark em del a br hr ul ol li blockquote code pre table tbody tr td th footer")

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

func checkHTML(t failer, r *Report, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(elements, n.Data) {
			t.Errorf("an element %q in %q", n.Data, page)
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "lang", "dir", "class", "id", "rel", "value":
			case "href":
				if n.Data != "a" || !own(r, a.Val) {
					t.Errorf("a link to %q", a.Val)
				}
			case "charset", "name", "content", "http-equiv":
				if n.Data != "meta" {
					t.Errorf("%s has %s", n.Data, a.Key)
				}
			default:
				t.Errorf("an attribute %s of %s", a.Key, n.Data)
			}
		}
	}
	checkText(t, page)
}

func checkMarkdown(t failer, r *Report, markdown string) {
	t.Helper()
	source := []byte(markdown)
	root := strict().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.AutoLink:
			// A mail address leads where it says, and is written as people copy it.
			if href := string(n.URL(source)); !own(r, href) && n.AutoLinkType != ast.AutoLinkEmail {
				t.Errorf("a link to %q in\n%s", href, markdown)
			}
		case *ast.Link, *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.LinkReferenceDefinition:
			t.Errorf("a %s in\n%s", n.Kind(), markdown)
		case *east.Table, *ast.FencedCodeBlock, *ast.CodeBlock:
			if r.Text == "" {
				t.Errorf("a %s in\n%s", n.Kind(), markdown)
			}
		case *ast.Heading:
			if frame := n.Parent() == root; !frame && r.Text == "" {
				t.Errorf("a heading in a quote in\n%s", markdown)
			}
		}
		return ast.WalkContinue, nil
	})
	checkText(t, markdown)
}

func checkText(t failer, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Error("not UTF-8")
	}
	if i := strings.IndexFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}); i >= 0 {
		t.Errorf("a control character at %q", s[max(0, i-20):min(len(s), i+20)])
	}
}

func checkHostile(t failer, text string) {
	f := &fixture{snapshots: cite.Snapshots{}}
	for _, model := range []bool{false, true} {
		r := hostile(f, text, model)
		checkHTML(t, r, HTML(r))
		for _, extent := range []Extent{Full, Short, Brief} {
			checkMarkdown(t, r, Form{Extent: extent}.Markdown(r))
			checkLinked(t, r, Form{Extent: extent, Linked: true}.Markdown(r))
		}
		said, cited := Plain(r)
		checkMarkdown(t, r, said)
		for _, c := range cited {
			if runes := []rune(said); c.Start >= c.End || c.End > len(runes) || runes[c.Start] == ' ' || r.Source(c.Number) == nil {
				t.Errorf("%+v in\n%s", c, said)
			}
		}
	}
}

// checkLinked sees that the links of a text for a terminal lead to sources only.
func checkLinked(t failer, r *Report, markdown string) {
	t.Helper()
	source := []byte(markdown)
	_ = ast.Walk(strict().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			if href := string(l.Destination); !own(r, href) && !strings.HasPrefix(href, "file:///") {
				t.Errorf("a link to %q in\n%s", href, markdown)
			}
		}
		return ast.WalkContinue, nil
	})
	checkText(t, markdown)
}

func TestForeignTextStaysText(t *testing.T) {
	for _, a := range attacks {
		checkHostile(t, a)
	}
}

func TestForeignTextInPieces(t *testing.T) {
	fragments := append(slices.Clone(attacks), "\n", "\n\n", " ", "`", "``", "*", "**", "_", "[", "]", "(", ")", "<", ">", "&", "\\", "|", "!", "a", "中", "~~", "http://evil.example/", "\t", "-", "#", ":", "@b.c")
	rapid.Check(t, func(rt *rapid.T) {
		checkHostile(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 8).Draw(rt, "text"), ""))
	})
}

// Only what Markdown would take is escaped: the rest is copied as it stands.
func TestAddressesAreNotEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"write to submit@bugs.debian.org":   "write to submit@bugs.debian.org",
		"git clone git://git.example/x.git": "git clone git://git.example/x.git",
		"ssh://host and a: b, 10:30, C:/d":  "ssh://host and a: b, 10:30, C:/d",
		"see http://evil.example":           `see http\://evil.example`,
	} {
		if got := markdownStart(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// What is quoted reads in Markdown and in HTML as it stands in the source.
func TestQuotesReadAsTheyStand(t *testing.T) {
	for _, quote := range append(slices.Clone(attacks), "snake_case and *args, **kwargs or 2 * 3", "a <b> & c &amp; d", "C# and #3", "5. Mai", "~/x and ~/y", "`a|b` c|d\ne", "**bold** text", "mail submit@bugs.debian.org, clone git://x") {
		shown := together(display(quote))
		var b strings.Builder
		root := strict().Parse(text.NewReader([]byte(strings.Join(markdownBlock(display(quote)), "\n"))))
		source := []byte(strings.Join(markdownBlock(display(quote)), "\n"))
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.AutoLink:
				if entering {
					b.Write(n.Label(source))
				}
			case *ast.Text:
				if entering {
					value := string(n.Value(source))
					if _, inCode := n.Parent().(*ast.CodeSpan); !inCode {
						value = unescape(value)
					}
					b.WriteString(value)
					if n.SoftLineBreak() || n.HardLineBreak() {
						b.WriteByte(' ')
					}
				}
			}
			return ast.WalkContinue, nil
		})
		loose := strings.NewReplacer("`", "", "**", "", "\\|", "|", " ", "")
		if got, want := loose.Replace(b.String()), loose.Replace(shown); got != want {
			t.Errorf("%q reads as %q in Markdown\n%s", want, got, source)
		}
	}
}

func FuzzForeignText(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		checkHostile(t, text)
	})
}

func BenchmarkMarkdown(b *testing.B) {
	r := newFixture(b, inLanguages[1]).report(b, "partial")
	for b.Loop() {
		Markdown(r)
	}
}

func BenchmarkHTML(b *testing.B) {
	r := newFixture(b, inLanguages[1]).report(b, "model")
	for b.Loop() {
		HTML(r)
	}
}

func TestUnsure(t *testing.T) {
	for _, code := range []lang.Code{"en", "ru", "zh"} {
		r := &Report{Lang: code, Outcome: Answered, Extractive: true, Coverage: Coverage{Facets: Share{1, 1}, Unsure: []string{"the price"}}}
		alone := strings.Join(r.coverage(), "\n")
		r.Coverage.Facets = Share{2, 2}
		among := strings.Join(r.coverage(), "\n")
		if strings.Count(alone, "\n") != 1 || strings.Contains(alone, "the price") || !strings.Contains(among, "the price") {
			t.Errorf("%s: %q and %q", code, alone, among)
		}
	}
}

func TestDropUnfounded(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	r := f.report(t, "partial")
	quotes := len(r.Sections[0].Quotes)
	r.Sections[0].Quotes[0].Text += "!"
	r.Claims = []cite.Checked{{Claim: cite.Claim{Sources: []int{1}, Quotes: []string{"words that nobody ever wrote"}}, Verified: true}}
	r.Coverage.Claims = Share{1, 1}
	r.Conflicts[0].B.Quote += "!"
	r.DropUnfounded(f.ledger, f.snapshots)
	if err := r.Gather(f.ledger, f.snapshots); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(f.snapshots); err != nil {
		t.Error(err)
	}
	if len(r.Sections[0].Quotes) != quotes-1 || len(r.Conflicts) != 0 || r.Claims[0].Verified || r.Coverage.Claims.Covered != 0 {
		t.Errorf("%+v", r)
	}
	if note := r.Notes[len(r.Notes)-1]; !strings.Contains(note, "3 ") {
		t.Errorf("the note says %q", note)
	}
	only := &Report{Lang: "en", Outcome: Answered, Extractive: true, Sections: []Section{{Quotes: []Quote{{Text: "x", Passage: cite.Passage{Source: 1, End: 3}}}}}}
	if only.DropUnfounded(f.ledger, f.snapshots); only.Outcome != Nothing {
		t.Errorf("nothing is left, and the report says %q", only.Outcome)
	}
}
