package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// parse turns the text of a scalar into a value of the leaf's field type. The
// problem, when there is one, says what was expected; the caller adds what was
// found.
func (l *leaf) parse(text string) (v reflect.Value, problem string) {
	v = reflect.New(l.typ).Elem()
	switch l.kind {
	case kindText:
		if l.enum != nil && !l.allows(&text) {
			return v, "expected one of " + strings.Join(l.enum, ", ")
		}
		v.SetString(text)
	case kindInt:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 10, 64)
		if err != nil {
			return v, "expected a whole number"
		}
		if problem = l.outside(float64(n)); problem != "" {
			return v, problem
		}
		v.SetInt(n)
	case kindFloat:
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return v, "expected a number"
		}
		if problem = l.outside(f); problem != "" {
			return v, problem
		}
		v.SetFloat(f)
	case kindBool:
		b, ok := parseBool(text)
		if !ok {
			return v, "expected true or false"
		}
		v.SetBool(b)
	case kindDuration:
		d, ok := parseDuration(strings.TrimSpace(text))
		if !ok {
			return v, "expected a duration such as 30s or 5m, or a number of seconds"
		}
		if problem = l.outside(float64(d)); problem != "" {
			return v, problem
		}
		v.SetInt(int64(d))
	case kindList:
		if text != "" {
			parts := strings.Split(text, ",")
			for i := range parts {
				parts[i] = strings.TrimSpace(parts[i])
			}
			v.Set(reflect.ValueOf(parts))
		}
	case kindCustom:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			return v, err.Error()
		}
	case kindTree, kindTools, kindRules:
		return v, l.expected()
	}
	if l.pointer {
		p := reflect.New(l.typ)
		p.Elem().Set(v)
		return p, ""
	}
	return v, ""
}

func (l *leaf) allows(text *string) bool {
	for _, e := range l.enum {
		if strings.EqualFold(e, *text) {
			*text = e
			return true
		}
	}
	return false
}

func (l *leaf) outside(x float64) string {
	if (!l.hasMin || x >= l.min) && (!l.hasMax || x <= l.max) {
		return ""
	}
	return "expected " + l.bounds()
}

// bounds is the range in words, or "".
func (l *leaf) bounds() string {
	switch {
	case l.hasMin && l.hasMax:
		return fmt.Sprintf("%s to %s", l.minText, l.maxText)
	case l.hasMin:
		return l.minText + " or more"
	case l.hasMax:
		return l.maxText + " or less"
	}
	return ""
}

// expected says what a leaf takes, for a value of the wrong shape.
func (l *leaf) expected() string {
	switch l.kind {
	case kindInt:
		return "expected a whole number"
	case kindFloat:
		return "expected a number"
	case kindBool:
		return "expected true or false"
	case kindDuration:
		return "expected a duration"
	case kindList, kindTools, kindRules:
		return "expected a list"
	case kindTree:
		return "expected a section (key: value)"
	}
	return "expected a text"
}

func parseBool(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// parseDuration takes Go's form and a plain number of seconds.
func parseDuration(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(f) < float64(math.MaxInt64)/float64(time.Second)) {
		return 0, false
	}
	return time.Duration(f * float64(time.Second)), true
}

// found shows a wrong value in an error: never a secret, never long, no
// control characters.
func (l *leaf) found(text string) string {
	if l.secret {
		return "found a value that is not shown here"
	}
	if text == "" {
		return "found nothing"
	}
	return "found " + shorten(printable(maskKeys(URL(text).String())), 60)
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// printable replaces what could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20, 0x7f <= r && r <= 0x9f, r == 0x2028, r == 0x2029, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, s)
}
