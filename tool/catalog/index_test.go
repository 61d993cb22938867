package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// office is a catalog of several servers.
func office() []Entry {
	return []Entry{
		{Name: "get_weather", Origin: "mcp:meteo", Description: "Get the weather forecast for a city."},
		{Name: "get_air_quality", Origin: "mcp:meteo", Description: "Current pollution of the air."},
		{Name: "searchFlights", Origin: "mcp:travel", Description: "Find flights between two airports.", Schema: json.RawMessage(`{"properties":{"cabin":{"enum":["economy","business"]}}}`)},
		{Name: "book_hotel", Origin: "mcp:travel", Description: "Reserve a room.", Examples: []string{"I need somewhere to sleep in Rome"}},
		{Name: "send_email", Origin: "mcp:mail", Description: "Send a message to a recipient."},
		{Name: "write_file", Origin: "mcp:files", Description: "Write text to a file.", About: "Access to the filesystem"},
		{Name: "convert_to_pdf", Origin: "mcp:files", Description: "Convert a document to PDF."},
		{Name: "stock_quote", Origin: "mcp:money", Description: "Price of a share by its ticker.", Tags: []string{"finance"}},
		{Name: "astrology_chart", Origin: "mcp:stars", Description: "Horoscope of a person."},
	}
}

func indexOf(t testing.TB, entries []Entry, e Embedder) *Index {
	t.Helper()
	x, err := NewIndex(t.Context(), entries, e)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func names(found []Found) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.Name)
	}
	return all
}

func TestSearch(t *testing.T) {
	x := indexOf(t, office(), nil)
	for query, want := range map[string]string{
		"weather in Paris":       "get_weather",
		"will it rain tomorrow?": "get_weather", // another word of the same group
		"какая завтра погода в Москве":         "get_weather", // another language
		"明天北京的天气怎么样":                           "get_weather",
		"пошли письмо Ивану":                   "send_email",
		"a seat in business class":             "searchFlights", // a value of an argument
		"somewhere to sleep":                   "book_hotel",    // an example
		"how much is a Tesla share":            "stock_quote",
		"finance":                              "stock_quote",     // a tag
		"filesystem":                           "write_file",      // what its server says
		"my astrologie chart":                  "astrology_chart", // misspelt
		"save the text to /home/me/notes.txt":  "write_file",
		`send "what a weather we have" to Ann`: "send_email", // a quotation is a value
		"make a pdf of report.docx":            "convert_to_pdf",
		"stockquote":                           "stock_quote",
	} {
		found, err := x.Search(t.Context(), query, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 || found[0].Name != want {
			t.Errorf("%q: %v, want %s first", query, names(found), want)
		}
	}
	for _, query := range []string{"", "   ", "the and of", "zxqv", "\xff\xfe", "12 345"} {
		if found, err := x.Search(t.Context(), query, 3); err != nil || len(found) != 0 {
			t.Errorf("%q: %v, %v; want nothing", query, names(found), err)
		}
	}
}

func TestSearchServesEveryClause(t *testing.T) {
	x := indexOf(t, office(), nil)
	const task = `Please check the weather forecast in Rome for the next weekend, then find flights from Berlin and book a hotel room near
the station. Finally write everything into a file and send an email to Ann.`
	found, err := x.Search(t.Context(), task, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"get_weather", "searchFlights", "book_hotel", "write_file", "send_email"} {
		if !slices.Contains(names(found), want) {
			t.Errorf("%s is not among %v", want, names(found))
		}
	}
}

func TestSearchBounds(t *testing.T) {
	empty := indexOf(t, nil, nil)
	if found, err := empty.Search(t.Context(), "weather", 5); err != nil || len(found) != 0 {
		t.Errorf("an empty catalog: %v, %v", found, err)
	}
	x := indexOf(t, office(), nil)
	if found, err := x.Search(t.Context(), "weather", 0); err != nil || len(found) != 0 {
		t.Errorf("none: %v, %v", found, err)
	}
	if found, err := x.Search(t.Context(), "weather", math.MaxInt); err != nil || len(found) == 0 {
		t.Errorf("all: %v, %v", found, err)
	}
	if found, err := x.Search(t.Context(), strings.Repeat("weather forecast, ", 100_000), 100); err != nil || found[0].Name != "get_weather" {
		t.Errorf("a huge query: %v, %v", names(found), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ended, "weather", 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// genEntry draws an entry made of few words, so that entries overlap.
func genEntry(t *rapid.T, label string) Entry {
	word := rapid.SampledFrom([]string{"weather", "city", "get", "file", "поиск", "天气", "price", "stock", "map", "list", "send", "42"})
	phrase := func(part string) string {
		return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, label+part), " ")
	}
	return Entry{
		Name: strings.ReplaceAll(phrase("name"), " ", "_"), Origin: rapid.SampledFrom([]string{"builtin", "mcp:a", "mcp:b"}).Draw(t, label+"origin"),
		Description: phrase("description"), About: phrase("about"), Tags: []string{phrase("tag")}, Examples: []string{phrase("example")},
		Schema: json.RawMessage(`{"properties":{"` + phrase("argument") + `":{"description":"` + phrase("text") + `"}}}`),
	}
}

func TestSearchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := make([]Entry, rapid.IntRange(0, 12).Draw(t, "entries"))
		for i := range entries {
			entries[i] = genEntry(t, string(rune('a'+i)))
		}
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"weather", "forecast", "in", "the", "city", "and", "send", "stocks", "погода", "file.", "\"map\"", "42", "wether"}), 0, 20).Draw(t, "query"), " ")
		x := build(entries)
		all, err := x.Search(context.Background(), query, len(entries))
		if err != nil {
			t.Fatal(err)
		}
		again, err := build(entries).Search(context.Background(), query, len(entries))
		if err != nil || !reflect.DeepEqual(all, again) {
			t.Fatalf("two searches differ: %v, %v", all, again)
		}
		for i, f := range all {
			if f.Score <= 0 || f.Confidence < 0 || f.Confidence > 1 || i > 0 && f.Score > all[i-1].Score {
				t.Fatalf("place %d: score %v, confidence %v", i, f.Score, f.Confidence)
			}
			// A shorter list is the beginning of the longer one.
			first, err := x.Search(context.Background(), query, i+1)
			if err != nil || !reflect.DeepEqual(first, all[:i+1]) {
				t.Fatalf("the best %d: %v, %v, want %v", i+1, first, err, all[:i+1])
			}
			// Confidence does not depend on what else there is.
			alone := build([]Entry{f.Entry})
			if got := alone.questioned(plain(query)).confidence(0); got != f.Confidence {
				t.Fatalf("confidence in %s is %v, alone %v", f.Name, f.Confidence, got)
			}
		}
	})
}

func TestConfidence(t *testing.T) {
	x := indexOf(t, office(), nil)
	for query, sure := range map[string]bool{
		"What is the weather forecast for the city of Paris?": true,
		"send an email to Ann":                                true,
		"find flights from Berlin to Rome":                    true,
		"convert this document to pdf":                        true,
		"who wrote the first novel about whales":              false,
		"solve the quadratic equation x^2 = 4":                false,
		"translate a poem of Goethe into Chinese":             false,
		"tell me a joke about a priest and a rabbi":           false,
	} {
		found, err := x.Search(t.Context(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found, func(f Found) bool { return f.Confidence >= Enough }); got != sure {
			t.Errorf("%q: %v, want %v; %+v", query, got, sure, found)
		}
	}
}

// meanings embeds by two topics.
type meanings struct {
	calls int
	err   error
}

func (m *meanings) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.calls++
	if m.err != nil {
		return nil, m.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{0.1, 0.1}
		if strings.Contains(text, "Horoscope") || strings.Contains(text, "fate") {
			vectors[i] = []float32{1, 0}
		}
	}
	return vectors, nil
}

func TestSearchByMeaning(t *testing.T) {
	e := &meanings{}
	x := indexOf(t, office(), e)
	found, err := x.Search(t.Context(), "fate", 3)
	if err != nil || len(found) == 0 || found[0].Name != "astrology_chart" {
		t.Fatalf("by meaning: %v, %v", names(found), err)
	}
	found, err = x.Search(t.Context(), "get the weather forecast", 3)
	if err != nil || found[0].Name != "get_weather" {
		t.Fatalf("by words: %v, %v", names(found), err)
	}
	e.err = errors.New("no answer")
	if found, err = x.Search(t.Context(), "get the weather forecast", 3); err != nil || found[0].Name != "get_weather" {
		t.Fatalf("without the embedder: %v, %v", names(found), err)
	}
	x, err = NewIndex(t.Context(), office(), e)
	if err == nil || x.Len() != len(office()) {
		t.Fatalf("an index that was not embedded: %v", err)
	}
	if found, err = x.Search(t.Context(), "weather", 3); err != nil || found[0].Name != "get_weather" {
		t.Fatalf("by words alone: %v, %v", names(found), err)
	}
}

func FuzzSearch(f *testing.F) {
	x := build(office())
	for _, seed := range []string{"weather, then\x00email", "\"'«“", "/a/b.c.d", "http://", "погода 天气 \xff", strings.Repeat("and ", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		found, err := x.Search(context.Background(), query, 5)
		if err != nil || len(found) > 5 {
			t.Fatalf("%d found, %v", len(found), err)
		}
	})
}
