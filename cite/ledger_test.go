package cite_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"dossier/cite"
)

func TestCanonical(t *testing.T) {
	for _, same := range [][]string{
		{"https://Example.org/a/", "http://example.org:80/a", "https://example.org/a#part", "https://example.org/a?utm_source=x&fbclid=1", "https://example.org/b/../a"},
		{"https://example.org", "https://example.org/", "https://example.org:443/?"},
		{"docs/a.md", "./docs/a.md", `docs\a.md`, "docs//a.md"},
	} {
		for _, uri := range same[1:] {
			if a, b := cite.Canonical(same[0]), cite.Canonical(uri); a != b {
				t.Errorf("%s is %s, but %s is %s", same[0], a, uri, b)
			}
		}
	}
	for _, pair := range [][2]string{
		{"https://example.org/a", "https://example.org/A"}, {"https://example.org/?p=1", "https://example.org/?p=2"},
		{"https://example.org/a", "https://example.org:8080/a"}, {"docs/a.md", "docs/b.md"}, {"example.org/a", "https://example.org/a"},
	} {
		if cite.Canonical(pair[0]) == cite.Canonical(pair[1]) {
			t.Errorf("%s and %s are one", pair[0], pair[1])
		}
	}
}

func TestLedger(t *testing.T) {
	l := cite.NewLedger()
	a := l.Add(cite.Source{URI: "https://example.org/a", Title: "A"})
	b := l.Add(cite.Source{URI: "docs/b.md"})
	again := l.Add(cite.Source{URI: "http://example.org/a#x", Title: "Other", Author: "Ann"})
	if a.Number != 1 || b.Number != 2 || again.Number != 1 || again.Title != "A" || again.Author != "Ann" || a.Kind != cite.Web || b.Kind != cite.File {
		t.Errorf("%+v %+v %+v", a, b, again)
	}
	if _, err := l.Read(3, cite.NewSnapshot("x")); err == nil {
		t.Error("read a source that isn't there")
	}
	if s, ok := l.Lookup("https://example.org/a?utm_medium=y"); !ok || s.Number != 1 {
		t.Errorf("lookup %+v %v", s, ok)
	}
	if n := l.Independent([]int{1, 2, 2, 7, 0}); n != 2 {
		t.Errorf("independent %d", n)
	}
}

// article is a text of n words in sentences, the same for the same seed.
func article(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	var words []string
	for range n {
		// Common words come often, as in a language.
		k := int(float64(2000) * r.Float64() * r.Float64() * r.Float64())
		words = append(words, fmt.Sprintf("w%c%d", 'a'+rune(k%7), k))
	}
	return words
}

func TestGroups(t *testing.T) {
	l := cite.NewLedger()
	text, other := strings.Join(article(1, 400), " "), strings.Join(article(2, 400), " ")
	for i, body := range []string{other, text, "Menu. " + text, other + " The end.", "short"} {
		s := l.Add(cite.Source{URI: fmt.Sprintf("https://%d.example", i)})
		if _, err := l.Read(s.Number, cite.NewSnapshot(body)); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, s := range l.Sources() {
		got = append(got, s.CopyOf)
	}
	if want := []int{0, 0, 2, 1, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if n := l.Independent([]int{1, 2, 3, 4, 5}); n != 3 {
		t.Errorf("%d independent sources", n)
	}

	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	back := cite.NewLedger()
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Sources(), l.Sources()) {
		t.Errorf("restored %+v", back.Sources())
	}
	// The restored ledger goes on where the first one was.
	s := back.Add(cite.Source{URI: "https://new.example"})
	s, err = back.Read(s.Number, cite.NewSnapshot(text))
	if err != nil || s.Number != 6 || s.CopyOf != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{`{"sources":[{"number":2,"uri":"a"}],"sketches":[""]}`, `{"sources":[{"number":1,"uri":"a"}]}`, `{"sources":[{"number":1,"uri":"a"}],"sketches":["%"]}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), cite.NewLedger()); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

// A source that is read anew with another text has a number of its own, and what
// was cited before still is.
func TestAnotherTextUnderOneAddress(t *testing.T) {
	l := cite.NewLedger()
	old, young := cite.NewSnapshot("The bridge has two lanes and is old."), cite.NewSnapshot("The bridge is closed since Monday, says the mayor.")
	first := l.Add(cite.Source{URI: "https://example.org/a", Title: "A"})
	if _, err := l.Read(first.Number, old); err != nil {
		t.Fatal(err)
	}
	second := l.Anew(cite.Source{URI: "https://example.org/a", Title: "A"})
	if _, err := l.Read(second.Number, young); err != nil {
		t.Fatal(err)
	}
	was, _ := l.Source(1)
	is, _ := l.Lookup("https://example.org/a")
	if was.Snapshot != old.Hash || is.Number != 2 || is.Snapshot != young.Hash {
		t.Errorf("%+v, then %+v", was, is)
	}
	raw, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	again := cite.NewLedger()
	if err := json.Unmarshal(raw, again); err != nil || len(again.Sources()) != 2 {
		t.Errorf("%d sources, %v", len(again.Sources()), err)
	}
}
