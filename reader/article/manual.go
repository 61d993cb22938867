package article

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Pages of manuals are read another way than articles. Nothing in them is
// foreign: no teasers, no comments, no advertising; but much of them is lists,
// tables and code that an article's text would not be. So all is kept but the
// furniture around the text, and lists of links are known for what they are.

// tools make pages of manuals; a page names its one as generator.
var tools = []string{"docbook", "sphinx", "docutils", "asciidoc", "doxygen", "publican", "texinfo", "makeinfo", "texi2html", "pandoc", "mdbook", "mkdocs",
	"docusaurus", "vitepress", "antora", "javadoc", "rustdoc", "latex2html", "tex4ht", "hevea", "linuxdoc", "debiandoc", "yelp", "gtk-doc", "pkgdown", "bookdown", "groff", "man2html"}

// manual says that a page is one of a manual: a tool for manuals made it, or
// it is a file with nothing of what sites add for others to show them, and
// with no script from elsewhere.
func (f *facts) manual(file bool) bool {
	generator := strings.ToLower(f.meta["generator"])
	for _, t := range tools {
		if strings.HasPrefix(generator, t) {
			return true
		}
	}
	return file && !f.foreign && !f.social && generator == ""
}

// part is what an element of a manual's page is for.
type part uint8

const (
	text      part = iota
	furniture      // around the text: not read
	listing        // links to other pages or places, by its name
	linkList       // the same, by what is in it
)

// furnitureNames are classes and ids of navigation, as tools write them: whole
// names, because words in them are also found in the names of sections.
var furnitureNames = wordSet(`navheader navfooter docnav breadcrumb breadcrumbs wy-breadcrumbs nav navbar navbar-nav navigation menu mainmenu submenu topnav
	sphinxsidebar sphinxsidebarwrapper bottomnav footer page-footer footer-text navback navback-top rst-versions skip-link searchbox quicksearch
	header-navigation nav-wrapper nav-chapters nav-path navpath prevnext prev-next`)

// listingNames are those of tables of contents, indexes and pointers.
var listingNames = wordSet(`toc toc2 contents index genindex indexdiv index-entries related relatedtopics related-topics seealso sidebar toctree-wrapper toctree-l1 fancy_toc minitoc
	tableofcontents table-of-contents list-of-figures list-of-tables list-of-examples list-of-equations lof lot sectlevel1 localtoc
	genindextable modindextable indextable columns`)

func partOf(n *html.Node, inMain bool) part {
	got := text
	switch n.DataAtom {
	case atom.Nav, atom.Menu:
		got = furniture
	case atom.Footer, atom.Aside:
		if !inMain {
			return furniture
		}
	}
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "role":
			switch a.Val {
			case "navigation", "search", "contentinfo", "banner":
				got = furniture
			}
		case "class", "id":
			for name := range strings.FieldsSeq(a.Val) {
				switch name = strings.ToLower(name); {
				case furnitureNames[name]:
					return furniture
				case listingNames[name] && (got == text || inMain):
					got = listing
				}
			}
		}
	}
	return got
}

// Chapter returns the text of a chapter of a book: all that is shown, with
// navigation and lists of links known for what they are.
func Chapter(root *html.Node) []Block {
	t := scan(root, nil)
	if len(t.blocks) == 0 {
		return nil
	}
	return t.manualContent(true)
}

// named says that an element has a class or an id.
func named(n *html.Node, name string) bool {
	return attr(n, "id") == name || slices.Contains(strings.Fields(attr(n, "class")), name)
}

// manualContent returns the text of a page of a manual. Of a book, furniture
// is kept too, as contents.
func (t *tree) manualContent(book bool) []Block {
	for i := range t.blocks {
		b := &t.blocks[i]
		for e := b.elem; e >= 0; e = t.elems[e].parent {
			t.elems[e].text += b.weight
			t.elems[e].links += b.links
		}
	}
	from, to := t.mainPart()
	parts := make([]part, len(t.elems))
	for i := range t.elems {
		e := &t.elems[i]
		if e.parent >= 0 && parts[e.parent] != text && parts[e.parent] != linkList {
			parts[i] = parts[e.parent]
			continue
		}
		p := text
		if len(e.node.Attr) > 0 || e.node.DataAtom == atom.Nav || e.node.DataAtom == atom.Footer || e.node.DataAtom == atom.Aside {
			p = partOf(e.node, from > 0 && i > from)
		}
		switch {
		case e.words&hidden != 0:
			p = furniture
		case p == listing && e.links*5 < e.text*2 && !named(e.node, "toc"):
			p = text // a section that is called so
		case p == furniture && i <= from && e.end > from:
			p = text // it stands around the text
		case p == furniture && e.text*2 > t.text && e.links*5 < e.text*2:
			p = text
		case p == text && e.parent >= 0 && parts[e.parent] == linkList:
			p = linkList
		case p == text && t.linkList(e):
			p = linkList
		}
		parts[i] = p
	}
	var out []Block
	if !book {
		t.dropLead(parts, from)
	}
	for i := t.elems[from].first; i < t.elems[from].last && i < len(t.blocks); i++ {
		b := &t.blocks[i]
		if b.elem < from || b.elem >= to {
			continue
		}
		p := parts[b.elem]
		if p == furniture && (!book || t.elems[b.elem].words&hidden != 0) {
			continue
		}
		linked := p == linkList && b.links*2 >= b.weight && !heading(t.elems[b.elem].node)
		out = append(out, Block{Nodes: b.nodes, Element: t.elems[b.elem].node, Text: b.text, Contents: p == listing || p == furniture || linked})
	}
	return out
}

// mainPart is the element that the page itself calls its main part, if that
// has most of the text, else all of it, as a span of elements.
func (t *tree) mainPart() (from, to int) {
	for i := range t.elems {
		e := &t.elems[i]
		if (e.node.DataAtom == atom.Main || attr(e.node, "role") == "main") && (e.text-e.links)*2 > t.text-t.elems[0].links {
			return i, e.end
		}
	}
	return 0, len(t.elems)
}

// fewLinks is how many entries a list of links has at least.
const fewLinks = 3

// linkList says that an element is nothing but links, and that no sentence
// leads up to it: what follows one is part of the text.
func (t *tree) linkList(e *elem) bool {
	switch e.node.DataAtom {
	case atom.Ul, atom.Ol, atom.Dl, atom.Div, atom.Section, atom.Table, atom.Td, atom.P:
	default:
		return false
	}
	n := e.last - e.first
	if e.links*5 < e.text*3 || n < fewLinks {
		return false
	}
	linked := 0
	for i := e.first; i < e.last; i++ {
		if t.blocks[i].links*2 >= t.blocks[i].weight {
			linked++
		}
	}
	if linked*5 < n*4 {
		return false
	}
	if e.first > 0 {
		lead := t.blocks[e.first-1].text
		if strings.HasSuffix(lead, ":") || strings.HasSuffix(lead, "：") {
			return false
		}
	}
	return true
}

// dropLead takes out what stands between the navigation at the head of a page
// and before the text: a site's name, its motto.
func (t *tree) dropLead(parts []part, from int) {
	e := &t.elems[from]
	last := -1
	for i := e.first; i < e.last; i++ {
		b := &t.blocks[i]
		if parts[b.elem] == furniture {
			last = i
			continue
		}
		if heading(t.elems[b.elem].node) || b.weight > 60 || parts[b.elem] == listing {
			break
		}
	}
	for i := e.first; i < last; i++ {
		parts[t.blocks[i].elem] = furniture
	}
}
