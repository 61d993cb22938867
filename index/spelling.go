package index

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// How far a word may be from what was meant, and what a guess is worth.
const (
	shortestMisspelt = 4 // letters that a word has at least
	longWord         = 8 // letters from which two mistakes are possible
	mostSpellings    = 3 // that are tried
	oneMistake       = 0.8
	twoMistakes      = 0.6
)

// Respell returns words of the collection that may be meant by those of a text
// which no document has. They begin alike, and differ in a letter that is
// missing, another one, one too many or two that changed places; long ones in
// two such mistakes.
func (x *Index) Respell(text string) ([]Group, error) {
	var out []Group
	for _, w := range x.parse(text) {
		if w.ask || w.kind != latin && w.kind != cyrillic {
			continue
		}
		known := false
		for _, name := range w.names {
			for _, s := range x.segments {
				l, err := s.find(name)
				if err != nil {
					return nil, err
				}
				known = known || l.docs > 0
			}
		}
		if known {
			continue
		}
		if found := x.spellings(w.names[0]); len(found) > 0 {
			out = append(out, Group{Start: w.span.Start, End: w.span.End, Alternatives: found})
		}
	}
	return out, nil
}

// spellings returns the terms that are nearest to a name, the commonest first.
func (x *Index) spellings(name string) []Alternative {
	letters := []rune(name)
	if len(letters) < shortestMisspelt {
		return nil
	}
	most := 1
	if len(letters) >= longWord {
		most = 2
	}
	type guess struct {
		name     string
		mistakes int
		docs     int
	}
	found := map[string]*guess{}
	var term []byte
	var other []rune
	for _, s := range x.segments {
		for i := uint32(0); i*termsPerBlock < s.terms; i++ {
			c, ok := s.block(i)
			for ok = ok && c.next(); ok; ok = c.next() {
				term = append(term[:min(c.shared, len(term))], c.suffix...)
				if r, _ := utf8.DecodeRune(term); r != letters[0] || len(term) > len(name)+4*most || 2*len(term) < len(name) {
					continue
				}
				other = other[:0]
				for _, r := range string(term) {
					other = append(other, r)
				}
				n := mistakes(letters, other, most)
				if n > most {
					continue
				}
				g := found[string(term)]
				if g == nil {
					g = &guess{name: string(term), mistakes: n}
					found[g.name] = g
				}
				g.docs += int(c.docs)
			}
		}
	}
	var list []*guess
	for _, g := range found {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *guess) int {
		return cmp.Or(cmp.Compare(a.mistakes, b.mistakes), cmp.Compare(b.docs, a.docs), cmp.Compare(a.name, b.name))
	})
	var out []Alternative
	for _, g := range list[:min(len(list), mostSpellings)] {
		if g.mistakes > list[0].mistakes {
			break
		}
		weight := oneMistake
		if g.mistakes > 1 {
			weight = twoMistakes
		}
		out = append(out, Alternative{Text: g.name, Weight: weight})
	}
	return out
}

// mistakes counts what makes b of a: letters that are missing, too many, other
// ones, and neighbours that changed places. It stops counting above most.
func mistakes(a, b []rune, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	const longest = maxSurface + 1
	var rows [3][longest + 1]int
	if len(b) > longest {
		return most + 1
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, twoAbove := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
	}
	return rows[len(a)%3][len(b)]
}
