package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestSpread(t *testing.T) {
	for name, want := range map[string]string{
		"getWeatherByCity":  "get Weather By City",
		"get_weather-by.id": "get weather by id",
		"HTTPServer2Go":     "HTTP Server 2 Go",
		"parseJSON":         "parse JSON",
		"ocr":               "ocr",
		"погодаСегодня":     "погода Сегодня",
		"":                  "",
	} {
		if got := spread(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for query, want := range map[string]string{
		"save it to /root/out/report.md please":  `save it to file md "report" please`,
		`read "/data/a.csv" now`:                 `read file csv "a" now`,
		"open 'sales.xlsx'":                      `open file xlsx "sales"`,
		"what is in ~/music":                     `what is in folder directory "~/music"`,
		"see https://example.org/a?b=c for more": "see url webpage for more",
		"and/or 1/2":                             "and/or 1/2",
	} {
		if got := strings.Join(strings.Fields(plain(query)), " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string][]string{
		`send "feed the cat" to Ann`: {"feed the cat"},
		"it's Ann's cat":             nil,
		"find 'Ann's cat' and «это»": {"Ann's cat", "это"},
		`never "closed`:              nil,
	} {
		var got []string
		for _, s := range quoted(text) {
			got = append(got, strings.TrimLeft(s.In(text), `"'«“`))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestClauses(t *testing.T) {
	for query, want := range map[string]int{
		"weather in Paris": 1,
		"Find the weather in Paris. Then book a table for two people.":        2,
		"find the weather in Paris and book a table for two people":           2,
		"Найди погоду на завтра в Москве и забронируй столик на двоих":        2,
		"查询北京明天的天气，然后预订一家餐厅":                                                  2,
		strings.Repeat("Find the weather in another city of the world. ", 99): mostClauses,
	} {
		if got := clauses(query); len(got) != want {
			t.Errorf("%.60q: %q, want %d", query, got, want)
		}
	}
}

func TestNamed(t *testing.T) {
	const text = "Ask Tesla. Find it"
	for word, want := range map[string]bool{"Ask": false, "Tesla": true, "Find": false, "it": false} {
		if got := named(text, strings.Index(text, word)); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}
