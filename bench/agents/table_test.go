package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	sides := []side{{name: bare}, {name: "eino"}, {name: ours}, {name: durable}}
	make3 := func(name string, bareV, einoV, oursV [3]float64) *figure {
		f := &figure{name: name, unit: "µs"}
		for i := range 3 {
			f.add(bare, bareV[i])
			f.add("eino", einoV[i])
			f.add(ours, oursV[i])
			f.add(durable, 2*oursV[i])
		}
		return f
	}
	figures := []*figure{
		// A turn in which the machine was slow changes no ratio.
		make3("good", [3]float64{10, 50, 10}, [3]float64{30, 150, 30}, [3]float64{12, 60, 13}),
		make3("heavy", [3]float64{10, 10, 10}, [3]float64{30, 30, 30}, [3]float64{20, 20, 20}),
		make3("last", [3]float64{10, 10, 10}, [3]float64{11, 11, 11}, [3]float64{12, 12, 12}),
	}
	got := table(sides, figures)
	for _, want := range []string{
		"1.20 (1.20–1.30)", "2.40 (2.40–2.60)", "met\n", "missed: over 1.5 × bare\n", "missed: behind eino\n", "1 of 3 targets met",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
