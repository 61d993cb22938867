package terms

import (
	"slices"
	"strings"

	"dossier/lang"
	"dossier/lang/terms/internal/table"
)

// latin gives each Russian letter as English texts write it in names, the
// usual way first.
var latin = map[rune][]string{
	'а': {"a"}, 'б': {"b"}, 'в': {"v", "w"}, 'г': {"g", "h"}, 'д': {"d"}, 'е': {"e", "ye"}, 'ж': {"zh", "j"}, 'з': {"z", "s"},
	'и': {"i"}, 'й': {"y", "i"}, 'к': {"k", "c"}, 'л': {"l"}, 'м': {"m"}, 'н': {"n"}, 'о': {"o"}, 'п': {"p"}, 'р': {"r"},
	'с': {"s"}, 'т': {"t"}, 'у': {"u"}, 'ф': {"f", "ph"}, 'х': {"kh", "h", "ch"}, 'ц': {"ts", "c", "z"}, 'ч': {"ch"}, 'ш': {"sh", "sch"},
	'щ': {"shch"}, 'ъ': {""}, 'ы': {"y"}, 'ь': {""}, 'э': {"e"}, 'ю': {"yu", "u"}, 'я': {"ya", "ia", "a"},
}

// maxSpellings bounds how many ways to write a word are tried.
const maxSpellings = 12

// latinSpellings writes a Russian word in Latin letters in the ways that
// English texts may have it: as it stands, without its ending, and with the
// ending of the nominative. The most likely come first.
func latinSpellings(k *table.Keyer, word string) []string {
	folded := table.Fold(word)
	stem := k.Stem(folded, lang.Russian)
	if len([]rune(stem)) < 3 {
		return nil
	}
	var out []string
	add := func(s string) {
		if len(out) < maxSpellings && len(s) > 2 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	variants := spell(stem)
	for _, v := range variants[:1] {
		add(v)
	}
	if folded != stem {
		for _, v := range spell(folded)[:1] {
			add(v)
		}
		for _, ending := range []string{"a", "e", "ia", "y"} {
			add(variants[0] + ending)
		}
	}
	for _, v := range variants[1:] {
		add(v)
	}
	return out
}

// spell returns the ways to write letters, the usual one first: then one
// letter at a time, and then one kind of letter throughout, is written
// otherwise.
func spell(word string) []string {
	letters := []rune(word)
	usual := make([]string, len(letters))
	for i, r := range letters {
		if ways := latin[r]; len(ways) > 0 {
			usual[i] = ways[0]
		}
	}
	out := []string{strings.Join(usual, "")}
	seen := map[rune]bool{}
	for _, r := range letters {
		if seen[r] {
			continue
		}
		seen[r] = true
		for _, way := range latin[r][min(1, len(latin[r])):] {
			var b strings.Builder
			for j, other := range letters {
				if other == r {
					b.WriteString(way)
				} else {
					b.WriteString(usual[j])
				}
			}
			out = append(out, b.String())
		}
	}
	return out
}

// cyrillic gives how English letters are written in Russian names, longer ones
// first.
var cyrillic = []struct {
	latin string
	ways  []string
}{
	{"shch", []string{"щ"}}, {"sch", []string{"ш"}},
	{"kh", []string{"х"}}, {"zh", []string{"ж"}}, {"ts", []string{"ц"}}, {"ch", []string{"ч"}}, {"sh", []string{"ш"}},
	{"th", []string{"т"}}, {"ph", []string{"ф"}}, {"ck", []string{"к"}}, {"qu", []string{"кв"}}, {"wh", []string{"у"}},
	{"ya", []string{"я"}}, {"yu", []string{"ю"}}, {"yo", []string{"е"}}, {"ee", []string{"и"}}, {"oo", []string{"у"}},
	{"ey", []string{"ей"}}, {"ay", []string{"ей", "ай"}},
	{"a", []string{"а", "э"}}, {"b", []string{"б"}}, {"c", []string{"к", "с"}}, {"d", []string{"д"}}, {"e", []string{"е", "э"}},
	{"f", []string{"ф"}}, {"g", []string{"г", "дж"}}, {"h", []string{"х", "г"}}, {"i", []string{"и", "ай"}}, {"j", []string{"дж", "й"}},
	{"k", []string{"к"}}, {"l", []string{"л"}}, {"m", []string{"м"}}, {"n", []string{"н"}}, {"o", []string{"о"}}, {"p", []string{"п"}},
	{"q", []string{"к"}}, {"r", []string{"р"}}, {"s", []string{"с", "з"}}, {"t", []string{"т"}}, {"u", []string{"у", "а"}},
	{"v", []string{"в"}}, {"w", []string{"в", "у"}}, {"x", []string{"кс"}}, {"y", []string{"и", "й"}}, {"z", []string{"з", "ц"}},
}

// cyrillicSpellings writes an English name in Russian letters, the usual way
// first, and then with one kind of letter written otherwise.
func cyrillicSpellings(word string) []string {
	word = table.Fold(word)
	type piece struct {
		latin string
		ways  []string
	}
	var pieces []piece
	for i := 0; i < len(word); {
		found := false
		for _, c := range cyrillic {
			if strings.HasPrefix(word[i:], c.latin) {
				pieces = append(pieces, piece{c.latin, c.ways})
				i += len(c.latin)
				found = true
				break
			}
		}
		if !found {
			if word[i] >= 0x80 {
				return nil // letters that English does not have
			}
			i++
		}
	}
	if len(pieces) < 3 {
		return nil
	}
	join := func(other string, way int) string {
		var b strings.Builder
		for _, p := range pieces {
			if p.latin == other && way < len(p.ways) {
				b.WriteString(p.ways[way])
			} else {
				b.WriteString(p.ways[0])
			}
		}
		return b.String()
	}
	out := []string{join("", 0)}
	seen := map[string]bool{}
	for _, p := range pieces {
		if len(p.ways) > 1 && !seen[p.latin] && len(out) < maxSpellings/2 {
			seen[p.latin] = true
			out = append(out, join(p.latin, 1))
		}
	}
	return out
}
