package reader

import (
	"bytes"
	"encoding/json"
	"mime"
	"path"
	"strings"
)

// sniff finds a document's format: by its bytes where they tell, else by what
// it was called.
func sniff(d *Document) (Format, error) {
	b := d.Body
	unsupported := func(why string) (Format, error) { return "", &Error{Reason: Unsupported, Why: why} }
	if len(bytes.TrimSpace(b)) == 0 {
		return "", &Error{Reason: NoText, Why: "the document is empty"}
	}
	declared, _, _ := mime.ParseMediaType(d.ContentType)
	ext := strings.ToLower(path.Ext(strings.ReplaceAll(d.Path, "\\", "/")))
	if d.Path == "" {
		ext = urlExt(d.URL)
	}
	head := b[:min(len(b), 1024)]
	switch {
	case bytes.Contains(head, []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(b, []byte("PK\x03\x04")), bytes.HasPrefix(b, []byte("PK\x05\x06")):
		return sniffZip(b)
	case bytes.HasPrefix(b, []byte("\xd0\xcf\x11\xe0")):
		return unsupported("an old Office document; save it as DOCX or PDF")
	case bytes.HasPrefix(b, []byte("{\\rtf")):
		return unsupported("an RTF document; save it as DOCX or PDF")
	}
	for _, m := range binaries {
		if bytes.HasPrefix(b, []byte(m.magic)) {
			return unsupported(m.what + " has no text to read")
		}
	}
	if ext == ".pdf" || declared == "application/pdf" && !looksHTML(bytes.ToLower(bytes.TrimSpace(head))) {
		return PDF, nil
	}
	if e, n := byOrderMark(b); e == nil && n == 0 && bytes.IndexByte(head, 0) >= 0 {
		return unsupported("a binary file")
	}
	if e, n := byOrderMark(head); n > 0 {
		if head = head[n:]; e != nil {
			head = []byte(convert(e, head))
		}
	}
	low := bytes.ToLower(bytes.TrimSpace(head))
	switch {
	case ext == ".svg", ext == ".svgz", declared == "image/svg+xml":
		return unsupported("a picture has no text to read")
	case ext == ".css", ext == ".scss", ext == ".sass", ext == ".less", declared == "text/css":
		return unsupported("a style sheet is no document")
	case looksHTML(low), declared == "text/html", declared == "application/xhtml+xml", ext == ".html", ext == ".htm", ext == ".xhtml":
		return HTML, nil
	case ext == ".md", ext == ".markdown", ext == ".mdx", declared == "text/markdown":
		return Markdown, nil
	case ext == ".rst", ext == ".rest":
		return RST, nil
	case ext == ".adoc", ext == ".asciidoc", ext == ".asc" && !bytes.Contains(head, []byte("-----BEGIN PGP")):
		return ASCIIDoc, nil
	case manSource(ext, head):
		return Man, nil
	case ext == ".csv", ext == ".tsv", declared == "text/csv", declared == "text/tab-separated-values":
		return CSV, nil
	case ext == ".json", ext == ".jsonl", ext == ".ndjson", ext == ".geojson", strings.HasSuffix(declared, "json"):
		return JSON, nil
	case bytes.HasPrefix(low, []byte("<?xml")), bytes.HasPrefix(low, []byte("<rss")), bytes.HasPrefix(low, []byte("<feed")):
		return HTML, nil
	case len(low) > 0 && (low[0] == '{' || low[0] == '[') && json.Valid(b):
		return JSON, nil
	}
	return Text, nil
}

// manSource says that a file is the source of a page of a manual: it is named
// after a section and has requests.
func manSource(ext string, head []byte) bool {
	named := ext == ".man" || ext == ".mdoc" || ext == ".roff" || len(ext) > 1 && ext[1] >= '0' && ext[1] <= '9' && len(ext) < 8
	if !named {
		return false
	}
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte(".TH ")) || bytes.HasPrefix(line, []byte(".Dd ")) || bytes.HasPrefix(line, []byte(".SH")) || bytes.HasPrefix(line, []byte(".Sh ")) || bytes.HasPrefix(line, []byte(`.\"`)) || bytes.HasPrefix(line, []byte(`'\"`)) {
			return true
		}
	}
	return false
}

var binaries = []struct{ magic, what string }{
	{"\x89PNG", "a picture"}, {"\xff\xd8\xff", "a picture"}, {"GIF8", "a picture"}, {"RIFF", "a sound or picture"},
	{"\x1f\x8b", "a compressed file"}, {"BZh", "a compressed file"}, {"\xfd7zXZ", "a compressed file"}, {"7z\xbc\xaf", "an archive"}, {"Rar!", "an archive"},
	{"\x7fELF", "a program"}, {"SQLite format 3", "a database"}, {"OggS", "a sound"}, {"ID3", "a sound"}, {"fLaC", "a sound"}, {"\x00\x00\x00", "a video"},
}

func looksHTML(low []byte) bool {
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<article", "<!-- saved from"} {
		if bytes.HasPrefix(low, []byte(tag)) {
			return true
		}
	}
	if len(low) == 0 || low[0] != '<' {
		return false
	}
	for _, tag := range []string{"<html", "<head>", "<body", "<meta ", "<div", "<p>", "<title>"} {
		if bytes.Contains(low, []byte(tag)) {
			return true
		}
	}
	return false
}

// urlExt is the ending of a URL's path.
func urlExt(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	i := strings.LastIndexByte(url, '/')
	if i < 0 || i > 0 && url[i-1] == '/' {
		return ""
	}
	return strings.ToLower(path.Ext(url[i:]))
}

// sniffZip tells archives apart by the names in them. It does not open them:
// that is the child's to do.
func sniffZip(b []byte) (Format, error) {
	has := func(name string) bool { return bytes.Contains(b, []byte(name)) }
	switch {
	case has("word/document.xml"):
		return DOCX, nil
	case has("META-INF/container.xml"):
		return EPUB, nil
	case has("xl/workbook.xml"):
		return XLSX, nil
	case has("ppt/presentation.xml"):
		return PPTX, nil
	case has("opendocument.spreadsheet"), has("xl/workbook"):
		return "", &Error{Reason: Unsupported, Why: "a spreadsheet; save it as XLSX or CSV"}
	case has("opendocument.presentation"):
		return "", &Error{Reason: Unsupported, Why: "a presentation; save it as PPTX or PDF"}
	case has("content.xml") && has("mimetype"):
		return ODT, nil
	}
	return "", &Error{Reason: Unsupported, Why: "an archive; unpack it"}
}
