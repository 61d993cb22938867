package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"dossier/internal/base/term"
)

// period reads a time that somebody wrote for a flag: a day, a month, a year,
// or the day that was so long ago. It returns the first and the last second of
// it where now is.
func period(flag, text string, now time.Time) (from, to time.Time, err error) {
	wrong := func(why string) error {
		return &failure{code: exitUsage, message: fmt.Sprintf("%s %s %s", flag, term.Line(text), why), hint: "write it as 2024, 2024-05 or 2024-05-17, or as 7d, 2w, 3m or 1y for so long ago"}
	}
	from, next, ok := written(text, now)
	if !ok {
		from, next, ok = ago(text, now)
	}
	switch {
	case !ok:
		return from, to, wrong("is no date")
	case from.Year() < 1:
		return from, to, wrong("is too long ago")
	case from.After(now):
		return from, to, wrong("is in the future")
	}
	return from, next.Add(-time.Second), nil
}

// written reads a date or its beginning; next is when what it names is over.
func written(text string, now time.Time) (from, next time.Time, ok bool) {
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{"2006", 1, 0, 0}, {"2006-1", 0, 1, 0}, {"2006-1-2", 0, 0, 1}} {
		if from, err := time.ParseInLocation(form.layout, strings.TrimSpace(text), now.Location()); err == nil {
			return from, from.AddDate(form.years, form.months, form.days), true
		}
	}
	return from, next, false
}

// ago reads how long ago a day was.
func ago(text string, now time.Time) (from, next time.Time, ok bool) {
	const longest = 4 // digits
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) < 2 || len(text) > longest+1 {
		return from, next, false
	}
	unit := text[len(text)-1]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil {
		return from, next, false
	}
	year, month, day := now.Date()
	switch back := int(n); unit {
	case 'd':
		day -= back
	case 'w':
		day -= 7 * back
	case 'm', 'y':
		if unit == 'y' {
			year -= back
		} else {
			month -= time.Month(back)
		}
		// A day that the month has not is its last: a month before the 31st of
		// May is the 30th of April.
		day = min(day, time.Date(year, month+1, 0, 0, 0, 0, 0, now.Location()).Day())
	default:
		return from, next, false
	}
	from = time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	return from, from.AddDate(0, 0, 1), true
}
