package kb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dossier/kb"
	"dossier/llm"
)

// hit makes a hit of a document's chunk; chunks are 100 bytes apart.
func hit(doc int64, chunk int, text string) kb.Hit {
	return kb.Hit{Passage: kb.Passage{ID: kb.ChunkID(doc, chunk), Document: doc, Chunk: chunk,
		Path: fmt.Sprintf("/d/%d.txt", doc), Title: fmt.Sprintf("Doc %d", doc), Start: 1000 * chunk, End: 1000*chunk + len(text), Text: text}}
}

func chunkIDs(c kb.Context) (out []string) {
	for _, s := range c.Citations {
		for _, e := range s.Excerpts {
			out = append(out, e.ChunkIDs...)
		}
	}
	return out
}

func TestComposeGroupsAndNumbers(t *testing.T) {
	a, b := hit(7, 1, "Alpha goes first."), hit(7, 2, "Then beta follows it.")
	b.Start = a.End + 2
	b.End = b.Start + len(b.Text)
	far := hit(7, 9, "Far away in the same text.")
	other := hit(3, 0, "Another document speaks.")
	other.Page, other.Headings = 4, []string{"Part", "Chapter"}
	got := kb.Compose([]kb.Facet{{Question: "q", Hits: []kb.Hit{b, other, a, far, b}}}, 1000, nil)
	const want = `[1] Doc 7
Alpha goes first.
Then beta follows it.
Far away in the same text.

[2] Doc 3
(Part / Chapter, p. 4)
Another document speaks.`
	if got.Text != want {
		t.Errorf("got\n%s\nwant\n%s", got.Text, want)
	}
	if got.Coverage != 1 || len(got.Citations) != 2 || got.Tokens != llm.EstimateTokens(want) {
		t.Errorf("got %+v", got)
	}
	first := got.Citations[0]
	if len(first.Excerpts) != 2 || first.Excerpts[0].Start != a.Start || first.Excerpts[0].End != b.End || !slices.Equal(first.Excerpts[0].ChunkIDs, []string{"7.1", "7.2"}) {
		t.Errorf("got %+v", first)
	}
}

func TestComposeIsFair(t *testing.T) {
	long := func(word string) string {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, "Sentence %d%s here is about nothing at%d all. ", i, word[:2], i*len(word))
		}
		return b.String() + "But this one speaks of " + word + " at last."
	}
	facets := []kb.Facet{
		{"apples", []kb.Hit{hit(1, 0, long("apples")), hit(2, 0, "More about apples.")}},
		{"bread", []kb.Hit{hit(3, 0, "Bread is short."), hit(4, 0, "Bread is baked in an oven.")}},
		{"cheese", []kb.Hit{hit(5, 0, long("cheese"))}},
		{"nothing", nil},
	}
	got := kb.Compose(facets, 260, nil)
	if got.Tokens > 260 || got.Coverage != 0.75 || !slices.Equal(got.Uncovered, []int{3}) {
		t.Errorf("%d tokens, coverage %v, uncovered %v", got.Tokens, got.Coverage, got.Uncovered)
	}
	// What is cut keeps what was asked for.
	for _, want := range []string{"speaks of apples", "Bread is short", "speaks of cheese"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("no %q in\n%s", want, got.Text)
		}
	}
	for _, c := range got.Citations {
		for _, e := range c.Excerpts {
			if c.Document == 1 && e.Start == 0 {
				t.Errorf("the wrong end was kept: %+v", e)
			}
		}
	}
	if got := kb.Compose(facets, 10, nil); got.Text != "" || got.Coverage != 0 || len(got.Uncovered) != 4 {
		t.Errorf("without room: %+v", got)
	}
	if got := kb.Compose(nil, 100, nil); got.Text != "" || got.Coverage != 0 {
		t.Errorf("without facets: %+v", got)
	}
}

func TestComposeLeavesCopiesOut(t *testing.T) {
	text := "The Neva flows from Lake Ladoga through the city to the Gulf of Finland, and it is seventy four kilometres long in all."
	got := kb.Compose([]kb.Facet{
		{"a", []kb.Hit{hit(1, 0, text), hit(2, 0, strings.ToUpper(text)), hit(3, 0, "Something else altogether is said here.")}},
		{"b", []kb.Hit{hit(2, 0, strings.ToUpper(text))}},
	}, 1000, nil)
	if ids := chunkIDs(got); !slices.Equal(ids, []string{"1.0", "3.0"}) || got.Coverage != 1 {
		t.Errorf("got %v, coverage %v", ids, got.Coverage)
	}
}

// A context is within its budget, has no chunk twice, and says of every
// excerpt the right place.
func TestComposeHolds(t *testing.T) {
	words := rapid.SampledFrom([]string{"cat", "sat.", "Кошка", "спит.", "北京", "。", "runs", "far", "7"})
	rapid.Check(t, func(t *rapid.T) {
		var facets []kb.Facet
		texts := map[string]kb.Hit{}
		for range rapid.IntRange(1, 4).Draw(t, "facets") {
			f := kb.Facet{Question: "cat 北京"}
			for range rapid.IntRange(0, 6).Draw(t, "hits") {
				h := hit(rapid.Int64Range(1, 4).Draw(t, "doc"), rapid.IntRange(0, 3).Draw(t, "chunk"),
					strings.Join(rapid.SliceOfN(words, 1, 60).Draw(t, "words"), " "))
				if old, ok := texts[h.ID]; ok {
					h = old
				}
				texts[h.ID] = h
				f.Hits = append(f.Hits, h)
			}
			facets = append(facets, f)
		}
		budget := rapid.IntRange(0, 400).Draw(t, "budget")
		got := kb.Compose(facets, budget, nil)
		if got.Tokens > budget || got.Tokens != llm.EstimateTokens(got.Text) {
			t.Fatalf("%d tokens of %d", got.Tokens, budget)
		}
		seen := map[string]bool{}
		for i, c := range got.Citations {
			if c.Number != i+1 || len(c.Excerpts) == 0 {
				t.Fatalf("citation %d: %+v", i, c)
			}
			for _, e := range c.Excerpts {
				h := texts[e.ChunkIDs[0]]
				if seen[h.ID] || e.Start < h.Start || e.End > h.End || !strings.Contains(got.Text, h.Text[e.Start-h.Start:e.End-h.Start]) {
					t.Fatalf("excerpt %+v of %+v", e, h)
				}
				seen[h.ID] = true
			}
		}
		covered := 0
		for _, f := range facets {
			for _, h := range f.Hits {
				if seen[h.ID] {
					covered++
					break
				}
			}
		}
		// A facet can also be covered by a copy of its passage.
		if n := len(facets) - len(got.Uncovered); n < covered {
			t.Fatalf("%d facets covered, %d have a passage", n, covered)
		}
	})
}

func TestFetch(t *testing.T) {
	eachStore(t, func(t *testing.T, store kb.Store) {
		dir := t.TempDir()
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "Sentence number%d of the text is here to be found by somebody.\n\n", i)
		}
		write(t, dir, map[string]string{"a.txt": b.String(), "empty.txt": ""})
		l := newLibrary(t, store, nil, kb.Options{ChunkSize: 200})
		name := mirror(t, l, dir).Collection.Name
		h := search(t, l, name, kb.Query{Text: "number20", Limit: 1}).Hits[0]
		doc := fmt.Sprint(h.Document)
		got, err := l.Fetch(t.Context(), name, 0, h.ID, doc, "999", h.ID+"0", "x", "")
		must(t, err)
		if len(got.Passages) != 2 || got.Passages[0].Text != h.Text || got.Passages[1].Text != b.String() {
			t.Errorf("got %+v", got)
		}
		if want := []string{"999", h.ID + "0", "x", ""}; !slices.Equal(got.Missing, want) {
			t.Errorf("missing %q, want %q", got.Missing, want)
		}
		got, err = l.Fetch(t.Context(), name, 1, h.ID)
		must(t, err)
		p := got.Passages[0]
		if p.ID != h.ID || p.Start >= h.Start || p.End <= h.End || p.Text != b.String()[p.Start:p.End] || !strings.Contains(p.Text, h.Text) {
			t.Errorf("with neighbours: %+v", p)
		}
		docs, err := l.Documents(t.Context(), name, h.Document, 999)
		if err != nil || len(docs) != 1 || docs[0].Text != b.String() {
			t.Errorf("documents: %d, %v", len(docs), err)
		}
	})
}

// Documents that have a number keep it, and new ones go on from there.
func TestComposeNumbered(t *testing.T) {
	known := map[string]int{"/d/3.txt": 2}
	number := func(path string, after int) (int, bool) {
		if n, ok := known[path]; ok {
			return n, true
		}
		return 5 + after + 1, false
	}
	hits := []kb.Hit{hit(7, 0, "Alpha goes first."), hit(3, 0, "Another document speaks."), hit(9, 0, "A third one has something to say.")}
	got := kb.Compose([]kb.Facet{{Question: "q", Hits: hits}}, 1000, number)
	var numbers []int
	for _, c := range got.Citations {
		numbers = append(numbers, c.Number)
	}
	if !slices.Equal(numbers, []int{6, 2, 7}) || !strings.Contains(got.Text, "[2] Doc 3\n") || !strings.Contains(got.Text, "[7] Doc 9\n") {
		t.Errorf("%v\n%s", numbers, got.Text)
	}
}
