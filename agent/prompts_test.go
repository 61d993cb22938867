package agent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFill holds the placeholders of a prompt to what replacing them says.
func TestFill(t *testing.T) {
	meaning := map[string]string{"task": "why {language}?", "language": "German", "current_date": "2026-05-04", "available_tools": "1. {task}"}
	var pairs []string
	for name, value := range meaning {
		pairs = append(pairs, "{"+name+"}", value)
	}
	want := strings.NewReplacer(pairs...)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"{task}", "{language}", "{current_date}", "{available_tools}", "{", "}", "{other}", "text", "task", "ё"})).Draw(t, "parts")
		text := strings.Join(parts, "")
		got := fill(text, func(name string) (string, bool) {
			value, known := meaning[name]
			return value, known
		})
		if got != want.Replace(text) {
			t.Errorf("%q became %q instead of %q", text, got, want.Replace(text))
		}
	})
}
