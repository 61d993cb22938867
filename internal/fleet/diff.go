package fleet

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many lines that are the same surround a change.
const diffContext = 3

// edit is a line of a comparison: of both texts, of a only, or of b only.
type edit struct {
	sign byte // ' ', '-' or '+'
	line string
}

// unified compares two texts line by line in the form of diff -u. It is empty
// when they are the same.
func unified(fromTitle, toTitle, from, to string) string {
	if from == to {
		return ""
	}
	edits := compare(strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n"))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", fromTitle, toTitle)
	for start := 0; start < len(edits); {
		first := start
		for first < len(edits) && edits[first].sign == ' ' {
			first++
		}
		if first == len(edits) {
			break
		}
		// The hunk goes on until more lines are the same than two contexts hold.
		last, same := first, 0
		for i := first; i < len(edits) && same <= 2*diffContext; i++ {
			if same++; edits[i].sign != ' ' {
				last, same = i, 0
			}
		}
		begin, end := max(start, first-diffContext), min(len(edits), last+1+diffContext)
		hunk(&b, edits, begin, end)
		start = end
	}
	return b.String()
}

// hunk writes edits[begin:end] with their place in both texts.
func hunk(b *strings.Builder, edits []edit, begin, end int) {
	lines := func(part []edit, without byte) (n int) {
		for _, e := range part {
			if e.sign != without {
				n++
			}
		}
		return n
	}
	span := func(without byte) string {
		at, n := lines(edits[:begin], without), lines(edits[begin:end], without)
		if n > 0 {
			at++
		}
		return fmt.Sprintf("%d,%d", at, n)
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span('+'), span('-'))
	for _, e := range edits[begin:end] {
		b.WriteByte(e.sign)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// compare returns edits that make b of a. They are the fewest where the parts
// that differ are of ordinary size; where they are huge, all of a is dropped
// and all of b added there.
func compare(a, b []string) []edit {
	// A text that ends with a newline has an empty piece behind it.
	trim := func(lines []string) []string {
		if n := len(lines); n > 0 && lines[n-1] == "" {
			return lines[:n-1]
		}
		return lines
	}
	a, b = trim(a), trim(b)
	var edits []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		edits = append(edits, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	end := a[len(a)-tail:]
	edits = append(edits, middle(a[:len(a)-tail], b[:len(b)-tail])...)
	for _, line := range end {
		edits = append(edits, edit{' ', line})
	}
	return edits
}

// maxCells bounds the table of middle.
const maxCells = 4 << 20

// middle compares by the longest common subsequence.
func middle(a, b []string) []edit {
	var edits []edit
	i, j := 0, 0
	if width := len(b) + 1; (len(a)+1)*width <= maxCells {
		// common[i*width+j] is how many lines a[i:] and b[j:] share in order.
		common := make([]int32, (len(a)+1)*width)
		for i, x := range slices.Backward(a) {
			for j, y := range slices.Backward(b) {
				if x == y {
					common[i*width+j] = 1 + common[(i+1)*width+j+1]
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				edits = append(edits, edit{' ', a[i]})
				i, j = i+1, j+1
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				edits = append(edits, edit{'-', a[i]})
				i++
			default:
				edits = append(edits, edit{'+', b[j]})
				j++
			}
		}
	}
	for _, line := range a[i:] {
		edits = append(edits, edit{'-', line})
	}
	for _, line := range b[j:] {
		edits = append(edits, edit{'+', line})
	}
	return edits
}
