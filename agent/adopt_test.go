package agent

import (
	"testing"

	"dossier/tool"
)

func TestAdopt(t *testing.T) {
	caller := &tool.State{Sources: []tool.Source{{Number: 1, URL: "http://a/"}, {Number: 2, URL: "http://b/"}, {Number: 3, URL: "http://c/"}}}
	theirs := []tool.Source{{Number: 1, URL: "http://x/"}, {Number: 2, URL: "http://b/"}, {Number: 3, URL: "http://y/"}, {Number: 4, URL: "http://z/"}}
	for text, want := range map[string]string{
		"New [1], known [2].":          "New [4], known [2].",
		"In another order [3][1].":     "In another order [4][5].",
		"A list [1, 3].":               "A list [4][5].",
		"A range [1-3].":               "A range [4][2][5].",
		"Chinese 【1】.":                 "Chinese [4].",
		"Again [4]. And again [4].":    "Again [4]. And again [4].",
		"Of nothing [7]. And [9, 2].":  "Of nothing. And [2].",
		"Code `list[1]` is left [1].":  "Code `list[1]` is left [4].",
		"```\nlist[3]\n```\nSaid [3].": "```\nlist[3]\n```\nSaid [4].",
	} {
		got, found := adopt(caller, theirs, text)
		if got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
		after := &tool.State{Sources: append([]tool.Source{}, caller.Sources...)}
		after.Apply(tool.Change{Sources: found})
		for i, s := range after.Sources {
			if s.Number != i+1 {
				t.Errorf("%q: %s has number %d at %d", text, s.URL, s.Number, i+1)
			}
		}
	}
}
