package search

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/lang"
)

func filter(t *testing.T, hits []Hit, r Rules, q Query) ([]Hit, []Drop) {
	t.Helper()
	trace := &Trace{}
	got, err := Filtered(given(hits), r).Search(WithTrace(t.Context(), trace), q)
	if err != nil {
		t.Fatal(err)
	}
	return got, trace.Drops()
}

func TestBlockedDomains(t *testing.T) {
	rules := Rules{BlockedDomains: []string{"spam.example", "*.Ads.example", "пример.рф", " https://page.example/path ", "xn--fiqs8s", "not a domain", ""}}
	for u, want := range map[string]string{
		"https://spam.example/":             "spam.example",
		"https://SPAM.example./a":           "spam.example",
		"https://a.b.spam.example:8443/":    "spam.example",
		"https://notspam.example/":          "",
		"https://spam.example.org/":         "",
		"https://ads.example/":              "ads.example",
		"https://x.ads.example/":            "ads.example",
		"https://xn--e1afmkfd.xn--p1ai/":    "xn--e1afmkfd.xn--p1ai",
		"https://под.ПРИМЕР.рф/":            "xn--e1afmkfd.xn--p1ai",
		"https://page.example/other":        "page.example",
		"https://公司.中国/":                    "xn--fiqs8s",
		"https://a.example/?u=spam.example": "",
		"https://spam.example@a.example/":   "",
		"not a URL":                         "",
		"https://s\u0440am.example/":        "", // Cyrillic er: another domain
	} {
		got, drops := filter(t, []Hit{{URL: u, Engine: "e"}}, rules, Query{})
		switch {
		case want == "" && len(got) == 1 && len(drops) == 0:
		case want != "" && len(got) == 0 && reflect.DeepEqual(drops, []Drop{{URL: u, Engine: "e", Why: BlockedDomain, Detail: want}}):
		default:
			t.Errorf("%s: %v, %+v", u, got, drops)
		}
	}
	if err := rules.Check(); err == nil || !strings.Contains(err.Error(), `"not a domain"`) || strings.Contains(err.Error(), "ads") {
		t.Error(err)
	}
}

func TestBlockedKeywords(t *testing.T) {
	for _, c := range []struct {
		keyword, text string
		want          bool
	}{
		{"casino", "The best CASINO in town", true},
		{"casino", "casinos", false},
		{"casino", "mycasino", false},
		{"casino", "(casino)", true},
		{"casino", "casino's", true},
		{"Casino Bonus", "a casino\n  bonus for you", true},
		{"casino bonus", "casino and bonus", false},
		{"ставки", "Лучшие СТАВКИ на спорт", true},
		{"ставки", "приставкии и ставкин", false},
		{"straße", "In der STRASSE", true},
		{"café", "Cafe\u0301 Paris", true},
		{"ａｄ", "an AD here", true},
		{"c++", "Learn C++ now", true},
		{"c++", "Learn C now", false},
		{"c#", "c#: an intro", true},
		{"赌场", "澳门线上赌场大全", true},
		{"赌场", "赌 场", false},
		{"AV", "看AV片", true},
		{"AV", "AVG antivirus", false},
		{"คาสิโน", "เล่นคาสิโนออนไลน์", true},
		{"카지노", "온라인 카지노 게임", true},
		{"10", "top 10 of them", true},
		{"10", "top 100 of them", false},
		{"क्ष", "क्षि", false}, // a vowel sign goes on
	} {
		rules := Rules{BlockedKeywords: []string{"never", c.keyword}}
		for where, h := range map[string]Hit{"title": {Title: c.text}, "snippet": {Snippet: c.text}} {
			h.URL = "https://a.example/"
			got, drops := filter(t, []Hit{h}, rules, Query{})
			if (len(drops) == 1) != c.want || len(got)+len(drops) != 1 || c.want && drops[0].Why != BlockedKeyword {
				t.Errorf("%q in the %s %q: %+v", c.keyword, where, c.text, drops)
			}
		}
	}
	for u, want := range map[string]bool{
		"https://online-casino.example/":                         true,
		"https://a.example/best_casino?x=1":                      true,
		"https://a.example/?q=casino+bonus":                      true,
		"https://a.example/%D1%81%D1%82%D0%B0%D0%B2%D0%BA%D0%B8": true,
		"https://a.example/%E8%B5%8C%E5%9C%BA%E5%A4%A7":          true,
		"https://mycasino.example/":                              false,
		"https://a.example/100%casino":                           false,
	} {
		if _, drops := filter(t, []Hit{{URL: u}}, Rules{BlockedKeywords: []string{"casino", "ставки", "赌场"}}, Query{}); (len(drops) == 1) != want {
			t.Errorf("%s: %+v", u, drops)
		}
	}
	// A keyword parted by the end of the title is none.
	if got, _ := filter(t, []Hit{{URL: "https://a.example/", Title: "casino", Snippet: "bonus"}}, Rules{BlockedKeywords: []string{"casino bonus"}}, Query{}); len(got) != 1 {
		t.Error("title and snippet are one text")
	}
	// What has no letter blocks nothing.
	rules := Rules{BlockedKeywords: []string{"", "  ", "..."}}
	if got, _ := filter(t, []Hit{{URL: "https://a.example/", Title: "a ... b"}}, rules, Query{}); len(got) != 1 || rules.Check() == nil {
		t.Error(got, rules.Check())
	}
	if err := (Rules{BlockedDomains: []string{"a.example"}, BlockedKeywords: []string{"赌场"}}).Check(); err != nil {
		t.Error(err)
	}
}

func TestFilteredHoldsToTheQuery(t *testing.T) {
	at := func(text string) time.Time {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return day.Add(13 * time.Hour)
	}
	spring := Query{Since: at("2024-03-10"), Until: at("2024-05-20")}
	for _, c := range []struct {
		q    Query
		h    Hit
		want DropReason
	}{
		{Query{Sites: []string{"a.example", "ПРИМЕР.рф"}}, Hit{URL: "https://www.a.example/x"}, ""},
		{Query{Sites: []string{"a.example", "ПРИМЕР.рф"}}, Hit{URL: "https://xn--e1afmkfd.xn--p1ai/"}, ""},
		{Query{Sites: []string{"a.example"}}, Hit{URL: "https://b.example/a.example"}, OtherSite},
		{Query{Sites: []string{"a.example/docs"}}, Hit{URL: "https://a.example/docs/x"}, ""},
		{Query{Sites: []string{"no domain"}}, Hit{URL: "https://a.example/"}, OtherSite},
		{Query{Sites: []string{"a.example"}}, Hit{URL: "no URL"}, OtherSite},
		{spring, Hit{Date: "2024-03-10"}, ""},
		{spring, Hit{Date: "2024-03-09"}, OutOfTime},
		{spring, Hit{Date: "2024-05-20"}, ""},
		{spring, Hit{Date: "2024-05-21"}, OutOfTime},
		{spring, Hit{Date: "2024"}, ""},
		{spring, Hit{Date: "2023"}, OutOfTime},
		{spring, Hit{Date: "2025"}, OutOfTime},
		{spring, Hit{Date: "2024-03"}, ""},
		{spring, Hit{Date: "2024-02"}, OutOfTime},
		{spring, Hit{Date: "2024-05"}, ""},
		{spring, Hit{Date: "2024-06"}, OutOfTime},
		{spring, Hit{Date: ""}, ""},
		{spring, Hit{Date: "last week"}, ""},
		{Query{Since: at("2024-02-29")}, Hit{Date: "2024-02"}, ""},
		{Query{Since: at("2024-02-29")}, Hit{Date: "2999-01-01"}, ""},
		{Query{Until: at("2024-01-01")}, Hit{Date: "1901"}, ""},
		{Query{}, Hit{Date: "1901"}, ""},
	} {
		got, drops := filter(t, []Hit{c.h}, Rules{}, c.q)
		if c.want == "" && (len(got) != 1 || len(drops) != 0) || c.want != "" && (len(drops) != 1 || drops[0].Why != c.want) {
			t.Errorf("%+v under %+v: %+v", c.h, c.q, drops)
		}
	}
	if _, err := Filtered(failing("e", Blocked), Rules{}).Search(t.Context(), Query{}); ReasonOf(err) != Blocked {
		t.Error(err)
	}
}

func TestOtherLanguagesMoveBehind(t *testing.T) {
	hits := []Hit{
		{URL: "ru", Title: "Мёд", Snippet: mead},
		{URL: "en, says its engine", Title: "Мёд", Snippet: mead, Lang: "en-GB"},
		{URL: "zh", Title: "蜜蜂", Snippet: roofs},
		{URL: "en", Title: "Bees", Snippet: bees},
		{URL: "too short to tell", Title: "Мёд"},
		{URL: "ru, says its engine", Title: "Bees", Snippet: bees, Lang: "ru"},
	}
	for want, order := range map[lang.Code]string{
		"en": "en, says its engine|en|too short to tell|ru|zh|ru, says its engine",
		"ru": "ru|too short to tell|ru, says its engine|en, says its engine|zh|en",
		"zh": "zh|too short to tell|ru|en, says its engine|en|ru, says its engine",
		"":   "ru|en, says its engine|zh|en|too short to tell|ru, says its engine",
	} {
		got, drops := filter(t, hits, Rules{}, Query{Lang: want})
		if strings.Join(urls(got), "|") != order || len(drops) != 0 {
			t.Errorf("%q: %s, %+v", want, strings.Join(urls(got), "|"), drops)
		}
	}
}

// Whatever the rules, what stays and what is dropped is what there was, and
// filtering again changes nothing.
func TestFilteredOnlySorts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		hits := someHits(r)
		rules := Rules{
			BlockedDomains:  rapid.SliceOfN(rapid.SampledFrom([]string{"a.example", "wikipedia.org", "рф", "?"}), 0, 2).Draw(r, "domains"),
			BlockedKeywords: rapid.SliceOfN(rapid.SampledFrom([]string{"bees", "Мёд", "蜂蜜", "part 1", "1"}), 0, 2).Draw(r, "keywords"),
		}
		q := Query{
			Lang:  rapid.SampledFrom([]lang.Code{"", "en", "ru", "und"}).Draw(r, "lang"),
			Sites: rapid.SliceOfN(rapid.SampledFrom([]string{"a.example", "google.com"}), 0, 1).Draw(r, "sites"),
		}
		once, drops := filter(t, hits, rules, q)
		if len(once)+len(drops) != len(hits) {
			r.Fatalf("%d hits are %d and %d drops", len(hits), len(once), len(drops))
		}
		for _, h := range once {
			if !slices.Contains(hits, h) {
				r.Fatalf("%+v was not there", h)
			}
		}
		twice, again := filter(t, once, rules, q)
		if len(again) > 0 || fmt.Sprint(once) != fmt.Sprint(twice) {
			r.Fatalf("%v, then %v without %v", once, twice, again)
		}
	})
}

func TestRulesAgainst(t *testing.T) {
	r := Rules{BlockedDomains: []string{"bad.example"}, BlockedKeywords: []string{"casino"}}
	for at, want := range map[string]DropReason{"https://a.bad.example/x": BlockedDomain, "https://a.example/casino-bonus": BlockedKeyword, "https://good.example/": ""} {
		if why, _ := r.Against(Hit{URL: at}); why != want {
			t.Errorf("%s: %q", at, why)
		}
	}
}
