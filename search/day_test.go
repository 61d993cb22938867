package search_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/search"
)

func TestDay(t *testing.T) {
	for in, want := range map[string]string{
		"2024-03-05":                      "2024-03-05",
		"2024-03-05T10:11:12":             "2024-03-05",
		"2024-03-05T23:30:00Z":            "2024-03-05",
		"2024-03-05T23:30:00+08:00":       "2024-03-05",
		"2024-03-05T00:00:00.0000000":     "2024-03-05",
		"2024-03-05 10:11:12+0000":        "2024-03-05",
		" 2024-3-5 ":                      "2024-03-05",
		"2024/03/05":                      "2024-03-05",
		"2024.03.05":                      "2024-03-05",
		"2024年3月5日":                       "2024-03-05",
		"20240305":                        "2024-03-05",
		"Tue, 05 Mar 2024 10:11:12 GMT":   "2024-03-05",
		"Tue, 5 Mar 2024 10:11:12 GMT":    "2024-03-05",
		"Tue, 05 Mar 2024 10:11:12 +0300": "2024-03-05",
		"March 5, 2024":                   "2024-03-05",
		"Mar 5, 2024":                     "2024-03-05",
		"5 March 2024":                    "2024-03-05",
		"2024-03":                         "2024-03",
		"2024":                            "2024",
		"":                                "",
		"3 days ago":                      "",
		"yesterday":                       "",
		"2024-13-05":                      "",
		"2024-02-30":                      "",
		"2024-13":                         "",
		"0001-01-01T00:00:00Z":            "",
		"0000":                            "",
		"1709633472":                      "",
		"2024-03-055":                     "",
	} {
		if got := search.Day(in); got != want {
			t.Errorf("Day(%q) is %q, not %q", in, got, want)
		}
	}
}

// Every day that is written in one of the forms comes back.
func TestDayOfEveryTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e10, 1e10).Draw(t, "second"), 0).UTC()
		layout := rapid.SampledFrom([]string{time.RFC3339, time.RFC1123, time.DateTime, time.DateOnly, "January 2, 2006", "2006年1月2日"}).Draw(t, "layout")
		if got, want := search.Day(at.Format(layout)), at.Format(time.DateOnly); got != want {
			t.Fatalf("Day(%q) is %q, not %q", at.Format(layout), got, want)
		}
	})
}

func FuzzDay(f *testing.F) {
	for _, seed := range []string{"2024-03-05T10:11:12Z", "March 5, 2024", "2024年3月5日", "2024", "99999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := search.Day(in)
		if got == "" {
			return
		}
		if _, err := time.Parse("2006-01-02"[:len(got)], got); err != nil || search.Day(got) != got {
			t.Errorf("Day(%q) is %q", in, got)
		}
	})
}
