package article

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Meta is what a page says about itself.
type Meta struct {
	Title, Author, Site, Lang string
	Date                      string // published, as YYYY-MM-DD
	Body                      string // the article's text, where the page gives it as data
	// Manual says that the page is one of a manual and not an article.
	Manual bool
}

// facts are what a page's head and attributes hold, before one is chosen.
type facts struct {
	meta     map[string]string // by lower-case name or property; the first wins
	ld       linked
	title    string
	lang     string
	h1       []string
	times    []timed
	authors  []string // from itemprop and rel
	dates    []string // from itemprop
	dateText []string // what elements named after a date say
	loose    []string // short texts with a number in them that follow the headline
	social   bool     // it has data for other sites to show it by
	foreign  bool     // it has scripts from elsewhere
}

// timed is a time element: its machine-readable value and its text.
type timed struct {
	value, text string
	published   bool // the page marks it as the date of publication
	weak        bool // it stands in a list, a comment, a footer
}

// ReadMeta collects what the page at an address says about itself.
func ReadMeta(doc *html.Node, address string) Meta {
	f := &facts{meta: map[string]string{}}
	f.collect(doc, false)
	u, _ := url.Parse(address)
	m := Meta{
		Lang: f.language(),
		Body: stripTags(f.ld.body),
	}
	m.Manual = f.manual(address == "")
	m.Site = f.site(u)
	m.Title = f.pickTitle(m.Site)
	m.Author = f.author()
	m.Date = f.date(u, m.Lang)
	return m
}

func (f *facts) first(names ...string) string {
	for _, n := range names {
		if v := f.meta[n]; v != "" {
			return v
		}
	}
	return ""
}

// maxLoose bounds how many short texts are looked at for a date.
const maxLoose = 60

func (f *facts) collect(n *html.Node, weak bool) {
	if n.Type == html.TextNode && len(f.h1) > 0 && !weak && len(f.loose) < maxLoose && len(n.Data) < 120 && strings.ContainsAny(n.Data, "0123456789") {
		f.loose = append(f.loose, clean(n.Data))
	}
	if n.Type == html.ElementNode {
		switch n.DataAtom {
		case atom.Meta:
			name := attr(n, "property")
			f.social = f.social || name != ""
			if name == "" {
				name = attr(n, "name")
			}
			if name == "" {
				name = attr(n, "itemprop")
			}
			if name == "" && strings.EqualFold(attr(n, "http-equiv"), "content-language") {
				name = "content-language"
			}
			name = strings.ToLower(name)
			if v := clean(attr(n, "content")); name != "" && v != "" {
				if _, ok := f.meta[name]; !ok {
					f.meta[name] = v
				} else if name == "author" || name == "article:author" {
					f.authors = append(f.authors, v)
				}
			}
			return
		case atom.Title:
			if f.title == "" && n.Parent != nil && n.Parent.DataAtom == atom.Head {
				f.title = textOf(n, 300)
			}
			return
		case atom.Html:
			if f.lang = attr(n, "lang"); f.lang == "" {
				f.lang = attr(n, "xml:lang")
			}
		case atom.Script:
			f.foreign = f.foreign || strings.Contains(attr(n, "src"), "//")
			if strings.Contains(strings.ToLower(attr(n, "type")), "ld+json") && n.FirstChild != nil {
				f.social = true
				f.ld.read(n.FirstChild.Data)
			}
			return
		case atom.Style, atom.Svg, atom.Template, atom.Noscript:
			return
		case atom.Nav, atom.Footer, atom.Aside:
			weak = true
		case atom.H1:
			if t := textOf(n, 300); t != "" && !weak {
				f.h1 = append(f.h1, t)
			}
		case atom.Time:
			if len(f.times) < 200 {
				f.times = append(f.times, timed{value: attr(n, "datetime"), text: textOf(n, 80), weak: weak,
					published: strings.Contains(strings.ToLower(attr(n, "itemprop")+attr(n, "class")), "publish") || has(n, "pubdate")})
			}
		case atom.Ul, atom.Ol:
			weak = weak || (&names{}).of(n)&noise != 0
		}
		switch prop := attr(n, "itemprop"); {
		case strings.EqualFold(prop, "datePublished"), strings.EqualFold(prop, "dateCreated"):
			v := attr(n, "content")
			if v == "" {
				v = attr(n, "datetime")
			}
			if v == "" {
				v = textOf(n, 80)
			}
			f.dates = append(f.dates, v)
		case strings.EqualFold(prop, "author"), strings.EqualFold(attr(n, "rel"), "author") && !weak:
			if t := textOf(n, 100); t != "" && len(f.authors) < 8 {
				f.authors = append(f.authors, t)
			}
		default:
			if len(f.dateText) < 20 && !weak && datedName(n) {
				if t := textOf(n, 120); t != "" {
					f.dateText = append(f.dateText, t)
				}
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		f.collect(c, weak)
	}
}

// datedName says that an element is named after a date.
func datedName(n *html.Node) bool {
	for i := range n.Attr {
		if k := n.Attr[i].Key; k == "class" || k == "id" {
			v := strings.ToLower(n.Attr[i].Val)
			if strings.Contains(v, "date") && !strings.Contains(v, "update") && !strings.Contains(v, "candidate") || strings.Contains(v, "publish") || strings.Contains(v, "posted") || strings.Contains(v, "timestamp") {
				return true
			}
		}
	}
	return false
}

func has(n *html.Node, name string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return true
		}
	}
	return false
}

// textOf is the text below n with single blanks, cut at about limit bytes.
func textOf(n *html.Node, limit int) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if b.Len() > limit {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && (n.DataAtom == atom.Script || n.DataAtom == atom.Style) {
			return
		}
		if n.Type == html.ElementNode && !inline[n.DataAtom] {
			b.WriteByte(' ')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return clean(b.String())
}

// clean makes all white space single blanks.
func clean(s string) string { return strings.Join(strings.Fields(s), " ") }

func (f *facts) language() string {
	l := f.lang
	for _, other := range []string{f.meta["content-language"], f.meta["og:locale"], f.ld.lang, f.meta["dc.language"]} {
		if l == "" {
			l = other
		}
	}
	l, _, _ = strings.Cut(strings.TrimSpace(l), ",")
	return strings.ReplaceAll(l, "_", "-")
}

func (f *facts) site(u *url.URL) string {
	if s := f.first("og:site_name", "application-name"); s != "" {
		return s
	}
	if f.ld.publisher != "" {
		return f.ld.publisher
	}
	if s := f.first("apple-mobile-web-app-title", "twitter:site"); s != "" && !strings.HasPrefix(s, "@") {
		return s
	}
	if u != nil {
		return strings.TrimPrefix(u.Hostname(), "www.")
	}
	return ""
}

// pickTitle prefers the headline that the page shows, if the head agrees.
func (f *facts) pickTitle(site string) string {
	said := clean(html.UnescapeString(f.ld.headline))
	for _, s := range []string{f.first("og:title", "twitter:title", "dc.title", "parsely-title", "sailthru.title", "title"), f.title} {
		if said == "" {
			said = s
		}
	}
	whole := " " + fold(f.title) + " | " + fold(f.meta["og:title"]) + " | " + fold(said) + " "
	for _, h := range f.h1 {
		if k := fold(h); len(k) > 10 && strings.Contains(whole, " "+k+" ") {
			return h
		}
	}
	said = dropSite(said, site)
	if said == "" && len(f.h1) > 0 {
		return f.h1[0]
	}
	return said
}

// dropSite cuts the name of the site off a title.
func dropSite(title, site string) string {
	for _, sep := range []string{" | ", " – ", " — ", " - ", " :: ", " » ", " · ", " • ", "｜", " / ", "_", "|"} {
		i := strings.LastIndex(title, sep)
		if i < 0 {
			continue
		}
		head, tail := title[:i], title[i+len(sep):]
		k, s := fold(tail), fold(site)
		if s != "" && k != "" && (strings.Contains(s, k) || strings.Contains(k, s) || strings.Contains(strings.ReplaceAll(s, " ", ""), strings.ReplaceAll(k, " ", ""))) {
			return dropSite(strings.TrimSpace(head), site)
		}
		if sep == " | " && len(head) > 2*len(tail) {
			return strings.TrimSpace(head)
		}
	}
	return strings.TrimSpace(title)
}

func (f *facts) author() string {
	if len(f.ld.authors) > 0 {
		return strings.Join(f.ld.authors, ", ")
	}
	for _, n := range []string{"author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "byl", "citation_author", "twitter:creator"} {
		if v := f.meta[n]; v != "" && !strings.Contains(v, "://") && !strings.HasPrefix(v, "@") && len(v) < 120 {
			return trimBy(v)
		}
	}
	for _, v := range f.authors {
		if !strings.Contains(v, "://") && len(v) < 80 {
			return trimBy(v)
		}
	}
	return ""
}

func trimBy(s string) string {
	for _, by := range []string{"by ", "By ", "BY ", "von ", "Von ", "par ", "Par ", "por ", "Por ", "Автор: ", "автор: "} {
		s = strings.TrimPrefix(s, by)
	}
	return strings.TrimSpace(s)
}

// stripTags takes markup out of a text that a page gives as data.
func stripTags(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(html.UnescapeString(s)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		default:
			b.WriteByte(' ')
		}
	}
}
