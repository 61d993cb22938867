package search

import (
	"regexp"
	"strings"
	"time"
)

var (
	// isoDay is a day at the start of a time in any of ISO 8601's forms, or in
	// the forms of China and Japan.
	isoDay = regexp.MustCompile(`^(\d{4})(?:-|/|\.|年)(\d{1,2})(?:-|/|\.|月)(\d{1,2})(?:\D|$)`)
	// isoPart is a month or a year alone.
	isoPart = regexp.MustCompile(`^\d{4}(-\d{2})?$`)
)

// dayLayouts are the forms with the names of months.
var dayLayouts = []string{
	time.RFC1123, time.RFC1123Z, "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 -0700", time.RFC850, time.ANSIC, time.UnixDate,
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006",
}

// Day turns the forms of dates that services use into 2006-01-02, and what is
// only a month or a year into 2006-01 or 2006. It is the day that was written,
// in whatever zone. What it does not know, an age such as "3 days ago" among it,
// is "".
func Day(text string) string {
	text = strings.TrimSpace(text)
	if m := isoDay.FindStringSubmatch(text); m != nil {
		return day(time.Parse("2006-1-2", m[1]+"-"+m[2]+"-"+m[3]))
	}
	if isoPart.MatchString(text) {
		t, err := time.Parse("2006-01"[:len(text)], text)
		if day(t, err) == "" {
			return ""
		}
		return text
	}
	if t, err := time.Parse("20060102", text); err == nil {
		return day(t, nil)
	}
	for _, layout := range dayLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return day(t, nil)
		}
	}
	return ""
}

// day leaves out the years that stand for "unknown" in somebody's zero value.
func day(t time.Time, err error) string {
	if err != nil || t.Year() < 1000 {
		return ""
	}
	return t.Format(time.DateOnly)
}
