package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a configuration.
type Error struct {
	// File is the file as it was named; empty for the environment and flags.
	File string
	// Line and Column count from 1; 0 is unknown. The column is in characters.
	Line, Column int
	// Where names the variable or flag when there is no file: "env CHAT_MODEL".
	Where string
	// Key is the path of the setting as it was written.
	Key string
	// Problem says what is wrong, and what was expected.
	Problem string
	// Nearest is the known key that was probably meant; often empty.
	Nearest string
}

func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File != "" && e.Column > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	case e.File != "" && e.Line > 0:
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	case e.File != "":
		b.WriteString(e.File + ": ")
	case e.Where != "":
		b.WriteString(e.Where + ": ")
	}
	if e.Key != "" {
		b.WriteString(shorten(printable(e.Key), 80) + ": ")
	}
	b.WriteString(e.Problem)
	if e.Nearest != "" {
		b.WriteString("; did you mean " + e.Nearest + "?")
	}
	return b.String()
}

// Errors is everything that was found wrong, in the order of the chain.
type Errors []*Error

func (es Errors) Error() string {
	var b strings.Builder
	for i, e := range es {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap lets errors.As find the single errors.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// maxErrors of one load are reported; the rest is counted.
const maxErrors = 20

type problems struct {
	list    Errors
	dropped int
}

// full means that further problems are only counted.
func (p *problems) full() bool { return len(p.list) >= maxErrors }

// add notes a problem once: an agent's definition is read twice, as a free
// value and for its sections.
func (p *problems) add(e *Error) {
	for _, have := range p.list {
		if e.Line > 0 && have.Line == e.Line && have.Column == e.Column && have.File == e.File && have.Problem == e.Problem {
			return
		}
	}
	if p.full() {
		p.dropped++
		return
	}
	p.list = append(p.list, e)
}

// sort puts the errors of one file, from index i on, in the order of its lines.
func (p *problems) sort(i int) {
	slices.SortStableFunc(p.list[i:], func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	if p.dropped > 0 {
		last := *p.list[len(p.list)-1]
		last.Key, last.Nearest = "", ""
		last.Problem = fmt.Sprintf("%d more errors", p.dropped+1)
		p.list[len(p.list)-1] = &last
	}
	return p.list
}

// nearest returns the candidate with the smallest edit distance to key, or ""
// when none is near enough to be what was meant. Ties go to the first.
func nearest(key string, candidates []string) string {
	limit := max(1, min(3, len(key)/3))
	best, bestDist := "", limit+1
	for _, c := range candidates {
		if d := distance(key, c, bestDist); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours
// between a and b; from limit on the result is only known to be ≥ limit.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
