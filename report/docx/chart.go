package docx

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dossier/internal/base/chart"
	"dossier/report"
)

const (
	drawingML = "http://schemas.openxmlformats.org/drawingml/2006/"
	emu       = 12700 // units of a drawing in a point
)

// colors of series, as in the other formats.
var colors = [chart.Series]string{"2F74B5", "C8701A", "3D8F55", "96559F"}

// figure writes a chart as one of Word's own: it stays sharp, and its numbers can
// be changed there.
func (w *writer) figure(b *report.Block) {
	w.charts = append(w.charts, chartPart(b.Chart))
	n := len(w.charts)
	high := 230.0
	if !b.Chart.Dated {
		high = chart.Draw(*b.Chart).Height*1.3 + 30
	}
	w.out.WriteString(`<w:p><w:pPr><w:pStyle w:val="Figure"/></w:pPr><w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">`)
	fmt.Fprintf(&w.out, `<wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="chart%d" descr="%s"/>`, textWidth*emu/20, int(min(high, 600))*emu, n, n, escape(b.Alt))
	fmt.Fprintf(&w.out, `<a:graphic xmlns:a="%smain"><a:graphicData uri="%schart"><c:chart xmlns:c="%schart" r:id="chart%d"/></a:graphicData></a:graphic>`, drawingML, drawingML, drawingML, n)
	w.out.WriteString(`</wp:inline></w:drawing></w:r></w:p>`)
}

// chartPart is the file of a chart.
func chartPart(c *chart.Chart) string {
	labels := categories(c)
	var b strings.Builder
	fmt.Fprintf(&b, `%s<c:chartSpace xmlns:c="%schart" xmlns:a="%smain"><c:roundedCorners val="0"/><c:chart><c:autoTitleDeleted val="1"/><c:plotArea><c:layout/>`, xml.Header, drawingML, drawingML)
	if c.Dated {
		b.WriteString(`<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>`)
	} else {
		b.WriteString(`<c:barChart><c:barDir val="bar"/><c:grouping val="clustered"/><c:varyColors val="0"/>`)
	}
	for i, l := range c.Lines[:min(len(c.Lines), chart.Series)] {
		line(&b, c, i, l, labels)
	}
	low, high, step := chart.Bounds(*c)
	const axes = `<c:axId val="1"/><c:axId val="2"/>`
	scaling, hidden, mark := "minMax", "0", `<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="D1D6DC"/></a:solidFill></a:ln></c:spPr></c:majorGridlines>`
	if c.Dated {
		b.WriteString(`<c:marker val="1"/>` + axes + `</c:lineChart>`)
	} else {
		b.WriteString(`<c:gapWidth val="60"/>` + axes + `</c:barChart>`)
		scaling, hidden, mark = "maxMin", "1", "" // the first on top; values stand beside the bars
	}
	const look = `<c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="5C6570"/></a:solidFill></a:ln></c:spPr><c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="850"/></a:pPr><a:endParaRPr lang="en"/></a:p></c:txPr>`
	fmt.Fprintf(&b, `<c:catAx><c:axId val="1"/><c:scaling><c:orientation val="%s"/></c:scaling><c:delete val="0"/><c:axPos val="b"/><c:majorTickMark val="out"/><c:minorTickMark val="none"/><c:tickLblPos val="low"/>%s<c:crossAx val="2"/></c:catAx>`, scaling, look)
	fmt.Fprintf(&b, `<c:valAx><c:axId val="2"/><c:scaling><c:orientation val="minMax"/><c:max val="%s"/><c:min val="%s"/></c:scaling><c:delete val="%s"/><c:axPos val="l"/>%s<c:numFmt formatCode="%s" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>%s<c:crossAx val="1"/><c:majorUnit val="%s"/></c:valAx>`, number(high), number(low), hidden, mark, format(c), look, number(step))
	b.WriteString(`</c:plotArea>`)
	if len(c.Lines) > 1 {
		b.WriteString(`<c:legend><c:legendPos val="t"/><c:overlay val="0"/></c:legend>`)
	}
	b.WriteString(`<c:plotVisOnly val="1"/><c:dispBlanksAs val="span"/></c:chart><c:spPr><a:ln><a:noFill/></a:ln></c:spPr></c:chartSpace>`)
	return b.String()
}

// line writes one series.
func line(b *strings.Builder, c *chart.Chart, i int, l chart.Line, labels []string) {
	fmt.Fprintf(b, `<c:ser><c:idx val="%d"/><c:order val="%d"/><c:tx><c:v>%s</c:v></c:tx>`, i, i, escape(l.Name))
	fill := `<a:solidFill><a:srgbClr val="` + colors[i] + `"/></a:solidFill>`
	if c.Dated {
		b.WriteString(`<c:spPr><a:ln w="20320">` + fill + `</a:ln></c:spPr><c:marker><c:symbol val="circle"/><c:size val="5"/><c:spPr>` + fill + `</c:spPr></c:marker>`)
	} else {
		b.WriteString(`<c:spPr>` + fill + `</c:spPr><c:invertIfNegative val="0"/>`)
	}
	if !c.Dated || len(c.Lines) == 1 && len(labels) <= 12 {
		place := "outEnd"
		if c.Dated {
			place = "t"
		}
		fmt.Fprintf(b, `<c:dLbls><c:numFmt formatCode="%s" sourceLinked="0"/><c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="850"/></a:pPr><a:endParaRPr lang="en"/></a:p></c:txPr><c:dLblPos val="%s"/><c:showLegendKey val="0"/><c:showVal val="1"/><c:showCatName val="0"/><c:showSerName val="0"/><c:showPercent val="0"/><c:showBubbleSize val="0"/></c:dLbls>`, format(c), place)
	}
	fmt.Fprintf(b, `<c:cat><c:strLit><c:ptCount val="%d"/>`, len(labels))
	for k, label := range labels {
		fmt.Fprintf(b, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, k, escape(label))
	}
	fmt.Fprintf(b, `</c:strLit></c:cat><c:val><c:numLit><c:formatCode>General</c:formatCode><c:ptCount val="%d"/>`, len(labels))
	for k, label := range labels {
		if at := slices.IndexFunc(l.Points, func(p chart.Point) bool { return p.Label == label }); at >= 0 {
			fmt.Fprintf(b, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, k, number(l.Points[at].Value))
		}
	}
	b.WriteString(`</c:numLit></c:val>`)
	if c.Dated {
		b.WriteString(`<c:smooth val="0"/>`)
	}
	b.WriteString(`</c:ser>`)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// format is how numbers are written: large ones in groups of three.
func format(c *chart.Chart) string {
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if math.Abs(p.Value) >= 10000 {
				return "#,##0"
			}
		}
	}
	return "General"
}

// mostYears bounds the years between two that are shown without a value.
const mostYears = 100

// categories are the labels in order. Years between them that have no value stand
// there too, so that equal times are equally wide.
func categories(c *chart.Chart) []string {
	var points []chart.Point
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if !slices.ContainsFunc(points, func(o chart.Point) bool { return o.Label == p.Label }) {
				points = append(points, p)
			}
		}
	}
	years := c.Dated
	if c.Dated {
		slices.SortStableFunc(points, func(a, b chart.Point) int { return int(math.Copysign(1, a.At-b.At)) })
		years = points[len(points)-1].At-points[0].At < mostYears
	}
	var out []string
	for i, p := range points {
		if years = years && p.At == math.Trunc(p.At); years && i > 0 {
			for y := points[i-1].At + 1; y < p.At; y++ {
				out = append(out, strconv.FormatFloat(y, 'f', 0, 64))
			}
		}
		out = append(out, p.Label)
	}
	return out
}
