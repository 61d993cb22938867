package report

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a form in which a report can be had.
type Format string

// The formats.
const (
	FormatMarkdown Format = "md"
	FormatHTML     Format = "html"
	FormatJSON     Format = "json"
)

// ParseFormat finds a format by its name or by the ending of a file's name.
func ParseFormat(name string) (Format, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	if ending == "" {
		ending = strings.ToLower(name)
	}
	switch ending {
	case "md", "markdown", "txt":
		return FormatMarkdown, nil
	case "html", "htm":
		return FormatHTML, nil
	case "json":
		return FormatJSON, nil
	}
	return "", fmt.Errorf("report: no format %q: it is one of md, html and json", name)
}

// Render returns a report in a format.
func Render(r *Report, f Format) ([]byte, error) {
	switch f {
	case FormatMarkdown:
		return []byte(Markdown(r)), nil
	case FormatHTML:
		return []byte(HTML(r)), nil
	case FormatJSON:
		return JSON(r)
	}
	return nil, fmt.Errorf("report: no format %q", f)
}
