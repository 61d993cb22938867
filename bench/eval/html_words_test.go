package main

import (
	"strings"
	"testing"
)

// A word that only one site has is not known on its pages; one that another
// site has, and for which it is good there, is.
func TestSiteFolds(t *testing.T) {
	const text = "The council voted on Monday to close the old bridge, after engineers had found cracks in two of its pillars."
	const noise = "Something else happened in another town, and our reporter was there to see it with her own eyes, she says."
	page := func(site, class string) *tried {
		source := "<html><body><article>" + strings.Repeat("<p>"+text+"</p>", 3) + `<div class="` + class + `"><p>` + noise + "</p></div></article>"
		p, err := newTried(&htmlPage{URL: "https://" + site + "/x", HTML: source}, strings.Repeat(text+"\n", 3))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pages := []*tried{page("www.a.example", "teaser"), page("b.example", "teaser"), page("b.example", "rollover")}
	l, err := learn(t.Context(), pages)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		site, word string
		want       bool
	}{{"a.example", "teaser", false}, {"b.example", "teaser", false}, {"b.example", "rollover", true}, {"a.example", "rollover", false}} {
		if got := l.without(c.site, true).Without[c.word]; got != c.want {
			t.Errorf("%s on %s: left out %v", c.word, c.site, got)
		}
	}
}
