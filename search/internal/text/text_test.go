package text_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dossier/search"
	"dossier/search/internal/text"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"":                             nil,
		"State-of-the-art, 3.5x":       {"state", "of", "the", "art", "3", "5x"},
		"Ещё МЁД":                      {"еще", "мед"},
		"城市里的蜜蜂":                       {"城市", "市里", "里的", "的蜜", "蜜蜂"},
		"用Go写":                         {"用", "go", "写"},
		"c# & c++":                     {"c", "c"},
		"नमस्ते":                       {"नमस्ते"},
		"hello世界 world":                {"hello", "世界", "world"},
		"\u0301":                       nil,
		"fine-tuning of LLMs: 7B/70B!": {"fine", "tuning", "of", "llms", "7b", "70b"},
	} {
		if got := text.Words(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"one two three", 7, "one two"},
		{"one two three", 8, "one two"},
		{"one two three", 9, "one two"},
		{"мёд и воск на крыше", 10, "мёд и воск"},
		{"城市里的蜜蜂", 3, "城市里"},
		{"a indivisible", 8, "a indivi"},
		{"", 0, ""},
		{"word", 0, ""},
	} {
		if got := text.Cut(c.in, c.most); got != c.want {
			t.Errorf("%q to %d: %q, not %q", c.in, c.most, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in, most := rapid.String().Draw(t, "in"), rapid.IntRange(0, 30).Draw(t, "most")
		got := text.Cut(in, most)
		if utf8.RuneCountInString(got) > most || !strings.HasPrefix(in, got) {
			t.Errorf("%q", got)
		}
	})
}

func TestLead(t *testing.T) {
	if got := text.Lead(" one\n two "); got != "one two" {
		t.Errorf("%q", got)
	}
	if got := text.Lead(strings.Repeat("word ", 100)); !strings.HasSuffix(got, "word …") || utf8.RuneCountInString(got) > text.Snippet+2 {
		t.Errorf("%q", got)
	}
}

func TestNames(t *testing.T) {
	if got := text.Names([]string{" Ada  Lovelace", "", "吴恩达"}); got != "Ada Lovelace, 吴恩达" {
		t.Errorf("%q", got)
	}
	if got := text.Names(strings.Split("a b c d e f g h i j", " ")); got != "a, b, c, d, e, f, g, h et al." {
		t.Errorf("%q", got)
	}
}

func TestRank(t *testing.T) {
	titles := []string{
		"Welcome to the community: how we work",
		"Quantizing models with bitsandbytes",
		"Running quantized models on the phone",
		"Пчёлы на крыше: год пасечника",
		"Мёд города",
		"城市里的蜜蜂",
		"Introducing the leaderboard",
	}
	hits := make([]search.Hit, len(titles))
	for i, title := range titles {
		hits[i] = search.Hit{URL: fmt.Sprint("https://e.example/", i), Title: title}
	}
	for query, want := range map[string][]int{
		"how to run quantized models on phones": {2, 1},
		"пчела на крышах города":                {3, 4},
		"蜜蜂":                   {5},
		"nothing about zebras": nil,
		"":                     {0, 1, 2, 3, 4, 5, 6},
		"leaderboards":         {6},
	} {
		var got []int
		for _, h := range text.Rank(query, hits) {
			got = append(got, slices.Index(titles, h.Title))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", query, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ranked := text.Rank(rapid.String().Draw(t, "query"), hits)
		for i, h := range ranked {
			if h.Score < 0 || h.Score > 1+1e-9 || i > 0 && h.Score > ranked[i-1].Score {
				t.Errorf("%+v", ranked)
			}
		}
	})
}

func TestWithin(t *testing.T) {
	first, last := time.Date(2024, 2, 1, 13, 0, 0, 0, time.UTC), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		date string
		q    search.Query
		in   bool
	}{
		{"2024-02-01", search.Query{Since: first, Until: last}, true},
		{"2024-02-29", search.Query{Since: first, Until: last}, true},
		{"2024-01-31", search.Query{Since: first}, false},
		{"2024-01-31", search.Query{Until: last}, true},
		{"2024-03-01", search.Query{Until: last}, false},
		{"2023", search.Query{Since: first}, true},
		{"", search.Query{Since: first}, true},
		{"1999-01-01", search.Query{}, true},
	} {
		if got := text.Within([]search.Hit{{Date: c.date}}, c.q); (len(got) == 1) != c.in {
			t.Errorf("%s: %v", c.date, got)
		}
	}
}
