package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func line(name string, values ...float64) Line {
	l := Line{Name: name}
	for i, v := range values {
		l.Points = append(l.Points, Point{Label: fmt.Sprint(2000 + i), At: float64(2000 + i), Value: v, Written: fmt.Sprint(v)})
	}
	return l
}

var charts = map[string]Chart{
	"a line":            {Unit: "TWh", Dated: true, Lines: []Line{line("", 5, 7, 6.5, 9)}},
	"many dates":        {Dated: true, Lines: []Line{line("", slices.Repeat([]float64{1, 3, 2}, 25)...)}},
	"four lines":        {Unit: "EUR", Dated: true, Lines: []Line{line("One", 1, 2, 3), line("Two", 3, 2, 1), line(strings.Repeat("Three ", 20), 2, 2, 2.5), line("Четыре", 9, 8, 9)}},
	"negative":          {Dated: true, Lines: []Line{line("", -5, -7, 3)}},
	"large":             {Dated: true, Lines: []Line{line("", 1234567, 2234567, 1834567)}},
	"tiny":              {Dated: true, Lines: []Line{line("", 0.0012, 0.0015, 0.0011)}},
	"far from zero":     {Dated: true, Lines: []Line{line("", 1001, 1002, 1003)}},
	"bars":              {Unit: "%", Lines: []Line{line("", 60, 41, 3)}},
	"bars of two kinds": {Unit: "%", Lines: []Line{line("a", 60, 41, 3), line("b", 20, 10, 4)}},
	"bars below zero":   {Lines: []Line{line("", -60, 41, -3)}},
	"long names":        {Lines: []Line{{Points: []Point{{Label: strings.Repeat("国家", 40), Value: 3, Written: "3"}, {Label: "b", Value: 2, Written: "2"}, {Label: "c", Value: 1, Written: "1"}}}}},
	"one value":         {Dated: true, Lines: []Line{line("", 5)}},
	"nothing":           {Dated: true, Lines: []Line{{}}},
}

// Nothing is drawn outside of the drawing, and texts on one line don't overlap.
func TestEverythingIsInside(t *testing.T) {
	for name, c := range charts {
		d := Draw(c)
		type box struct{ left, right, y float64 }
		var texts []box
		for _, s := range d.Shapes {
			for _, p := range s.At {
				if math.IsNaN(p.X) || math.IsNaN(p.Y) || p.X < -0.01 || p.X > d.Width+0.01 || p.Y < -0.01 || p.Y > d.Height+0.01 {
					t.Errorf("%s: %+v is outside of %v × %v", name, s, d.Width, d.Height)
				}
			}
			if s.Kind != Text {
				continue
			}
			w, x := Wide(s.Text, s.Size), s.At[0].X
			b := box{x - w*float64(s.Anchor)/2, x + w - w*float64(s.Anchor)/2, s.At[0].Y}
			if b.left < -1 || b.right > d.Width+1 {
				t.Errorf("%s: %q goes from %.1f to %.1f", name, s.Text, b.left, b.right)
			}
			for _, o := range texts {
				if math.Abs(o.y-b.y) < s.Size*0.7 && b.left < o.right && o.left < b.right {
					t.Errorf("%s: %q overlaps another text", name, s.Text)
				}
			}
			texts = append(texts, b)
		}
	}
}

func TestScales(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   string
	}{
		{[]float64{5, 9}, "0 2 4 6 8 10"},
		{[]float64{8, 9}, "8.0 8.2 8.4 8.6 8.8 9.0"},
		{[]float64{-5, 3}, "−6 −4 −2 0 2 4"},
		{[]float64{0, 25000}, "0 5000 10\u00a0000 15\u00a0000 20\u00a0000 25\u00a0000"},
		{[]float64{0, 0.05}, "0.00 0.01 0.02 0.03 0.04 0.05"},
	} {
		s := scaleOf([]Line{line("", tc.values...)})
		var got []string
		for _, v := range s.ticks() {
			got = append(got, (&drawing{}).number(v, s))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%v: %q, not %q", tc.values, got, tc.want)
		}
	}
	s := scale{0, 1, 0.5}
	if got := (&drawing{Chart: Chart{Comma: true}}).number(0.5, s); got != "0,5" {
		t.Errorf("with a comma: %s", got)
	}
}

// A drawing is XML whatever its texts are, and nothing in it can run.
func TestSVG(t *testing.T) {
	for name, c := range charts {
		c.Unit = `"><script>alert(1)</script>` + "\x00\xff"
		text := Draw(c).SVG(`a "label" & <b>`)
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, text)
			}
			if e, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "polyline", "rect", "circle", "text", "title"}, e.Name.Local) {
				t.Errorf("%s: an element %s", name, e.Name.Local)
			}
		}
	}
}
