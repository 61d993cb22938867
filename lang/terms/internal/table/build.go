package table

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"dossier/lang"
)

// A Builder makes a table.
type Builder struct {
	about      About
	keys       Keyer
	entries    map[string]map[string]float64 // other term, English term: score
	written    map[string]string             // how a Chinese term is written traditionally
	common     map[string]int
	characters []string
}

// maxMeanings is how many translations of a term are kept.
const maxMeanings = 12

// NewBuilder makes a table of what about says.
func NewBuilder(about About) *Builder {
	return &Builder{about: about, entries: map[string]map[string]float64{}, written: map[string]string{}, common: map[string]int{}}
}

// Describe changes what is said of the table.
func (b *Builder) Describe(change func(*About)) { change(&b.about) }

// Len returns how many terms of the other language there are.
func (b *Builder) Len() int { return len(b.entries) }

// Add says that a term may mean an English one; the scores of one pair add up.
func (b *Builder) Add(other, english string, score float64) {
	english = plainEnglish(english)
	if b.about.Lang != lang.Chinese {
		other = Fold(other)
	}
	if english == "" || other == "" || score <= 0 || !b.inScript(other) || strings.ContainsAny(english, "\n\t") {
		return
	}
	m := b.entries[other]
	if m == nil {
		m = map[string]float64{}
		b.entries[other] = m
	}
	// The same words in capitals are the same term.
	for known := range m {
		if known != english && strings.EqualFold(known, english) {
			if known < english { // capitals sort first: a common word is no name
				m[english] = m[known]
				delete(m, known)
			} else {
				english = known
			}
			break
		}
	}
	m[english] += score
}

// Meanings returns the English terms of a term with their scores.
func (b *Builder) Meanings(other string) map[string]float64 { return b.entries[other] }

// Common says how often a word is used, as a share of all words.
func (b *Builder) Common(word string, share float64) {
	if b.about.Lang != lang.Chinese {
		word = Fold(word)
	}
	const rarest = 9 // of the logarithms that there are
	b.common[word] = max(b.common[word], min(MostCommon, max(0, int(math.Round(math.Log10(share)+rarest-0.5)))))
}

// commonness is how common a term is. Lists of words have no phrases: those
// are taken to be a little rarer than their rarest word.
func (b *Builder) commonness(term string) int {
	words := strings.FieldsFunc(term, func(r rune) bool { return r == ' ' || r == '-' })
	if len(words) < 2 {
		return b.common[term]
	}
	least := MostCommon
	for _, w := range words {
		least = min(least, b.common[w])
	}
	return max(least-1, b.common[term])
}

// Written says how a Chinese term is written traditionally.
func (b *Builder) Written(simplified, traditional string) { b.written[simplified] = traditional }

// Character says how a simplified character is written traditionally and
// pronounced; of several the first counts as the usual one.
func (b *Builder) Character(simplified, traditional rune, pinyin string) {
	b.characters = append(b.characters, string(simplified)+" "+string(traditional)+" "+pinyin+"\n")
}

// inScript reports whether a term is written as its language is.
func (b *Builder) inScript(term string) bool {
	script, some := unicode.Cyrillic, false
	if b.about.Lang == lang.Chinese {
		script = unicode.Han
	}
	for _, r := range term {
		switch {
		case unicode.Is(script, r):
			some = true
		case unicode.IsDigit(r), r == ' ', r == '-', r == '\'', r == '·':
		case unicode.Is(unicode.Latin, r) && b.about.Lang == lang.Chinese: // 卡拉OK
		default:
			return false
		}
	}
	return some
}

// plainEnglish takes off the words that dictionaries put before a term.
func plainEnglish(s string) string {
	for _, before := range []string{"to be ", "to ", "a ", "an ", "the "} {
		if rest, ok := strings.CutPrefix(s, before); ok && rest != "" {
			s = rest
			break
		}
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Latin, r) || unicode.IsDigit(r) }) ||
		strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) || unicode.Is(unicode.Han, r) }) {
		return ""
	}
	return s
}

// Bytes returns the file.
func (b *Builder) Bytes() ([]byte, error) {
	others := b.sorted(b.entries, b.about.Lang)
	used := map[string]bool{}
	best := make([][]Meaning, len(others))
	for i, other := range others {
		best[i] = strongest(b.entries[other])
		for _, m := range best[i] {
			used[m.Text] = true
		}
	}
	english := make([]string, 0, len(used))
	for e := range used {
		english = append(english, e)
	}
	b.sortByKey(english, lang.English)
	number := make(map[string]int, len(english))
	for i, e := range english {
		number[e] = i
	}
	var characters Table
	characters.readCharacters(strings.Join(b.characters, ""))
	var meanings []byte
	var terms, lines strings.Builder
	for i, other := range others {
		lines.WriteString(other)
		if w := b.written[other]; w != "" && w != mapCharacters(other, characters.traditional) {
			lines.WriteString("\t" + w)
		}
		lines.WriteByte('\n')
		meanings = binary.AppendUvarint(meanings, uint64(len(best[i])<<weightBits|b.commonness(other)))
		for _, m := range best[i] {
			code := uint64(math.Ceil(m.Weight*(1<<weightBits))) - 1
			meanings = binary.AppendUvarint(meanings, uint64(number[m.Text])<<weightBits|code)
		}
	}
	for _, e := range english {
		terms.WriteString(e + "\n")
	}
	var out bytes.Buffer
	about := b.about
	about.Terms = len(others)
	head, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	out.WriteString(Magic)
	out.Write(append(head, '\n'))
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, part := range []string{terms.String(), lines.String(), string(meanings), strings.Join(b.characters, "")} {
		if _, err := w.Write(binary.AppendUvarint(nil, uint64(len(part)))); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(part)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// strongest returns the best translations, the best first and with weight 1.
// The root keeps those in play that are rarer but right.
func strongest(scores map[string]float64) []Meaning {
	out := make([]Meaning, 0, len(scores))
	most := 0.0
	for e, s := range scores {
		out = append(out, Meaning{e, s})
		most = max(most, s)
	}
	for i := range out {
		out[i].Weight = math.Sqrt(out[i].Weight / most)
	}
	slices.SortFunc(out, func(a, b Meaning) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), maxMeanings)]
}

func (b *Builder) sorted(m map[string]map[string]float64, code lang.Code) []string {
	out := make([]string, 0, len(m))
	for s := range m {
		out = append(out, s)
	}
	b.sortByKey(out, code)
	return out
}

func (b *Builder) sortByKey(terms []string, code lang.Code) {
	keys := make(map[string]string, len(terms))
	for _, t := range terms {
		keys[t] = b.keys.Key(t, code)
	}
	slices.SortFunc(terms, func(x, y string) int {
		return cmp.Or(strings.Compare(keys[x], keys[y]), strings.Compare(x, y))
	})
}
