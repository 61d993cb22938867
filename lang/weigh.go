package lang

import (
	"math"
	"strings"
	"unicode/utf8"
)

// prior is how much more often than the rest a language is expected, from its
// rough share of web pages and questions, much tempered. It decides only
// words that several languages share.
var prior = map[Code]float64{
	English: 4, Russian: 4, "es": 2, "de": 2, "fr": 2, "pt": 1.5, "it": 1.5, "ar": 1.5, "uk": 1.3,
	"ca": 0.6, "da": 0.6, "nb": 0.6, "sk": 0.6, "hr": 0.6, "sl": 0.6, "lt": 0.6, "lv": 0.6, "et": 0.6,
	"is": 0.6, "tl": 0.6, "mk": 0.6, "ur": 0.6,
}

// Characters that decide between Japanese and Chinese where kana don't.
const (
	// kokuji are characters, and forms of characters, that only Japanese
	// writes: the most frequent of those in Japanese word lists that Chinese
	// lists have in neither script.
	kokuji = "気発実対関変戦楽様売悪続円経込県読応単伝乗転撃広帰価覚増権検観験歳営毎団歩効済働黒証満駅訳総抜頼専両薬曜壊戻図帯弾" +
		"軽沢囲絵遅焼険払労辺雑聴覧髪圧児鉄従継扱隠闘駄脳掲択徴仮厳齢縄拠剣拡悩豊繋廃歯騒蔵桜栄獣霊駆枠剤舗塩捜賛渋酔歓臓渉縁黙懐庁" +
		"譲揃勧圏釈亜揺縦嬢匂銭陥拶奨穂粋噛挿犠摂浄巣粧鶏覗滝穏塁斎鉱繊荘砕顕罠辻辿猟畳錬筈醸勲髄粛頬暁壌渓峠鞄掻俵渕呟鹸"
	// particles are common Chinese characters that Japanese doesn't write.
	particles = "么吗这们说还给谁怎嗎這們說沒麼您哪呢吧啊"
)

// functionWords mark an English sentence around quoted foreign words.
var functionWords = set(`a about an and are as at be by can did do does explain for from how in into is it
	mean means of on or that the their these this to translate was what when where which who why will with`)

// scriptWeight is what a word counts for its script. A text in another script
// carries Latin names, terms and abbreviations, while a Latin text seldom
// carries words of another script: so a Latin word counts half, a name less,
// and an English function word in full.
func scriptWeight(s script, word []rune, upper int, first bool) float64 {
	switch {
	case s.wordless():
		return 0.7 * float64(len(word))
	case s == greek && len(word) == 1:
		return 0.1 // a symbol: α, β, π
	case s != latin:
		return 1
	case functionWord(word):
		return 1
	case upper > 1 || upper == 1 && !first || len(word) == 1:
		return 0.15
	}
	return 0.5
}

func functionWord(word []rune) bool {
	var buf [16]byte
	if len(word) > len(buf) {
		return false
	}
	for i, r := range word {
		if r >= utf8.RuneSelf {
			return false
		}
		buf[i] = byte(r)
	}
	return functionWords[string(buf[:len(word)])]
}

// cjkByte is the first byte of U+3000, where CJK begins, in UTF-8.
const cjkByte = 0xe3

// addressLen returns the length of the URL or mail address that text begins
// with, and 0 when it begins with a word. What marks an address must stand near
// its beginning. CJK text needs no space before or after an address.
func addressLen(text string) int {
	if text[0] >= utf8.RuneSelf {
		return 0
	}
	address := strings.HasPrefix(text, "www.")
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c == '<' || c == '>' || c == '"' || c == '|' || c >= cjkByte:
			if address {
				return i
			}
			return 0
		case c == ':' && strings.HasPrefix(text[i:], "://"), c == '@':
			address = true
		case i > 100 && !address:
			return 0
		}
	}
	if address {
		return len(text)
	}
	return 0
}

// each calls guess with every language the evidence allows and its
// probability, up to a common factor.
func (e *evidence) each(guess func(Code, float64)) {
	e.settleHan()
	for s, w := range e.weight {
		if w == 0 {
			continue
		}
		// The dominant script has nearly all the probability, so that an
		// undecided language in it isn't outvoted by a sure one elsewhere.
		share := math.Pow(w, 6)
		switch sole := soleLanguage[s]; {
		case sole != "":
			guess(sole, share)
		case script(s) == other:
			guess(Unknown, share*1e-9)
		default:
			e.model(script(s), share, guess)
		}
	}
}

// settleHan gives Han characters to the language that the text around them
// shows.
func (e *evidence) settleHan() {
	switch {
	case e.weight[han] == 0:
	case e.letters[hangul] > 0 && e.letters[hangul]*2 >= e.letters[han]:
		e.weight[hangul] += e.weight[han]
		e.weight[han] = 0
	case e.particles*6 >= e.letters[kana] && e.particles > 0:
		e.weight[han] += e.weight[kana]
		e.weight[kana] = 0
	case e.letters[kana] > 1 && e.letters[kana]*12 >= e.letters[han],
		e.letters[kana] > 0 && e.letters[han] < 10,
		e.japanese*25 >= e.letters[han] && e.japanese > 0:
		e.weight[kana] += e.weight[han]
		e.weight[han] = 0
	}
}

func (e *evidence) model(s script, share float64, guess func(Code, float64)) {
	m := models()[s]
	var logits [64]float64
	scores := logits[:len(m.Langs)]
	m.Logits(scores, &e.sums[m.index])
	top := math.Inf(-1)
	for i, p := range m.prior {
		scores[i] += p
		if s == cyrillic && e.yo && !writesYo(m.Langs[i]) {
			scores[i] -= yoPenalty
		}
		top = max(top, scores[i])
	}
	var sum float64
	for i := range scores {
		scores[i] = math.Exp(scores[i] - top)
		sum += scores[i]
	}
	for i, l := range m.Langs {
		guess(Code(l), share*scores[i]/sum)
	}
}

// yoPenalty is what the letter ё counts against a language without it: enough
// to decide a word, not to outweigh a sentence that has a foreign name.
const yoPenalty = 5

func writesYo(lang string) bool { return lang == "ru" || lang == "be" || lang == "kk" }
