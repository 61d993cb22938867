// Package table keeps what words of one language are in another, packed for a
// program to carry along: a file of a few megabytes at most is unpacked in one
// go, and terms are found in it by binary search, without a map of them.
//
// The file is a line that names the format, a line of JSON that says what is
// in it ([About]), and the rest compressed: the English terms in the order of
// their keys, the terms of the other language in the order of theirs, for each
// of the latter its English ones with weights, and for Chinese how characters
// are written traditionally and pronounced.
package table

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
	"sync"

	"dossier/lang"
)

// Magic is the first line of a file.
const Magic = "dossier terms 1\n"

// maxUnpacked bounds what a file may unpack to.
const maxUnpacked = 128 << 20

// About says what is in a table.
type About struct {
	Name    string    `json:"name"`
	Lang    lang.Code `json:"lang"` // the language beside English
	Terms   int       `json:"terms"`
	Format  string    `json:"format,omitempty"`  // of the file that it was made from
	Licence string    `json:"licence,omitempty"` // of the data
	Source  string    `json:"source,omitempty"`
	Title   string    `json:"title,omitempty"` // as the dictionary calls itself
	Stamp   string    `json:"stamp,omitempty"` // of the file that it was made from
}

// Meaning is a translation. Its weight is in (0, 1], the best one's is 1.
type Meaning struct {
	Text   string
	Weight float64
}

// Found is a term of a table with its translations, the best first.
type Found struct {
	Term     string
	Common   int // how common a term of the other language is, up to MostCommon
	Meanings []Meaning
}

// MostCommon is how common the commonest words are; each step less is a tenth
// as often, and 0 is not known.
const MostCommon = 7

// Table is an unpacked file. It is safe for concurrent use.
type Table struct {
	About
	english, other terms
	meanings       []byte   // by other term: how many<<weightBits|commonness, then number<<weightBits|weight of each
	at             []uint32 // where those of a term begin
	traditional    map[rune]rune
	simplified     map[rune]rune
	pinyin         map[rune]string

	invert  sync.Once
	inverse []uint32 // other term<<weightBits|weight, by English term
	begins  []uint32
}

const weightBits = 3

func weightOf(code uint64) float64 { return float64(code+1) / (1 << weightBits) }

// terms are lines in the order of their keys.
type terms struct {
	code lang.Code
	text string
	at   []uint32 // where lines begin, and one more
}

func (t *terms) len() int { return len(t.at) - 1 }

func (t *terms) line(i int) string { return t.text[t.at[i] : t.at[i+1]-1] }

// term is the line without what is added to it after a tab.
func (t *terms) term(i int) string {
	s, _, _ := strings.Cut(t.line(i), "\t")
	return s
}

// find returns the first term whose key is not less than key.
func (t *terms) find(k *Keyer, key string) int {
	return sort.Search(t.len(), func(i int) bool { return k.Key(t.term(i), t.code) >= key })
}

// Describe reads what is in a file without unpacking it.
func Describe(file []byte) (About, error) {
	about, _, err := describe(file)
	return about, err
}

func describe(file []byte) (About, []byte, error) {
	rest, ok := bytes.CutPrefix(file, []byte(Magic))
	if !ok {
		return About{}, nil, errors.New("not a table of terms")
	}
	line, packed, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return About{}, nil, errors.New("a table of terms that is cut off")
	}
	var about About
	if err := json.Unmarshal(line, &about); err != nil {
		return About{}, nil, fmt.Errorf("a table of terms that is damaged: %w", err)
	}
	if about.Lang != lang.Russian && about.Lang != lang.Chinese {
		return About{}, nil, fmt.Errorf("a table of %q, which is not known", about.Lang)
	}
	return about, packed, nil
}

// Open unpacks a file.
func Open(file []byte) (*Table, error) {
	about, packed, err := describe(file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("a table of terms that is damaged: %w", err)
	}
	parts := [4][]byte{}
	for i := range parts {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, errors.New("a table of terms that is cut off")
		}
		parts[i], data = data[size:size+int(n)], data[size+int(n):]
	}
	t := &Table{About: about, meanings: parts[2]}
	t.english = cutLines(lang.English, parts[0])
	t.other = cutLines(about.Lang, parts[1])
	if err := t.checkMeanings(); err != nil {
		return nil, err
	}
	t.readCharacters(string(parts[3]))
	return t, nil
}

func cutLines(code lang.Code, text []byte) terms {
	t := terms{code: code, text: string(text), at: make([]uint32, 1, bytes.Count(text, []byte("\n"))+1)}
	for i, c := range text {
		if c == '\n' {
			t.at = append(t.at, uint32(i+1))
		}
	}
	return t
}

// checkMeanings finds where the meanings of each term begin, and that all of
// them exist: what is read later needs no checks.
func (t *Table) checkMeanings() error {
	t.at = make([]uint32, 0, t.other.len()+1)
	pos := 0
	for range t.other.len() {
		t.at = append(t.at, uint32(pos))
		n, size := binary.Uvarint(t.meanings[pos:])
		if size <= 0 || n>>weightBits > uint64(len(t.meanings)) {
			return errors.New("a table of terms that is damaged")
		}
		pos += size
		for range n >> weightBits {
			v, size := binary.Uvarint(t.meanings[pos:])
			if size <= 0 || v>>weightBits >= uint64(t.english.len()) {
				return errors.New("a table of terms that is damaged")
			}
			pos += size
		}
	}
	t.at = append(t.at, uint32(pos))
	return nil
}

// readCharacters reads lines of a simplified character, its traditional one
// and how it is pronounced, with spaces between them.
func (t *Table) readCharacters(text string) {
	if text == "" {
		return
	}
	t.traditional, t.simplified, t.pinyin = map[rune]rune{}, map[rune]rune{}, map[rune]string{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 || f[0] == "" || f[1] == "" {
			continue
		}
		s, c := []rune(f[0])[0], []rune(f[1])[0]
		if f[2] != "" {
			t.pinyin[s] = f[2]
		}
		if s != c {
			if _, ok := t.traditional[s]; !ok {
				t.traditional[s] = c
			}
			t.simplified[c] = s
		}
	}
}

// each calls yield with the number of an English term and the weight of it for
// each meaning of term i.
func (t *Table) each(i int, yield func(english int, weight uint64)) {
	list := t.meanings[t.at[i]:t.at[i+1]]
	n, size := binary.Uvarint(list)
	for range n >> weightBits {
		list = list[size:]
		var v uint64
		v, size = binary.Uvarint(list)
		yield(int(v>>weightBits), v&(1<<weightBits-1))
	}
}

// FromOther returns the terms of the other language that have this key.
func (t *Table) FromOther(k *Keyer, key string) []Found {
	var out []Found
	for i := t.other.find(k, key); i < t.other.len(); i++ {
		term := t.other.term(i)
		if k.Key(term, t.Lang) != key {
			break
		}
		out = append(out, t.otherAt(i))
	}
	return out
}

func (t *Table) otherAt(i int) Found {
	f := Found{Term: t.other.term(i), Common: t.common(i)}
	t.each(i, func(english int, weight uint64) {
		f.Meanings = append(f.Meanings, Meaning{t.english.term(english), weightOf(weight)})
	})
	return f
}

// common is how common term i is.
func (t *Table) common(i int) int {
	n, _ := binary.Uvarint(t.meanings[t.at[i]:])
	return int(n & (1<<weightBits - 1))
}

// HasOther reports whether the other language has a term with this key, and
// how common the first of them is.
func (t *Table) HasOther(k *Keyer, key string) (common int, has bool) {
	i := t.other.find(k, key)
	if i == t.other.len() || k.Key(t.other.term(i), t.Lang) != key {
		return 0, false
	}
	return t.common(i), true
}

// OtherWith returns up to limit terms whose key begins with prefix.
func (t *Table) OtherWith(k *Keyer, prefix string, limit int) []Found {
	var out []Found
	for i := t.other.find(k, prefix); i < t.other.len() && len(out) < limit; i++ {
		if !strings.HasPrefix(k.Key(t.other.term(i), t.Lang), prefix) {
			break
		}
		out = append(out, t.otherAt(i))
	}
	return out
}

// FromEnglish returns the English terms that have this key with what they are
// in the other language. Common words come before rare ones.
func (t *Table) FromEnglish(k *Keyer, key string) []Found {
	t.invert.Do(t.makeInverse)
	var out []Found
	for i := t.english.find(k, key); i < t.english.len(); i++ {
		term := t.english.term(i)
		if k.Key(term, lang.English) != key {
			break
		}
		f := Found{Term: term}
		for _, v := range t.inverse[t.begins[i]:t.begins[i+1]] {
			other := int(v >> weightBits)
			weight := weightOf(uint64(v&(1<<weightBits-1))) * math.Sqrt(float64(1+t.common(other))/(1+MostCommon))
			f.Meanings = append(f.Meanings, Meaning{t.other.term(other), weight})
		}
		sort.SliceStable(f.Meanings, func(a, b int) bool { return f.Meanings[a].Weight > f.Meanings[b].Weight })
		f.Meanings = f.Meanings[:min(len(f.Meanings), maxMeanings)]
		if len(f.Meanings) == 0 {
			continue // no builder writes a term that nothing means
		}
		most := f.Meanings[0].Weight
		for i := range f.Meanings {
			f.Meanings[i].Weight /= most
		}
		out = append(out, f)
	}
	return out
}

func (t *Table) makeInverse() {
	t.begins = make([]uint32, t.english.len()+1)
	for i := range t.other.len() {
		t.each(i, func(english int, _ uint64) { t.begins[english+1]++ })
	}
	for i := range t.english.len() {
		t.begins[i+1] += t.begins[i]
	}
	t.inverse = make([]uint32, t.begins[t.english.len()])
	next := append([]uint32(nil), t.begins...)
	for i := range t.other.len() {
		t.each(i, func(english int, weight uint64) {
			t.inverse[next[english]] = uint32(i)<<weightBits | uint32(weight)
			next[english]++
		})
	}
}

// Simplified writes a text with simplified characters. It has as many
// characters as before, and as many bytes.
func (t *Table) Simplified(text string) string { return mapCharacters(text, t.simplified) }

// Traditional writes a term with traditional characters.
func (t *Table) Traditional(k *Keyer, term string) string {
	i := t.other.find(k, term)
	if i < t.other.len() {
		if head, written, ok := strings.Cut(t.other.line(i), "\t"); ok && head == term {
			return written
		}
	}
	return mapCharacters(term, t.traditional)
}

// Pinyin returns how a character is pronounced, without its tone, or "".
func (t *Table) Pinyin(r rune) string { return t.pinyin[r] }

func mapCharacters(text string, to map[rune]rune) string {
	if len(to) == 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if c, ok := to[r]; ok {
			return c
		}
		return r
	}, text)
}

// HasEnglish reports whether English has a term with this key.
func (t *Table) HasEnglish(k *Keyer, key string) bool {
	i := t.english.find(k, key)
	return i < t.english.len() && k.Key(t.english.term(i), lang.English) == key
}
