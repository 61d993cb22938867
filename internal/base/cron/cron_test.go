package cron

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

const layout = "Mon 2006-01-02 15:04 MST"

func TestNext(t *testing.T) {
	for _, c := range []struct{ expression, zone, from, want string }{
		{"* * * * *", "UTC", "2026-03-01T12:00:00Z", "Sun 2026-03-01 12:01 UTC"},
		{"*/15 * * * *", "UTC", "2026-03-01T12:00:01Z", "Sun 2026-03-01 12:15 UTC"},
		{"5/20 * * * *", "UTC", "2026-03-01T12:06:00Z", "Sun 2026-03-01 12:25 UTC"},
		{"0 9-17/4 * * mon-fri", "UTC", "2026-03-06T14:00:00Z", "Fri 2026-03-06 17:00 UTC"},
		{"0 9-17/4 * * MON-FRI", "UTC", "2026-03-06T17:00:00Z", "Mon 2026-03-09 09:00 UTC"},
		{"30 6 1,15 * *", "UTC", "2026-03-01T12:00:00Z", "Sun 2026-03-15 06:30 UTC"},
		{"0 0 13 * fri", "UTC", "2026-03-01T12:00:00Z", "Fri 2026-03-06 00:00 UTC"}, // either day
		{"0 0 * * 7", "UTC", "2026-03-02T00:00:00Z", "Sun 2026-03-08 00:00 UTC"},
		{"0 0 * * sat-sun", "UTC", "2026-03-07T00:00:00Z", "Sun 2026-03-08 00:00 UTC"},
		{"0 0 29 feb *", "UTC", "2026-03-01T12:00:00Z", "Tue 2028-02-29 00:00 UTC"},
		{"0 0 29 2 *", "UTC", "2096-03-01T12:00:00Z", "Fri 2104-02-29 00:00 UTC"},
		{"0 0 31 * ?", "UTC", "2026-03-31T00:00:00Z", "Sun 2026-05-31 00:00 UTC"},
		{"@hourly", "UTC", "2026-03-01T12:00:00Z", "Sun 2026-03-01 13:00 UTC"},
		{"@daily", "Asia/Shanghai", "2026-03-01T12:00:00Z", "Mon 2026-03-02 00:00 CST"},
		{"@weekly", "Europe/Moscow", "2026-03-01T12:00:00Z", "Sun 2026-03-08 00:00 MSK"},
		{"@monthly", "UTC", "2026-12-01T00:00:00Z", "Fri 2027-01-01 00:00 UTC"},
		{"@yearly", "UTC", "2026-03-01T12:00:00Z", "Fri 2027-01-01 00:00 UTC"},
		// Clocks are set forward at 2 o'clock on March 29th, and back at 3 on October 25th.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "Sun 2026-03-29 03:00 CEST"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "Mon 2026-03-30 02:30 CEST"},
		{"*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "Sun 2026-03-29 03:00 CEST"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "Sun 2026-10-25 02:30 CEST"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "Mon 2026-10-26 02:30 CET"},
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "Sun 2026-10-25 02:30 CET"},
		{"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "Sun 2018-11-04 01:00 -02"}, // no midnight
		{"30 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", "Sun 2026-04-05 01:30 +11"},
	} {
		e, err := Parse(c.expression)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Next(from.In(zone(t, c.zone))).Format(layout); got != c.want {
			t.Errorf("%s after %s in %s: %s, want %s", c.expression, c.from, c.zone, got, c.want)
		}
	}
}

func TestWhatIsNoExpression(t *testing.T) {
	for text, why := range map[string]string{
		"":               "has 0 fields",
		"* * * *":        "has 4 fields",
		"* * * * * *":    "has 6 fields",
		"60 * * * *":     "from 0 to 59",
		"* 24 * * *":     "from 0 to 23",
		"* * 0 * *":      "from 1 to 31",
		"* * * 13 *":     "jan to dec",
		"* * * * 8":      "sun to sat",
		"* * * * funday": "sun to sat",
		"*/0 * * * *":    "above 0",
		"*/x * * * *":    "above 0",
		"9-5 * * * *":    "backwards",
		"1- * * * *":     "can't be",
		"-1 * * * *":     "can't be",
		"+1 * * * *":     "can't be",
		", * * * *":      "can't be",
		"0 0 30 2 *":     "never comes",
		"0 0 31 4,6 *":   "never comes",
		"@fortnightly":   "not known",
		"@every 5m":      "has 2 fields",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want something of %q", text, err, why)
		}
	}
}

// However clocks are set, times go forward, fit, and none between two of them does.
func TestTimesAreInOrder(t *testing.T) {
	zones := []*time.Location{zone(t, "UTC"), zone(t, "Europe/Berlin"), zone(t, "America/New_York"), zone(t, "Australia/Lord_Howe"), zone(t, "Asia/Kathmandu")}
	e, err := Parse("*/20 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		from := time.Unix(rapid.Int64Range(1_500_000_000, 2_000_000_000).Draw(t, "from"), 0).In(loc)
		last := from
		for range 5 {
			next := e.Next(last)
			if !next.After(last) || next.Sub(last) > 20*time.Minute || next.Second() != 0 || next.Minute()%20 != 0 {
				t.Fatalf("after %v comes %v", last, next)
			}
			last = next
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("*/5 1-3,7 * jan-mar mon")
	f.Add("@daily")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		if next := e.Next(from); !next.After(from) {
			t.Errorf("%q comes at %v", text, next)
		}
	})
}
