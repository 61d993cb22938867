package pdf

import (
	"dossier/internal/base/chart"
	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

// roles are the colors of a chart.
var roles = []pdfdoc.Color{
	chart.Ink: ink, chart.Dim: dim, chart.Grid: grey,
	chart.First: {0.18, 0.45, 0.71}, chart.First + 1: {0.78, 0.44, 0.10}, chart.First + 2: {0.24, 0.56, 0.33}, chart.First + 3: {0.59, 0.33, 0.62},
}

// figure sets a chart; there is room for its caption on the same page.
func (s *setter) figure(b, caption *report.Block, begin float64) {
	d := chart.Draw(*b.Chart)
	scale := min(1, (right-begin)/d.Width)
	under := 0.0
	if caption != nil {
		f := face{size: smallSize}
		under = float64(len(s.letters.lines(caption.Spans, right-begin, f))) * f.height()
	}
	s.y += 6
	s.room(min(d.Height*scale+under+8, bottom-top))
	for i := range d.Shapes {
		s.shape(&d.Shapes[i], begin, scale)
	}
	s.y += d.Height*scale + 6
}

func (s *setter) figureHeight(b *report.Block, begin float64) float64 {
	d := chart.Draw(*b.Chart)
	return d.Height*min(1, (right-begin)/d.Width) + 14
}

func (s *setter) shape(shape *chart.Shape, begin, scale float64) {
	at := func(p chart.Place) (x, y float64) { return begin + p.X*scale, s.y + p.Y*scale }
	color := roles[shape.Role]
	x, y := at(shape.At[0])
	switch shape.Kind {
	case chart.Path:
		path := make([][2]float64, len(shape.At))
		for i, p := range shape.At {
			path[i][0], path[i][1] = at(p)
		}
		s.page.Path(path, shape.Thick*scale, shape.Dash, color)
	case chart.Bar:
		x2, y2 := at(shape.At[1])
		s.page.Box(x, y, x2-x, y2-y, color)
	case chart.Dot:
		s.page.Dot(x, y, shape.Thick*scale, color)
	case chart.Text:
		f := face{size: shape.Size * scale, spacing: 1, color: color}
		l := s.letters.lines([]report.Span{{Text: shape.Text}}, pageWidth, f)[0]
		switch shape.Anchor {
		case chart.Middle:
			x -= l.width() / 2
		case chart.End:
			x -= l.width()
		}
		was := s.y
		s.y = y - f.baseline()
		s.draw(x, l, f)
		s.y = was
	}
}
