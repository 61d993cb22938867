package haiku

import (
	_ "embed" // of the rules
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// English is counted in three steps. A word is taken apart where a silent e may
// stand inside it (home·land, hope·less·ly, baker·'s); in each part the groups of
// vowels are counted; and rules about letters next to each other, which
// bench/syllables has learned, correct that.

const englishVowels = "aeiouy"

// Rule changes the number of syllables of a word that has the letters. In them ^
// and $ are the ends of a part of the word, C is any consonant and V any vowel.
type Rule struct {
	Letters string
	Add     int
}

//go:embed english.txt
var englishRules string

// rules are those of english.txt, by line: the letters, then what is added.
var rules = sync.OnceValue(func() []Rule {
	var out []Rule
	for line := range strings.Lines(englishRules) {
		letters, add, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(add); ok && err == nil && !strings.HasPrefix(letters, "#") {
			out = append(out, Rule{letters, n})
		}
	}
	return out
})

// english counts the syllables of a word in lower case.
func english(word string) int {
	if n, ok := exception(word); ok {
		return n
	}
	n := 0
	for _, part := range Parts(word) {
		n += Groups(part)
		for _, r := range rules() {
			if r.In(part) {
				n += r.Add
			}
		}
	}
	return max(n, 1)
}

// Groups counts the groups of vowels in a part of a word; one without any is read
// letter by letter, as ctv is.
func Groups(part string) int {
	n, within := 0, false
	for i := range len(part) {
		v := vowel(part[i])
		if v && !within {
			n++
		}
		within = v
	}
	if n == 0 {
		return len(part) - len("^$") + 2*strings.Count(part, "w")
	}
	return n
}

func vowel(c byte) bool { return strings.IndexByte(englishVowels, c) >= 0 }

// In says whether the rule is about a part of a word.
func (r Rule) In(part string) bool {
	if !strings.ContainsAny(r.Letters, "CV") {
		return strings.Contains(part, r.Letters)
	}
	for i := 0; i+len(r.Letters) <= len(part); i++ {
		if r.at(part[i:]) {
			return true
		}
	}
	return false
}

func (r Rule) at(text string) bool {
	for i := range len(r.Letters) {
		c := text[i]
		switch r.Letters[i] {
		case 'V':
			if !vowel(c) {
				return false
			}
		case 'C':
			if vowel(c) || c == '^' || c == '$' {
				return false
			}
		default:
			if c != r.Letters[i] {
				return false
			}
		}
	}
	return true
}

// Parts takes a word apart: each part stands between ^ and $.
func Parts(word string) []string {
	var after []string
	word = strings.Trim(word, "'")
	if stem, ok := strings.CutSuffix(word, "'s"); ok {
		word = stem
		if hisses(stem) {
			after = append(after, "es")
		}
	}
	word = strings.ReplaceAll(word, "'", "")
	for again := true; again; {
		again = false
		for _, end := range endings {
			stem, ok := strings.CutSuffix(word, end)
			if ok && len(stem) >= 3 && strings.ContainsAny(stem, englishVowels) && silent.MatchString(stem) {
				word, after, again = stem, append([]string{end}, after...), true
				break
			}
		}
	}
	var before []string
	if rest, ok := strings.CutPrefix(word, "mc"); ok && len(rest) > 1 {
		before, word = append(before, "mac"), rest
	}
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(word, strings.Join(prefix.parts, "")); ok && prefix.before.MatchString(rest) {
			before, word = append(before, prefix.parts...), rest
			break
		}
	}
	for n := min(len(word)-2, longestFirst); n >= 3; n-- {
		if firsts[word[:n]] && opens(word[n:]) {
			before, word = append(before, word[:n]), word[n:]
			break
		}
	}
	var out []string
	for _, p := range slices.Concat(before, []string{word}, after) {
		if p != "" {
			out = append(out, "^"+p+"$")
		}
	}
	return out
}

// hisses says whether 's is a syllable after a word.
func hisses(word string) bool {
	for _, end := range []string{"s", "x", "z", "ch", "sh", "ce", "se", "ze", "ge"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

// opens says whether a word can begin so: with a consonant, or two that go
// together, and a vowel.
func opens(rest string) bool {
	if adverbs[rest] {
		return true
	}
	if vowel(rest[0]) || len(rest) < 3 {
		return false
	}
	i := 0
	for i < len(rest) && !vowel(rest[i]) {
		i++
	}
	return i < len(rest) && (i == 1 || onsets[rest[:i]])
}

func words(text string) map[string]bool {
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// silent is an e that is not spoken.
var silent = regexp.MustCompile(`[^aeiouy]e$|[gq]ue$`)

// prefixes are spoken by themselves, in their parts, before what they stand before.
var prefixes = []struct {
	parts  []string
	before *regexp.Regexp
}{
	{[]string{"re"}, regexp.MustCompile(`^(abs|acq|acti|acto|adj|adm|aff|all|app|arr|ass|att|awa|educ|elec|emer|emp|ena|ent|est|eval|exa|exp|imb|imp|inc|inf|ins|int|inv|issu|itera|occ|ope|ord|org|usab|used|uni).{2,}`)},
	{[]string{"pre"}, regexp.MustCompile(`^(arr|emi|emp|eli|exi|inv|occ|ord)`)},
	{[]string{"co"}, regexp.MustCompile(`^(agul|ales|aut|art|auth|edu|exi|inc|op|ord).{3,}`)},
	{[]string{"un"}, regexp.MustCompile(`^em`)},
	{[]string{"ge", "o"}, regexp.MustCompile(`^[^aeiouyfr].{3,}`)},
	{[]string{"ge", "og"}, regexp.MustCompile(`^ra`)},
	{[]string{"bi", "o"}, regexp.MustCompile(`^[^aeiouyn].{2,}|^en|^net`)},
	{[]string{"ra", "di", "o"}, regexp.MustCompile(`^.{3,}`)},
	{[]string{"mi", "cro"}, regexp.MustCompile(`^.{3,}`)},
	{[]string{"over"}, regexp.MustCompile(`^(act|all|app|ea|es|re|see)`)},
}

// endings are what may follow a silent e.
var endings = strings.Fields(`ly ness less lessly lessness ment ments ful fully fulness some ship hood like ward wards worthy man men land lands
	ville way ways ties ty`)

// adverbs begin with a vowel and follow a silent e: takeoff, wipeout.
var adverbs = words(`off offs out outs up ups over overs`)

// onsets are the groups of consonants that words begin with.
var onsets = words(`bl br ch cl cr dr dw fl fr gl gr kn ph pl pr qu sc sch sh sk sl sm sn sp spl spr st str sw th thr tr tw wh wr`)

// firsts are words with a silent e that others begin with; exceptions to it, as
// camera and mineral have, are not among them.
var firsts = words(`home some fire life like time line side stone store score cheese snake smoke house horse race space place base case make take
	wake whole pole hole mole note state gate grape tape shape rope wire care fare hare ware share square more fore core shore bore where there
	here edge bridge knowledge large change voice price ice rice juice office piece peace force source sauce science nose rose close phrase cause
	noise praise raise eye pine wine nine five live give have move glove drive wave cave grave slave shave save grove stove dove blue true white
	site bite kite plate date mate fate late rate skate crate trade blade shade grade spade code mode wide tide ride guide bride brides hide slide
	pride lime prime crime rhyme name game frame flame same bone lone tone phone zone cone one done tune june cane lane plane crane cake bake
	lake joke coke bike hike pike spike strike duke wife knife safe cafe wise rise cruise lives wives apple table trouble double needle people
	turtle bottle battle cattle candle middle little single eagle noble able love dare pope clare cole blake moore eaves eye goose loose base hope
	bare gene dale dane vale hale pale sale tale whale scale male female while mile smile file pile tile style rule mule pure cure sure fuse muse above cambridge juke spoke
	waynes gaines shreve`)

const longestFirst = 9
