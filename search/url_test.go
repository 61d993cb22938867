package search

import (
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"pgregory.net/rapid"
)

func TestNormalURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org":                                            "https://example.org/",
		"  HTTPS://Example.ORG:443/a/../b\n":                             "https://example.org/b",
		"http://example.org:80/?":                                        "http://example.org/",
		"http://example.org:8080/a/":                                     "http://example.org:8080/a/",
		`https:\\example.org\a`:                                          "https://example.org/a",
		"https://example.org/a#part":                                     "https://example.org/a",
		"https://example.org/%7euser/%e4%B8%ad":                          "https://example.org/~user/%E4%B8%AD",
		"https://example.org/中文?q=мёд":                                   "https://example.org/%E4%B8%AD%E6%96%87?q=%D0%BC%D1%91%D0%B4",
		"https://пример.рф/":                                             "https://xn--e1afmkfd.xn--p1ai/",
		"https://münchen.example/":                                       "https://xn--mnchen-3ya.example/",
		"https://example.org/100%/%zz/%2":                                "https://example.org/100%25/%25zz/%252",
		"https://example.org/a%2Fb%3Fc":                                  "https://example.org/a%2Fb%3Fc",
		"https://example.org/?b=2&a=1&&":                                 "https://example.org/?b=2&a=1",
		"https://example.org/?a=1+2&b=%2B":                               "https://example.org/?a=1+2&b=%2B",
		"https://example.org/?utm_source=x&id=7":                         "https://example.org/?id=7",
		"https://example.org/?UTM%5FMedium=x":                            "https://example.org/",
		"https://example.org/?fbclid=1&gclid=2":                          "https://example.org/",
		"https://example.org/?ysclid=1&yclid=2#a":                        "https://example.org/",
		"https://example.org/?ref=main&source=x":                         "https://example.org/?ref=main&source=x",
		"https://en.m.wikipedia.org/wiki/Bee":                            "https://en.wikipedia.org/wiki/Bee",
		"https://ru.m.wiktionary.org/wiki/мёд":                           "https://ru.wiktionary.org/wiki/%D0%BC%D1%91%D0%B4",
		"https://m.wikipedia.org/wiki/Bee":                               "https://m.wikipedia.org/wiki/Bee",
		"https://m.youtube.com/watch?v=1":                                "https://www.youtube.com/watch?v=1",
		"https://m.example.org/a":                                        "https://m.example.org/a",
		"https://amp.example.org/a":                                      "https://amp.example.org/a",
		"https://www.google.com/amp/s/www.example.org/a/?x=1":            "https://www.example.org/a/?x=1",
		"https://www.google.com/amp/example.org/a":                       "http://example.org/a",
		"https://www-example-org.cdn.ampproject.org/c/s/www.example.org": "https://www.example.org/",
		"https://www.google.com/amp/s/google.com/amp/s/a.example/b":      "https://a.example/b",
		"https://x.cdn.ampproject.org/c/%61%2eexample/":                  "http://a.example/",
		"https://www.google.com/amp/":                                    "https://www.google.com/amp/",
		"https://www.google.com/amp/s/user@evil.example/":                "https://www.google.com/amp/s/user@evil.example/",
		"https://www.google.com/search?q=bees":                           "https://www.google.com/search?q=bees",
		"http://[2001:DB8::1]:80/a":                                      "http://[2001:db8::1]/a",
		"http://0x7f.1/":                                                 "http://127.0.0.1/",
		"https://example.org./a":                                         "https://example.org./a",
	} {
		got, err := NormalURL(raw)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, not %q", raw, got, err, want)
		}
		if again, err := NormalURL(got); err != nil || again != got {
			t.Errorf("%q again: %q, %v", got, again, err)
		}
	}
	for _, raw := range []string{
		"", "example.org", "/a", "ftp://example.org/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
		"https://", "https://user@example.org/", "https://user:secret@example.org/", "https://:secret@example.org/", "https://exa mple.org/",
		"https://[::1", "http://example.org:99999/", "https://a..b%00.example/", "https://example.org/" + strings.Repeat("a", mostURL),
		"https://example.org/" + strings.Repeat("я", mostURL/3),
	} {
		if got, err := NormalURL(raw); err == nil {
			t.Errorf("%.60q is %.60q", raw, got)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestPageOf(t *testing.T) {
	for _, same := range [][]string{
		{"https://example.org/a", "http://example.org/a/", "https://www.example.org/a#b", "https://EXAMPLE.org./a?utm_id=1"},
		{"https://example.org/", "http://www.example.org"},
		{"https://example.org/?a=1&b=2", "https://example.org?b=2&a=1"},
		{"http://[::1]:8080/a", "https://[::1]:8080/a/"},
		{"no URL", " no URL "},
	} {
		for _, raw := range same[1:] {
			if a, b := pageOf(same[0]), pageOf(raw); a != b {
				t.Errorf("%s is %s, but %s is %s", same[0], a, raw, b)
			}
		}
	}
	for _, other := range [][2]string{
		{"https://example.org/a", "https://example.org/A"}, {"https://example.org/a", "https://m.example.org/a"},
		{"https://example.org/?a=1", "https://example.org/?a=2"}, {"https://example.org/", "https://example.org:8443/"},
		{"https://example.org/?a", "https://example.org/a"},
	} {
		if pageOf(other[0]) == pageOf(other[1]) {
			t.Errorf("%s and %s are one page", other[0], other[1])
		}
	}
}

func TestShownURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://user:secret@example.org/a@b":           "https://example.org/a@b",
		"https://a.example/\u202egpj.exe\x00 b":         "https://a.example/gpj.exeb",
		"https://a.example/" + strings.Repeat("я", 300): "https://a.example/" + strings.Repeat("я", 181) + "…",
		"no URL at all": "noURLatall",
	} {
		if got := shownURL(raw); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// someURL draws URLs that look alike in the ways in which URLs do.
func someURL(t *rapid.T) string {
	return rapid.SampledFrom([]string{"https://", "http://", "HTTP://", "https:", "ftp://", "//", ""}).Draw(t, "scheme") +
		rapid.SampledFrom([]string{"a.example", "www.a.example", "A.Example.", "en.m.wikipedia.org", "www.google.com", "x.cdn.ampproject.org", "пример.рф", "user@a.example", "[::1]", "1.2.3", "m.youtube.com"}).Draw(t, "host") +
		rapid.SampledFrom([]string{"", ":80", ":443", ":8080"}).Draw(t, "port") +
		strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"/", "a", "%41", "%2f", "%", "%%41", "1", "..", "%2e", "amp/", "s/", "c/", "b.example", "中", " ", `\`, "|", "'"}), 0, 8).Draw(t, "path"), "") +
		strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"?", "&", "a=1", "b=%7e", "utm_a=1", "gclid=2", "%", "=", "+", "й", "#x", `"`}), 0, 6).Draw(t, "query"), "")
}

func TestNormalURLIsNormal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { normalIsNormal(t, someURL(t)) })
}

func FuzzNormalURL(f *testing.F) {
	for _, seed := range []string{"https://example.org/%7e?utm_a=1&b=%zz#c", "http://www.google.com/amp/s/a.example/%", "HTTPS:\\\\xn--e1afmkfd.xn--p1ai:443", "http://[::ffff:1.2.3.4]/?&&=", "https://a\u00ad.example/\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { normalIsNormal(t, raw) })
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func normalIsNormal(t failer, raw string) {
	t.Helper()
	if u, ok := plainURL(raw); ok {
		full, err := whatwg.Parse(raw)
		if err != nil || full.Href(true) != strings.TrimSuffix(u.scheme+"://"+u.host+u.path+"?"+u.query, "?") && !strings.HasSuffix(full.Href(true), "?") ||
			full.Hostname() != u.host || full.Pathname() != u.path || full.Query() != u.query || full.Port()+full.Username() != "" {
			t.Fatalf("%q is not plain: %v, %v", raw, full, err)
		}
	}
	normal, err := NormalURL(raw)
	if err != nil {
		return
	}
	again, err := NormalURL(normal)
	if err != nil || again != normal {
		t.Fatalf("%q is %q, which is %q, %v", raw, normal, again, err)
	}
	if pageOf(raw) != pageOf(normal) {
		t.Fatalf("%q and its normal form %q are two pages", raw, normal)
	}
	for i := range len(normal) {
		if normal[i] <= ' ' || normal[i] > '~' {
			t.Fatalf("%q is %q", raw, normal)
		}
	}
	if strings.Contains(normal, "#") || !strings.HasPrefix(normal, "http") || hostOf(normal) == "" {
		t.Fatalf("%q is %q", raw, normal)
	}
}
