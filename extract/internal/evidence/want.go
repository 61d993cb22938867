package evidence

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Want is the kind of answer that a question asks for.
type Want uint8

// The kinds of answers.
const (
	Anything Want = iota
	Name
	Date
	Number
	Place
	Reason
	Definition
)

// askedBy lists what asks for each kind, in the order in which they are tried.
// Words are whole; for Chinese, characters that the question contains.
var askedBy = []struct {
	want  Want
	words string // separated by |
	han   string
}{
	{Reason, `why|what caused|for what reason|what is the reason|what was the reason|почему|зачем|отчего|по какой причине|из за чего|warum|weshalb|wieso|aus welchem grund|pourquoi|por qué`,
		"为什么 為什麼 为何 為何 什么原因 什麼原因 原因是"},
	{Date, `when|what year|which year|what date|what day|what month|what century|which century|what decade|what time|когда|в каком году|каком году|какого года|каком веке|каком месяце|какого числа|какой год|какой дате|каком десятилетии|wann|welchem jahr|welches jahr|welchem jahrhundert|welchem datum|quand|quelle année|cuándo|qué año`,
		"什么时候 什麼時候 何时 何時 哪年 哪一年 何年 几年 几月 哪天 哪一天 哪个月 哪个世纪 什么年代 时间是 的时间 時間是 开始时间 日期"},
	{Number, `how many|how much|how long|how old|how far|how large|how big|how tall|how high|how often|how fast|how deep|how wide|what percentage|what percent|what number|what amount|what was the population|what is the population|сколько|скольких|скольким|какова длина|какова высота|какова площадь|какова численность|какой процент|каков возраст|какой возраст|сколькими|как часто|как долго|какая площадь|какая длина|какая высота|wie viele|wie viel|wieviel|wieviele|wie lange|wie lang|wie hoch|wie groß|wie alt|wie weit|wie oft|wie breit|wie tief|prozentsatz|combien|cuánto|cuánta|cuántos|cuántas`,
		"多少 几个 幾個 几名 几次 几人 几位 几种 几天 多大 多长 多長 多高 多久 多远 多重 多宽 百分之几 第几 数量 人数 增长率"},
	{Place, `where|which city|what city|which country|what country|which state|what state|which town|what town|which river|what continent|which continent|what location|где|куда|откуда|каком городе|какой стране|какого города|каком государстве|какой город|какая страна|каком месте|каком штате|каком материке|каком континенте|какой реке|wo|wohin|woher|welcher stadt|welchem land|welche stadt|welches land|où|dónde`,
		"哪里 哪裡 哪儿 在哪 何处 何處 何地 什么地方 什麼地方 哪个国家 哪個國家 哪个城市 哪国 哪个省 地点"},
	{Definition, `what is a|what is an|what are|what does|define|что такое|кто такой|кто такая|кто такие|что значит|что означает|was ist ein|was ist eine|was sind|was bedeutet|qu est ce que|qué es|qué son`,
		"什么是 什麼是 是什么意思 是什麼意思 何谓 何謂 什么叫"},
	{Name, `who|whom|whose|what is the name|what was the name|what name|какие имена|кто|кого|кем|кому|чей|чья|чье|чьё|чьей|чьим|как зовут|как звали|как называется|как называлась|как назывался|как называли|какое имя|wer|wen|wem|wessen|wie heißt|wie hieß|wie lautet der name|wie nennt man|qui|quién|quiénes`,
		"谁 誰 何人 哪位 叫什么 叫什麼 名字"},
}

// askWords are the Chinese words above that ask, and others like them; the rest
// name what is asked for.
var askWords = sync.OnceValue(func() []string {
	words := strings.Fields("什么 什麼 哪些 哪个 哪個 哪种 哪種 哪部 哪一 怎么 怎麼 怎样 怎樣 如何 请问 請問 是否 有没有")
	for _, ask := range askedBy {
		for han := range strings.FieldsSeq(ask.han) {
			if strings.ContainsAny(han, "什何哪几幾多谁誰") {
				words = append(words, han)
			}
		}
	}
	return words
})

// kindWords are words of questions that say what kind of thing is asked for.
var kindWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`year date day month century decade time name names number amount percentage percent type kind sort
city country state town place location person people reason happened happen term word
год году года дата дате день месяце веке имя имени фамилия количество число процент тип вид город городе стране страна место месте
человек причина термин название зовут звали случилось произошло
jahr jahres datum tag monat jahrhundert name namen zahl anzahl prozentsatz art typ stadt land ort person grund begriff
时间 時間 地点 名字 数量 原因 年份 日期 分别 分別`) {
		m[w] = true
	}
	return m
})

// glue are characters of Chinese grammar.
const glue = "的了在是和与與于於有被把为為之其及而或从從由对對将將中上下年个個这這那哪些几幾多少什么麼谁誰吗嗎呢些"

// wanted finds what kind of answer the question asks for.
func wanted(question string) Want {
	plain := " " + strings.Join(strings.FieldsFunc(strings.ToLower(question), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ") + " "
	for _, ask := range askedBy {
		for words := range strings.SplitSeq(ask.words, "|") {
			if strings.Contains(plain, " "+words+" ") {
				return ask.want
			}
		}
		for han := range strings.FieldsSeq(ask.han) {
			if strings.Contains(question, han) {
				return ask.want
			}
		}
	}
	return Anything
}

// cues are words that a sentence with that kind of answer has; a final * stands
// for any ending. For Chinese, characters that it contains.
var cues = map[Want]struct{ words, han string }{
	Date: {`january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec
monday tuesday wednesday thursday friday saturday sunday century centuries decade* year* month* day* week* yesterday today spring summer autumn winter
январ* феврал* март* апрел* мая июн* июл* август* сентябр* октябр* ноябр* декабр* век* столети* год* месяц* лет осень* весн* зим* сегодня вчера
januar februar märz mai juni juli oktober dezember jahr* jahrhundert* monat* tag* woche*
janvier février avril juin juillet août septembre octobre novembre décembre siècle année* enero febrero marzo abril mayo junio julio septiembre octubre noviembre diciembre siglo año*`,
		"世纪 世紀 时期 時期 年代 时代 時代"},
	Number: {`one two three four five six seven eight nine ten eleven twelve thirteen twenty thirty forty fifty sixty hundred* thousand* million* billion* half third quarter dozen* once twice percent none several first second
один одн* два две двух три трех четыр* пять шесть семь восемь девять десят* сто двести тысяч* миллион* миллиард* половин* треть* четверт* процент* дважды нескольк*
ein eine eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert* tausend* million* milliarde* hälfte drittel prozent mehrere
un deux trois quatre cinq sept huit neuf dix cent mille dos tres cuatro cinco diez cien mil`,
		"百分之 一半 数百 数千 数万 " + numerals},
	Reason: {`because due since reason* cause* causing result* thus therefore hence so order owing order avoid prevent allow* lead led purpose
потому поскольку из-за благодаря причин* вследствие вызван* вызва* поэтому чтобы так привел* результат* целью ради
weil da wegen aufgrund grund gründe daher deshalb damit um verursach* führt* dadurch
parce car raison cause porque debido causa`,
		"因为 因為 由于 由於 因此 所以 导致 導致 原因 为了 為了 以便 使得 因而 造成"},
	Definition: {`is are was were means mean refers known called defined term
это является являются называ* представля* означа* термин
ist sind war bezeichnet bedeutet heißt nennt begriff est sont désigne es son significa`,
		"是 指 即 称为 稱為 叫做 意思"},
	Place: {`in at near on from to located north south east west city country town river
в на около близ под из у город* стран* расположен* находит*
in bei nahe am im aus nach stadt land liegt befindet à dans en au`,
		"在 位于 位於 省 市 县 縣 国 國 州 区 區 城 地 山 岛 島"},
}

// numerals are numbers written in characters, with what they count.
var numerals = func() string {
	var all []string
	for _, n := range "一二两兩三四五六七八九十百千万亿" {
		for _, unit := range "个個名人次种種天岁歲位米座条條所家届倍年月只支部项項" {
			all = append(all, string(n)+string(unit))
		}
	}
	return strings.Join(all, " ")
}()

type cueTable struct {
	whole map[string]bool
	heads []string
	han   []string
}

var cueTables = sync.OnceValue(func() map[Want]*cueTable {
	tables := map[Want]*cueTable{}
	for want, c := range cues {
		t := &cueTable{whole: map[string]bool{}, han: strings.Fields(c.han)}
		for w := range strings.FieldsSeq(c.words) {
			if head, ok := strings.CutSuffix(w, "*"); ok {
				t.heads = append(t.heads, head)
			} else {
				t.whole[w] = true
			}
		}
		tables[want] = t
	}
	return tables
})

func (t *cueTable) has(word string) bool {
	if t.whole[word] {
		return true
	}
	for _, head := range t.heads {
		if strings.HasPrefix(word, head) {
			return true
		}
	}
	return false
}

// lacks reports that a sentence has no word beside those of the question that
// may be an answer of the wanted kind. Where that can't be told it is false.
func (q *Question) lacks(text string, words []word) bool {
	if q.Want == Anything {
		return false
	}
	han := false
	table := cueTables()[q.Want]
	for i, w := range words {
		if _, asked := q.place[w.name]; asked {
			continue
		}
		surface := text[w.start:w.end]
		first, _ := utf8.DecodeRuneInString(surface)
		han = han || first >= 0x2e80
		name := unicode.IsUpper(first) && i > 0 && !w.function
		var has bool
		switch q.Want {
		case Name:
			has = name
		case Place:
			has = name && table.has(strings.ToLower(text[words[i-1].start:words[i-1].end]))
		case Date:
			has = w.number && (year(surface) || dated(text[w.end:])) || table.has(strings.ToLower(surface))
		case Number:
			has = w.number || table.has(strings.ToLower(surface))
		default:
			has = table.has(strings.ToLower(surface))
		}
		if has {
			return false
		}
	}
	if han {
		return q.Want != Name && !slices.ContainsFunc(table.han, func(h string) bool { return strings.Contains(text, h) })
	}
	return true
}

// dated reports whether what follows a number makes it a date.
func dated(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return strings.ContainsRune("年月日号號世", r)
}

// year reports whether a number may be a year.
func year(digits string) bool {
	return len(digits) == 4 && digits >= "1000" && digits <= "2199" || len(digits) == 3
}
