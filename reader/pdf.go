package reader

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
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
}

func (d *pdfDocument) close() {
	_, _ = d.engine.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: d.ref})
	d.engine.Close()
}

// openPDF opens a document in the engine that reads it in less time: the
// compiled one unless the document is short and the machine code is not yet
// there.
func openPDF(body []byte, dir string) (*pdfDocument, error) {
	warm := false
	if entries, err := os.ReadDir(dir); dir != "" && err == nil {
		warm = len(entries) > 0
	}
	if len(body) <= smallPDF && !warm {
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
	pages := make([][]string, 0, n)
	size, empty := 0, 0
	for i := range n {
		got, err := engine.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: i}}})
		if err != nil {
			b.warn(fmt.Sprintf("page %d could not be read", i+1))
			pages = append(pages, nil)
			continue
		}
		text := pageLines(got.Text)
		if len(text) == 0 {
			empty++
		}
		pages = append(pages, text)
		if size += len(got.Text); size > l.Text {
			break
		}
	}
	if empty == len(pages) {
		return &Error{Reason: NoText, Format: PDF, Why: fmt.Sprintf("its %d page(s) have no text: probably a scan; recognise the text (OCR) first", len(pages))}
	}
	if empty > 0 {
		b.warn(fmt.Sprintf("%d of %d pages have no text: pictures or scans", empty, len(pages)))
	}
	dropRunning(pages)
	for i, lines := range pages {
		b.at = i + 1
		for _, p := range paragraphs(lines) {
			b.paragraph(p)
		}
	}
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

func pageLines(text string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		line = strings.Map(func(r rune) rune {
			if r == '\ufffe' || r == '\u0002' || r == '\u00ad' { // how PDFium gives a hyphen at which a word was parted
				return -1
			}
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line)
		if line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "")), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// dropRunning takes out the lines that head and foot most pages.
func dropRunning(pages [][]string) {
	if len(pages) < 4 {
		return
	}
	seen := map[string]int{}
	edges := func(lines []string, fn func(i int)) {
		if len(lines) < 3 {
			return
		}
		for _, i := range []int{0, 1, len(lines) - 2, len(lines) - 1} {
			fn(i)
		}
	}
	key := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '0'
			}
			return r
		}, s)
	}
	for _, lines := range pages {
		edges(lines, func(i int) { seen[key(lines[i])]++ })
	}
	for p, lines := range pages {
		kept := make([]string, 0, len(lines))
		drop := map[int]bool{}
		edges(lines, func(i int) { drop[i] = seen[key(lines[i])]*2 > len(pages) && len(lines[i]) < 120 })
		for i, line := range lines {
			if !drop[i] {
				kept = append(kept, line)
			}
		}
		pages[p] = kept
	}
}

// paragraphs joins the lines of a page: a line that is much shorter than the
// page is wide, and ends a sentence, ends a paragraph.
func paragraphs(lines []string) []string {
	width := 0
	for _, l := range lines {
		width = max(width, len([]rune(l)))
	}
	var out []string
	var p strings.Builder
	for i, l := range lines {
		if p.Len() > 0 {
			s := p.String()
			next := firstRune(l)
			if strings.HasSuffix(s, "-") && unicode.IsLower(next) {
				p.Reset()
				p.WriteString(strings.TrimSuffix(s, "-"))
			} else if last := lastRune(s); last < 0x2e80 || next < 0x2e80 {
				p.WriteByte(' ')
			}
		}
		p.WriteString(l)
		short := len([]rune(l))*10 < width*7
		ended := strings.ContainsRune(".!?:。！？…»”\")", lastRune(l))
		upper := false
		if i+1 < len(lines) {
			r := firstRune(lines[i+1])
			upper = !unicode.IsLower(r)
		}
		if i+1 == len(lines) || short && (ended || upper) {
			out = append(out, p.String())
			p.Reset()
		}
	}
	return out
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
