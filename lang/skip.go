package lang

import "strings"

// skips are what people say who don't want to answer a question.
var skips = map[string]bool{
	"skip": true, "skip it": true, "just start": true, "no answer": true,
	"пропустить": true, "пропусти": true, "пропуск": true, "дальше": true, "не важно": true, "неважно": true,
	"跳过": true, "直接开始": true, "直接开始研究": true, "略过": true,
}

// IsSkip says whether an answer declines to answer.
func IsSkip(answer string) bool {
	answer = strings.ToLower(strings.Trim(answer, " \t\r\n.!。！\"'«»“”"))
	return answer == "" || skips[answer]
}
