package extract

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func idsOf(passages []Passage) string {
	var out []string
	for _, p := range passages {
		out = append(out, p.ID)
	}
	return strings.Join(out, " ")
}

// A question names one thing and asks about another: the names in what is found
// first lead there, in the queries and in the order.
func TestTrail(t *testing.T) {
	for _, c := range []struct {
		name, question string
		first          []Passage
		query          string // the beginning of one of the queries
		second         Passage
		noise          Passage
	}{
		{
			"en", "Where was the architect of the Kestrel Bridge born?",
			[]Passage{
				{ID: "bridge", Title: "Kestrel Bridge", Text: "The Kestrel Bridge is a bridge of steel. It was designed by the architect Maria Lindqvist and opened in 1931."},
				{ID: "ferry", Title: "Ferries", Text: "Before the bridge there was a ferry with an architect on board."},
			},
			"Maria Lindqvist", Passage{ID: "maria", Title: "Maria Lindqvist", Text: "Maria Lindqvist was born in Tarnholm in 1889."},
			Passage{ID: "noise", Title: "Bridges", Text: "Many bridges are painted red."},
		},
		{
			"ru", "Где родился инженер, построивший Заречный виадук?",
			[]Passage{
				{ID: "viaduct", Title: "Заречный виадук", Text: "Заречный виадук построил инженер Платон Верховцев. Виадук открыли в 1908 году."},
				{ID: "other", Title: "Мосты", Text: "Инженер строит мосты и виадуки по всей стране."},
			},
			"Платон Верховцев", Passage{ID: "platon", Title: "Платон Верховцев", Text: "Платон Верховцев родился в деревне Малая Клюква."},
			Passage{ID: "noise", Title: "Клюква", Text: "Клюква растёт на болотах."},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := []Found{{c.question, c.first}}
			before := Follow(c.question, found, nil)
			if !before.Open() {
				t.Error("one round is taken for enough")
			}
			queries := before.Queries()
			if !slices.ContainsFunc(queries, func(q string) bool { return strings.HasPrefix(q, c.query) }) || len(queries) > 3 {
				t.Errorf("queries %q", queries)
			}
			found = append(found, Found{queries[0], []Passage{c.noise, c.second}})
			after := Follow(c.question, found, nil)
			if got := idsOf(after.Order()[:2]); got != c.first[0].ID+" "+c.second.ID {
				t.Errorf("order %s", idsOf(after.Order()))
			}
			steps := after.Steps(2)
			if len(steps) != 2 || steps[0].Passage.ID != c.first[0].ID || steps[1].Passage.ID != c.second.ID {
				t.Errorf("steps %+v", steps)
			}
			for _, s := range steps { // the name stands in both
				if !slices.Contains(s.Names, c.query) {
					t.Errorf("names of %s are %q", s.Passage.ID, s.Names)
				}
			}
			for _, q := range after.Queries() {
				if slices.Contains(queries, q) {
					t.Errorf("%q is asked again", q)
				}
			}
		})
	}
}

// A question whose answer stands in one passage leads nowhere.
func TestNamesInAnotherScriptLeadNowhere(t *testing.T) {
	question := "Where was the architect of the Kestrel Bridge born?"
	trail := Follow(question, []Found{{question, []Passage{
		{ID: "bridge", Title: "Kestrel Bridge", Text: "The Kestrel Bridge was designed by the architect Maria Lindqvist."},
		{ID: "ru", Title: "Мост Пустельги", Text: "Kestrel Bridge, мост, который построила Мария Линдквист вместе с Платоном Верховцевым, architect."},
		{ID: "zh", Title: "茶隼桥", Text: "Kestrel Bridge（茶隼桥）由《林德奎斯特》事务所设计，architect。"},
	}}}, nil)
	queries := trail.Queries()
	if len(queries) == 0 || strings.ContainsFunc(strings.Join(queries, ""), func(r rune) bool { return r >= 0x400 }) {
		t.Errorf("queries %q", queries)
	}
}

func TestTrailOfOneHop(t *testing.T) {
	for _, c := range []struct{ question, text string }{
		{"How high is the tower of Kestrel?", "The tower of Kestrel is 41 metres high."},
		{"Какова высота башни Кестрел?", "Высота башни Кестрел 41 метр."},
	} {
		if Follow(c.question, []Found{{c.question, []Passage{{ID: "a", Text: c.text}}}}, nil).Open() {
			t.Errorf("%s: another round", c.question)
		}
	}
	empty := Follow("Who?", nil, nil)
	if len(empty.Order()) > 0 || empty.Open() && len(empty.Queries()) == 0 {
		t.Errorf("%+v", empty)
	}
}

// The order is a permutation of what was found, and always the same.
func TestTrailOrder(t *testing.T) {
	words := []string{"Maria", "Lindqvist", "bridge", "Kestrel", "was", "born", "in", "Tarnholm", ".", "Виадук", "Платон", "桥", "设计", "1931", "(", "“", ""}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), " ")
		})
		passage := rapid.Custom(func(t *rapid.T) Passage {
			return Passage{ID: rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id"), Title: text.Draw(t, "title"), Text: text.Draw(t, "text")}
		})
		var found []Found
		ids := map[string]bool{}
		for range rapid.IntRange(0, 3).Draw(t, "queries") {
			f := Found{text.Draw(t, "query"), rapid.SliceOfN(passage, 0, 4).Draw(t, "passages")}
			for _, p := range f.Passages {
				ids[p.ID] = true
			}
			found = append(found, f)
		}
		question := text.Draw(t, "question")
		one, two := Follow(question, found, nil), Follow(question, found, nil)
		got := map[string]bool{}
		for _, p := range one.Order() {
			if got[p.ID] || !ids[p.ID] {
				t.Fatalf("%s is there twice or was not found", p.ID)
			}
			got[p.ID] = true
		}
		if len(got) != len(ids) || idsOf(one.Order()) != idsOf(two.Order()) || !slices.Equal(one.Queries(), two.Queries()) {
			t.Fatalf("%s and %s", idsOf(one.Order()), idsOf(two.Order()))
		}
		if len(one.Queries()) > 3 {
			t.Fatalf("%q", one.Queries())
		}
	})
}

func FuzzTrail(f *testing.F) {
	f.Add("Where was the architect of the Kestrel Bridge born?", "Kestrel Bridge (1931)", "It was designed by “Maria” Lindqvist.")
	f.Add("云汀桥的设计者出生在哪里？", "云汀桥", "云汀桥由工程师陆怀舟设计。《桥》")
	f.Fuzz(func(t *testing.T, question, title, text string) {
		found := []Found{{question, []Passage{{ID: "a", Title: title, Text: text}, {ID: "b", Title: text, Text: title}}}}
		trail := Follow(question, found, nil)
		if len(trail.Order()) != 2 || len(trail.Queries()) > 3 {
			t.Errorf("%d passages, queries %q", len(trail.Order()), trail.Queries())
		}
	})
}
