// Package reader turns a document into text that can be searched and quoted:
// HTML (its main content), PDF, DOCX, ODT, PPTX, XLSX, EPUB, plain text, pages
// of Unix manuals, Markdown, reStructuredText, AsciiDoc, JSON and CSV, in
// whatever charset.
//
// Formats whose parsers can be made to misbehave are read in a child process
// with limits on memory, processor time and output: a document that is a bomb
// costs that document. The child is this same program, started again: main
// calls WorkerMain first thing.
//
// Reading is a pure function of the document. Pages that need a browser are
// rendered by who fetches them and come here as HTML.
package reader

import (
	"fmt"

	"dossier/lang"
)

// Document is something to read.
type Document struct {
	URL  string // where it was found; relative links start there
	Path string // or the file it is; only its name's ending is looked at
	Body []byte
	// ContentType is what the server said, if one did. The content itself
	// counts more.
	ContentType string
}

// Page is a document that was read.
type Page struct {
	Format Format `json:"format"`
	Title  string `json:"title,omitempty"`
	Author string `json:"author,omitempty"`
	Date   string `json:"date,omitempty"` // published, as YYYY-MM-DD
	Lang   string `json:"lang,omitempty"` // ISO 639-1, of the text
	Site   string `json:"site,omitempty"`
	// Text is the plain text. Of plain text, Markdown, reStructuredText and
	// AsciiDoc it is the source itself, so that its lines are the file's.
	Text string `json:"text"`
	// Markdown is the same with its structure. It has no images and no HTML.
	Markdown string   `json:"markdown"`
	Blocks   []Block  `json:"blocks,omitempty"` // in the order of Text, not overlapping
	Warnings []string `json:"warnings,omitempty"`
	// Scripted says that the page has hardly any text and scripts that would
	// make some: who can, renders it in a browser and reads the result.
	Scripted bool `json:"scripted,omitempty"`
}

// Kind is what a block is.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	Item      Kind = "item" // of a list
	Quote     Kind = "quote"
	Code      Kind = "code"
	Header    Kind = "header" // of a table: names what the rows after it hold
	Row       Kind = "row"    // of a table
	Note      Kind = "note"
	// Term is what the blocks of kind Definition after it explain: an entry of
	// a glossary, an option of a command, a function. What else belongs to it,
	// like a list or code, follows as what it is.
	Term       Kind = "term"
	Definition Kind = "definition"
	// Contents is an entry of a table of contents, an index, a menu: it leads
	// to text and is none.
	Contents Kind = "contents"
)

// Block is a piece of a page that belongs together.
type Block struct {
	Kind  Kind `json:"kind"`
	Start int  `json:"start"` // in Text, in bytes
	End   int  `json:"end"`
	// Level is how deep a heading, an item, a term or a definition is nested,
	// from 1.
	Level int `json:"level,omitempty"`
	// Path are the headings that it stands under, the outermost first.
	Path []string `json:"path,omitempty"`
	Page int      `json:"page,omitempty"` // from 1; 0 where there are none
}

// Format is a kind of document.
type Format string

// The formats that can be read.
const (
	HTML     Format = "html"
	PDF      Format = "pdf"
	DOCX     Format = "docx"
	ODT      Format = "odt"
	PPTX     Format = "pptx"
	XLSX     Format = "xlsx"
	EPUB     Format = "epub"
	Text     Format = "text"
	Man      Format = "man" // the source of a page of a Unix manual
	Markdown Format = "markdown"
	RST      Format = "rst" // reStructuredText
	ASCIIDoc Format = "asciidoc"
	JSON     Format = "json"
	CSV      Format = "csv"
)

// Reason is why a document gave no page.
type Reason string

// The reasons.
const (
	// Unsupported says: not a format that can be read.
	Unsupported Reason = "unsupported"
	// Broken says: the document is damaged.
	Broken Reason = "broken"
	// Locked says: it needs a password.
	Locked Reason = "locked"
	// NoText says: it was read and has no text, like a scan.
	NoText Reason = "no text"
	// TooLarge says: more bytes than allowed, in it or coming out of it.
	TooLarge Reason = "too large"
	// TooCostly says: it took more time or memory than allowed, or the parser
	// died of it.
	TooCostly Reason = "too costly"
)

// Error is why a document gave no page. It is about the document: reading it
// again will end the same way.
type Error struct {
	Reason Reason
	Format Format
	Why    string // a clause for people
}

func (e *Error) Error() string {
	if e.Format == "" {
		return e.Why
	}
	return fmt.Sprintf("%s: %s", e.Format, e.Why)
}

// limits bound what is made of one document.
type limits struct {
	Text  int `json:"text"`  // bytes of text
	Rows  int `json:"rows"`  // of a table or of data
	Pages int `json:"pages"` // of a PDF
	// Compiled is a directory for the PDF parser's machine code.
	Compiled string `json:"compiled,omitempty"`
}

// parse reads a document in this process.
func parse(d *Document, format Format, l limits) (*Page, error) {
	b := newBuilder(format, l.Text)
	var err error
	switch format {
	case HTML:
		b.readHTML(d)
	case DOCX:
		err = b.readDOCX(d.Body)
	case ODT:
		err = b.readODT(d.Body)
	case PPTX:
		err = b.readPPTX(d.Body, l)
	case XLSX:
		err = b.readXLSX(d.Body, l)
	case EPUB:
		err = b.readEPUB(d.Body)
	case PDF:
		err = b.readPDF(d.Body, l)
	case Man:
		b.readMan(decode(d.Body, d.ContentType, false))
	case Markdown:
		b.readMarkdown(decode(d.Body, d.ContentType, false))
	case RST:
		b.readRST(decode(d.Body, d.ContentType, false))
	case ASCIIDoc:
		b.readASCIIDoc(decode(d.Body, d.ContentType, false))
	case JSON:
		b.readJSON(decode(d.Body, d.ContentType, false), l.Rows)
	case CSV:
		b.readCSV(decode(d.Body, d.ContentType, false), l.Rows)
	default:
		b.readText(decode(d.Body, d.ContentType, false))
	}
	if err != nil {
		return nil, err
	}
	p := b.finish()
	if len(p.Text) == 0 {
		return nil, &Error{Reason: NoText, Format: format, Why: "there is no text in it"}
	}
	// What a page declares is often its site's default; the text decides.
	if code := lang.Detect(sample(p)); code != "" {
		p.Lang = string(code)
	}
	return p, nil
}

// sample is enough of a text to tell its language: the beginnings of paragraphs,
// since the first one may be a notice in another language.
func sample(p *Page) string {
	const each, enough = 200, 1000
	var s []byte
	for _, b := range p.Blocks {
		if b.Kind != Code && b.End-b.Start > 60 {
			s = append(append(s, p.Text[b.Start:min(b.End, b.Start+each)]...), ' ')
		}
		if len(s) > enough {
			return string(s)
		}
	}
	if len(s) == 0 {
		return p.Text[:min(len(p.Text), enough)]
	}
	return string(s)
}
