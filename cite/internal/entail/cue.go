package entail

import (
	"strings"
	"sync"
)

// negations are words that turn a sentence round. A final * stands for any
// ending.
const negations = `not no never none neither nor nobody nothing nowhere without cannot can't unable fail* lack* den* false* incorrect
untrue myth hoax ain't hardly barely refut* debunk* absence absent except
не ни нет без никогда никто ничего ничто никак* нельзя невозможн* отсутств* опроверг* ложн* неверн* никуда нигде едва вовсе`

// hanNegations and the words in which those characters negate nothing.
var (
	hanNegations = []string{"不", "没", "沒", "无", "無", "非", "未", "否", "别", "勿", "莫"}
	hanHarmless  = []string{"不仅", "不但", "不过", "不断", "不少", "不久", "不同", "非常", "无论", "未来", "除非", "不得不", "特别", "别人", "分别",
		"区别", "级别", "差别", "性别", "不禁", "不管", "不如", "是否", "能否", "非洲", "无线", "莫斯科", "不僅", "無論", "未來", "特別", "別人", "不一会"}
)

// opposites are pairs of words of which a text that has one and a text that
// has the other can hardly mean the same. A final * stands for any ending.
const opposites = `increas* decreas*|increas* reduc*|increas* declin*|ris* fall*|rise fell|rose fell|grow* shrink*|grew shrank|higher lower|high low|more less|more fewer|most least
before after|first last|win lose|won lost|support* oppos*|accept* reject*|true false|positive* negative*|above below|begin* end*|start* end*|start* stop*|open* clos*
male female|males females|north south|northern southern|east west|eastern western|activ* inactiv*|effective ineffective|effective useless|activat* inhibit*|promot* inhibit*|stimulants* inhibit*|enhanc* impair*|enhanc* reduc*
improv* worsen*|improv* impair*|large small|larger smaller|big small|old young|older younger|older newer|early late|earlier later|good bad|better worse|best worst|strong weak|stronger weaker
always never|all none|everyone nobody|everything nothing|many few|alive dead|born died|buy sell|bought sold|love hate|like dislike|happy sad|happy unhappy|easy difficult|easy hard|hot cold|warm* cool*
rich poor|success* fail*|allow* forbid*|allow* prohibit*|allow* ban*|permit* prohibit*|legal illegal|possible impossible|safe dangerous|safe unsafe|caus* prevent*|left right|man woman|men women|boy girl|day night
summer winter|presence absence|present absent|susceptible resistant|upregulat* downregulat*|gain* los*|long short|longer shorter|fast slow|faster slower|same different|majority minority|public private
agree* disagree*|inside outside|protect* harm*|benefi* harm*|necessary unnecessary|sufficient insufficient|known unknown|likely unlikely|maxim* minim*|major minor|accelerat* slow*|expand* contract*|confirm* den*|approv* reject*|mother father|son daughter|brother sister|husband wife
увелич* уменьш*|увелич* снизи*|увелич* сокра*|повы* пониж*|повы* сниж*|вырос* упал*|вырос* снизи*|рост* спад*|рост* паден*|рост* снижен*|выше ниже|больше меньше|более менее|лучше хуже|раньше позже|до после|перед после
перв* последн*|выигра* проигра*|победи* проигра*|поддерж* против*|приня* отклон*|начал* законч*|начал* конц*|откры* закры*|мужчин* женщин*|север* юг*|северн* южн*|восток* запад*|восточн* западн*
больш* маленьк*|крупн* мелк*|стар* молод*|стар* нов*|хорош* плох*|сильн* слаб*|всегда никогда|все никто|много мало|многие немногие|жив* мертв*|родил* умер*|купи* прода*|люб* ненавид*|легк* трудн*|легк* сложн*
горяч* холодн*|богат* бедн*|успех* неудач*|успешн* неудачн*|разреш* запре*|законн* незаконн*|возможн* невозможн*|безопасн* опасн*|вызыва* предотвра*|лев* прав*|лет* зим*|день ночь|присутств* отсутств*|правд* лож*|согла* отказ*
высок* низк*|широк* узк*|длинн* коротк*|быстр* медлен*|одинаков* разн*|внутри снаружи|мать отец|сын дочь|брат сестра|муж жена
增加 减少|增长 下降|增加 下降|上升 下降|提高 降低|升高 降低|扩大 缩小|支持 反对|赞成 反对|接受 拒绝|同意 拒绝|成功 失败|开始 结束|打开 关闭|男性 女性|男人 女人|南部 北部|东部 西部|最大 最小|最高 最低|最多 最少|多数 少数
以前 以后|之前 之后|第一 最后|喜欢 讨厌|容易 困难|富裕 贫穷|允许 禁止|合法 非法|可能 不可能|安全 危险|真实 虚假|总是 从不|所有 没有|很多 很少|活着 死了|出生 去世|买入 卖出|加强 削弱|改善 恶化|积极 消极|公开 秘密|相同 不同
白天 晚上|进口 出口|国内 国外|高兴 难过|胜利 失败|有利 不利|上涨 下跌|盈利 亏损|父亲 母亲|儿子 女儿|哥哥 弟弟|丈夫 妻子`

// absolutes say more than a plain statement does.
const absolutes = `only all every always never entirely completely solely exclusively nobody everyone any
только все всегда никогда каждый каждая каждое полностью исключительно никто любой
`

var hanAbsolutes = []string{"只有", "所有", "全部", "总是", "从不", "每个", "完全", "一定", "都是", "唯一", "任何"}

// table finds words by whole form or by prefix.
type table struct {
	whole map[string][]int
	heads map[string][]int // by prefix
}

func (t *table) add(form string, id int) {
	if head, ok := strings.CutSuffix(form, "*"); ok {
		t.heads[head] = append(t.heads[head], id)
		return
	}
	t.whole[form] = append(t.whole[form], id)
}

func (t *table) look(word string, f func(id int)) {
	for _, id := range t.whole[word] {
		f(id)
	}
	for i := range word {
		if i >= 2 {
			for _, id := range t.heads[word[:i]] {
				f(id)
			}
		}
	}
	for _, id := range t.heads[word] {
		f(id)
	}
}

func newTable() *table { return &table{map[string][]int{}, map[string][]int{}} }

type cueTables struct {
	negation, absolute, opposite *table
	hanOpposites                 []hanWord
	pairs                        int
}

type hanWord struct {
	word string
	id   int
}

// cues numbers the sides of pair p as 2p and 2p+1.
var cues = sync.OnceValue(func() *cueTables {
	t := &cueTables{negation: newTable(), absolute: newTable(), opposite: newTable()}
	for w := range strings.FieldsSeq(negations) {
		t.negation.add(w, 0)
	}
	for w := range strings.FieldsSeq(absolutes) {
		t.absolute.add(w, 0)
	}
	for _, pair := range strings.FieldsFunc(opposites, func(r rune) bool { return r == '|' || r == '\n' }) {
		sides := strings.Fields(pair)
		for i, side := range sides {
			id := 2*t.pairs + i
			if side[0] >= 0xe0 { // ideographs
				t.hanOpposites = append(t.hanOpposites, hanWord{side, id})
			} else {
				t.opposite.add(side, id)
			}
		}
		t.pairs++
	}
	return t
})

// signs are what the cues of a sentence say.
type signs struct {
	negations int
	absolutes int
	opposite  map[int]bool // sides of pairs
}

func signsOf(text string) signs {
	t := cues()
	s := signs{opposite: map[int]bool{}}
	words(text, func(w string, _, _ int) {
		neg := strings.HasSuffix(w, "n't")
		t.negation.look(w, func(int) { neg = true })
		if neg {
			s.negations++
		}
		t.absolute.look(w, func(int) { s.absolutes++ })
		t.opposite.look(w, func(id int) { s.opposite[id] = true })
	})
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x3400 && r <= 0x9fff }) {
		return s
	}
	for _, w := range hanNegations {
		s.negations += strings.Count(text, w)
	}
	for _, w := range hanHarmless {
		s.negations -= strings.Count(text, w)
	}
	s.negations = max(0, s.negations)
	for _, w := range hanAbsolutes {
		s.absolutes += strings.Count(text, w)
	}
	for _, w := range t.hanOpposites {
		if strings.Contains(text, w.word) {
			s.opposite[w.id] = true
		}
	}
	return s
}

// opposed counts the pairs of which a has one side and b only the other.
func opposed(a, b signs) int {
	n := 0
	for id := range a.opposite {
		other := id ^ 1
		if b.opposite[other] && !b.opposite[id] && !a.opposite[other] {
			n++
		}
	}
	return n
}
