package index

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"dossier/lang"
)

func ids(hits []Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

// group makes a group of a query's word.
func group(query, word string, alternatives ...Alternative) Group {
	at := strings.Index(query, word)
	return Group{at, at + len(word), alternatives}
}

func TestGroupsFindOtherWords(t *testing.T) {
	x := New(open(t,
		Doc{ID: "bank", Text: "The bank of the town lends money."},
		Doc{ID: "shore", Text: "The shore of the river is steep."},
		Doc{ID: "both", Text: "The bank and the shore and the edge of a river."},
		Doc{ID: "road", Text: "The road to the station."},
		Doc{ID: "rail", Text: "The rail road station of the town."},
		Doc{ID: "other", Text: "Nothing of the sort is here."},
	))
	const q = "Где берег"
	plain := search(t, x, Query{Text: q})
	if len(plain) != 0 {
		t.Fatalf("without groups: %v", plain)
	}
	shore := group(q, "берег", Alternative{"shore", 1}, Alternative{"bank", 0.5}, Alternative{"edge", 0.1})
	hits := search(t, x, Query{Text: q, Groups: []Group{shore}})
	if ids(hits) != "shore both bank" {
		t.Errorf("found %v", hits)
	}
	// The best one counts, not all of them.
	only := search(t, x, Query{Text: q, Groups: []Group{group(q, "берег", Alternative{"shore", 1})}})
	if len(only) != 2 || only[1].ID != "both" {
		t.Fatalf("only one: %v", only)
	}
	if ratio := hits[1].Score / hits[0].Score; ratio > only[1].Score/only[0].Score*1.0001 {
		t.Errorf("other alternatives add to the best: %v and %v", hits, only)
	}
	// Of several words all must be there.
	const road = "железная дорога"
	if got := search(t, x, Query{Text: road, Groups: []Group{group(road, road, Alternative{"the rail road", 1})}}); ids(got) != "rail" {
		t.Errorf("several words: %v", got)
	}
	// What only asks is not looked for.
	if got := search(t, x, Query{Text: q, Groups: []Group{group(q, "Где", Alternative{"shore", 1})}}); len(got) != 0 {
		t.Errorf("a word that asks: %v", got)
	}
	if got := search(t, x, Query{Text: q, Groups: []Group{group(q, "берег", Alternative{"of", 1}, Alternative{"absent", 1}, Alternative{"", 1}, Alternative{"shore", 0})}}); len(got) != 0 {
		t.Errorf("what nobody has: %v", got)
	}
}

func TestGroupsStandBesideOwnWords(t *testing.T) {
	docs := []Doc{
		{ID: "ru", Text: "Паром на остров отходит утром от причала в порту."},
		{ID: "en", Text: "The ferry to the island leaves in the morning."},
		{ID: "no", Text: "The train to the city leaves in the evening."},
	}
	x := New(open(t, docs...))
	const q = "паром на остров"
	groups := []Group{group(q, "паром", Alternative{"ferry", 1}), group(q, "остров", Alternative{"island", 1}, Alternative{"isle", 0.7})}
	hits := search(t, x, Query{Text: q, Groups: groups})
	if len(hits) != 2 || hits[0].ID == "no" || hits[1].ID == "no" {
		t.Errorf("found %v", hits)
	}
}

// TestGroupsAreExact compares with adding up document by document, over one
// segment and over many, beside ordinary words and a filter.
func TestGroupsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("ash birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew")
	var docs []Doc
	for i := range 700 {
		var b strings.Builder
		for range 3 + rng.IntN(30) {
			b.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))] + " ")
		}
		docs = append(docs, Doc{ID: fmt.Sprintf("d%03d", i), Text: b.String(), Lang: lang.English})
	}
	one := New(open(t, docs...))
	many := New(open(t, docs[:50]...), open(t, docs[50:51]...), open(t, docs[51:]...))
	for range 200 {
		q := Query{Text: "дерево " + words[rng.IntN(len(words))], Limit: 1 + rng.IntN(40)}
		for range 1 + rng.IntN(3) {
			g := Group{0, len("дерево"), nil}
			for range 1 + rng.IntN(4) {
				text := words[rng.IntN(len(words))]
				if rng.IntN(3) == 0 {
					text += " " + words[rng.IntN(len(words))]
				}
				g.Alternatives = append(g.Alternatives, Alternative{text, 0.1 + 0.9*rng.Float64()})
			}
			q.Groups = append(q.Groups, g)
		}
		if rng.IntN(2) == 0 {
			q.Filter = func(id string) bool { return id[3] != '7' }
		}
		got := search(t, one, q)
		if other := search(t, many, q); !reflect.DeepEqual(got, other) {
			t.Fatalf("%+v: %v and over segments %v", q, got, other)
		}
		all := q
		all.Limit = len(docs)
		if full := search(t, one, all); !reflect.DeepEqual(got, full[:min(q.Limit, len(full))]) {
			t.Fatalf("%+v: %v, of all %v", q, got, full)
		}
	}
}

func TestHolds(t *testing.T) {
	x := New(open(t,
		Doc{ID: "ru", Text: "Паром на остров отходит утром и возвращается в полдень, как поётся в песне The Voice of the Sea."},
		Doc{ID: "zh", Text: "渡轮在早上开往岛上，这是最快的路。"},
	))
	for code, want := range map[lang.Code]bool{lang.Russian: true, lang.Chinese: true, lang.English: false, "de": false} {
		if x.Holds(code) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
	if New().Holds(lang.English) {
		t.Error("an empty index holds English")
	}
}
