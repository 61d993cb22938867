package console

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// What is decided without a model: a request that names a haiku is one for that, small
// talk and what other programs are asked to do is for nobody here, and the rest is
// looked for in the documents.

var (
	haikuWord = regexp.MustCompile(`(?i)(^|[^\p{L}])(хайку|хокку|haiku|haikus)([^\p{L}]|$)|俳句`)
	// themeAfter is what stands between the haiku and its theme.
	themeAfter = regexp.MustCompile(`(?i)^[\s,:—–-]*(на\s+тему|по\s+теме|с\s+темой|тема|про|обо|об|о|on\s+the\s+theme\s+of|on|about|of|for)?[\s:«"“—–-]*`)
	themeOf    = regexp.MustCompile(`关于(.+?)的`)
	leadIn     = regexp.MustCompile(`(?i)^\s*(пожалуйста|please|请)?[\s,]*(найди|найти|поищи|подскажи|подскажите|расскажи|расскажите|скажи|скажите|search\s+for|look\s+up|find\s+out|find|tell\s+me)[\s,:]+(мне|нам|about|о|об|про)?\s*`)

	smallTalk = phrases(`привет здравствуй здравствуйте добрый день утро вечер доброе как дела спасибо благодарю пока ок окей хорошо ясно понятно да нет ага угу ну
		hi hello hey thanks thank you good morning evening bye okay ok yes no cool nice how are 你好 谢谢 再见 好的`)
	// errands are what other programs are for.
	errands = phrases(`включи выключи закажи купи переведи посчитай вычисли поставь напомни позвони отправь открой закрой запусти нарисуй
		play order buy translate compute calculate remind call send open close start draw`)
)

func phrases(text string) map[string]bool {
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// wordsOf are the words of a request, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// relevantByRules says whether a request is for this agent.
func relevantByRules(request string) bool {
	if haikuWord.MatchString(request) {
		return true
	}
	words := wordsOf(request)
	if len(words) == 0 || errands[words[0]] {
		return false
	}
	for _, w := range words {
		if !smallTalk[w] && strings.ContainsFunc(w, unicode.IsLetter) {
			return true
		}
	}
	return false
}

// chooseByRules finds the tool of a request that is relevant.
func chooseByRules(request string) choice {
	at := haikuWord.FindStringIndex(request)
	if at == nil {
		question := strings.TrimSpace(leadIn.ReplaceAllString(request, ""))
		return choice{ToolSearch, given("question", question)}
	}
	var theme string
	if m := themeOf.FindStringSubmatch(request); m != nil {
		theme = m[1]
	} else {
		theme = request[at[1]:]
		theme = theme[len(themeAfter.FindString(theme)):]
	}
	theme = strings.TrimFunc(theme, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	if theme == "" {
		return choice{ToolHaiku, nil} // what it is about was not said
	}
	return choice{ToolHaiku, given("theme", theme)}
}

func given(name, value string) map[string]json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // a text always encodes
	}
	return map[string]json.RawMessage{name: raw}
}
