package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// classes are those of roles in SVG.
var classes = []string{Ink: "ink", Dim: "dim", Grid: "grid", First: "s1", First + 1: "s2", First + 2: "s3", First + 3: "s4"}

// SVG is the drawing as an element of a page, whose style sheet says how its
// classes look; label says what it shows to those who can't see it.
func (d Drawing) SVG(label string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-label="%s">`, num(d.Width), num(d.Height), escape(label))
	b.WriteByte('\n')
	for _, s := range d.Shapes {
		s.svg(&b)
		b.WriteByte('\n')
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (s *Shape) svg(b *strings.Builder) {
	at, class := s.At[0], classes[s.Role]
	name := ""
	switch s.Kind {
	case Path:
		name = "polyline"
		fmt.Fprintf(b, `<polyline class="line %s" stroke-width="%s"`, class, num(s.Thick))
		if len(s.Dash) > 0 {
			lengths := make([]string, len(s.Dash))
			for i, l := range s.Dash {
				lengths[i] = num(l)
			}
			fmt.Fprintf(b, ` stroke-dasharray="%s"`, strings.Join(lengths, " "))
		}
		b.WriteString(` points="`)
		for i, p := range s.At {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(num(p.X) + "," + num(p.Y))
		}
		b.WriteString(`">`)
	case Bar:
		name = "rect"
		fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s">`, class, num(at.X), num(at.Y), num(s.At[1].X-at.X), num(s.At[1].Y-at.Y))
	case Dot:
		name = "circle"
		fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="%s">`, class, num(at.X), num(at.Y), num(s.Thick))
	case Text:
		name = "text"
		anchor := [...]string{Start: "", Middle: ` text-anchor="middle"`, End: ` text-anchor="end"`}[s.Anchor]
		fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" font-size="%s"%s>%s`, class, num(at.X), num(at.Y), num(s.Size), anchor, escape(s.Text))
	}
	if s.Hint != "" {
		b.WriteString("<title>" + escape(s.Hint) + "</title>")
	}
	b.WriteString("</" + name + ">")
}

func num(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(strings.ToValidUTF8(text, "\uFFFD")))
	return b.String()
}
