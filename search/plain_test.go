package search_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dossier/search"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"as it is":                             "as it is",
		"  two \n\t words ":                    "two words",
		"<strong>Bees</strong> &amp; honey":    "Bees & honey",
		"5 &lt; 6 &gt; 4, a &lt;b&gt; tag":     "5 < 6 > 4, a <b> tag",
		"it&#39;s &quot;raw&quot;&nbsp;honey":  `it's "raw" honey`,
		"<p>One.</p><p>Two.</p>":               "One.\nTwo.",
		"one<br>two<br/>three":                 "one\ntwo\nthree",
		"H<sub>2</sub>O":                       "H2O",
		"<ul><li>a</li>\n<li>b</li></ul>":      "a\nb",
		"<tr><td>a</td><td>b</td></tr>":        "a b",
		"a<!-- b -->c":                         "ac",
		"a<script>if (1 < 2) { b }</script>c":  "ac",
		"a<style>b { c: d }</style> e":         "a e",
		`a<noscript><img src="x"></noscript>b`: "ab",
		"cut in a <a href=\"https://":          "cut in a",
		"3 < 4 and 5 > 4":                      "3 < 4 and 5 > 4",
		"Мёд &laquo;липовый&raquo;":            "Мёд «липовый»",
		"蜂<em>蜜</em>":                          "蜂蜜",
		"bell\x07 and \x1b[31mred":             "bell and [31mred",
		"&#0; &bogus; &amp;amp;":               "� &bogus; &amp;",
	} {
		if got := search.Plain(in); got != want {
			t.Errorf("Plain(%q) is %q, not %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		" a\r\n b\tc ":        "a b c",
		"if a<b & c>d":        "if a<b & c>d",
		"bell\x07 \x1b[0mred": "bell [0mred",
	} {
		if got := search.Line(in); got != want {
			t.Errorf("Line(%q) is %q, not %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		"<p>One &amp; two</p>", "a<b", "<script>", "<title>a<b>c", "&#x41;&#0;&notanentity", "<svg><style>a</style>", "\x00<\xff>", "<![CDATA[a]]>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := search.Plain(in)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not text", got)
		}
		if strings.TrimSpace(got) != got || strings.Contains(got, "  ") || strings.Contains(got, " \n") || strings.Contains(got, "\n ") || strings.Contains(got, "\n\n") {
			t.Errorf("uneven space in %q", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
			t.Errorf("a control character in %q", got)
		}
		// Text that was escaped comes back as it was.
		if got, want := search.Plain(html.EscapeString(in)), search.Line(in); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	})
}
