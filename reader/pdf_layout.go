package reader

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// pdfLayout makes blocks of lines by where they stand.
type pdfLayout struct {
	b       *builder
	body    float64 // height of most lines
	leading float64 // from one to the next
	levels  map[int]int
	deepest int
	right   float64 // where most lines of the page end
	left    float64

	lines    []*pdfLine // of the block under way
	kind     Kind
	term     float64 // left of a term whose definition is under way, -1 outside
	def      float64 // left of that definition
	contents bool    // the page is one of a table of contents or an index
	listed   []float64
	itemText float64 // left of the text of the last entry
	label    string  // of a note whose text comes
}

// readLayout writes the blocks of a document.
func (b *builder) readLayout(pages []pdfPage) {
	for i := range pages {
		pages[i].joinLines()
	}
	l := &pdfLayout{b: b, term: -1}
	l.measure(pages)
	dropRunning(pages, l.body)
	l.measure(pages)
	for i := range pages {
		pages[i].columns()
		b.at = i + 1
		l.page(&pages[i])
	}
}

// heightKey makes heights comparable.
func heightKey(h float64) int { return int(math.Round(h * 2)) }

// most returns the key with the highest count, the smaller one of equals.
func most(counts map[int]int) int {
	best, n := 0, 0
	for k, c := range counts {
		if c > n || c == n && k < best {
			best, n = k, c
		}
	}
	return best
}

// measure finds the sizes of the text and of its headings.
func (p *pdfLayout) measure(pages []pdfPage) {
	heights, leadings := map[int]int{}, map[int]int{}
	for i := range pages {
		for j := range pages[i].lines {
			l := &pages[i].lines[j]
			heights[heightKey(l.height())] += len(l.text())
			if j > 0 {
				if d := pages[i].lines[j-1].bottom - l.bottom; d > 0.5*l.height() && d < 2.5*l.height() {
					leadings[heightKey(d)]++
				}
			}
		}
	}
	p.body = max(float64(most(heights))/2, 1)
	p.leading = max(float64(most(leadings))/2, p.body)
	// Sizes of headings, and how deep the numbers are that they are set in.
	sizes, depths := map[int]int{}, map[int]map[int]int{}
	for i := range pages {
		for j := range pages[i].lines {
			l := &pages[i].lines[j]
			if !p.large(l) || len(l.cells) > 1 || columns(l.text()) > maxPDFHeading {
				continue
			}
			k := heightKey(l.height())
			sizes[k]++
			if depth, _ := sectionNumber(l.text()); depth > 0 {
				if depths[k] == nil {
					depths[k] = map[int]int{}
				}
				depths[k][depth]++
			}
		}
	}
	keys := make([]int, 0, len(sizes))
	for k := range sizes {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	slices.Reverse(keys)
	p.levels = map[int]int{}
	for rank, k := range keys {
		p.levels[k] = min(rank+1, 5)
		if depths[k] != nil {
			p.levels[k] = min(most(depths[k]), 6)
		}
		p.deepest = max(p.deepest, p.levels[k])
	}
	p.deepest = min(p.deepest, 5)
}

const maxPDFHeading = 160 // columns

// large says that a line is set larger than the text.
func (p *pdfLayout) large(l *pdfLine) bool { return l.height() > 1.12*p.body }

func (p *pdfLayout) page(page *pdfPage) {
	lines := page.lines
	p.contents = p.isContents(lines)
	for i := 0; i < len(lines); {
		l := &lines[i]
		if i > 0 && l.bottom > lines[i-1].top { // the next column
			p.flush()
			p.term = -1
		}
		p.margins(lines, i)
		if p.contents || leaders(l.text()) {
			if level := p.heading(lines, i); level > 0 && !leaders(l.text()) && !numbersPage(l.text()) {
				p.flush()
				p.b.heading(level, l.text())
			} else {
				p.flush()
				s := strings.ReplaceAll(l.text(), string(parted), "")
				p.b.contents(s, escapeMarkdown(s))
			}
			i++
			continue
		}
		if n := p.table(lines[i:]); n > 0 {
			i += n
			continue
		}
		if noteWords[strings.ToLower(strings.TrimRight(l.text(), ":!："))] && (l.bold || p.large(l)) && i+1 < len(lines) && !p.large(&lines[i+1]) {
			p.flush()
			p.label = l.text()
			i++
			continue
		}
		if level := p.heading(lines, i); level > 0 {
			i += p.writeHeading(lines[i:], level)
			continue
		}
		if n := p.code(lines[i:]); n > 0 {
			i += n
			continue
		}
		p.textLine(lines, i)
		i++
	}
	p.flush()
	p.term, p.listed, p.label = -1, p.listed[:0], ""
}

// nearby is how many lines before and after one its column is judged by.
const nearby = 12

// margins finds where the lines of the column begin and end that a line stands
// in.
func (p *pdfLayout) margins(lines []pdfLine, at int) {
	l := &lines[at]
	p.left, p.right = l.left, l.right
	for i := max(0, at-nearby); i < min(len(lines), at+nearby+1); i++ {
		other := &lines[i]
		if other.left > l.right || other.right < l.left || other.left < l.left-8*p.body || other.left > l.left+8*p.body {
			continue
		}
		p.left, p.right = min(p.left, other.left), max(p.right, other.right)
	}
}

// isContents says that a page is one of a table of contents or an index: its
// lines end in numbers of pages.
func (p *pdfLayout) isContents(lines []pdfLine) bool {
	named, dotted, numbered, n := false, 0, 0, 0
	for i := range lines {
		l := &lines[i]
		s := l.text()
		if len(s) < 4 {
			continue
		}
		n++
		named = named || i < 4 && contentsWord(strings.TrimLeft(s, "0123456789. "))
		last := l.cells[len(l.cells)-1].text
		switch {
		case leaders(s):
			dotted++
		case len(l.cells) > 1 && pageNumber(last), endsInPages(s):
			numbered++
		}
	}
	if n < 4 {
		return false
	}
	return dotted*3 > n || (named || p.contents) && (dotted+numbered)*2 > n
}

// endsInPages says that a line of an index ends here: "cup, 12, 47".
func endsInPages(s string) bool {
	i := strings.LastIndexByte(s, ' ')
	return i > 0 && pageNumber(strings.TrimRight(s[i+1:], ",")) && len(s) < 90
}

// heading says that a line is one, and of which level; 0 if not.
func (p *pdfLayout) heading(lines []pdfLine, i int) int {
	l := &lines[i]
	s := l.text()
	last, width := lastRune(s), columns(s)
	if width > maxPDFHeading || len(l.cells) > 1 || strings.ContainsRune(".,;。，；", last) || letters(s) < 2 || isCaption(s) {
		return 0
	}
	depth, rest := sectionNumber(s)
	if p.large(l) && (width < 90 || l.height() > 1.25*p.body) {
		if depth > 0 && rest != "" {
			return min(depth, 6)
		}
		return p.levels[heightKey(l.height())]
	}
	if i > 0 && !l.mono && designated(s) > 0 && sentenceEnd(lines[i-1].text()) && (i+1 == len(lines) || designated(lines[i+1].text()) == 0) {
		return min(depth, 6)
	}
	if l.mono || width > 100 || strings.ContainsRune(":：", last) && depth == 0 {
		return 0
	}
	apart := i == 0 || lines[i-1].bottom-l.bottom > 1.25*p.leading || lines[i-1].bottom < l.bottom || lines[i-1].bold != l.bold
	switch {
	case depth > 0 && rest != "" && titleCase(rest) && (depth > 1 || l.bold) && apart && markLength(s) == 0:
		return min(depth, 6)
	case depth > 1 && titleCase(rest) && l.bold && apart:
		return min(depth, 6)
	case l.bold && apart && !unicode.IsLower(firstRune(s)) && l.right < p.right-0.15*(p.right-p.left) && i+1 < len(lines) && !lines[i+1].bold && lines[i+1].left < l.left+1.5*p.body:
		return p.deepest + 1
	}
	return 0
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// writeHeading writes a heading with the lines that it goes on over, and
// returns how many they are.
func (p *pdfLayout) writeHeading(lines []pdfLine, level int) int {
	p.flush()
	n := 1
	if depth, rest := sectionNumber(lines[0].text()); depth > 0 && rest == "" && len(lines) > 1 && p.large(&lines[1]) && len(lines[1].cells) == 1 {
		n = 2 // "Chapter 2", and below it what it is called
	}
	for n < len(lines) && n < 4 {
		l, last := &lines[n], &lines[n-1]
		if heightKey(l.height()) != heightKey(last.height()) || l.bold != last.bold || !p.large(l) || last.bottom-l.bottom > 1.6*l.height() || last.bottom < l.bottom || len(l.cells) > 1 {
			break
		}
		if depth, _ := sectionNumber(l.text()); depth > 0 {
			break
		}
		n++
	}
	var s string
	for i := range n {
		s = joinText(s, lines[i].text())
	}
	p.b.heading(level, strings.ReplaceAll(s, string(parted), ""))
	p.term, p.listed = -1, p.listed[:0]
	if p.b.page.Title == "" && lines[0].number == 1 && p.large(&lines[0]) && letters(s) > 3 {
		p.b.page.Title = s
	}
	return n
}

// code writes lines in a font of one width, and returns how many they are.
func (p *pdfLayout) code(lines []pdfLine) int {
	n := 0
	for n < len(lines) && lines[n].mono && (n == 0 || lines[n-1].bottom > lines[n].bottom && lines[n-1].bottom-lines[n].bottom < 2.2*p.leading) {
		n++
	}
	if n == 0 || n == 1 && (lines[0].left < p.left+0.5*p.body || len(lines) > 1 && lines[1].left > lines[0].left+1.5*p.body) {
		return 0
	}
	if p.monoTerms(lines, n) {
		return n
	}
	p.flush()
	left, width := lines[0].left, 0.0
	for i := range n {
		left = min(left, lines[i].left)
		if c := &lines[i].cells[0]; len(c.text) > 3 {
			width = max(width, (c.right-c.left)/float64(len([]rune(c.text))))
		}
	}
	var s strings.Builder
	for i := range n {
		if i > 0 {
			s.WriteByte('\n')
		}
		if width > 0 {
			s.WriteString(strings.Repeat(" ", min(int((lines[i].left-left)/width+0.5), 40)))
		}
		s.WriteString(strings.ReplaceAll(lines[i].text(), string(parted), "-"))
	}
	p.b.code(s.String())
	return n
}

// monoTerms writes the first lines as terms if what is below them stands
// further right: the name of a command, and how it is called.
func (p *pdfLayout) monoTerms(lines []pdfLine, n int) bool {
	if n > 4 || n >= len(lines) || lines[n].left < lines[0].left+1.5*p.body || lines[n-1].bottom-lines[n].bottom > 1.5*p.leading || lines[n-1].bottom < lines[n].bottom {
		return false
	}
	for i := 1; i < n; i++ {
		if lines[i].left < lines[0].left {
			return false
		}
	}
	p.flush()
	for i := range n {
		s := strings.ReplaceAll(lines[i].text(), string(parted), "-")
		p.b.add(Term, 1, s, escapeMarkdown(s))
	}
	p.term, p.def, p.listed = lines[0].left, lines[n].left, p.listed[:0]
	return true
}

// joinText joins the lines of a paragraph; a word that was parted is whole
// again.
func joinText(s, next string) string {
	if s == "" {
		return next
	}
	last, first := lastRune(s), firstRune(next)
	switch {
	case last == parted && unicode.IsLower(first):
		return strings.TrimSuffix(s, string(parted)) + next
	case last == parted:
		return strings.TrimSuffix(s, string(parted)) + "-" + next
	case last == '-' && unicode.IsLower(first) && len(s) > 1 && unicode.IsLetter(lastRune(s[:len(s)-1])):
		return s[:len(s)-1] + next
	case last >= 0x2e80 && first >= 0x2e80:
		return s + next
	}
	return s + " " + next
}
