package search_test

import (
	"testing"
	"time"

	"dossier/search"
)

var noon = time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)

func TestSpan(t *testing.T) {
	since, until := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2025, 6, 7, 0, 0, 0, 0, time.UTC)
	for want, q := range map[string]search.Query{
		"":                       {},
		"2024-01-02..2025-06-07": {Since: since, Until: until},
		"2024-01-02..2026-05-10": {Since: since},
		"1990-01-01..2025-06-07": {Until: until},
	} {
		if got := q.Span("..", noon); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	for back, want := range map[time.Duration]string{
		-day: "day", day: "day", day + 1: "week", 7 * day: "week", 8 * day: "month", 30 * day: "month", 31 * day: "year", 365 * day: "year", 366 * day: "",
	} {
		if got := (search.Query{Since: noon.Add(-back)}).Age(noon); got != want {
			t.Errorf("%v ago: %q, not %q", back, got, want)
		}
	}
	if got := (search.Query{Until: noon}).Age(noon); got != "" {
		t.Errorf("without Since: %q", got)
	}
}

func TestWithSites(t *testing.T) {
	for want, sites := range map[string][]string{
		"bees":                {" "},
		"bees site:a.example": {"a.example"},
		"bees (site:a.example OR site:b.example)": {"a.example", "", "b.example"},
	} {
		if got := (search.Query{Text: "bees", Sites: sites}).WithSites(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
