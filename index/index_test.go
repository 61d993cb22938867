package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// open builds a segment of docs.
func open(t testing.TB, docs ...Doc) *Segment {
	t.Helper()
	b := NewBuilder()
	for _, d := range docs {
		b.Add(d)
	}
	s, err := Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func search(t testing.TB, x *Index, q Query) []Hit {
	t.Helper()
	hits, err := x.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func idsOf(hits []Hit) string {
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return strings.Join(ids, " ")
}

func TestSearchInManyLanguages(t *testing.T) {
	x := New(open(t,
		Doc{ID: "en", Text: "The rivers of the northern country flow into cold seas."},
		Doc{ID: "ru", Text: "Нева́ соединяет Ладожское озеро с Финским заливом; её длина 74 км."},
		Doc{ID: "de", Text: "Die Gärten der Stadt wurden nach dem Krieg wieder aufgebaut und sind heute offen."},
		Doc{ID: "fr", Text: "Les chevaux de la reine étaient dans la cour du château avec leurs gardiens."},
		Doc{ID: "zh", Text: "黑豹队的防守只丢了308分，在联赛中排名第六。"},
		Doc{ID: "ja", Text: "東京タワーは東京都港区にある電波塔である。"},
		Doc{ID: "ko", Text: "서울은 대한민국의 수도이자 최대 도시이다."},
		Doc{ID: "code", Text: "Call sqlite3_changeset_op() with UTF-8 text; version 3.14 and 1,000 rows."},
	))
	for _, c := range []struct{ query, want string }{
		{"river in a north country", "en"},
		{"какова длина Невы", "ru"}, {"ладожского озера", "ru"}, {"ЕЁ ДЛИНА", "ru"},
		{"Garten im Krieg", "de"}, {"garten", "de"},
		{"le cheval du chateau", "fr"},
		{"黑豹队排名", "zh"}, {"３０８", "zh"},
		{"東京タワー", "ja"}, {"수도 서울", "ko"},
		{"changeset_op", "code"}, {"3.14", "code"}, {"1000", "code"}, {"utf 8", "code"},
		{"zebra", ""}, {"", ""}, {"!?", ""},
	} {
		hits := search(t, x, Query{Text: c.query, Limit: 1})
		if got := idsOf(hits); got != c.want {
			t.Errorf("%q found %q, want %q", c.query, got, c.want)
		}
	}
}

func TestFunctionWordsCountLittle(t *testing.T) {
	docs := []Doc{{ID: "asks", Text: "What is what, and how, and which, and when?"}, {ID: "tells", Text: "Warsaw has a zoo since 1928 near the bridge."}}
	for i := range 20 {
		docs = append(docs, Doc{ID: fmt.Sprint(i), Text: "Warsaw stands by a river and grows."})
	}
	if got := idsOf(search(t, New(open(t, docs...)), Query{Text: "what is the zoo in Warsaw", Limit: 1})); got != "tells" {
		t.Errorf("found %q", got)
	}
}

func TestTitleCountsMore(t *testing.T) {
	x := New(open(t, Doc{ID: "a", Title: "Bridges", Text: "about old towns"}, Doc{ID: "b", Text: "about old towns bridges"}))
	if got := idsOf(search(t, x, Query{Text: "bridge"})); got != "a b" {
		t.Errorf("found %q", got)
	}
}

func TestFilterLimitAndTies(t *testing.T) {
	var docs []Doc
	for i := range 30 {
		docs = append(docs, Doc{ID: fmt.Sprintf("%02d", 29-i), Text: "same words"})
	}
	x := New(open(t, docs...))
	if got := idsOf(search(t, x, Query{Text: "words", Limit: 3})); got != "00 01 02" {
		t.Errorf("ties came as %q", got)
	}
	odd := func(id string) bool { return (id[1]-'0')%2 == 1 }
	if got := idsOf(search(t, x, Query{Text: "words", Limit: 3, Filter: odd})); got != "01 03 05" {
		t.Errorf("filtered: %q", got)
	}
	if n := len(search(t, x, Query{Text: "words"})); n != 10 {
		t.Errorf("%d hits without a limit", n)
	}
}

func TestDelete(t *testing.T) {
	s := open(t, Doc{ID: "a", Text: "apple"}, Doc{ID: "b", Text: "apple"}, Doc{ID: "c", Text: "apple"})
	less, err := s.Without("b", "unknown")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again, err = again.Bury(less.Tombstones()); err != nil {
		t.Fatal(err)
	}
	merged, err := Merge(less)
	if err != nil {
		t.Fatal(err)
	}
	compacted, err := Open(merged)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Segment{"view": less, "buried again": again, "merged": compacted} {
		if got := idsOf(search(t, New(s), Query{Text: "apples"})); got != "a c" || s.Len() != 2 {
			t.Errorf("%s: found %q of %d", name, got, s.Len())
		}
	}
	if got := idsOf(search(t, New(s), Query{Text: "apples"})); got != "a b c" {
		t.Errorf("the original lost something: %q", got)
	}
	if _, err := s.Bury([]byte{0xff}); err == nil {
		t.Error("tombstones for documents that do not exist were taken")
	}
}

// docsGen draws small documents over few words, so that terms meet.
func docsGen(n int) *rapid.Generator[[]Doc] {
	words := strings.Fields("alpha beta gamma delta epsilon running runs the of река реки 北京 上海 42")
	return rapid.Custom(func(t *rapid.T) []Doc {
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30), 0, n).Draw(t, "texts")
		docs := make([]Doc, len(texts))
		for i, w := range texts {
			docs[i] = Doc{ID: fmt.Sprintf("%03d", i), Text: strings.Join(w, " "), Lang: "en"}
			if len(w) > 20 {
				docs[i].Title = w[0]
			}
		}
		return docs
	})
}

// How documents are spread over segments, and whether segments are merged,
// changes neither scores nor order.
func TestSegmentsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs := docsGen(60).Draw(rt, "docs")
		cut := rapid.IntRange(0, len(docs)).Draw(rt, "cut")
		query := Query{Text: rapid.SampledFrom([]string{"alpha", "run beta the", "реке gamma 北京 42 of"}).Draw(rt, "query"), Limit: rapid.IntRange(1, 70).Draw(rt, "limit")}
		whole := open(t, docs...)
		one, two := open(t, docs[:cut]...), open(t, docs[cut:]...)
		data, err := Merge(one, two)
		if err != nil {
			rt.Fatal(err)
		}
		merged, err := Open(data)
		if err != nil {
			rt.Fatal(err)
		}
		want := search(t, New(whole), query)
		for name, x := range map[string]*Index{"two segments": New(one, two), "merged": New(merged)} {
			if got := search(t, x, query); !slices.Equal(got, want) {
				rt.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

// Leaving out what cannot win gives the same answer as adding everything up.
func TestPruningIsExact(t *testing.T) {
	var docs []Doc
	state := uint32(1)
	next := func(n uint32) uint32 {
		state = state*1664525 + 1013904223
		return state >> 8 % n
	}
	for i := range 4000 {
		var b strings.Builder
		for range 5 + next(30) {
			// Word 0 is in nearly every document, word 60 in few.
			fmt.Fprintf(&b, "w%d ", min(next(61), next(61), next(61)))
		}
		docs = append(docs, Doc{ID: fmt.Sprintf("%05d", i), Text: b.String(), Lang: "en"})
	}
	x := New(open(t, docs[:1500]...), open(t, docs[1500:]...))
	for q := range 60 {
		text := fmt.Sprintf("w%d w%d w0 w1 w%d", q, (q*7)%61, 60-q)
		for _, filter := range []func(string) bool{nil, func(id string) bool { return id[4] == '3' }} {
			got := search(t, x, Query{Text: text, Limit: 10, Filter: filter})
			want := search(t, x, Query{Text: text, Limit: len(docs), Filter: filter}) // nothing to prune
			if !slices.Equal(got, want[:min(10, len(want))]) {
				t.Fatalf("%q: %v, want %v", text, got, want[:10])
			}
		}
	}
}

func TestHighlight(t *testing.T) {
	x := New(open(t, Doc{ID: "a", Text: "The rivers run. 北京大学 and реки.", Lang: "en"}))
	text := "Running rivers; the 北京大学 — Реками."
	var got []string
	for _, s := range x.Highlight("the river runs 北京大 река", text) {
		got = append(got, text[s.Start:s.End])
	}
	if want := []string{"Running", "rivers", "北京大", "Реками"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFuse(t *testing.T) {
	a := []Hit{{"x", 9}, {"y", 8}, {"z", 7}}
	b := []Hit{{"y", 0.9}, {"w", 0.8}}
	if got := idsOf(Fuse(60, Ranking{Hits: a}, Ranking{Hits: b})); got != "y x w z" {
		t.Errorf("fused: %q", got)
	}
	if got := idsOf(Fuse(60, Ranking{Hits: a, Weight: 5}, Ranking{Hits: b, Weight: 0.1})); got != "y x z w" && got != "x y z w" {
		t.Errorf("weighted: %q", got)
	}
}

// What is shorter than half the average gains no more by being short, and
// what is longer still loses.
func TestShortTextsAreEqual(t *testing.T) {
	filler := strings.Repeat("stone wind cloud field ", 30)
	x := New(open(t,
		Doc{ID: "a-note", Text: "lantern"},
		Doc{ID: "b-line", Text: "lantern above an old door"},
		Doc{ID: "c-page", Text: "lantern " + filler},
		Doc{ID: "d-other", Text: filler},
	))
	hits := search(t, x, Query{Text: "lantern"})
	if len(hits) != 3 || hits[0].Score != hits[1].Score || hits[1].Score <= hits[2].Score || hits[2].ID != "c-page" {
		t.Errorf("got %v, want the two short texts level and before the long one", hits)
	}
}

func TestWeight(t *testing.T) {
	x := New(open(t, Doc{ID: "a", Text: "rivers and seas"}, Doc{ID: "b", Text: "rivers and towns"}))
	if all, one, none := x.Weight("river"), x.Weight("town"), x.Weight("mountain"); all < 0 || all >= one || one >= none {
		t.Errorf("weights %v, %v, %v", all, one, none)
	}
}
