package reader

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dossier/reader/article"
)

func (b *builder) readHTML(d *Document) {
	source := decode(d.Body, d.ContentType, true)
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil { // nested too deeply for any reader; the words are still there
		b.warn("the markup is broken (" + err.Error() + "): all its text was taken")
		b.looseText(source)
		return
	}
	meta := article.ReadMeta(doc, d.URL)
	b.page.Title, b.page.Author, b.page.Date, b.page.Site = meta.Title, meta.Author, meta.Date, meta.Site
	b.page.Lang = baseLang(meta.Lang)
	at := base(doc, d.URL)
	b.markup(article.Content(doc, &meta), at)
	if b.text.Len() == 0 {
		b.warn("no main content was found: all text was taken")
		b.markup(article.All(doc), at)
	}
	b.page.Scripted = b.text.Len() < fewWords && scripted(doc)
}

// fewWords is the length of a text that a page made by scripts may have
// without them.
const fewWords = 300

// scripted says that a page is an empty frame with scripts that fill it.
func scripted(doc *html.Node) bool {
	scripts := 0
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Script:
			scripts++
		case atom.Div:
			switch attr(n, "id") {
			case "root", "app", "__next", "__nuxt", "react-root", "svelte", "app-root":
				if n.FirstChild == nil || n.FirstChild == n.LastChild {
					return true
				}
			}
		}
	}
	return scripts >= 5
}

// looseText is the text between the tags.
func (b *builder) looseText(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(1 << 20)
	skip := false
	var para strings.Builder
	end := func() {
		b.paragraph(strings.Join(strings.Fields(para.String()), " "))
		para.Reset()
	}
	for !b.full {
		switch z.Next() {
		case html.ErrorToken:
			end()
			return
		case html.TextToken:
			if !skip {
				para.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.Script, atom.Style:
				skip = !skip
			case atom.P, atom.Div, atom.Br, atom.Li, atom.Td, atom.H1, atom.H2, atom.H3:
				end()
			}
		}
	}
}

// base is the address that relative links start at.
func base(doc *html.Node, address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{}
	}
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Base {
			if ref, err := u.Parse(attr(n, "href")); err == nil {
				return ref
			}
		}
		if n.DataAtom == atom.Body {
			break
		}
	}
	return u
}

// baseLang is the language of a tag like en-US.
func baseLang(tag string) string {
	l, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	if len(l) < 2 || len(l) > 3 {
		return ""
	}
	return l
}

// listPlace is how deep a list item is nested, and its number if the list is
// numbered.
func listPlace(li *html.Node) (depth, number int) {
	for n := li.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			depth++
		}
	}
	if p := li.Parent; p != nil && p.DataAtom == atom.Ol {
		number = 1
		if s, err := strconv.Atoi(attr(p, "start")); err == nil {
			number = s
		}
		for n := li.PrevSibling; n != nil; n = n.PrevSibling {
			if n.DataAtom == atom.Li {
				number++
			}
		}
	}
	return min(depth, 8), min(max(number, 0), 1e6)
}

func rawText(w *strings.Builder, nodes []*html.Node) {
	for _, n := range nodes {
		if n.Type == html.TextNode {
			w.WriteString(n.Data)
		} else if n.DataAtom == atom.Br {
			w.WriteByte('\n')
		}
	}
}

// style is the inline markup around a piece of text.
type style struct {
	strong, em, code bool
	link             string
}

func styleOf(n, top *html.Node, at *url.URL) style {
	var s style
	for n = n.Parent; n != nil && n != top; n = n.Parent {
		switch n.DataAtom {
		case atom.B, atom.Strong:
			s.strong = true
		case atom.I, atom.Em:
			s.em = true
		case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
			s.code = true
		case atom.A:
			s.link = linkTarget(attr(n, "href"), at)
		}
	}
	return s
}

// linkTarget is where a link leads, "" if that is no page.
func linkTarget(href string, at *url.URL) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > 2048 {
		return ""
	}
	u, err := at.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.User = nil
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\\", "%5C").Replace(u.String())
}

// inlineMarkdown writes a run of text with its emphasis and links.
func inlineMarkdown(run *article.Block, at *url.URL) string {
	type piece struct {
		text string
		style
	}
	var pieces []piece
	for _, n := range run.Nodes {
		if n.Type != html.TextNode {
			if len(pieces) > 0 {
				pieces[len(pieces)-1].text += " "
			}
			continue
		}
		s := styleOf(n, run.Element, at)
		if k := len(pieces); k > 0 && pieces[k-1].style == s {
			pieces[k-1].text += n.Data
		} else {
			pieces = append(pieces, piece{n.Data, s})
		}
	}
	var out strings.Builder
	space := false
	for _, p := range pieces {
		inner := strings.Join(strings.Fields(p.text), " ")
		if inner == "" {
			space = space || p.text != ""
			continue
		}
		if (space || isSpace(p.text[0])) && out.Len() > 0 {
			out.WriteByte(' ')
		}
		space = isSpace(p.text[len(p.text)-1])
		switch {
		case p.code && !strings.Contains(inner, "`"):
			inner = "`" + inner + "`"
		default:
			inner = escapeMarkdown(inner)
		}
		if p.em {
			inner = "*" + inner + "*"
		}
		if p.strong {
			inner = "**" + inner + "**"
		}
		if p.link != "" {
			inner = "[" + inner + "](" + p.link + ")"
		}
		out.WriteString(inner)
	}
	return out.String()
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val
		}
	}
	return ""
}
