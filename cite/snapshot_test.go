package cite_test

import (
	"net/url"
	"strings"
	"testing"

	"dossier/cite"
)

func TestSnapshot(t *testing.T) {
	s := cite.NewSnapshot("")
	if s.Hash != "sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(s.Hash)
	}
	s = cite.NewSnapshot("one\ntwo\n\nчетыре")
	for offset, line := range map[int]int{0: 1, 3: 1, 4: 2, 8: 3, 9: 4, len(s.Text): 4} {
		if got := s.Line(offset); got != line {
			t.Errorf("byte %d is on line %d, want %d", offset, got, line)
		}
	}
	for _, p := range []cite.Passage{{Start: -1, End: 2}, {Start: 3, End: 3}, {Start: 0, End: 99}, {Start: 10, End: 12}, {Start: 9, End: 10}} {
		if q, err := p.Quote(s); err == nil {
			t.Errorf("%+v quotes %q", p, q)
		}
	}
}

func TestLink(t *testing.T) {
	text := "# Neva\n\nThe river is **74 km** long, so they say. The river is wide.\n\n- First item here\n- Second item here\n\n" +
		"The river is wide.\nПрямая речь — в тексте.\n\n涅瓦河全长七十四公里，流经圣彼得堡。\n" +
		"A long sentence that goes on and on with many words until nobody would want to see it whole in the address of a page, because addresses have to be short enough to be read by people.\n"
	snap := cite.NewSnapshot(text)
	web := cite.Source{URI: "https://example.org/p", Kind: cite.Web}
	for _, c := range []struct{ quote, want string }{
		{"The river is **74 km** long, so they say.", "The river is 74 km long%2C so they say."},
		{"# Neva\n\nThe river is **74 km** long", "Neva,The river is 74 km long"},
		{"- First item here\n- Second item here", "First item here,Second item here"},
		{"Прямая речь — в тексте.", "Прямая речь — в тексте."},
		{"涅瓦河全长七十四公里", "涅瓦河全长七十四公里"},
		{"A long sentence that goes on and on with many words until nobody would want to see it whole in the address of a page, because addresses have to be short enough to be read by people.",
			"A long sentence that goes on and on with many,have to be short enough to be read by people."},
		{"The river is wide.", "is 74 km long%2C so they say.-,The river is wide.,-First item here"},
	} {
		at := strings.Index(text, c.quote)
		p := cite.Passage{Source: 1, Start: at, End: at + len(c.quote)}
		got := web.Link(p, snap)
		fragment, ok := strings.CutPrefix(got, "https://example.org/p#:~:text=")
		if !ok || strings.ContainsAny(fragment, " <>\"") {
			t.Errorf("link %q", got)
		}
		// Read back everything but the comma and the dash that are text.
		read, err := url.PathUnescape(strings.NewReplacer("%2C", "%252C", "%2D", "%252D").Replace(fragment))
		if err != nil || read != c.want {
			t.Errorf("fragment of %q is %q, want %q", c.quote, read, c.want)
		}
	}
	if got := (cite.Source{URI: "https://example.org/#top", Kind: cite.Web}).Link(cite.Passage{Start: 8, End: 17}, snap); !strings.HasPrefix(got, "https://example.org/#top:~:text=") {
		t.Error(got)
	}
	if got := (cite.Source{URI: "docs/neva.md", Kind: cite.File}).Link(cite.Passage{Start: 8, End: 17}, snap); got != "docs/neva.md:3" {
		t.Error(got)
	}
	if got := web.Link(cite.Passage{Start: 8, End: 9999}, snap); got != web.URI {
		t.Error(got)
	}
}
