package main

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang/terms/internal/dictfile"
	"dossier/lang/terms/internal/table"
)

// Scores of what a source says. A translation that stands later in a list, or
// in a later sense, is a less usual one.
const (
	laterSense = 0.15
	laterTerm  = 0.15
	likeScore  = 0.5 // of what another word means that this is a form of
)

func scoreAt(sense, place int) float64 {
	return 1 / ((1 + laterSense*float64(sense)) * (1 + laterTerm*float64(place)))
}

// addWiktionary inverts a dictionary from English. A term that several senses
// of an English word have gets a score for each, and the fewer others a sense
// has, the more it says.
func addWiktionary(b *table.Builder, r io.Reader, chinese bool) error {
	var like []dictfile.Entry
	others := map[string][]string{} // by English headword
	add := func(e dictfile.Entry, share float64) {
		for i, sense := range e.Senses {
			for j, other := range sense {
				if chinese == !strings.ContainsFunc(other, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
					continue
				}
				b.Add(other, e.Head, share*scoreAt(i, j))
				others[e.Head] = append(others[e.Head], other)
			}
		}
	}
	err := dictfile.ReadDSL(r, func(e dictfile.Entry) {
		if len(e.Like) > 0 {
			like = append(like, e)
		}
		add(e, 1)
	})
	if err != nil {
		return err
	}
	for _, e := range like {
		for _, head := range e.Like {
			for j, other := range others[head] {
				b.Add(other, e.Head, likeScore*scoreAt(0, j))
			}
		}
	}
	return nil
}

// addOwn adds translations that were chosen by hand: they stand beside the
// best that dictionaries have.
func addOwn(b *table.Builder, e dictfile.Entry) {
	most := 1.0
	for _, score := range b.Meanings(table.Fold(e.Head)) {
		most = max(most, score)
	}
	for i, sense := range e.Senses {
		for j, term := range sense {
			b.Add(e.Head, term, most*scoreAt(i, j))
		}
	}
}

// addOpenRussian reads a table of OpenRussian: columns with tabs between them,
// of which "bare" is the word and "translations_en" what it means, senses with
// semicolons and terms with commas between them.
func addOpenRussian(b *table.Builder, r io.Reader) error {
	rows := csv.NewReader(r)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = '\t', true, -1
	names, err := rows.Read()
	if err != nil {
		return err
	}
	word, meaning := -1, -1
	for i, n := range names {
		switch n {
		case "bare":
			word = i
		case "translations_en":
			meaning = i
		}
	}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if word < 0 || meaning < 0 || len(row) <= max(word, meaning) {
			continue
		}
		for i, sense := range strings.Split(row[meaning], ";") {
			for j, term := range strings.Split(sense, ",") {
				if term = dictfile.Tidy(term); term != "" && len(strings.Fields(term)) <= 5 {
					b.Add(dictfile.Tidy(row[word]), term, scoreAt(i, j))
				}
			}
		}
	}
}

// addCEDICT reads CC-CEDICT, and from its headwords how characters are written
// and pronounced.
func addCEDICT(b *table.Builder, r io.Reader) error {
	var like []dictfile.Character
	pairs := map[[2]rune]int{} // simplified, traditional: how often
	sounds := map[rune]string{}
	var order [][2]rune
	err := dictfile.ReadCEDICT(r, func(c dictfile.Character) {
		if len(c.Like) > 0 {
			like = append(like, c)
		}
		for i, sense := range c.Senses {
			for j, term := range sense {
				b.Add(c.Head, term, scoreAt(i, j))
			}
		}
		b.Written(c.Head, c.Traditional)
		simplified, traditional := []rune(c.Head), []rune(c.Traditional)
		if len(simplified) != len(traditional) {
			return
		}
		for i, s := range simplified {
			if p := [2]rune{s, traditional[i]}; unicode.Is(unicode.Han, s) {
				if pairs[p] == 0 {
					order = append(order, p)
				}
				pairs[p]++
			}
		}
		if sound := syllable(c.Pinyin); len(simplified) == 1 && sound != "" && (sounds[simplified[0]] == "" || len(c.Senses) > 4) {
			sounds[simplified[0]] = sound
		}
	})
	if err != nil {
		return err
	}
	for _, c := range like {
		for _, head := range c.Like {
			for term, score := range b.Meanings(head) {
				if head != c.Head {
					b.Add(c.Head, term, likeScore*score)
				}
			}
		}
	}
	usual := map[rune][2]rune{}
	for _, p := range order {
		if pairs[p] > pairs[usual[p[0]]] {
			usual[p[0]] = p
		}
	}
	for _, p := range order {
		if usual[p[0]] == p {
			b.Character(p[0], p[1], sounds[p[0]])
		}
	}
	for _, p := range order {
		if usual[p[0]] != p && p[0] != p[1] {
			b.Character(p[0], p[1], "")
		}
	}
	return nil
}

// syllable is a syllable of pinyin without its tone, or "".
func syllable(pinyin string) string {
	s := strings.ToLower(strings.TrimRight(pinyin, "12345"))
	s = strings.ReplaceAll(s, "u:", "v")
	for _, r := range s {
		if r >= utf8.RuneSelf || r < 'a' || r > 'z' {
			return ""
		}
	}
	return s
}
