package search

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dossier/egress"
)

const (
	bees  = "A keeper's year on the roof: twelve hives, raw honey in autumn, and neighbours who stopped complaining after the first jar."
	mead  = "Мёд с городских крыш бывает чище деревенского: на бульварах нет ядохимикатов, а липы цветут дольше обычного."
	roofs = "屋顶上的养蜂场有十二个蜂箱，蜂蜜在秋天采收，邻居们在尝到第一罐蜂蜜之后就不再抱怨了。"
)

func clean(t *testing.T, hits []Hit, allowed func(string) error) ([]Hit, []Drop) {
	t.Helper()
	trace := &Trace{}
	got, err := Clean(given(hits), allowed).Search(WithTrace(t.Context(), trace), Query{})
	if err != nil {
		t.Fatal(err)
	}
	return got, trace.Drops()
}

func TestCleanDrops(t *testing.T) {
	guard := egress.Guarded(egress.GuardConfig{})
	defer guard.Close()
	got, drops := clean(t, []Hit{
		{URL: "https://a.example/1?utm_source=x#top", Title: "Bees on the roof", Snippet: bees, Engine: "e"},
		{URL: "not a URL", Engine: "e"},
		{URL: "ftp://a.example/", Engine: "e"},
		{URL: "https://user:secret@a.example/", Engine: "e"},
		{URL: "http://127.0.0.1/admin", Engine: "e"},
		{URL: "http://[::1]/", Engine: "e"},
		{URL: "https://a.example:22/", Engine: "e"},
		{URL: "http://www.a.example/1/", Author: "Ann", Engine: "f"},
		{URL: "https://copy.example/", Title: "Bees on the roof | Copy", Snippet: bees, Engine: "f"},
		{URL: "https://b.example/", Title: "Other bees", Snippet: "Wild bees live alone in the ground and make no honey that anyone could take from them.", Engine: "e"},
	}, guard.Check)
	want := []Hit{
		{URL: "https://a.example/1", Title: "Bees on the roof", Snippet: bees, Author: "Ann", Engine: "e,f"},
		{URL: "https://b.example/", Title: "Other bees", Snippet: "Wild bees live alone in the ground and make no honey that anyone could take from them.", Engine: "e"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	wantDrops := []Drop{
		{URL: "notaURL", Engine: "e", Why: BrokenURL, Detail: "it is not a URL that a browser would open"},
		{URL: "ftp://a.example/", Engine: "e", Why: BrokenURL, Detail: "it is neither http nor https"},
		{URL: "https://a.example/", Engine: "e", Why: BrokenURL, Detail: "it has a user name or password in it"},
		{URL: "http://127.0.0.1/admin", Engine: "e", Why: RefusedURL},
		{URL: "http://[::1]/", Engine: "e", Why: RefusedURL},
		{URL: "https://a.example:22/", Engine: "e", Why: RefusedURL},
		{URL: "http://www.a.example/1/", Engine: "f", Why: SameURL, Detail: "https://a.example/1"},
		{URL: "https://copy.example/", Engine: "f", Why: SameText, Detail: "https://a.example/1"},
	}
	for i := range drops {
		if drops[i].Why == RefusedURL && drops[i].Detail != "" {
			drops[i].Detail = ""
		}
	}
	if !reflect.DeepEqual(drops, wantDrops) {
		t.Errorf("\n got %+v\nwant %+v", drops, wantDrops)
	}
	if _, err := Clean(failing("e", Blocked), nil).Search(t.Context(), Query{}); ReasonOf(err) != Blocked {
		t.Error(err)
	}
	if _, drops := clean(t, []Hit{{URL: "https://a.example"}}, func(string) error { return errors.New("no\nway") }); len(drops) != 1 || drops[0].Detail != "no way" {
		t.Errorf("%+v", drops)
	}
}

func TestCleanSameText(t *testing.T) {
	page := func(title, snippet string) Hit { return Hit{Title: title, Snippet: snippet} }
	for name, c := range map[string]struct {
		a, b Hit
		same bool
	}{
		"a copy":                   {page("Bees on the roof", bees), page("BEES on the roof - The Daily Copy", bees), true},
		"cut short":                {page("Bees on the roof", bees), page("Bees on the roof", bees[:90]+"…"), true},
		"a copy in Russian":        {page("Мёд в городе", mead), page("Мёд в городе: РИА", strings.ToUpper(mead)), true},
		"a copy in Chinese":        {page("城市里的蜜蜂", roofs), page("城市里的蜜蜂_新闻", roofs), true},
		"text for want of snippet": {Hit{Title: "Bees", Text: bees}, Hit{Title: "Bees", Text: bees}, true},
		"other pages":              {page("Bees on the roof", bees), page("Bees on the roof", strings.ToUpper(mead)), false},
		"one pattern, two cities":  {page("Weather in Moscow today", "The weather in Moscow today: temperature, wind, humidity and pressure by the hour, sunrise and sunset."), page("Weather in Kazan today", "The weather in Kazan today: temperature, wind, humidity and pressure by the hour, sunrise and sunset."), false},
		"another part":             {page("Bees on the roof, part 1", bees), page("Bees on the roof, part 2", bees), false},
		"another year":             {page("蜜蜂 2023", roofs), page("蜜蜂 2024", roofs), false},
		"only titles":              {page("How to keep bees on the roof of a house in a city", ""), page("How to keep bees on the roof of a house in a city", ""), false},
		"too short to tell":        {page("Bees", "Read more here"), page("Bees", "Read more here"), false},
		"short and equal":          {page("Bees on the roof", "Keeping bees in town"), page("Bees on the roof", "keeping bees in town!"), true},
		"short and nearly equal":   {page("Bees on the roof", "Keeping bees in town"), page("Bees on the roof", "Keeping bees in Rome"), false},
	} {
		c.a.URL, c.b.URL = "https://a.example/", "https://b.example/"
		for range 2 {
			if got, drops := clean(t, []Hit{c.a, c.b}, nil); (len(got) == 1) != c.same || len(got)+len(drops) != 2 || got[0].URL != c.a.URL {
				t.Errorf("%s: %d hits, %+v", name, len(got), drops)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

func TestCleanTexts(t *testing.T) {
	got, _ := clean(t, []Hit{{
		URL:     "https://a.example/",
		Title:   " A\x00 title\u202e with\n\ttricks\xff" + strings.Repeat("\U000e0041", 50),
		Snippet: strings.Repeat("длинный ", 500),
		Text:    "one\r\ntwo\rthree\x1b[31m\tfour\u2066\ufeff\u00ad" + strings.Repeat("字", 100_000),
		Author:  strings.Repeat("a", 300), Date: "yesterday", Site: "a\u200bb", Lang: "ZH_hans", Score: math.NaN(), Engine: "e",
	}}, nil)
	h := got[0]
	if h.Title != "A title with tricks\uFFFD" || h.Site != "ab" || h.Date != "" || h.Lang != "zh" || h.Score != 0 {
		t.Errorf("%#v", h)
	}
	if n := utf8.RuneCountInString(h.Snippet); n > mostSnippet || n < mostSnippet-10 || !strings.HasSuffix(h.Snippet, "…") {
		t.Errorf("snippet of %d runes: …%q", n, h.Snippet[len(h.Snippet)-20:])
	}
	if !strings.HasPrefix(h.Text, "one\ntwo\nthree[31m\tfour字") || len(h.Text) > mostText || len(h.Text) < mostText-4 || !utf8.ValidString(h.Text) {
		t.Errorf("text of %d bytes: %q…", len(h.Text), h.Text[:40])
	}
	if utf8.RuneCountInString(h.Author) != mostName {
		t.Errorf("%q", h.Author)
	}
	for _, text := range []string{"می‌خواهم", "👩‍👩‍👧 ❤️", "é 中文 ё", "a\nb\tc", "क्षि"} { // joiners and the like stay
		if got := visible(text); got != text {
			t.Errorf("%+q became %+q", text, got)
		}
	}
}

// someHits draws hits of which many are alike.
func someHits(t *rapid.T) []Hit {
	texts := rapid.SampledFrom([]string{"", "Bees", bees, bees + " More.", mead, roofs, roofs + mead, bees[:80], "a\x00b\u202ec\xff", strings.Repeat("long ", 700), "Part 1 " + bees, "Part 2 " + bees})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Hit {
		return Hit{
			URL: someURL(t), Title: texts.Draw(t, "title"), Snippet: texts.Draw(t, "snippet"), Text: texts.Draw(t, "text"),
			Date: rapid.SampledFrom([]string{"", "2024", "2024-05-06", "soon"}).Draw(t, "date"), Engine: rapid.SampledFrom([]string{"a", "b", "a,b"}).Draw(t, "engine"),
		}
	}), 0, 12).Draw(t, "hits")
}

func TestCleanIsClean(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { cleanIsClean(t, r, someHits(r)) })
}

func FuzzClean(f *testing.F) {
	f.Add("https://a.example/", "title", bees, "http://www.a.example", "title\x00", mead)
	f.Add("ftp://x", "\u202e", roofs, "https://b.example/?utm_a", "", roofs)
	f.Fuzz(func(t *testing.T, u1, t1, s1, u2, t2, s2 string) {
		cleanIsClean(t, t, []Hit{
			{URL: u1, Title: t1, Snippet: s1, Text: s2, Author: t2, Engine: "a"}, {URL: u2, Title: t2, Snippet: s2, Site: s1, Date: t1, Engine: "b"},
			{URL: u1 + "#x", Title: s1, Snippet: t1}, {URL: "https://a.example/", Title: t1, Snippet: s2},
		})
	})
}

// cleanIsClean holds what Clean returns to what it promises.
func cleanIsClean(t *testing.T, f failer, hits []Hit) {
	t.Helper()
	once, drops := clean(t, hits, nil)
	twice, again := clean(t, once, nil)
	if len(again) > 0 || !reflect.DeepEqual(once, twice) {
		f.Fatalf("cleaned again, %+v are dropped:\n%#v\n%#v", again, once, twice)
	}
	if len(once)+len(drops) != len(hits) {
		f.Fatalf("%d hits are %d and %d drops", len(hits), len(once), len(drops))
	}
	for _, h := range once {
		all := h.URL + h.Title + h.Snippet + h.Text + h.Author + h.Site + h.Engine
		if !utf8.ValidString(all) || strings.ContainsFunc(all, hides) {
			f.Fatalf("%#v", h)
		}
		if utf8.RuneCountInString(h.Title) > mostTitle || utf8.RuneCountInString(h.Snippet) > mostSnippet || len(h.Text) > mostText {
			f.Fatalf("%d, %d, %d", len(h.Title), len(h.Snippet), len(h.Text))
		}
		normalIsNormal(f, h.URL)
	}
	for _, d := range drops {
		if d.Why == "" || d.Detail == "" || !utf8.ValidString(fmt.Sprint(d)) {
			f.Fatalf("%+q", d)
		}
	}
}
