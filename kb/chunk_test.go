package kb_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dossier/kb"
	"dossier/reader"
)

func TestCutKeepsPlaces(t *testing.T) {
	page, err := newReader(t).Read(t.Context(), reader.Document{Path: "x.md", Body: []byte(`---
title: Beasts
---
Foreword.

# Beasts

## Cats

Cats sleep.

- They purr.
- They hunt at night.

## Dogs
### Small dogs

| dog | weight |
| --- | --- |
| pug | 7 kg |
| corgi | 12 kg |

## Nothing follows
`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range kb.Cut(page, 0) {
		got = append(got, strings.Join(c.Headings, "/")+": "+strings.Join(strings.Fields(page.Text[c.Start:c.End]), " "))
	}
	want := []string{
		": --- title: Beasts --- Foreword.",
		"Beasts/Cats: Beasts ## Cats Cats sleep. - They purr. - They hunt at night.",
		"Beasts/Dogs/Small dogs: Dogs ### Small dogs | dog | weight | | --- | --- | | pug | 7 kg",
		"Beasts/Dogs/Small dogs/dog | weight: corgi | 12 kg",
		"Beasts/Nothing follows: Nothing follows",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCutStaysOnOnePage(t *testing.T) {
	page := &reader.Page{Text: "One.\n\nTwo.\n\nThree.", Blocks: []reader.Block{
		{Kind: reader.Paragraph, Start: 0, End: 4, Page: 1},
		{Kind: reader.Paragraph, Start: 6, End: 10, Page: 1},
		{Kind: reader.Paragraph, Start: 12, End: 18, Page: 2},
	}}
	got := kb.Cut(page, 0)
	if len(got) != 2 || got[0].Page != 1 || got[0].End != 10 || got[1].Page != 2 || got[1].Start != 12 {
		t.Errorf("got %+v", got)
	}
}

// Chunks lie in the text in order, cut no character, are no longer than
// asked, and hold every word.
func TestCutCoversEveryWord(t *testing.T) {
	read := newReader(t)
	words := rapid.SampledFrom([]string{"cat", "Кошка", "本地文件", "дом.", "end.", "\n\n", "\n", "# ", "## ", "- ", "| a | b |\n", "```\n", "> ",
		"12", "—", "é", "\u00a0", strings.Repeat("x", 70), strings.Repeat("長", 50), "。", "?", "---\n", "===\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 120).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		size := rapid.IntRange(1, 200).Draw(t, "size")
		page := &reader.Page{Text: text}
		if path := rapid.SampledFrom([]string{"", "x.md", "x.txt"}).Draw(t, "path"); path != "" && strings.TrimSpace(text) != "" {
			p, err := read.Read(t.Context(), reader.Document{Path: path, Body: []byte(text)})
			if err != nil {
				return
			}
			page = p
		}
		at := 0
		outside := func(from, to int) {
			if s := page.Text[from:to]; strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				t.Fatalf("%q is in no chunk", s)
			}
		}
		for _, c := range kb.Cut(page, size) {
			if c.Start < at || c.End <= c.Start || c.End > len(page.Text) {
				t.Fatalf("span %d-%d after %d in %d bytes", c.Start, c.End, at, len(page.Text))
			}
			s := page.Text[c.Start:c.End]
			if !utf8.ValidString(s) || s != strings.TrimSpace(s) {
				t.Fatalf("chunk %q", s)
			}
			outside(at, c.Start)
			at = c.End
		}
		outside(at, len(page.Text))
	})
}
