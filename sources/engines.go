package sources

import (
	"slices"
	"strings"

	"dossier/index"
	"dossier/lang"
	"dossier/search"
)

// engineLine is an engine as a plan's prompt names it.
type engineLine struct{ Name, Topics string }

func engineLines(engines []search.Info) []engineLine {
	var out []engineLine
	for _, e := range engines {
		topics := make([]string, len(e.Topics))
		for i, t := range e.Topics {
			topics[i] = string(t)
		}
		out = append(out, engineLine{e.Name, strings.Join(topics, ", ")})
	}
	return out
}

// mostEngines bounds the engines that are chosen for a facet.
const mostEngines = 3

// known are the names that are engines', each once.
func known(names []string, engines []search.Info) []string {
	var out []string
	for _, n := range names {
		n = strings.ToLower(strings.TrimSpace(n))
		is := slices.ContainsFunc(engines, func(e search.Info) bool { return e.Name == n })
		if is && !slices.Contains(out, n) && len(out) < mostEngines {
			out = append(out, n)
		}
	}
	return out
}

// topicWords are words of a question that tell where its answer stands, the
// clearest source first. Latin and Cyrillic ones are matched by their stem.
var topicWords = []struct {
	topic search.Topic
	words string
}{
	{search.Papers, `paper papers preprint arxiv study studies publication publications dataset benchmark theorem state-of-the-art sota
		статья статьи препринт исследование исследования публикация публикации датасет бенчмарк теорема
		论文 预印本 研究进展 综述 数据集 基准 定理 算法 架构 注意力机制`},
	{search.Code, `github repository repo library package framework api sdk bug stacktrace exception compiler open-source changelog
		репозиторий библиотека фреймворк баг исключение компилятор исходник
		代码 仓库 开源 框架 报错 漏洞 编译器`},
	{search.Discussion, `opinion opinions discussion discussions community hacker hackernews reddit experience
		мнение мнения обсуждение обсуждения сообщество опыт
		讨论 评价 看法 社区 经验`},
	{search.Blogs, `blog announcement announced release released model llm transformer huggingface finetuning
		блог анонс релиз трансформер
		博客 发布 大模型 模型 微调`},
	{search.Encyclopedia, `who born capital population founded history definition meaning biography
		кто родился родилась столица население основан основана история определение биография
		是谁 首都 人口 历史 定义 出生 什么是`},
}

// chooseEngines picks engines for a question by its words: papers before what
// is written about them, and the open web only when nothing else fits, which
// is no choice at all.
func chooseEngines(question string, engines []search.Info) []string {
	return enginesAbout(question, engines, mostEngines)
}

func enginesAbout(question string, engines []search.Info, most int) []string {
	stems := make(map[string]bool)
	code := lang.Detect(question)
	for _, t := range index.Tokens(question, code) {
		stems[t.Term] = true
	}
	var out []string
	for _, kind := range topicWords {
		if !mentions(question, stems, code, kind.words) {
			continue
		}
		for _, e := range engines {
			if slices.Contains(e.Topics, kind.topic) && !slices.Contains(e.Topics, search.General) && !slices.Contains(out, e.Name) && len(out) < most {
				out = append(out, e.Name)
			}
		}
	}
	return out
}

// EnginesFor are the engines for special things that a text speaks of.
func EnginesFor(text string, engines []search.Info) []string {
	return enginesAbout(text, engines, len(engines))
}

// mentions says whether a question has one of the words.
func mentions(question string, stems map[string]bool, code lang.Code, words string) bool {
	lower := strings.ToLower(question)
	for word := range strings.FieldsSeq(words) {
		if word[0] >= 0xE3 { // Chinese has no spaces to find words by
			if strings.Contains(lower, word) {
				return true
			}
			continue
		}
		for _, t := range index.Tokens(word, code) {
			if stems[t.Term] && t.Start == 0 {
				return true
			}
		}
	}
	return false
}

// enginesFor are those chosen for the facets that a query is asked for.
func (g *gathering) enginesFor(q *query) []string {
	var out []string
	for _, f := range q.facets {
		for _, name := range g.planned[f].Engines {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// asking is who is asked, in words.
func (g *gathering) asking(q *query) string {
	if chosen := g.enginesFor(q); len(chosen) > 0 {
		return strings.Join(chosen, ",")
	}
	return g.Corpus.Name()
}
