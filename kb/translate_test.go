package kb_test

import (
	"testing"

	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/lang/terms"
)

func TestFindsDocumentsInOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"ferry.txt":   "The ferry to the island leaves at seven in the morning.",
		"library.txt": "The library keeps its rare manuscripts in the cellar of the town hall.",
		"пчелы.txt":   "Пчёлы живут на крыше школы и дают много мёда в июле.",
		"图书.txt":      "火车站在城市的北边，每天有三列火车开往首都。",
	})
	store := memory.New(memory.Options{})
	l := newLibrary(t, store, nil, kb.Options{Terms: terms.Default()})
	name := mirror(t, l, dir).Collection.Name
	for question, want := range map[string]string{
		"Где хранятся редкие рукописи?":         "library.txt",
		"Во сколько отходит паром?":             "ferry.txt",
		"渡轮什么时候离开？":                             "ferry.txt",
		"Where do the bees live?":               "пчелы.txt",
		"Where is the railway station?":         "图书.txt",
		"Где находится железнодорожный вокзал?": "图书.txt",
		"蜜蜂住在哪里？":                               "пчелы.txt",
		"Where are the rare manuscripts?":       "library.txt",
		"На чьей крыше пчёлы?":                  "пчелы.txt",
		"Wo ist die Fähre, the ferry to Ösel?":  "ferry.txt",
	} {
		if got := search(t, l, name, kb.Query{Text: question, Limit: 1}); names(got) != want {
			t.Errorf("%s: %s, want %s", question, names(got), want)
		}
	}
	off := false
	if got := search(t, l, name, kb.Query{Text: "редкие рукописи", Limit: 1, Rerank: &off}); names(got) != "library.txt" {
		t.Errorf("without reranking: %s", names(got))
	}
	// Without dictionaries only own words count.
	l = newLibrary(t, store, nil, kb.Options{})
	if got := search(t, l, name, kb.Query{Text: "редкие рукописи"}); len(got.Hits) > 0 {
		t.Errorf("without dictionaries: %s", names(got))
	}
}
