package search

import (
	"strings"
	"time"
)

// What several services express in the same way.

// firstDay stands for the beginning where a service wants both ends of a span.
const firstDay = "1990-01-01"

// Span returns the bounds of the query's time as two days with between between
// them, and "" without bounds. An open end is now's day, or one before all of
// the web.
func (q Query) Span(between string, now time.Time) string {
	if q.Since.IsZero() && q.Until.IsZero() {
		return ""
	}
	from, to := firstDay, now.Format(time.DateOnly)
	if !q.Since.IsZero() {
		from = q.Since.Format(time.DateOnly)
	}
	if !q.Until.IsZero() {
		to = q.Until.Format(time.DateOnly)
	}
	return from + between + to
}

// Age returns the shortest of "day", "week", "month" and "year" that reaches
// from now back to Since, and "" where none does or Since is not set.
func (q Query) Age(now time.Time) string {
	if q.Since.IsZero() {
		return ""
	}
	const day = 24 * time.Hour
	for _, age := range []struct {
		name  string
		reach time.Duration
	}{{"day", day}, {"week", 7 * day}, {"month", 30 * day}, {"year", 365 * day}} {
		if now.Sub(q.Since) <= age.reach {
			return age.name
		}
	}
	return ""
}

// WithSites returns the query's text with the operators that restrict it to its
// sites, which most engines for the web understand.
func (q Query) WithSites() string {
	var sites []string
	for _, site := range q.Sites {
		if site = strings.TrimSpace(site); site != "" {
			sites = append(sites, "site:"+site)
		}
	}
	switch len(sites) {
	case 0:
		return q.Text
	case 1:
		return q.Text + " " + sites[0]
	}
	return q.Text + " (" + strings.Join(sites, " OR ") + ")"
}
