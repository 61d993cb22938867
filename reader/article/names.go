package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// nameWords says what the words in an element's class, id, role and
// itemprop tell about it.
type nameWords uint8

const (
	noise   nameWords = 1 << iota // around the content: share buttons, related links, comments
	content                       // where sites put the text of an article
	body                          // the whole of an article's text and nothing else
	hidden                        // not shown
	caption                       // of a picture or a video
	foreign                       // noise of kinds that can have more text than the article
)

var noiseWords = wordSet(`ad ads advert advertisement advertising adsense adslot dfp banner sponsor sponsored sponsors promo promoted promotion outbrain taboola
	comment comments disqus commentlist commentform livefyre discussion respond replies
	share sharing sharebar sharetools sharethis addtoany addthis social socials facebook whatsapp pinterest linkedin follow followus
	related relatedposts recommended recommendation recommendations recirc recirculation readmore readnext suggested trending popular mostpopular mostread latest
	newsletter newsletters subscribe subscription signup signin login register optin cta
	sidebar rail widget widgets nav navbar navigation menu submenu subnav topnav breadcrumb breadcrumbs pagination pager pagenav
	footer foot colophon copyright disclaimer legal contentinfo masthead topbar toolbar
	cookie cookies consent gdpr popup modal lightbox overlay flyout dropdown tooltip toast
	tags taglist taxonomy keywords categories
	byline author authors authorbio bio vcard timestamp dateline pubdate datetime published posted updated
	credit credits attribution
	skip print printonly noprint rating ratings vote votes votelinks toc
	complementary search searchbox jumplinks screenreader catlinks editsection navbox noexcerpt teaser teasers
	rollover popover feedback donate donation announcement notice alert archive archives relatedarticles morefrom seealso hatnote correction corrections`)

// foreignWords are the noise words of such kinds.
var foreignWords = wordSet(`comment comments disqus commentlist commentform discussion respond replies cookie cookies consent gdpr footer colophon privacy
	popup modal lightbox login signin related recommended`)

var contentWords = wordSet(`article articlebody articlecontent articletext entry entrycontent post postcontent postbody story storybody storycontent content maincontent main
	text textbody body bodytext copy bodycopy prose richtext rich paragraph paragraphs longform hentry news newstext detail blogpost`)

// noisePairs are pairs of neighbouring words that say more than either.
var noisePairs = wordSet(`read-more read-next read-also more-from more-stories more-on most-read most-popular most-viewed see-also you-may also-like
	sign-up log-in pull-quote author-bio about-author post-meta entry-meta article-meta post-footer entry-footer article-footer
	post-tags article-tags post-info article-info article-header entry-header post-header story-header article-title entry-title post-title
	end-note article-promo back-top skip-link next-prev prev-next inline-promo embed-link story-links post-navigation table-contents
	article-author article-date post-date entry-date story-meta story-footer in-brief key-points hot-topics call-action`)

// bodyPairs are pairs that sites give to the element of an article's text.
var bodyPairs = wordSet(`article-body article-content article-text entry-content post-content post-body story-body story-content story-text body-text body-copy
	body-content content-body article-copy page-content single-content news-content news-text news-body main-text mw-parser content-article
	blog-content rich-text paywall-content article-entry articlebody-content text-content detail-content`)

var hiddenWords = wordSet(`hidden hide invisible displaynone visuallyhidden sronly noshow`)

var captionWords = wordSet(`caption captions imagecaption figcaption photocaption legend cutline`)

// neutralWords take back what a noise word says: sites name what they put
// around their text by them too.
var neutralWords = wordSet(`no has with without is layout embed col column container wrapper wrap js page site template grid row single`)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// names reads the names of a page's elements. A page has few of them, many times.
type names struct {
	trial *Trial // nil for all words
	known map[string]nameWords
}

// of reads an element's names.
func (k *names) of(n *html.Node) nameWords {
	var got nameWords
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "class", "id", "role", "data-component", "data-testid":
			if a.Key == "class" && (n.DataAtom == atom.Body || n.DataAtom == atom.Html) {
				continue
			}
			for name := range strings.FieldsSeq(a.Val) {
				got |= k.word(name)
			}
		case "itemprop":
			switch {
			case strings.EqualFold(a.Val, "articleBody"), strings.EqualFold(a.Val, "reviewBody"):
				got |= body | content
			case strings.EqualFold(a.Val, "author"), strings.EqualFold(a.Val, "headline"), strings.EqualFold(a.Val, "datePublished"), strings.EqualFold(a.Val, "comment"), strings.EqualFold(a.Val, "publisher"):
				got |= noise
			}
		case "hidden":
			got |= hidden
		case "aria-hidden":
			if a.Val == "true" {
				got |= hidden
			}
		case "style":
			if hides(a.Val) {
				got |= hidden
			}
		}
	}
	return got
}

// word reads one class name or id.
func (k *names) word(name string) nameWords {
	got, ok := k.known[name]
	if !ok {
		if k.known == nil {
			k.known = map[string]nameWords{}
		}
		if !topical(name) {
			got = judge(name, k.trial)
		}
		k.known[name] = got
	}
	return got
}

// topical says that a class name repeats what the article is about, as
// WordPress writes it: tag-cookies, category-comments.
func topical(name string) bool {
	return strings.HasPrefix(name, "tag-") || strings.HasPrefix(name, "category-") || strings.HasPrefix(name, "post_format-")
}

func hides(style string) bool {
	if !strings.Contains(style, "none") && !strings.Contains(style, "hidden") {
		return false
	}
	s := strings.ReplaceAll(strings.ToLower(style), " ", "")
	return strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden")
}

// judge reads one class name or id, word by word.
func judge(name string, v *Trial) nameWords {
	if len(name) > 64 { // made by a program
		name = name[:64]
	}
	var parts [12]string
	words := splitName(name, parts[:0])
	if len(words) == 0 {
		return 0
	}
	var got nameWords
	neutral := false
	for i, w := range words {
		if v.knows(foreignWords, w) {
			got |= foreign | noise
		}
		switch {
		case v.knows(noiseWords, w):
			got |= noise
		case v.knows(contentWords, w):
			got |= content
		case len(words) == 1 && v.knows(hiddenWords, w):
			got |= hidden
		case v.knows(captionWords, w):
			got |= caption
		case v.knows(neutralWords, w):
			neutral = true
		}
		if i > 0 {
			pair := words[i-1] + "-" + w
			switch {
			case v.knows(noisePairs, pair):
				got |= noise
			case v.knows(bodyPairs, pair):
				got |= body | content
			case pair == "sr-only", pair == "visually-hidden", pair == "screen-reader", pair == "display-none", pair == "d-none":
				got |= hidden
			}
		}
	}
	if neutral && got&foreign == 0 {
		got &^= noise
	}
	if len(words) == 1 && (words[0] == "articlebody" || words[0] == "bodycopy" || words[0] == "postbody" || words[0] == "entrycontent" || words[0] == "articlecontent" || words[0] == "storybody" || words[0] == "articletext") {
		got |= body | content
	}
	if got&body != 0 && got&noise != 0 && words[len(words)-1] != "body" && words[len(words)-1] != "content" {
		got &^= body
	}
	return got
}

// splitName cuts "postMeta_bar-2" into post, meta, bar.
func splitName(name string, words []string) []string {
	start := -1
	add := func(end int) {
		if start >= 0 && end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = -1
	}
	for i := 0; i < len(name) && len(words) < cap(words)-1; i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z':
			if start < 0 {
				start = i
			}
		case c >= 'A' && c <= 'Z':
			if start >= 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				add(i)
			}
			if start < 0 {
				start = i
			}
		default:
			add(i)
		}
	}
	add(len(name))
	return words
}
