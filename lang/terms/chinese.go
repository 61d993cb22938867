package terms

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
	"dossier/lang/terms/internal/table"
)

const (
	maxCharacters = 12  // of a Chinese term
	single        = 0.6 // what a single character's meanings weigh: most are parts of words
	sound         = 0.4 // a name as it is pronounced
)

// translateChinese cuts Chinese into the words of the tables.
func (d *Dictionary) translateChinese(k *table.Keyer, text string, to lang.Code) []Group {
	var out []Group
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.Is(unicode.Han, r) {
			i += size
			continue
		}
		end := i
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !unicode.Is(unicode.Han, r) {
				break
			}
			end += size
		}
		out = append(out, d.translateRun(k, text, i, end, to)...)
		i = end
	}
	return out
}

func (d *Dictionary) translateRun(k *table.Keyer, text string, from, to int, code lang.Code) []Group {
	l := d.chinese()
	cuts := l.segment(k, text[from:to])
	var out []Group
	for i := 0; i+1 < len(cuts); i++ {
		g := Group{Start: from + cuts[i], End: from + cuts[i+1]}
		g.Term = text[g.Start:g.End]
		found := d.lookup(k, g.Term, lang.Chinese, code)
		if utf8.RuneCountInString(g.Term) == 1 {
			for j := range found {
				found[j].Weight *= single
			}
		}
		g.Translations = found
		if len(found) > 0 {
			out = append(out, g)
		}
	}
	if code != lang.English {
		return out
	}
	// Characters that stand alone in a row may be a name.
	for i := 0; i+1 < len(cuts); {
		j := i
		for j+1 < len(cuts) && utf8.RuneCountInString(text[from+cuts[j]:from+cuts[j+1]]) == 1 {
			j++
		}
		if n := j - i; n == 2 || n == 3 {
			out = l.addSound(out, text, from+cuts[i], from+cuts[j])
		}
		i = max(j, i+1)
	}
	return out
}

// addSound gives the first character of a name, as groups have it, how the
// whole is pronounced.
func (l *lexicon) addSound(groups []Group, text string, start, end int) []Group {
	t := l.own()
	var b strings.Builder
	for _, r := range t.Simplified(text[start:end]) {
		s := t.Pinyin(r)
		if s == "" {
			return groups
		}
		b.WriteString(s)
	}
	for i := range groups {
		if groups[i].Start == start {
			groups[i].Translations = append(groups[i].Translations, Translation{b.String(), sound})
			break
		}
	}
	return groups
}

// segment returns where the words of a run of characters begin, and its end. Of
// all ways to cut it the likeliest is taken, as far as how common words are
// tells.
func (l *lexicon) segment(k *table.Keyer, run string) []int {
	var at []int // where characters begin
	for i := range run {
		at = append(at, i)
	}
	at = append(at, len(run))
	n := len(at) - 1
	cost, back := make([]int, n+1), make([]int, n+1)
	for i := 1; i <= n; i++ {
		cost[i] = math.MaxInt
		for j := max(0, i-maxCharacters); j < i; j++ { // of equals the longest word
			if c := l.cost(k, run[at[j]:at[i]], i-j); c > 0 && cost[j]+c < cost[i] {
				cost[i], back[i] = cost[j]+c, j
			}
		}
	}
	var cuts []int
	for i := n; i > 0; i = back[i] {
		cuts = append(cuts, at[i])
	}
	cuts = append(cuts, 0)
	slices.Reverse(cuts)
	return cuts
}

// cost is how unlikely a word of so many characters is, 0 for no word at all.
// Words that are in a table without being known to be common are still words.
func (l *lexicon) cost(k *table.Keyer, term string, characters int) int {
	const usual = 3
	for _, t := range l.tables {
		common, has := t.HasOther(k, term)
		if !has {
			common, has = t.HasOther(k, l.own().Simplified(term))
		}
		if has {
			return table.MostCommon + 2 - max(common, usual)
		}
	}
	if characters == 1 {
		return table.MostCommon + 3
	}
	return 0
}
