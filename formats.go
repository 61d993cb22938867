package dossier

import (
	"fmt"
	"slices"

	"dossier/report"
	"dossier/report/docx"
	"dossier/report/pdf"
)

// Format is one in which a report can be had, and the ending of its files.
type Format string

// The formats.
const (
	Markdown Format = "md"
	HTML     Format = "html"
	JSON     Format = "json"
	DOCX     Format = "docx"
	PDF      Format = "pdf" // of deep research only
	BibTeX   Format = "bib" // the sources
	RIS      Format = "ris" // the sources
)

// Formats are all of them.
var Formats = []Format{Markdown, HTML, JSON, DOCX, PDF, BibTeX, RIS}

// Binary says whether files of the format are no text.
func (f Format) Binary() bool { return f == DOCX || f == PDF }

// Rendered is a report in a format.
type Rendered struct {
	Data []byte
	// Missing are characters that no font at hand has, of a PDF.
	Missing []rune
}

// Render returns a report in a format. A PDF takes characters that the program's
// own fonts lack from the folders of fonts.
func Render(r *report.Report, f Format, fonts []string) (Rendered, error) {
	var out Rendered
	var err error
	switch f {
	case Markdown:
		out.Data = []byte(report.Markdown(r))
	case HTML:
		out.Data = []byte(report.HTML(r))
	case JSON:
		out.Data, err = report.JSON(r)
	case BibTeX:
		out.Data = []byte(report.BibTeX(r))
	case RIS:
		out.Data = []byte(report.RIS(r))
	case DOCX:
		out.Data, err = docx.Render(r)
	case PDF:
		made := pdf.Render(r, pdf.Options{FontDirs: fonts})
		out.Data, out.Missing = made.Data, slices.Clone(made.Missing)
	default:
		err = fmt.Errorf("there is no format %q", f)
	}
	return out, err
}
