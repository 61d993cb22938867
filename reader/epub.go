package reader

import (
	"encoding/xml"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dossier/reader/article"
)

// readEPUB reads the chapters of a book in their order.
func (b *builder) readEPUB(body []byte) error {
	a, err := openArchive(body, EPUB)
	if err != nil {
		return err
	}
	a.unfold("META-INF/container.xml")
	var container struct {
		Roots []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	broken := func(why string) error { return &Error{Reason: Broken, Format: EPUB, Why: why} }
	part, err := a.part("META-INF/container.xml", EPUB)
	if err != nil || xml.Unmarshal(part, &container) != nil || len(container.Roots) == 0 {
		return broken("it does not say where its contents are")
	}
	root := container.Roots[0].Path
	var pkg struct {
		Title    string   `xml:"metadata>title"`
		Creators []string `xml:"metadata>creator"`
		Language string   `xml:"metadata>language"`
		Date     string   `xml:"metadata>date"`
		Site     string   `xml:"metadata>publisher"`
		Items    []struct {
			ID   string `xml:"id,attr"`
			Href string `xml:"href,attr"`
			Type string `xml:"media-type,attr"`
			Role string `xml:"properties,attr"`
		} `xml:"manifest>item"`
		Spine []struct {
			ID string `xml:"idref,attr"`
		} `xml:"spine>itemref"`
	}
	part, err = a.part(root, EPUB)
	if err != nil {
		return broken("its contents are missing")
	}
	if err := xml.Unmarshal(part, &pkg); err != nil {
		return broken("its list of contents: " + err.Error())
	}
	b.page.Title, b.page.Author = strings.TrimSpace(pkg.Title), strings.Join(pkg.Creators, ", ")
	b.page.Lang, b.page.Site = baseLang(pkg.Language), strings.TrimSpace(pkg.Site)
	if len(pkg.Date) >= 10 {
		b.page.Date = pkg.Date[:10]
	}
	files, contents := map[string]string{}, map[string]bool{}
	for _, it := range pkg.Items {
		contents[it.ID] = slices.Contains(strings.Fields(it.Role), "nav")
		if strings.Contains(it.Type, "html") {
			files[it.ID] = it.Href
		}
	}
	for _, ref := range pkg.Spine {
		href, ok := files[ref.ID]
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(href); err == nil {
			href = plain
		}
		chapter, err := a.part(path.Join(path.Dir(root), href), EPUB)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); ok && e.Reason == TooLarge {
				return err
			}
			b.warn("a chapter could not be read: " + href)
			continue
		}
		source := decode(chapter, "", true)
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			b.warn("the markup of " + href + " is broken: all its text was taken")
			b.looseText(source)
			continue
		}
		blocks := article.Chapter(doc)
		if contents[ref.ID] {
			for i := range blocks {
				blocks[i].Contents = true
			}
		}
		b.markup(blocks, &url.URL{})
	}
	return nil
}
