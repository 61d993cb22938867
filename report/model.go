package report

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"dossier/cite"
	"dossier/internal/base/term"
)

// maxModelText bounds what is parsed as Markdown; more is shown as text.
const maxModelText = 1 << 20

// strict parses as the readers do that see links everywhere.
var strict = sync.OnceValue(func() parser.Parser { return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser() })

// modelText takes out of a model's Markdown what it could point somewhere with
// or fool a reader with.
func modelText(markdown string) string {
	clean := cite.Sanitize(term.Clean(markdown))
	return strings.TrimSpace(strings.ReplaceAll(clean, "&#", "&amp;#"))
}

// harmless reports whether no reader of Markdown finds a link, an image or
// HTML in a text, and whether the text ends where it ends: an open fence would
// swallow what follows.
func harmless(markdown string) bool {
	if len(markdown) > maxModelText {
		return false
	}
	root := strict().Parse(text.NewReader([]byte(markdown + "\n\n# end")))
	last, ok := root.LastChild().(*ast.Heading)
	found := !ok || last.Level != 1
	_ = ast.Walk(root, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock, *ast.LinkReferenceDefinition:
			found = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return !found
}

// model writes a model's Markdown as HTML: the elements of text, lists and
// tables, no attributes, and no links but those from markers to sources.
func (w *page) model(markdown string, level int) {
	source := []byte(modelMarkdown(markdown, level))
	if len(source) > maxModelText {
		w.element("pre", string(source))
		return
	}
	m := modelWriter{source: source}
	m.children(strict().Parse(text.NewReader(source)))
	w.WriteString(w.linkMarkers(m.String()))
}

type modelWriter struct {
	markup
	source []byte
}

func (m *modelWriter) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		m.node(c)
	}
}

// wrap writes a node's children in an element.
func (m *modelWriter) wrap(name string, n ast.Node) {
	m.open(name)
	m.children(n)
	m.WriteString("</" + name + ">")
	if n.Type() == ast.TypeBlock {
		m.WriteByte('\n')
	}
}

var headingNames = [...]string{"", "h1", "h2", "h3", "h4", "h5", "h6"}

func (m *modelWriter) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		m.wrap(headingNames[max(1, min(6, n.Level))], n)
	case *ast.Paragraph:
		m.wrap("p", n)
	case *ast.Blockquote:
		m.wrap("blockquote", n)
	case *ast.List:
		name := "ul"
		if n.IsOrdered() {
			name = "ol"
		}
		m.wrap(name, n)
	case *ast.ListItem:
		m.wrap("li", n)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		m.open("pre")
		m.verbatim(string(n.Lines().Value(m.source)))
		m.WriteString("</pre>\n")
	case *ast.ThematicBreak:
		m.WriteString("<hr>\n")
	case *ast.Emphasis:
		name := "em"
		if n.Level > 1 {
			name = "strong"
		}
		m.wrap(name, n)
	case *ast.CodeSpan:
		m.open("code")
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				m.verbatim(strings.ReplaceAll(string(t.Value(m.source)), "\n", " "))
			}
		}
		m.WriteString("</code>")
	case *ast.Text:
		m.text(unescape(string(n.Value(m.source))))
		switch {
		case n.HardLineBreak():
			m.WriteString("<br>\n")
		case n.SoftLineBreak():
			m.WriteByte('\n')
		}
	case *ast.String:
		m.text(string(n.Value))
	case *ast.AutoLink:
		m.text(string(n.Label(m.source)))
	case *ast.RawHTML:
		m.text(string(n.Segments.Value(m.source)))
	case *east.Strikethrough:
		m.wrap("del", n)
	case *east.TaskCheckBox:
		m.text(checkBox(n))
	case *east.Table:
		m.wrap("table", n)
	case *east.TableHeader, *east.TableRow:
		m.wrap("tr", n)
	case *east.TableCell:
		name := "td"
		if _, head := n.Parent().(*east.TableHeader); head {
			name = "th"
		}
		m.wrap(name, n)
	case *ast.LinkReferenceDefinition:
	default: // links and images are their text
		m.children(n)
	}
}

// checkBox is that of a task in a list.
func checkBox(n *east.TaskCheckBox) string {
	if n.IsChecked {
		return "☑ "
	}
	return "☐ "
}

// verbatim writes text in which brackets are no markers.
func (m *modelWriter) verbatim(s string) {
	var b markup
	b.text(s)
	m.WriteString(strings.ReplaceAll(b.String(), "[", "&#91;"))
}

var (
	meanings = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\\\\[!-/:-@\\[-`{-~]|&(?:amp|lt|gt|quot|nbsp|mdash|ndash|hellip|laquo|raquo);")
	})
	markers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(?:\d{1,3}|\?)\]`) })
)

var references = map[string]string{
	"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": `"`, "&nbsp;": "\u00a0", "&mdash;": "—", "&ndash;": "–", "&hellip;": "…",
	"&laquo;": "«", "&raquo;": "»",
}

// unescape resolves the backslashes and the usual character references of
// Markdown. Other references are shown as they are written.
func unescape(s string) string {
	if !strings.ContainsAny(s, `&\`) {
		return s
	}
	return meanings().ReplaceAllStringFunc(s, func(found string) string {
		if found[0] == '\\' {
			return found[1:]
		}
		return references[found]
	})
}

// linkMarkers makes markers of the report's sources links to their place in
// the list.
func (w *page) linkMarkers(html string) string {
	return markers().ReplaceAllStringFunc(html, func(marker string) string {
		var m markup
		if marker == unverified {
			m.element("span", marker, "class", "unverified")
		} else if n := markerNumber(marker); w.Source(n) != nil {
			w.marker(&m, n)
		} else {
			return marker
		}
		return m.String()
	})
}
