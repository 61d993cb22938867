package webtest

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// The markup of a page has one block a line: "# " starts a heading, "- " an
// item, "| " a row of a table, "@" a post in a thread, and "!<" is HTML that is
// sent as it is and that the engine does not see. Everything else is a
// paragraph. [words](address) is a link in any of them.

var link = regexp.MustCompile(`(!?)\[([^\]]*)\]\((https?://[^)]*)\)`)

// plain is the text of markup.
func plain(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line == "" || strings.HasPrefix(line, "!<") {
			continue
		}
		for _, sign := range []string{"# ", "- ", "| ", "@"} {
			line = strings.TrimPrefix(line, sign)
		}
		line = link.ReplaceAllStringFunc(line, func(l string) string {
			if m := link.FindStringSubmatch(l); m[1] == "" {
				return m[2]
			}
			return l // a picture in Markdown is text on a page of HTML
		})
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// inline is the HTML of a line's text.
func inline(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
		if m[2] != m[3] {
			continue
		}
		b.WriteString(html.EscapeString(text[at:m[0]]))
		fmt.Fprintf(&b, `<a href="%s">%s</a>`, html.EscapeString(text[m[6]:m[7]]), html.EscapeString(text[m[4]:m[5]]))
		at = m[1]
	}
	b.WriteString(html.EscapeString(text[at:]))
	return b.String()
}

// blocks is the HTML of markup.
func (s *site) blocks(p *page) string {
	var b strings.Builder
	open := ""
	within := func(tag string) {
		if open == tag {
			return
		}
		if open != "" {
			fmt.Fprintf(&b, "</%s>\n", open)
		}
		if tag != "" {
			fmt.Fprintf(&b, "<%s>\n", tag)
		}
		open = tag
	}
	words := s.phrases[p.Lang]
	posted := strings.Split(words.fields["posted"], "|")
	for i, line := range p.body {
		text, raw := line, strings.HasPrefix(line, "!<")
		switch {
		case strings.HasPrefix(line, "- "):
			within("ul")
			fmt.Fprintf(&b, "<li>%s</li>\n", inline(text[2:]))
			continue
		case strings.HasPrefix(line, "| "):
			cell := "td"
			if open != "table" {
				cell = "th"
			}
			within("table")
			b.WriteString("<tr>")
			for c := range strings.SplitSeq(text[2:], " | ") {
				fmt.Fprintf(&b, "<%s>%s</%s>", cell, inline(c), cell)
			}
			b.WriteString("</tr>\n")
			continue
		}
		within("")
		switch {
		case line == "":
		case raw:
			b.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "# "):
			fmt.Fprintf(&b, "<h2>%s</h2>\n", inline(text[2:]))
		case strings.HasPrefix(line, "@"):
			fmt.Fprintf(&b, "<div class=\"post\"><div class=\"user\">%s · %s %s</div><p>%s</p></div>\n", words.field("users", fmt.Sprint(p.URL, i)), posted[0], p.Date, inline(text[1:]))
		default:
			fmt.Fprintf(&b, "<p>%s</p>\n", inline(text))
		}
	}
	within("")
	return b.String()
}

// html is a page as its site sends it, with all that stands around the text.
func (s *site) html(p *page) string {
	words := s.phrases[p.Lang]
	name := hostWord(p.URL)
	name = strings.ToUpper(name[:1]) + name[1:]
	title := html.EscapeString(p.Title)
	charset := p.charset
	if charset == "" {
		charset = "utf-8"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"%s\"><title>%s | %s</title>\n", p.Lang, charset, title, name)
	fmt.Fprintf(&b, "<meta property=\"og:site_name\" content=\"%s\"><meta property=\"og:title\" content=\"%s\">\n", name, title)
	if p.Date != "" {
		fmt.Fprintf(&b, "<meta property=\"article:published_time\" content=\"%sT08:00:00Z\">\n", p.Date)
	}
	if p.Author != "" {
		fmt.Fprintf(&b, "<meta name=\"author\" content=\"%s\">\n", html.EscapeString(p.Author))
	}
	if p.Kind == News || p.Kind == Copy {
		fmt.Fprintf(&b, "<script type=\"application/ld+json\">{\"@context\":\"https://schema.org\",\"@type\":\"NewsArticle\",\"headline\":%q,\"datePublished\":\"%sT08:00:00Z\"}</script>\n", p.Title, p.Date)
	}
	b.WriteString("<style>body{max-width:50em}</style></head>\n<body><header><nav><ul>")
	for i, item := range strings.Split(words.fields["chrome"], "|") {
		fmt.Fprintf(&b, "<li><a href=\"/section/%d\">%s</a></li>", i, item)
	}
	fmt.Fprintf(&b, "</ul></nav></header>\n<div class=\"cookie-banner\"><p>%s</p></div>\n<main><article><h1>%s</h1>\n", words.fields["cookies"], title)
	if p.Author != "" {
		fmt.Fprintf(&b, "<p class=\"byline\">%s %s, <time datetime=\"%s\">%s</time></p>\n", strings.Split(words.fields["posted"], "|")[1], html.EscapeString(p.Author), p.Date, p.Date)
	}
	b.WriteString("<div class=\"share-bar\">")
	for item := range strings.SplitSeq(words.fields["share"], "|") {
		fmt.Fprintf(&b, "<a href=\"#\">%s</a> ", item)
	}
	fmt.Fprintf(&b, "</div>\n<div class=\"article-body\">\n%s</div></article>\n", s.blocks(p))
	fmt.Fprintf(&b, "<aside class=\"related\"><h2>%s</h2><ul>%s</ul></aside></main>\n", words.fields["related"], s.related(p))
	fmt.Fprintf(&b, "<footer><p>© %s. %s</p></footer></body></html>\n", name, words.fields["footer"])
	return b.String()
}

// related is links to other pages of the same host.
func (s *site) related(p *page) string {
	var b strings.Builder
	host, left := hostOf(p.URL), 3
	for i := range s.pages {
		other := s.pages[(i+pick(p.URL, len(s.pages)))%len(s.pages)]
		if left > 0 && other != p && hostOf(other.URL) == host {
			fmt.Fprintf(&b, `<li><a href="%s">%s</a></li>`, html.EscapeString(other.URL), html.EscapeString(other.Title))
			left--
		}
	}
	return b.String()
}

// encoded is a page in its charset.
func encoded(text, charset string) ([]byte, error) {
	if charset == "" {
		return []byte(text), nil
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, fmt.Errorf("webtest: charset %s: %w", charset, err)
	}
	return encoding.HTMLEscapeUnsupported(e.NewEncoder()).Bytes([]byte(text))
}
