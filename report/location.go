package report

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/lang"
)

// location is where a passage stands, as it is shown.
type location struct {
	label string // path and line or page, or the page's address without its scheme
	href  string // to open it; empty where there is nothing to open
}

// converted are the endings of files whose text is made by the reader: its
// lines are not the file's.
var converted = []string{
	".pdf", ".docx", ".odt", ".pptx", ".xlsx", ".epub", ".man", ".mdoc", ".html", ".htm", ".xhtml", ".xml", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".geojson",
}

// hasLines reports whether lines of the text are lines of the source.
func hasLines(s *cite.Source) bool {
	return s.Kind != cite.Web && !slices.Contains(converted, strings.ToLower(filepath.Ext(s.URI)))
}

// locationOf returns where a passage of a source stands; nil stands for the
// source as a whole.
func (r *Report) locationOf(s *Source, q *Quote) location {
	if s.Kind == cite.Web {
		at := location{label: line(shortURL(s.URI)), href: webURL(s.URI)}
		if q != nil && at.href != "" && strings.HasPrefix(q.Link, s.URI) {
			if link := webURL(q.Link); link != "" {
				at.href = link
			}
		}
		return at
	}
	at := location{label: line(r.shortPath(s.URI)), href: fileURL(s.URI)}
	if q != nil {
		switch p := &q.Passage; {
		case p.Page > 0:
			at.label += ", " + lang.Text(r.Lang, "source.page", "page", p.Page)
			if at.href != "" {
				at.href += "#page=" + strconv.Itoa(p.Page)
			}
		case p.Line > 0 && hasLines(&s.Source):
			at.label += ":" + strconv.Itoa(p.Line)
		}
	}
	return at
}

// shortPath is a path as it is shown: below Base without it.
func (r *Report) shortPath(path string) string {
	if r.Base != "" {
		if short, err := filepath.Rel(r.Base, path); err == nil && short != ".." && !strings.HasPrefix(short, ".."+string(filepath.Separator)) {
			if short == "." {
				short = filepath.Base(path)
			}
			path = short
		}
	}
	return filepath.ToSlash(path)
}

// fileURL returns the URL of a file with an absolute path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if len(path) > 2 && path[1] == ':' && path[2] == '/' { // a drive
		path = "/" + path
	}
	if !strings.HasPrefix(path, "/") {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// webURL returns an address in a form that is safe to link to, empty for what
// is no address on the web.
func webURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	var b strings.Builder
	for i := range len(address) {
		switch c := address[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"'`\\^{|}", c) >= 0:
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)|0x100, 16)[1:]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// shortURL is an address without scheme, query and fragment.
func shortURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.TrimSuffix(u.Host+u.Path, "/")
}

// describe returns title, author, site and date of a source, as far as they
// are known and say more than its address.
func (r *Report) describe(s *Source) (title string, rest []string) {
	title = line(s.Title)
	if s.Kind != cite.Web && title == filepath.Base(s.URI) {
		title = ""
	}
	for _, part := range []string{s.Author, s.Site, s.Date} {
		if part = line(part); part != "" && part != title {
			rest = append(rest, part)
		}
	}
	if s.CopyOf != 0 && r.Source(s.CopyOf) != nil {
		rest = append(rest, lang.Text(r.Lang, "source.copy", "number", s.CopyOf))
	}
	return title, rest
}

// under returns the headings that a passage stands under, without one that
// only repeats the source's title or names the cells of the quote's rows.
func under(s *Source, q *Quote) string {
	path := q.Passage.HeadingPath
	if _, above := q.header(); above {
		path = path[:len(path)-1] // the quote shows it
	}
	if len(path) > 0 && line(path[0]) == line(s.Title) {
		path = path[1:]
	}
	parts := make([]string, 0, len(path))
	for _, h := range path {
		parts = append(parts, line(h))
	}
	return strings.Join(parts, " › ")
}
