package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"dossier/lang/internal/ngram"
	"dossier/lang/internal/wordfreq"
)

// maxWords bounds the vocabulary of a language.
const maxWords = 150_000

// An item is a training string with its weight in its language.
type item struct {
	text string
	freq float64
}

// A corpus is what is known of one language.
type corpus struct {
	words     []item
	fragments []item // five letters from inside words
	borrowed  bool   // words come from a small text, so fragments matter more
}

type sources struct{ wordfreq, lingua, mo string }

// wordfreqName maps a language to the list that has its words.
var wordfreqName = map[string]string{"hr": "sh", "sr": "sh", "tl": "fil"}

// alphabets lists the letters of orthographies whose neighbours' words spill
// into their lists.
var alphabets = map[string]string{
	"ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
	"uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
	"be": "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
	"bg": "абвгдежзийклмнопрстуфхцчшщъьюя",
	"sr": "абвгдђежзијклљмнњопрстћуфхцчџш",
	"mk": "абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ",
	"kk": "аәбвгғдеёжзийкқлмнңоөпрстуұүфхһцчшщъыіьэюя",
}

func (s sources) load(g group) (map[string]*corpus, error) {
	out := map[string]*corpus{}
	best := map[string]float64{}
	raw := map[string]map[string]float64{}
	for _, lang := range g.langs {
		freq := map[string]float64{}
		c := &corpus{}
		out[lang], raw[lang] = c, freq
		add := func(text string, f float64) {
			for w := range strings.FieldsFuncSeq(strings.Map(ngram.Fold, text), func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsMark(r)
			}) {
				if !valid(lang, w, g.table) {
					continue
				}
				freq[w] += f
				if bare := accents.Replace(w); bare != w {
					freq[bare] += f * bareShare
				}
			}
		}
		if err := s.addWordfreq(lang, add); err != nil {
			return nil, err
		}
		dir := filepath.Join(s.mo, "libreoffice-l10n-"+lang)
		if _, err := os.Stat(dir); err == nil {
			c.borrowed = len(freq) == 0
			if err := readMO(dir, func(t string) { add(t, 1e-6) }); err != nil {
				return nil, err
			}
		}
		if len(freq) == 0 {
			return nil, fmt.Errorf("%s: no source has its words", lang)
		}
		normalise(freq)
		for w, f := range freq {
			best[w] = max(best[w], f)
		}
		err := readLingua(filepath.Join(s.lingua, lang), func(gram string, p float64) {
			if gram = strings.Map(ngram.Fold, gram); valid(lang, gram, g.table) {
				c.fragments = append(c.fragments, item{gram, p})
			}
		})
		if err != nil {
			return nil, err
		}
		c.fragments = top(c.fragments, maxWords)
	}
	for _, lang := range g.langs {
		c := out[lang]
		for w, f := range raw[lang] {
			// A word that is far more usual elsewhere is a foreign word in
			// this list (English titles and names in every list).
			if f*40 >= best[w] {
				c.words = append(c.words, item{w, f})
			}
		}
		c.words = top(c.words, maxWords)
	}
	return out, nil
}

func (s sources) addWordfreq(lang string, add func(string, float64)) error {
	name := cmp.Or(wordfreqName[lang], lang)
	for _, size := range []string{"large_", "small_"} {
		path := filepath.Join(s.wordfreq, size+name+".msgpack.gz")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		return wordfreq.Read(path, func(w string, f float64) {
			if lang == "sr" {
				w = serbianCyrillic.Replace(w)
			}
			add(w, f)
		})
	}
	return nil
}

var serbianCyrillic = strings.NewReplacer("lj", "љ", "nj", "њ", "dž", "џ",
	"a", "а", "b", "б", "v", "в", "g", "г", "d", "д", "đ", "ђ", "e", "е", "ž", "ж", "z", "з", "i", "и",
	"j", "ј", "k", "к", "l", "л", "m", "м", "n", "н", "o", "о", "p", "п", "r", "р", "s", "с", "t", "т",
	"ć", "ћ", "u", "у", "f", "ф", "h", "х", "c", "ц", "č", "ч", "š", "ш")

// bareShare is how often a word with accents is taken to be typed without.
const bareShare = 0.02

// accents takes the accents off Latin letters, as people do who type in haste.
var accents = func() *strings.Replacer {
	var pairs []string
	for row := range strings.FieldsSeq("aáàâäãåăąāạảấầẩẫậắằẳẵặ cçćčĉ dďđð eéèêëěęēėẹẻẽếềểễệ gğģ iíìîïīįıịỉĩ kķ lłľĺļ nñńňņ " +
		"oóòôöõøőōọỏốồổỗộớờởỡợơ rřŕ sśšşș tťţț uúùûüůűūųụủũứừửữựư yýÿỳỷỹỵ zźžż") {
		letters := []rune(row)
		for _, r := range letters[1:] {
			pairs = append(pairs, string(r), string(letters[0]))
		}
	}
	return strings.NewReplacer(pairs...)
}()

func valid(lang, w string, script *unicode.RangeTable) bool {
	letters := alphabets[lang]
	for _, r := range w {
		if letters != "" && !strings.ContainsRune(letters, r) {
			return false
		}
		if !unicode.Is(script, r) && !unicode.IsMark(r) {
			return false
		}
	}
	return w != ""
}

func normalise(freq map[string]float64) {
	var sum float64
	for _, w := range sortedKeys(freq) {
		sum += freq[w]
	}
	for w := range freq {
		freq[w] /= sum
	}
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// top keeps the n heaviest items, heaviest first.
func top(items []item, n int) []item {
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.freq, a.freq), cmp.Compare(a.text, b.text))
	})
	return slices.Clip(items[:min(n, len(items))])
}
