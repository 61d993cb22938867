// Package chart lays charts out: lines over time, and bars over the members of a
// group. A drawing is a list of shapes that whoever shows it draws in his way.
package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is what is to be seen.
type Chart struct {
	Unit  string
	Dated bool // points have a place in time; else they are members of a group
	Lines []Line
	Comma bool // decimals of the scale are written with a comma
}

// Line is a series with its name.
type Line struct {
	Name   string
	Points []Point
}

// Point is a value. Label and Written are shown as they are.
type Point struct {
	Label, Written string
	At, Value      float64
}

// Drawing is a chart laid out, in points from the left and upper edge.
type Drawing struct {
	Width, Height float64
	Shapes        []Shape
}

// Kind is what a shape is.
type Kind uint8

// The kinds of shapes.
const (
	Path Kind = iota // through X and Y of all At
	Bar              // a filled box from the first At to the second
	Dot              // around the first At
	Text             // on the line of the first At
)

// Role says which color a shape has.
type Role uint8

// The roles. Series k has First+k; there are four.
const (
	Ink Role = iota
	Dim
	Grid
	First
)

// Series is how many can be told from each other.
const Series = 4

// Anchor is which part of a text stands at its place.
type Anchor uint8

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// Place is a point of a drawing.
type Place struct{ X, Y float64 }

// Shape is a part of a drawing.
type Shape struct {
	Kind   Kind
	Role   Role
	At     []Place
	Thick  float64   // of a path; the radius of a dot
	Dash   []float64 // of a path: lengths drawn and left out
	Text   string
	Size   float64
	Anchor Anchor
	Hint   string // what it stands for, where it stands for a point
}

const (
	width  = 470
	height = 185 // of the axes of a chart over time
	small  = 8.5 // size of text
)

// dashes tell series from each other without color.
var dashes = [Series][]float64{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}

// Draw lays a chart out.
func Draw(c Chart) Drawing {
	d := &drawing{Chart: c, Drawing: Drawing{Width: width}}
	d.Lines = d.Lines[:min(len(d.Lines), Series)]
	y := d.legend()
	if c.Dated {
		d.overTime(y + 6)
	} else {
		d.bars(y)
	}
	return d.Drawing
}

type drawing struct {
	Chart
	Drawing
}

func (d *drawing) add(s Shape) { d.Shapes = append(d.Shapes, s) }

func (d *drawing) text(x, y float64, text string, a Anchor, r Role) {
	if text != "" {
		d.add(Shape{Kind: Text, Role: r, At: []Place{{x, y}}, Text: text, Size: small, Anchor: a})
	}
}

func (d *drawing) rule(x1, y1, x2, y2 float64, r Role) {
	d.add(Shape{Kind: Path, Role: r, At: []Place{{x1, y1}, {x2, y2}}, Thick: 0.6})
}

// legend names the unit and, where there are several, the series. It returns
// where the rest begins.
func (d *drawing) legend() float64 {
	x, y := 0.0, small+2
	if d.Unit != "" {
		unit := Fit(d.Unit, width/3, small)
		d.text(0, y, unit, Start, Dim)
		x = Wide(unit, small) + 16
	}
	if len(d.Lines) > 1 {
		for i, l := range d.Lines {
			name := Fit(l.Name, width/2, small)
			w := 18 + 5 + Wide(name, small) + 16
			if x > 0 && x+w > width {
				x, y = 0, y+small+5
			}
			if d.Dated {
				d.add(Shape{Kind: Path, Role: First + Role(i), At: []Place{{x, y - 3}, {x + 18, y - 3}}, Thick: 1.6, Dash: dashes[i]})
			} else {
				d.add(Shape{Kind: Bar, Role: First + Role(i), At: []Place{{x + 6, y - 7}, {x + 18, y}}})
			}
			d.text(x+23, y, name, Start, Ink)
			x += w
		}
	}
	if x == 0 {
		return 6
	}
	return y + 8
}

// scale is an axis of values.
type scale struct {
	low, high, step float64
}

// scaleOf is a scale of round steps that holds all values, with zero unless they
// are far from it.
func scaleOf(lines []Line) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			low, high = min(low, p.Value), max(high, p.Value)
		}
	}
	if math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low+high) {
		return scale{0, 1, 1}
	}
	if low > 0 && low < 0.6*high {
		low = min(low, 0)
	}
	if high < 0 && high > 0.6*low {
		high = max(high, 0)
	}
	if low == high {
		high = low + 1
	}
	const steps = 5
	step := math.Pow(10, math.Floor(math.Log10((high-low)/steps)))
	for _, times := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*times) <= steps+0.5 {
			step *= times
			break
		}
	}
	return scale{math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, step}
}

// Bounds are the ends and the step of the scale that a chart is drawn with. Bars
// begin at zero.
func Bounds(c Chart) (low, high, step float64) {
	s := scaleOf(c.Lines)
	if !c.Dated {
		s.low, s.high = min(s.low, 0), max(s.high, 0)
	}
	return s.low, s.high, s.step
}

// at is where a value lies between 0 and 1.
func (s scale) at(v float64) float64 { return (v - s.low) / (s.high - s.low) }

func (s scale) ticks() []float64 {
	var out []float64
	for i := range int(math.Round((s.high-s.low)/s.step)) + 1 {
		out = append(out, s.low+float64(i)*s.step)
	}
	return out
}

// number writes a value of a scale.
func (d *drawing) number(v float64, s scale) string {
	decimals := max(0, int(math.Ceil(-math.Log10(s.step)-1e-9)))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	text = strings.Replace(text, "-", "−", 1)
	if strings.Trim(text, "−0.") == "" {
		text = strings.TrimPrefix(text, "−")
	}
	whole, rest, broken := strings.Cut(text, ".")
	if digits := strings.TrimPrefix(whole, "−"); len(digits) > 4 {
		var groups []string
		for ; len(digits) > 3; digits = digits[:len(digits)-3] {
			groups = append([]string{digits[len(digits)-3:]}, groups...)
		}
		whole = strings.Repeat("−", strings.Count(whole, "−")) + strings.Join(append([]string{digits}, groups...), "\u00a0")
	}
	if !broken {
		return whole
	}
	if d.Comma {
		return whole + "," + rest
	}
	return whole + "." + rest
}

// fewValues is up to how many points their values are written beside them.
const fewValues = 12

// overTime draws lines between axes.
func (d *drawing) overTime(top float64) {
	s := scaleOf(d.Lines)
	edge := 0.0
	for _, v := range s.ticks() {
		edge = max(edge, Wide(d.number(v, s), small))
	}
	values := len(d.Lines) == 1 && len(d.Lines[0].Points) <= fewValues
	if values {
		top += small + 2
	}
	half := 0.0 // of the widest text that stands at a point
	for _, l := range d.Lines {
		for _, p := range l.Points {
			half = max(half, Wide(p.Label, small)/2)
			if values {
				half = max(half, Wide(p.Written, small)/2)
			}
		}
	}
	left, right, bottom := edge+8, width-max(16, half)-8, top+height-20
	d.Height = bottom + 20
	y := func(v float64) float64 { return bottom - s.at(v)*(bottom-top) }
	for _, v := range s.ticks() {
		d.rule(left, y(v), width, y(v), Grid)
		d.text(left-5, y(v)+3, d.number(v, s), End, Dim)
	}
	first, last := math.Inf(1), math.Inf(-1)
	labels := map[float64]string{}
	for _, l := range d.Lines {
		for _, p := range l.Points {
			first, last = min(first, p.At), max(last, p.At)
			if labels[p.At] == "" {
				labels[p.At] = p.Label
			}
		}
	}
	if last == first {
		last++
	}
	inner := left + max(12, half)
	x := func(at float64) float64 { return inner + (at-first)/(last-first)*(right-inner) }
	d.dates(labels, x, bottom)
	for i, l := range d.Lines {
		role := First + Role(i)
		path := Shape{Kind: Path, Role: role, Thick: 1.6, Dash: dashes[i]}
		for _, p := range l.Points {
			path.At = append(path.At, Place{x(p.At), y(p.Value)})
		}
		if len(path.At) > 0 {
			d.add(path)
		}
		end := math.Inf(-1)
		for j, p := range l.Points {
			at := path.At[j]
			d.add(Shape{Kind: Dot, Role: role, At: []Place{at}, Thick: 2.3, Hint: d.hint(l, p)})
			if w := Wide(p.Written, small); values && at.X-w/2 > end {
				above := -6.0
				if valley(l.Points, j) && at.Y+14 < bottom { // the line goes up from there
					above = small + 5
				}
				d.text(at.X, at.Y+above, p.Written, Middle, Ink)
				end = at.X + w/2 + 3
			}
		}
	}
}

// valley reports whether the points beside one are higher.
func valley(points []Point, i int) bool {
	return (i == 0 || points[i-1].Value > points[i].Value) && (i+1 == len(points) || points[i+1].Value > points[i].Value)
}

// dates writes labels below the axis, as many as have room.
func (d *drawing) dates(labels map[float64]string, x func(float64) float64, bottom float64) {
	ats := make([]float64, 0, len(labels))
	for at := range labels {
		ats = append(ats, at)
	}
	slices.Sort(ats)
	for every := 1; ; every++ { // each, or each second …
		end, fits := math.Inf(-1), true
		for i := 0; i < len(ats) && fits; i += every {
			half := Wide(labels[ats[i]], small) / 2
			fits = x(ats[i])-half > end
			end = x(ats[i]) + half + 6
		}
		if !fits && every < len(ats) {
			continue
		}
		for i := 0; i < len(ats); i += every {
			d.rule(x(ats[i]), bottom, x(ats[i]), bottom+3, Dim)
			d.text(x(ats[i]), bottom+14, labels[ats[i]], Middle, Dim)
		}
		return
	}
}

func (d *drawing) hint(l Line, p Point) string {
	text := p.Label + ": " + p.Written
	if d.Unit != "" {
		text += " " + d.Unit
	}
	if l.Name != "" && len(d.Lines) > 1 {
		text = l.Name + ", " + text
	}
	return text
}

const (
	thickBar = 11.0
	betweenB = 7.0
)

// bars draws a bar for each value, from zero.
func (d *drawing) bars(top float64) {
	s := scale{low: 0, high: 0}
	var labels []string
	edge, written := 0.0, 0.0
	for _, l := range d.Lines {
		for _, p := range l.Points {
			if !slices.Contains(labels, p.Label) {
				labels = append(labels, p.Label)
			}
			s.low, s.high = min(s.low, p.Value), max(s.high, p.Value)
			edge, written = max(edge, Wide(p.Label, small)), max(written, Wide(p.Written, small))
		}
	}
	if s.low == s.high {
		s.high++
	}
	left := min(edge, width*0.42) + 8
	right := width - written - 8
	if s.low < 0 {
		left += written + 6
	}
	x := func(v float64) float64 { return left + s.at(v)*(right-left) }
	y := top + 2
	for _, label := range labels {
		thick := thickBar
		if n := len(d.Lines); n > 1 {
			thick = max(6, 26/float64(n))
		}
		middle := y + thick*float64(len(d.Lines))/2
		d.text(0, middle+3, Fit(label, width*0.42, small), Start, Ink)
		for i, l := range d.Lines {
			for _, p := range l.Points {
				if p.Label != label {
					continue
				}
				from, to := x(0), x(p.Value)
				d.add(Shape{Kind: Bar, Role: First + Role(i), At: []Place{{min(from, to), y}, {max(from, to), y + thick - 1}}, Hint: d.hint(l, p)})
				if p.Value < 0 {
					d.text(to-4, y+thick/2+2.6, p.Written, End, Ink)
				} else {
					d.text(to+4, y+thick/2+2.6, p.Written, Start, Ink)
				}
			}
			y += thick
		}
		y += betweenB
	}
	d.rule(x(0), top, x(0), y-betweenB+2, Dim)
	d.Height = y
}
