package junk

import (
	"slices"
	"testing"
)

// The cues of a phrase are strings that whatever it matches has.
func TestCues(t *testing.T) {
	for expr, want := range map[string][]string{
		`\bfree shipping\b`:              {"free shipping"},
		`(?:get|with) free`:              {" free"},
		`(?:buy|order)(?:ing)? (?:it )?`: {"buy", "order"},
		`(?:купить|заказать)\PL{1,3}(?:сейчас|онлайн)`: {"купить", "заказать"},
		`接受.{0,6}cookie`: {"接受"},
		`a?b*[0-9]`:      nil,
		`(?:whole|\d)`:   nil,
		`买|价格?`:          {"买", "价"},
		`(?:AB){2}`:      {"ab"},
	} {
		got := pattern(expr)()[0].cues
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", expr, got, want)
		}
	}
	for _, k := range kinds {
		for _, p := range append(k.reads(), k.about()...) {
			if len(p.cues) == 0 {
				t.Errorf("%s has no cues: every sentence is matched with it", p.re)
			}
		}
	}
}
