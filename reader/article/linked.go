package article

import (
	"encoding/json"
	"slices"
	"strings"
)

// linked is what a page's JSON-LD says about its article.
type linked struct {
	headline, published, body, publisher, lang string
	authors                                    []string
}

// maxLinked bounds the JSON-LD that is read.
const maxLinked = 1 << 20

func (l *linked) read(text string) {
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<![CDATA["), "]]>")
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<!--"), "-->")
	if text == "" || len(text) > maxLinked {
		return
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		// Line breaks in strings are the usual fault.
		fixed := strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == '\t' {
				return ' '
			}
			return r
		}, text)
		if json.Unmarshal([]byte(strings.TrimRight(fixed, " ;")), &v) != nil {
			return
		}
	}
	l.visit(v, 0)
}

var articleTypes = wordSet(`Article NewsArticle BlogPosting ReportageNewsArticle OpinionNewsArticle AnalysisNewsArticle BackgroundNewsArticle
	ReviewNewsArticle LiveBlogPosting TechArticle ScholarlyArticle AdvertiserContentArticle SocialMediaPosting Report`)

func (l *linked) visit(v any, depth int) {
	if depth > 6 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.visit(x, depth+1)
		}
	case map[string]any:
		if isArticle(v["@type"]) {
			l.take(v)
		}
		for _, k := range []string{"@graph", "mainEntity", "mainEntityOfPage"} {
			if x, ok := v[k]; ok {
				l.visit(x, depth+1)
			}
		}
	}
}

func isArticle(t any) bool {
	switch t := t.(type) {
	case string:
		return articleTypes[t]
	case []any:
		if slices.ContainsFunc(t, isArticle) {
			return true
		}
	}
	return false
}

func (l *linked) take(v map[string]any) {
	set := func(to *string, key string) {
		if s, ok := v[key].(string); ok && *to == "" {
			*to = s
		}
	}
	set(&l.headline, "headline")
	set(&l.published, "datePublished")
	set(&l.body, "articleBody")
	set(&l.lang, "inLanguage")
	if p, ok := v["publisher"].(map[string]any); ok && l.publisher == "" {
		l.publisher, _ = p["name"].(string)
	}
	if len(l.authors) == 0 {
		l.authors = personNames(v["author"])
	}
}

func personNames(v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" && !strings.Contains(v, "://") {
			return []string{clean(v)}
		}
	case map[string]any:
		return personNames(v["name"])
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, personNames(x)...)
			if len(all) > 20 {
				break
			}
		}
		return all
	}
	return nil
}
