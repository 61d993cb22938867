package article

import (
	"strings"
	"unicode/utf8"
)

// fixtures begin lines that sites put between the paragraphs of an article:
// pointers to other pages, requests, labels of advertising. They only count
// in short lines.
var fixtures = []string{
	"advert", "advertisement", "advertising", "sponsored", "promoted", "story continues below", "article continues below", "continue reading", "scroll to continue",
	"read more", "read also", "read next", "also read", "see more", "see also", "watch more", "more:", "related:", "related", "related articles", "related stories", "related posts", "recommended", "don't miss", "don’t miss", "you may also like",
	"you might also like", "more from", "more on this", "more stories", "trending", "most popular", "most read", "editor's picks", "editors' picks",
	"sign up", "subscribe", "newsletter", "follow us", "follow me", "follow him", "follow her", "follow them", "like us on", "join us on", "find us on", "share this", "share on", "share:", "tweet this", "click here to", "click to share",
	"email this", "print this", "leave a comment", "leave a reply", "add a comment", "comments are closed", "post a comment", "view comments", "show comments", "comments", "join the discussion",
	"copyright", "©", "(c) 20", "all rights reserved", "filed under", "posted in", "tagged with", "tags:", "topics:", "categories:", "image credit", "photo credit", "photo by", "photo:", "image:", "picture:", "photograph:", "getty images",
	"contact us at", "listen to this article", "your browser does not support", "javascript is", "please enable javascript", "loading", "back to top", "previous article", "next article", "skip to",
	"читайте также", "читайте на", "читать далее", "подписывайтесь", "подпишитесь", "поделиться", "реклама", "смотрите также", "материалы по теме", "по теме:", "комментарии", "фото:", "теги:", "источник фото",
	"lesen sie auch", "mehr zum thema", "lire aussi", "à lire aussi", "leggi anche", "lea también", "lee también", "leia também", "leia mais", "lees ook", "czytaj też", "czytaj także", "anzeige", "publicité", "publicidad", "pubblicità", "newsletter abonnieren",
	"相关阅读", "相关新闻", "推荐阅读", "延伸阅读", "更多精彩", "责任编辑", "分享到", "扫一扫", "关注我们", "版权声明", "关连", "関連記事", "続きを読む", "あわせて読みたい", "広告",
}

// fixtureStarts finds the fixtures by their first letter.
var fixtureStarts = func() map[rune][]string {
	m := map[rune][]string{}
	for _, f := range fixtures {
		for _, r := range f {
			m[r] = append(m[r], f)
			break
		}
	}
	return m
}()

// fixture says that a block is such a line.
func (t *tree) fixture(b *block) bool {
	if b.weight > 140 {
		return false
	}
	s := strings.ToLower(strings.TrimLeft(b.text, "[(*>»→-–—•▶ "))
	first, _ := utf8.DecodeRuneInString(s)
	for _, f := range fixtureStarts[first] {
		if strings.HasPrefix(s, f) && ends(s[len(f):]) && plausible(b, s, f) && t.trial.allows(f) {
			return true
		}
	}
	return imageCount(s)
}

// ends says that a word ends here.
func ends(rest string) bool {
	return rest == "" || !(rest[0] >= 'a' && rest[0] <= 'z' || rest[0] >= '0' && rest[0] <= '9')
}

// plausible tells a label or a line of links from a sentence that happens to
// begin with the same words.
func plausible(b *block, s, f string) bool {
	rest := strings.TrimSpace(s[len(f):])
	return rest == "" || len(rest) < 4 || b.links*3 >= b.weight || rest[0] == ':' || strings.HasSuffix(f, ":") || b.marks == 0 && b.weight < 90 || strings.HasPrefix(rest, "us") || b.weight < 60
}

// imageCount matches "image 1 of 5".
func imageCount(s string) bool {
	var rest string
	for _, w := range []string{"image ", "photo ", "slide ", "picture "} {
		if r, ok := strings.CutPrefix(s, w); ok {
			rest = r
		}
	}
	return rest != "" && len(rest) < 12 && strings.Contains(rest, " of ") && isDigit(rest[0])
}
