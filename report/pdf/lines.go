package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dossier/internal/base/chart"
	"dossier/internal/base/fonts"
	"dossier/internal/base/pdfdoc"
	"dossier/report"
)

// face is how a block is set.
type face struct {
	size    float64
	spacing float64 // of lines; 0 for the usual
	strong  bool
	color   pdfdoc.Color
}

func (f face) height() float64 { return f.size * cmp.Or(f.spacing, spacing) }

// baseline is how far below the upper edge of a line its letters stand.
func (f face) baseline() float64 { return (f.height()-f.size)/2 + f.size*0.83 }

// cell is a character where it is set.
type cell struct {
	r     rune
	span  *report.Span
	font  *typeface
	size  float64
	width float64
	glued bool // no line begins with it
}

type textLine []cell

func (l textLine) width() float64 {
	w := 0.0
	for i := range l {
		w += l[i].width
	}
	return w
}

func (l textLine) String() string {
	var b strings.Builder
	for i := range l {
		b.WriteRune(l[i].r)
	}
	return b.String()
}

// typeface is a font in the document, with strokes made thicker or not.
type typeface struct {
	face  *fonts.Face
	heavy bool
	set   *pdfdoc.Font
	wide  map[rune]float64
}

// width is that of a character, in thousandths of the size.
func (t *typeface) width(r rune) float64 {
	w, ok := t.wide[r]
	if !ok {
		if t.wide == nil {
			t.wide = map[rune]float64{}
		}
		w = float64(t.face.Advance(t.face.Glyph(r)))
		t.wide[r] = w
	}
	return w
}

// style picks the fonts for a span.
type style uint8

const (
	upright style = iota
	bold
	mono
	styles
)

// letters finds for each character the font to set it in.
type letters struct {
	chains   [styles][]*typeface
	known    [styles]map[rune]*typeface
	missing  []rune
	borrowed []string
}

// box stands for a character that no font has.
const box = '□'

// newLetters finds out which fonts a document needs.
func newLetters(d *report.Document, dirs []string) *letters {
	l := &letters{}
	for i, first := range []*typeface{{face: fonts.Sans()}, {face: fonts.Bold()}, {face: fonts.Mono()}} {
		l.chains[i] = []*typeface{first}
		l.known[i] = map[rune]*typeface{}
	}
	others := []func() *fonts.Face{fonts.Symbols, fonts.Han, fonts.Hangul}
	used := used(d)
	lack := func(f func(rune) bool) []rune {
		return slices.DeleteFunc(slices.Clone(used), f)
	}
	used = lack(func(r rune) bool {
		return fonts.Sans().Glyph(r) != 0 && fonts.Mono().Glyph(r) != 0 && fonts.Bold().Glyph(r) != 0
	})
	add := func(face *fonts.Face) {
		l.chains[upright] = append(l.chains[upright], &typeface{face: face})
		l.chains[bold] = append(l.chains[bold], &typeface{face: face, heavy: true})
		l.chains[mono] = append(l.chains[mono], &typeface{face: face})
	}
	add(fonts.Symbols()) // has the box
	for _, other := range others {
		if len(used) == 0 {
			break
		}
		face := other()
		if slices.ContainsFunc(used, func(r rune) bool { return face.Glyph(r) != 0 }) {
			add(face)
		}
		used = lack(func(r rune) bool { return face.Glyph(r) != 0 || fonts.Sans().Glyph(r) != 0 })
	}
	for len(used) > 0 && len(dirs) > 0 {
		found := borrow(dirs, used)
		if found == nil {
			break
		}
		add(found)
		l.borrowed = append(l.borrowed, found.Name)
		used = lack(func(r rune) bool { return found.Glyph(r) != 0 })
	}
	l.missing = used
	return l
}

// mostBorrowed bounds the characters that are looked for at a time.
const mostBorrowed = 64

// borrow finds a font of the machine for some of the characters.
func borrow(dirs []string, runes []rune) *fonts.Face {
	samples := map[string]string{}
	for _, r := range runes[:min(len(runes), mostBorrowed)] {
		samples[string(r)] = string(r)
	}
	found := fonts.Cover(dirs, samples)
	for _, r := range runes {
		if font, ok := found.Fonts[string(r)]; ok && font.TrueType {
			if face, err := font.Open(); err == nil {
				return face
			}
		}
	}
	return nil
}

// used returns the characters of a document, each once, in order.
func used(d *report.Document) []rune {
	seen := map[rune]bool{}
	add := func(text string) {
		for _, r := range clean(text) {
			seen[r] = true
		}
	}
	spans := func(list []report.Span) {
		for i := range list {
			add(list[i].Text)
		}
	}
	add(d.Title + d.Question + d.Made + strings.Join(d.Labels, ""))
	for i := range d.Blocks {
		b := &d.Blocks[i]
		spans(b.Spans)
		for _, row := range b.Rows {
			for _, c := range row {
				spans(c)
			}
		}
		if b.Chart != nil {
			for _, shape := range chart.Draw(*b.Chart).Shapes {
				add(shape.Text)
			}
		}
	}
	delete(seen, '\n')
	out := make([]rune, 0, len(seen))
	for r := range seen {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// clean returns text as it is set: letters with their accents in one, and
// without what can't be seen.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || unicode.IsSpace(r) && r != '\u00a0':
			return ' '
		case r == '\u00a0' || r == '\u202f' || r == '\u2007':
			return '\u00a0'
		case r == '\u2011':
			return '-'
		case unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector) || r == '\ufffe' || r == '\uffff':
			return -1
		}
		return r
	}, norm.NFC.String(text))
}

// embed makes the fonts known to the document.
func (l *letters) embed(d *pdfdoc.Document) {
	shared := map[*fonts.Face]*pdfdoc.Font{}
	for _, chain := range l.chains {
		for _, t := range chain {
			if shared[t.face] == nil {
				shared[t.face] = d.Font(t.face, postScript(t.face.Name))
			}
			t.set = shared[t.face]
		}
	}
}

// postScript is a name as PDF can have it.
func postScript(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-') {
			return r
		}
		return -1
	}, name)
}

// find returns the font for a character, and the box where there is none.
func (l *letters) find(r rune, s style) (*typeface, rune) {
	if t, ok := l.known[s][r]; ok {
		if t == nil {
			t, _ = l.find(box, s)
			return t, box
		}
		return t, r
	}
	for _, t := range l.chains[s] {
		if t.face.Glyph(r) != 0 {
			l.known[s][r] = t
			return t, r
		}
	}
	if r == box {
		return l.chains[s][0], r
	}
	l.known[s][r] = nil
	return l.find(r, s)
}

// lines breaks spans into lines of a width; there is at least one.
func (l *letters) lines(spans []report.Span, width float64, f face) []textLine {
	var out []textLine
	var cells textLine
	for i := range spans {
		span := &spans[i]
		s, size := upright, f.size
		switch {
		case span.Code:
			s, size = mono, f.size*0.94
		case span.Strong || f.strong:
			s = bold
		}
		text := span.Text
		if span.Code {
			text = strings.ReplaceAll(text, "\t", "    ")
		}
		for j, r := range clean(text) {
			if r == '\n' {
				out = append(out, wrap(cells, width)...)
				cells = nil
				continue
			}
			font, shown := l.find(r, s)
			cells = append(cells, cell{shown, span, font, size, font.width(shown) * size / 1000, j == 0 && marks(span)})
		}
	}
	if len(cells) > 0 || len(out) == 0 {
		out = append(out, wrap(cells, width)...)
	}
	return out
}

// marks reports whether a span belongs to the words before it: the marker of a
// source.
func marks(s *report.Span) bool { return s.Warn || strings.HasPrefix(s.Link, "#") }

// wrap breaks a line where there is no room, at the last place where it can be
// broken, or anywhere.
func wrap(cells textLine, width float64) []textLine {
	var out []textLine
	for {
		at, w, last := 0, 0.0, 0
		for at < len(cells) && (w+cells[at].width <= width || cells[at].r == ' ' || at == 0) {
			w += cells[at].width
			at++
			if at < len(cells) && !cells[at].glued && breaks(cells[at-1].r, cells[at].r) && !measures(cells[:at+1]) {
				last = at
			}
		}
		if at == len(cells) {
			return append(out, cells)
		}
		if last == 0 {
			last = at
		}
		end := last
		for end > 0 && cells[end-1].r == ' ' {
			end--
		}
		if end < last { // a space stays between the words, without taking room
			cells[end].width = 0
			end++
		}
		out = append(out, cells[:end])
		cells = cells[last:]
		for len(cells) > 0 && cells[0].r == ' ' {
			cells = cells[1:]
		}
		if len(cells) == 0 {
			return out
		}
	}
}

// measures reports whether cells end with a number, a space and the sign of its
// unit, which stay together.
func measures(cells textLine) bool {
	n := len(cells)
	return n >= 3 && cells[n-2].r == ' ' && unicode.IsDigit(cells[n-3].r) && strings.ContainsRune("%‰°℃€$₽", cells[n-1].r)
}

const (
	notBefore = "、。，．！？：；）」』】》〉〕］｝’”…·ー々～‥ぁぃぅぇぉっゃゅょァィゥェォッャュョ%,.!?:;)]}»°"
	notAfter  = "（「『【《〈〔［｛‘“([{«№$€£¥"
)

// breaks reports whether a line can be broken between two characters.
func breaks(a, b rune) bool {
	switch {
	case b == ' ':
		return false
	case a == ' ':
		return true
	case strings.ContainsRune(notBefore, b) || strings.ContainsRune(notAfter, a):
		return false
	case wide(a) || wide(b):
		return true
	}
	// Addresses and paths are broken after a slash, words at their hyphens.
	return (a == '/' || a == '-' || a == '–' || a == '—') && (unicode.IsLetter(b) || a == '/') && b != '/'
}

// wide reports characters of scripts that are broken anywhere.
func wide(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}
