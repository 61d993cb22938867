package reader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

const (
	pdfMemoryPages = 12 << 10 // of 64 KiB that the parser may have
	// A document up to these sizes is read by interpreting the parser in less
	// time than compiling it takes.
	smallPDF   = 64 << 10
	shortPages = 12
)

// pdfEngine is PDFium in a WebAssembly machine. Making one takes seconds and
// hundreds of megabytes, so it is made when the first PDF comes and kept.
type pdfEngine struct {
	once sync.Once
	pool pdfium.Pool
	err  error
}

var interpreted, compiled pdfEngine

func (e *pdfEngine) instance(conf func() wazero.RuntimeConfig) (pdfium.Pdfium, error) {
	e.once.Do(func() {
		e.pool, e.err = webassembly.Init(webassembly.Config{MaxIdle: 1, MaxTotal: 1,
			RuntimeConfig: conf().WithMemoryLimitPages(pdfMemoryPages).WithCloseOnContextDone(false)})
	})
	if e.err != nil {
		return nil, e.err
	}
	return e.pool.GetInstance(time.Minute)
}

// pdfDocument is an open document in an engine.
type pdfDocument struct {
	engine pdfium.Pdfium
	ref    references.FPDF_DOCUMENT
	pages  int
	widths map[rune]float64 // of characters, in heights of a line
	width  float64          // of one on average
}

func (d *pdfDocument) close() {
	_, _ = d.engine.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: d.ref})
	d.engine.Close()
}

// openPDF opens a document in the engine that reads it in less time: the
// compiled one unless the document is short and the machine code is not yet
// there.
func openPDF(body []byte, dir string) (*pdfDocument, error) {
	if len(body) <= smallPDF && !compiledIn(dir) {
		engine, err := interpreted.instance(wazero.NewRuntimeConfigInterpreter)
		if err != nil {
			return nil, fmt.Errorf("start the PDF parser: %w", err)
		}
		d, err := openIn(engine, body)
		if err != nil || d.pages <= shortPages {
			return d, err
		}
		d.close()
	}
	engine, err := compiled.instance(func() wazero.RuntimeConfig {
		conf := wazero.NewRuntimeConfig()
		if dir != "" {
			if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
				conf = conf.WithCompilationCache(cache)
			}
		}
		return conf
	})
	if err != nil {
		return nil, fmt.Errorf("start the PDF parser: %w", err)
	}
	return openIn(engine, body)
}

// compiledIn says whether a directory, in which others keep things too, has
// machine code of the parser.
func compiledIn(dir string) bool {
	if dir == "" {
		return false
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range all {
		if !strings.HasPrefix(entry.Name(), "wazero-") { // as wazero names it
			continue
		}
		if code, err := os.ReadDir(filepath.Join(dir, entry.Name())); err == nil && len(code) > 0 {
			return true
		}
	}
	return false
}

func openIn(engine pdfium.Pdfium, body []byte) (*pdfDocument, error) {
	opened, err := engine.OpenDocument(&requests.OpenDocument{File: &body})
	if err != nil {
		engine.Close()
		why := strings.ToLower(err.Error())
		if strings.Contains(why, "password") || strings.Contains(why, "security") {
			return nil, &Error{Reason: Locked, Format: PDF, Why: "it is protected by a password"}
		}
		return nil, &Error{Reason: Broken, Format: PDF, Why: "it cannot be opened: " + err.Error()}
	}
	d := &pdfDocument{engine: engine, ref: opened.Document}
	count, err := engine.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil {
		d.close()
		return nil, &Error{Reason: Broken, Format: PDF, Why: err.Error()}
	}
	d.pages = count.PageCount
	return d, nil
}

func (b *builder) readPDF(body []byte, l limits) error {
	opened, err := openPDF(body, l.Compiled)
	if err != nil {
		return err
	}
	defer opened.close()
	engine, doc := opened.engine, opened.ref
	meta := func(tag string) string {
		v, err := engine.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc, Tag: tag})
		if err != nil {
			return ""
		}
		return strings.Join(strings.Fields(strings.ToValidUTF8(v.Value, "")), " ")
	}
	b.page.Title, b.page.Author, b.page.Date = meta("Title"), meta("Author"), pdfDate(meta("CreationDate"))
	n := opened.pages
	if n > l.Pages {
		b.warn(fmt.Sprintf("only the first %d of %d pages are read", l.Pages, n))
		n = l.Pages
	}
	pages := make([]pdfPage, 0, n)
	size, empty := 0, 0
	for i := range n {
		page, err := opened.layout(i)
		if err != nil {
			b.warn(fmt.Sprintf("page %d could not be read", i+1))
			pages = append(pages, pdfPage{})
			continue
		}
		if len(page.lines) == 0 {
			empty++
		}
		pages = append(pages, page)
		if size += page.size; size > l.Text {
			break
		}
	}
	if empty == len(pages) {
		return &Error{Reason: NoText, Format: PDF, Why: fmt.Sprintf("its %d page(s) have no text: probably a scan; recognise the text (OCR) first", len(pages))}
	}
	if empty > 0 {
		b.warn(fmt.Sprintf("%d of %d pages have no text: pictures or scans", empty, len(pages)))
	}
	b.readLayout(pages)
	return nil
}

// pdfDate reads D:20200131….
func pdfDate(s string) string {
	s = strings.TrimPrefix(s, "D:")
	if len(s) < 8 || !digits(s[:8]) {
		return ""
	}
	t, err := time.Parse("20060102", s[:8])
	if err != nil {
		return ""
	}
	return t.Format("2006-01-02")
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r := []rune(s[max(0, len(s)-8):])
	if len(r) == 0 {
		return 0
	}
	return r[len(r)-1]
}
