package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
	"dossier/lang/terms/internal/table"
)

// How sure it is what an unknown word is.
const (
	spelling   = 0.5 // a name written in the other script
	derivation = 0.7 // a word whose stem differs a little
)

// maxPhrase is how many words a phrase has for the most.
const maxPhrase = 4

// Translate returns the words and phrases of a text that have translations, in
// the order of the text and without overlap. Words of another script than the
// language's are left alone: they are what they are in any language.
func (d *Dictionary) Translate(text string, from, to lang.Code) []Group {
	if !Pair(from, to) {
		return nil
	}
	k := d.pool.Get().(*table.Keyer)
	defer d.pool.Put(k)
	if from == lang.Chinese {
		return d.translateChinese(k, text, to)
	}
	script := unicode.Cyrillic
	if from == lang.English {
		script = unicode.Latin
	}
	words := cut(text, script)
	var out []Group
	for i := 0; i < len(words); {
		n := d.phrase(k, text, words[i:], from, to)
		g := Group{Start: words[i].start, End: words[i+n-1].end}
		g.Term = text[g.Start:g.End]
		if n > 1 {
			g.Translations = d.lookup(k, g.Term, from, to)
		} else {
			g.Translations = d.word(k, g.Term, from, to)
		}
		if len(g.Translations) > 0 {
			out = append(out, g)
		}
		i += n
	}
	return out
}

// phrase returns how many of the next words are one term of a table; 1 if no
// phrase begins here.
func (d *Dictionary) phrase(k *table.Keyer, text string, words []span, from, to lang.Code) int {
	other := from
	if from == lang.English {
		other = to
	}
	for n := min(maxPhrase, len(words)); n > 1; n-- {
		if words[n-1].clause != words[0].clause {
			continue
		}
		key := k.Key(text[words[0].start:words[n-1].end], from)
		for _, t := range d.lexicon(other).tables {
			if _, has := t.HasOther(k, key); has && from != lang.English || from == lang.English && t.HasEnglish(k, key) {
				return n
			}
		}
	}
	return 1
}

// word returns what a single word may be: what the tables say, else what those
// of kin say, else the word in the other script.
func (d *Dictionary) word(k *table.Keyer, word string, from, to lang.Code) []Translation {
	found := d.lookup(k, word, from, to)
	if len(found) == 0 && from == lang.Russian {
		var all translations
		for _, kin := range d.kin(k, word) {
			for _, t := range d.lookup(k, kin, from, to) {
				all.add(t.Text, derivation*t.Weight)
			}
		}
		found = all.best()
	}
	name := startsUpper(word)
	if len(found) > 0 && !name {
		return found
	}
	var out translations
	for _, t := range found {
		out.add(t.Text, t.Weight)
	}
	share := spelling
	if len(found) > 0 {
		share /= 2
	}
	switch {
	case from == lang.Russian && to == lang.English:
		for i, s := range latinSpellings(k, word) {
			out.add(s, share/(1+0.1*float64(i)))
		}
	case from == lang.English && to == lang.Russian && name:
		for i, s := range cyrillicSpellings(word) {
			out.add(s, share/(1+0.1*float64(i)))
		}
	}
	return out.best()
}

func startsUpper(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// span is a word of a text.
type span struct {
	start, end int
	clause     int // words with punctuation between them are no phrase
}

// cut finds the words of a script. What has a digit or a letter of another
// script in it is no word.
func cut(text string, script *unicode.RangeTable) []span {
	var out []span
	clause, start, good := 0, -1, true
	end := func(at int) {
		if start >= 0 && good && at-start <= 128 {
			out = append(out, span{start, at, clause})
		} else if start >= 0 {
			clause++ // another word stands between
		}
		start, good = -1, true
	}
	for i, r := range text {
		if table.InWord(r) && !lang.Spaceless(r) {
			if start < 0 {
				start = i
			}
			good = good && (unicode.Is(script, r) || unicode.Is(unicode.Mn, r))
			continue
		}
		end(i)
		if !unicode.IsSpace(r) && r != '-' && r != '\'' && r != '’' && r != '‑' {
			clause++
		}
	}
	end(len(text))
	return out
}

// kin returns words of the table whose stems differ a little from that of an
// unknown Russian word: by a vowel that comes and goes (отец, отца), or by a
// suffix (расположенный, расположить; петербургский, Петербург).
func (d *Dictionary) kin(k *table.Keyer, word string) []string {
	stem := k.Stem(table.Fold(word), lang.Russian)
	letters := []rune(stem)
	n := len(letters)
	if n < 2 {
		return nil
	}
	l := d.russian()
	if last, before := letters[n-1], letters[n-2]; n > 3 && !vowel(last) && (before == 'е' || before == 'о') {
		for _, instead := range []string{"", "ь", "й"} { // ошибок, ошибка; денег, деньги; копеек, копейка
			if s := string(letters[:n-2]) + instead + string(last); l.has(k, s) {
				return l.terms(k, s)
			}
		}
	}
	if last, before := letters[n-1], letters[n-2]; !vowel(last) && !vowel(before) {
		for _, between := range []string{"е", "о"} {
			if s := string(letters[:n-1]) + between + string(last); l.has(k, s) {
				return l.terms(k, s)
			}
			if before == 'ь' || before == 'й' {
				if s := string(letters[:n-2]) + between + string(last); l.has(k, s) {
					return l.terms(k, s)
				}
			}
		}
	}
	for cut := n - 1; cut >= max(4, n-4); cut-- {
		if s := string(letters[:cut]); l.has(k, s) {
			return l.terms(k, s)
		}
	}
	if n < 5 {
		return nil
	}
	// The nearest word that begins like this one.
	for cut := n; cut >= max(5, n-2); cut-- {
		best, least := "", 4
		for _, t := range l.tables {
			for _, f := range t.OtherWith(k, string(letters[:cut]), 50) {
				if strings.Contains(f.Term, " ") {
					continue
				}
				if far := len([]rune(k.Stem(f.Term, lang.Russian))) - cut + n - cut; far < least {
					best, least = f.Term, far
				}
			}
		}
		if best != "" {
			return []string{best}
		}
	}
	return nil
}

func (l *lexicon) has(k *table.Keyer, key string) bool {
	for _, t := range l.tables {
		if _, has := t.HasOther(k, key); has {
			return true
		}
	}
	return false
}

// terms returns the single words that have this stem.
func (l *lexicon) terms(k *table.Keyer, key string) []string {
	var out []string
	for _, t := range l.tables {
		for _, f := range t.FromOther(k, key) {
			out = append(out, f.Term)
		}
	}
	return out
}

func vowel(r rune) bool { return strings.ContainsRune("аеиоуыэюя", r) }
