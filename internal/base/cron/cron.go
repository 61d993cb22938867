// Package cron reads cron expressions and says when they come next.
//
// An expression has five fields (minute, hour, day of the month, month, day of
// the week), each of them *, numbers, ranges, lists and steps; months and days of
// the week also have names. @hourly, @daily, @weekly, @monthly and @yearly stand
// for the usual ones. Where both days are restricted, either is enough.
//
// Times are those of a clock on the wall. One that a clock which is set forward
// leaves out comes when the gap ends; one that it shows twice counts the first
// time, unless the hour is *, where what comes in each hour comes in both.
package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on machines that have no table of them
)

// Expression is a cron expression. The zero value never comes.
type Expression struct {
	minute, hour, day, month, weekday uint64 // a bit for each value
	// anyDay and anyWeekday say that the field is *, everyHour that the hours are.
	anyDay, anyWeekday, everyHour bool
}

// field is one of the five, with the values that it can have.
type field struct {
	name       string
	least, top int
	names      []string // of the values from least on
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of the week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

var nicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// Parse reads an expression. It refuses those that never come, such as the 30th of
// February.
func Parse(text string) (Expression, error) {
	parts := strings.Fields(text)
	if len(parts) == 1 && strings.HasPrefix(parts[0], "@") {
		full, ok := nicknames[strings.ToLower(parts[0])]
		if !ok {
			return Expression{}, fmt.Errorf("%q is not known: there are @hourly, @daily, @weekly, @monthly and @yearly", parts[0])
		}
		parts = strings.Fields(full)
	}
	if len(parts) != len(fields) {
		return Expression{}, fmt.Errorf("%q has %d fields, and there are five: minute, hour, day of the month, month, day of the week", text, len(parts))
	}
	var e Expression
	for i, into := range []*uint64{&e.minute, &e.hour, &e.day, &e.month, &e.weekday} {
		var err error
		if *into, err = fields[i].parse(parts[i]); err != nil {
			return Expression{}, err
		}
	}
	if e.weekday&(1<<7) != 0 { // Sunday's other number
		e.weekday |= 1
	}
	star := func(part string) bool { return part == "*" || part == "?" || strings.HasPrefix(part, "*/") }
	e.everyHour, e.anyDay, e.anyWeekday = star(parts[1]), star(parts[2]), star(parts[4])
	if e.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Expression{}, fmt.Errorf("%q never comes: no month of it has such a day", text)
	}
	return e, nil
}

func (f *field) parse(text string) (bits uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, stride, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			if step, err = strconv.Atoi(stride); err != nil || step < 1 {
				return 0, fmt.Errorf("the step in %q of the %s is not a number above 0", part, f.name)
			}
		}
		from, to := f.least, f.top
		if span != "*" && span != "?" {
			first, last, ranged := strings.Cut(span, "-")
			if from, err = f.value(first); err != nil {
				return 0, err
			}
			switch {
			case ranged:
				if to, err = f.value(last); err != nil {
					return 0, err
				}
				if to == 0 && f.top == 7 { // fri-sun
					to = 7
				}
			case !stepped:
				to = from
			}
			if from > to {
				return 0, fmt.Errorf("the range %q of the %s runs backwards", span, f.name)
			}
		}
		for v := from; v <= to; v += step {
			bits |= 1 << v
		}
	}
	return bits, nil
}

func (f *field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.least + i, nil
		}
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.least || v > f.top || text[0] == '+' || text[0] == '-' {
		names := ""
		if f.names != nil {
			names = fmt.Sprintf(", or %s to %s", f.names[0], f.names[len(f.names)-1])
		}
		return 0, fmt.Errorf("the %s can't be %q: it is from %d to %d%s", f.name, text, f.least, f.top, names)
	}
	return v, nil
}

// horizon is how far ahead is looked: a 29th of February may be eight years away.
const horizon = 9 * 366

// Next is the first time after t, by the clocks of t's location; zero if there
// is none.
func (e Expression) Next(t time.Time) time.Time {
	at := t.Location()
	year, month, day := t.Date()
	for i := range horizon {
		// Noon is there on every day, so that the day is the one that is meant.
		noon := time.Date(year, month, day+i, 12, 0, 0, 0, at)
		if !e.on(noon) {
			continue
		}
		if next := e.first(noon, t); !next.IsZero() {
			return next
		}
	}
	return time.Time{}
}

// on says whether the expression has a day.
func (e Expression) on(day time.Time) bool {
	if e.month&(1<<day.Month()) == 0 {
		return false
	}
	ofMonth, ofWeek := e.day&(1<<day.Day()) != 0, e.weekday&(1<<day.Weekday()) != 0
	if e.anyDay || e.anyWeekday {
		return ofMonth && ofWeek
	}
	return ofMonth || ofWeek
}

// first is the first time of a day after t, zero if there is none.
func (e Expression) first(day, t time.Time) (first time.Time) {
	consider := func(c time.Time) {
		if c.After(t) && (first.IsZero() || c.Before(first)) {
			first = c
		}
	}
	year, month, date := day.Date()
	for hour := range 24 {
		if e.hour&(1<<hour) == 0 {
			continue
		}
		for minute := range 60 {
			if e.minute&(1<<minute) == 0 {
				continue
			}
			once, again := onWall(time.Date(year, month, date, hour, minute, 0, 0, day.Location()), hour, minute)
			consider(once)
			if e.everyHour && !again.IsZero() {
				consider(again)
			}
		}
	}
	return first
}

// onWall returns when a clock on the wall shows what c was made of: the first
// moment and, where it shows it twice, the second. Where it never does, because it
// was set forward, that is the end of the gap.
func onWall(c time.Time, hour, minute int) (once, again time.Time) {
	begin, end := c.ZoneBounds()
	if c.Hour() != hour || c.Minute() != minute {
		if !end.IsZero() && (begin.IsZero() || end.Sub(c) < c.Sub(begin)) {
			return end, time.Time{}
		}
		return begin, time.Time{}
	}
	_, offset := c.Zone()
	if !begin.IsZero() { // was it shown before the clock was set back?
		_, before := begin.Add(-1).Zone()
		if earlier := c.Add(time.Duration(offset-before) * time.Second); earlier.Before(begin) && before > offset {
			return earlier, c
		}
	}
	if !end.IsZero() { // will it be shown once more?
		_, after := end.Zone()
		if later := c.Add(time.Duration(offset-after) * time.Second); !later.Before(end) && after < offset {
			return c, later
		}
	}
	return c, time.Time{}
}
