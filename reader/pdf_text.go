package reader

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// pdfPage is the text of a page with where it stands.
type pdfPage struct {
	lines []pdfLine // in the order in which the page writes them
	size  int       // bytes of text
}

// pdfLine is a line: words side by side. Positions are in points, from the
// left and from the bottom.
type pdfLine struct {
	cells       []pdfCell // parted by wide gaps
	left, right float64
	bottom, top float64
	size        float64 // height of its words on average
	bold, mono  bool
	number      int // of its page, from 1
}

// pdfCell is words with no wide gap between them.
type pdfCell struct {
	text        string
	left, right float64
}

// height is that of most of its words: one that is set larger or higher does
// not make a line large.
func (l *pdfLine) height() float64 { return l.size }

// text is what is on a line.
func (l *pdfLine) text() string {
	if len(l.cells) == 1 {
		return l.cells[0].text
	}
	parts := make([]string, len(l.cells))
	for i := range l.cells {
		parts[i] = l.cells[i].text
	}
	return strings.Join(parts, " ")
}

const (
	// wideGap is the gap between two words, in heights of a line, that no
	// program makes to fill a line.
	wideGap = 1.4
	// longWord is of how many characters on the end of a word is looked up.
	longWord = 14
	farAway  = 20_000 // points, beyond any page
	// maxPDFChars bounds what is looked at on one page.
	maxPDFChars = 200_000
)

// layout reads the lines of a page.
func (d *pdfDocument) layout(index int) (pdfPage, error) {
	page, err := d.engine.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return pdfPage{}, err
	}
	defer func() { _, _ = d.engine.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	loaded, err := d.engine.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return pdfPage{}, err
	}
	t := &pdfText{d: d, ref: loaded.TextPage}
	defer func() { _, _ = d.engine.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: t.ref}) }()
	if err := t.load(); err != nil {
		return pdfPage{}, err
	}
	got := pdfPage{size: len(t.chars)}
	for from := 0; from < len(t.chars); {
		to := from
		for to < len(t.chars) && t.chars[to] != '\n' && t.chars[to] != '\r' {
			to++
		}
		for _, line := range t.linesOf(from, to) {
			line.number = index + 1
			got.lines = append(got.lines, line)
		}
		from = to + 1
	}
	return got, nil
}

// pdfText is the text of one page.
type pdfText struct {
	d     *pdfDocument
	ref   references.FPDF_TEXTPAGE
	chars []rune // one for each character that the parser counts
}

// load gets the characters: all at once, or one by one if their number is not
// the one that positions are asked by.
func (t *pdfText) load() error {
	count, err := t.d.engine.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: t.ref})
	if err != nil {
		return err
	}
	n := min(count.Count, maxPDFChars)
	if n <= 0 {
		return nil
	}
	got, err := t.d.engine.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: t.ref, Count: n})
	if err != nil {
		return err
	}
	t.chars = []rune(strings.TrimRight(got.Text, "\x00"))
	if len(t.chars) == n {
		return nil
	}
	if units := utf16.Encode(t.chars); len(units) == n {
		t.chars = t.chars[:0]
		for _, u := range units {
			t.chars = append(t.chars, rune(u))
		}
		return nil
	}
	t.chars = t.chars[:0]
	for i := range n {
		u, err := t.d.engine.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: t.ref, Index: i})
		if err != nil {
			return err
		}
		t.chars = append(t.chars, rune(u.Unicode))
	}
	return nil
}

// parted is how the parser gives a hyphen at which a word was parted.
const parted = '\u00ad'

// clean makes a character one of text.
func cleanPDF(r rune) rune {
	switch {
	case r == '\ufffe' || r == '\u0002' || r == '\u00ad':
		return parted
	case r == 0 || r == '\ufeff' || r == '\u200b':
		return -1
	case unicode.IsControl(r) || unicode.IsSpace(r) || r == '\ufffd':
		return ' '
	}
	return r
}

// linesOf reads the characters of a line: words, their places, and the gaps
// between them. The parser takes lines for one where a word goes on from the
// first to the second.
func (t *pdfText) linesOf(from, to int) []pdfLine {
	w := pdfWords{t: t, first: -1}
	for i := from; i < to; i++ {
		switch r := cleanPDF(t.chars[i]); r {
		case -1:
		case ' ':
			w.end()
		default:
			if len(w.word) == 0 {
				w.first = i
			}
			w.word = append(w.word, r)
			w.last = i
			if r == parted {
				w.end()
			}
		}
	}
	w.end()
	w.endLine()
	return w.lines
}

// pdfWords makes lines of words.
type pdfWords struct {
	t           *pdfText
	lines       []pdfLine
	line        pdfLine
	cell        pdfCell
	text        strings.Builder // of the cell
	word        []rune
	first, last int     // its characters
	counted     float64 // characters that the size of the line is of
}

func (w *pdfWords) endCell() {
	if w.text.Len() > 0 {
		w.cell.text = w.text.String()
		w.line.cells = append(w.line.cells, w.cell)
		w.text.Reset()
	}
}

func (w *pdfWords) endLine() {
	w.endCell()
	if n := len(w.line.cells); n > 0 {
		if w.line.mono {
			_, w.line.mono = w.t.font(w.last)
		}
		if b, ok := w.t.box(w.last); ok && b.right > w.line.cells[n-1].left {
			w.line.cells[n-1].right, w.line.right = b.right, b.right
		}
		w.lines = append(w.lines, w.line)
	}
	w.line, w.cell, w.counted = pdfLine{}, pdfCell{}, 0
}

// end puts the word under way on its line.
func (w *pdfWords) end() {
	if len(w.word) == 0 {
		return
	}
	text := joinSurrogates(w.word)
	w.word = w.word[:0]
	begin, ok := w.t.box(w.first)
	if !ok { // stands nowhere: beside the last one
		begin = pdfBox{w.cell.right, w.cell.right, w.line.bottom, w.line.top}
	}
	height := begin.top - begin.bottom
	right := begin.right
	if word := w.t.chars[w.first : w.last+1]; ok {
		right = w.t.d.wordEnd(begin, word)
		if len(word) > longWord || word[0] >= 0x2e80 || word[len(word)-1] >= 0x2e80 {
			if b, ok := w.t.box(w.last); ok {
				right = b.right
			}
		}
	}
	gap := begin.left - w.cell.right
	empty := w.line.cells == nil && w.text.Len() == 0
	if !empty && begin.top < w.line.bottom+0.3*height && begin.left < w.cell.right {
		last := w.last
		w.last = w.first - 1
		w.endLine()
		w.last, empty = last, true
	}
	if empty {
		w.line = pdfLine{left: begin.left, right: begin.right, bottom: begin.bottom, top: begin.top}
		w.line.bold, w.line.mono = w.t.font(w.first)
		w.cell = pdfCell{left: begin.left}
	} else {
		switch before := w.text.String(); {
		case gap > wideGap*max(height, 4), gap > 0.4*height && amount(before, text):
			w.endCell()
			w.cell = pdfCell{left: begin.left}
		case strings.HasSuffix(before, string(parted)): // no word was parted there
			w.text.Reset()
			w.text.WriteString(strings.TrimSuffix(before, string(parted)))
		case before != "":
			w.text.WriteByte(' ')
		}
		w.line.bottom, w.line.top = min(w.line.bottom, begin.bottom), max(w.line.top, begin.top)
		w.line.left = min(w.line.left, begin.left)
	}
	w.text.WriteString(text)
	if weight := float64(w.last - w.first + 1); height > 0 {
		w.line.size = (w.line.size*w.counted + height*weight) / (w.counted + weight)
		w.counted += weight
	}
	w.cell.right = right
	w.line.right = max(w.line.right, w.cell.right)
}

// amount says that a word begins a cell though the gap before it is small: one
// of figures, after another.
func amount(before, word string) bool {
	if strings.Trim(word, "$€£¥") == "" {
		return before != ""
	}
	last := before[strings.LastIndexByte(before, ' ')+1:]
	return figures(word) && figures(last) && (strings.ContainsAny(word, ",.%()") || strings.ContainsAny(last, ",.%()"))
}

// wordEnd is where a word ends that begins with a box, by how wide characters
// were so far: asking for each is what takes time.
func (d *pdfDocument) wordEnd(first pdfBox, word []rune) float64 {
	height := first.top - first.bottom
	if d.widths == nil {
		d.widths = map[rune]float64{}
	}
	wide := (first.right - first.left) / height
	if known, ok := d.widths[word[0]]; ok {
		wide = known + (wide-known)/8
	}
	d.widths[word[0]] = wide
	if d.width == 0 {
		d.width = wide
	}
	d.width += (wide - d.width) / 32
	end := first.right
	for _, r := range word[1:] {
		w, ok := d.widths[r]
		if !ok {
			w = d.width
		}
		end += w * height
	}
	return end
}

// joinSurrogates writes characters that came in two halves as one.
func joinSurrogates(word []rune) string {
	if !slices.ContainsFunc(word, utf16.IsSurrogate) {
		return string(word)
	}
	units := make([]uint16, len(word))
	for i, r := range word {
		units[i] = uint16(r)
	}
	return string(utf16.Decode(units))
}

type pdfBox struct{ left, right, bottom, top float64 }

func (t *pdfText) box(i int) (pdfBox, bool) {
	got, err := t.d.engine.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: t.ref, Index: i})
	if err != nil {
		return pdfBox{}, false
	}
	b := pdfBox{float64(got.Rect.Left), float64(got.Rect.Right), float64(got.Rect.Bottom), float64(got.Rect.Top)}
	if !(b.top > b.bottom) || b.top-b.bottom > 500 || !(b.right >= b.left) || !(b.left > -farAway && b.right < farAway) { // turned text and nonsense
		return pdfBox{}, false
	}
	return b, true
}

// font says whether a character is bold, and of a font in which all have the
// same width.
func (t *pdfText) font(i int) (bold, mono bool) {
	got, err := t.d.engine.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: t.ref, Index: i})
	if err != nil {
		return false, false
	}
	name := strings.ToLower(got.FontName)
	if _, after, ok := strings.Cut(name, "+"); ok {
		name = after
	}
	for _, s := range []string{"bold", "black", "heavy", "cmbx", "sfbx", "-demi", "semibold"} {
		bold = bold || strings.Contains(name, s)
	}
	for _, s := range []string{"mono", "courier", "cmtt", "sftt", "consol", "cmsltt", "nimbusmon", "menlo", "typewriter", "cmbtt", "ectt"} {
		mono = mono || strings.Contains(name, s)
	}
	return bold, mono || got.Flags&1 != 0
}
