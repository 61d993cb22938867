// Package junk knows sentences of pages that tell nothing of their matter: orders
// to the model that may read them, calls to buy, what a site says of itself
// (cookies, newsletters), and words piled up for search engines.
package junk

import (
	"strings"
	"unicode"
)

// Filter tells junk for one question: what the question itself is about is none.
type Filter struct{ kinds []*kind }

// kind of junk: how it reads, and words of a question that is about it.
type kind struct{ reads, about func() phrases }

var kinds = []*kind{
	{ // orders to a model
		pattern(
			`\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|your|developer|system)\b.{0,30}\b(?:instructions?|prompts?|rules|guidelines|directions|messages?)\b`,
			`\b(?:instructions?|notes?|messages?) (?:for|to) (?:all )?(?:ai|language models?|llms?|(?:ai )?assistants?|chatbots?)\b`,
			`\b(?:ai|language models?|llms?|assistants?|chatbots?)\b[^.]{0,40}\b(?:you must|must not|reply only|respond only|tell the user)\b`,
			`\byou are now in\b.{0,30}\bmode\b`, `\breply only with\b`, `\btell the user that\b`, `\bcite this as (?:a )?source\b`, `\bend of document\b`, `\bnew (?:user|system) message\b`,
			`\b(?:reveal|output|print|repeat|send|leak|list)\b.{0,30}\b(?:system prompt|your (?:instructions|prompt|rules)|api keys?|the conversation|user's (?:question|keys?))`,
			`\bthe user's question and keys\b`, `"role"\s*:\s*"(?:system|assistant|user)"`, `</?(?:source|system|passage|instructions?|assistant)\b[^>]*>`, `[?&]\w+=\{\w+\}|\{(?:api_key|conversation|question|вопрос|问题)\}`,
			`(?:игнорируй|забудь|не учитывай)(?:те)?\PL.{0,40}(?:предыдущ|прежни|инструкц|указани|правил)`, `(?:внимание|сообщение|инструкция|указание)[^.]{0,20}(?:нейросет|языков\p{L}+ модел|искусственн\p{L}+ интеллект|ассистент)`,
			`системное сообщение`, `ты обязана? (?:написать|ответить|сказать)`, `сошлись на источник`, `(?:передай|отправь|перечисли)(?:те)?\PL.{0,30}(?:вопрос|ключ|переписк)\p{L}* пользовател`,
			`忽略.{0,12}(?:指令|指示|提示|规则)`, `系统提示[：:]`, `从现在起你(?:必须|要|是)`, `(?:人工智能|语言模型|智能)助手[：:，,]`, `(?:把|将)(?:用户|对话)的?(?:问题|内容|密钥).{0,12}(?:填|发送|传|打开)`, `列出用户的?密钥`,
		),
		pattern(`inject|jailbreak|\bprompts?\b|инъекц|промпт|джейлбрейк|注入|越狱|提示词`),
	},
	{ // calls to buy
		pattern(
			`\b(?:buy|order|book|shop) (?:it )?(?:now|today|online)\b`, `\b(?:get|with) free shipping\b`, `\blimited[- ]time offer\b`, `\bcasino bonus\b`, `\bcheap (?:pills|viagra)\b`, `\bdownload free crack\b`,
			`(?:купить|заказать)\PL{1,3}(?:сейчас|онлайн|недорого|дёшево|дешево)`, `бонус казино|казино бонус`,
			`立即(?:购买|预订|下单|抢购)`, `博彩奖金`, `限时(?:优惠|特价|抢购)`,
		),
		pattern(`buy|shop|order|price|cost|casino|shipping|купи|цен[аыу]|стои|заказ|казино|购|买|价|优惠|博彩|多少钱`),
	},
	{ // what a site says of itself
		pattern(
			`\b(?:we|(?:this|our) (?:web)?site|by using (?:this|our) (?:web)?site)\b.{0,40}\bcookies\b`, `\b(?:accept|manage|reject) (?:all )?(?:the )?cookies\b`, `\bcookie (?:policy|settings|preferences|banner)\b`,
			`\bsubscribe (?:now|today|to (?:our|the|this|my|read)|for (?:our|more|free))\b`, `\bsign up for (?:our|the) (?:free )?(?:newsletter|updates)\b`, `\bfollow us on\b`, `\ball rights reserved\b`, `\benable javascript\b`, `\blog in to (?:continue|read|comment)\b`, `\bclick here to\b`, `\bshare this (?:article|page|post|story)\b`,
			`использу\p{L}+ (?:файлы )?(?:cookie|куки)`, `принять (?:все )?(?:файлы )?(?:cookie|куки)`, `подпи(?:шитесь|сывайтесь|саться|шись) на (?:наш|рассылк|канал|нас|новост|обновлен)`, `все права защищены`, `включите javascript`, `войдите, чтобы`, `нажмите здесь`,
			`使用.{0,8}cookie`, `接受.{0,6}cookie`, `(?:订阅|关注)(?:我们|本站|本号|公众号|邮件|频道)`, `版权所有`, `扫码关注`, `点击(?:这里|此处)`, `请启用\s*javascript`,
		),
		pattern(`cookie|newsletter|subscri|javascript|copyright|\brights\b|log ?in|куки|подпис|рассылк|авторск|订阅|关注|版权|登录`),
	},
}

// For returns what tells junk in answers to a question.
func For(question string) *Filter {
	f := &Filter{}
	for _, k := range kinds {
		if !k.about().in(question, strings.ToLower(question)) {
			f.kinds = append(f.kinds, k)
		}
	}
	return f
}

// Is reports whether a sentence is junk.
func (f *Filter) Is(sentence string) bool {
	lower := strings.ToLower(sentence)
	for _, k := range f.kinds {
		if k.reads().in(sentence, lower) {
			return true
		}
	}
	return piled(lower)
}

const (
	// piled words are so many at least, one of them so often, and that is such a
	// share of all.
	leastWords, leastTimes, leastShare = 10, 4, 0.2
	// In Chinese, of so many characters three in a row come as often.
	leastRunes, runesShare = 20, 0.35
)

// piled reports words that only repeat what people search for: the same one again
// and again, without the small words that a sentence has.
func piled(sentence string) bool {
	words := strings.FieldsFunc(sentence, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n := len(words); n >= leastWords {
		counts := map[string]int{}
		small := 0
		for _, w := range words {
			if counts[w]++; len([]rune(w)) <= 3 {
				small++
			}
		}
		for w, times := range counts {
			if len([]rune(w)) > 3 && times >= leastTimes && float64(times) >= leastShare*float64(n) && small*5 < n {
				return true
			}
		}
	}
	var han []rune
	for _, r := range sentence {
		if unicode.Is(unicode.Han, r) {
			han = append(han, r)
		}
	}
	if len(han) < leastRunes {
		return false
	}
	counts := map[string]int{}
	for i := range len(han) - 2 {
		key := string(han[i : i+3])
		if counts[key]++; counts[key] >= leastTimes && 3*float64(counts[key]) >= runesShare*float64(len(han)) {
			return true
		}
	}
	return false
}
