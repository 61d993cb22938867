package article

import (
	"strings"
	"testing"
)

func TestTrial(t *testing.T) {
	source := "<html><body><article>" + p(one) + p(two) + `<div class="teaser">` + p(other) + "</div>" + p(three) + "</article>"
	doc := parse(t, source)
	meta := ReadMeta(doc, "https://site.example/x")
	read := func(v *Trial) bool {
		var texts []string
		for _, b := range v.Content(doc, &meta) {
			texts = append(texts, b.Text)
		}
		return strings.Contains(strings.Join(texts, "\n"), other)
	}
	v := &Trial{Met: map[string]bool{}}
	if read(v) || !v.Met["teaser"] {
		t.Errorf("a teaser is read; met %v", v.Met)
	}
	if !read(&Trial{Without: map[string]bool{"teaser": true}}) {
		t.Error("without the word the teaser is not read")
	}
	if !read(&Trial{Bounds: map[Bound]float64{NoiseShare: 0.01}}) {
		t.Error("with another bound the teaser is not read")
	}
}
