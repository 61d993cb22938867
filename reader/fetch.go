package reader

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"dossier/egress"
)

// Browser shows pages that are made by scripts; reader/chromium is one.
type Browser interface {
	// Render opens a URL and returns the page as it then is. The error is
	// ErrNoBrowser where nothing can be rendered at all.
	Render(ctx context.Context, url string) (*Rendered, error)
}

// Rendered is a page as a browser shows it.
type Rendered struct {
	URL  string // where the browser ended up
	HTML []byte // in UTF-8
}

// ErrNoBrowser says that no page can be rendered on this machine.
var ErrNoBrowser = errors.New("no browser is installed")

// Reads is what reads documents: a Reader, or one with a cache before it.
type Reads interface {
	Read(ctx context.Context, d Document) (*Page, error)
}

// Fetcher reads pages from outside.
type Fetcher struct {
	Client  *egress.Client
	Reader  Reads
	Browser Browser // nil renders nothing
}

// Fetched is a page from outside.
type Fetched struct {
	URL string // where it came from, after redirects
	// Document is what was read. Of a rendered page it is what the browser
	// showed.
	Document Document
	Page     *Page
	Rendered bool
}

// Fetch gets a page and reads it, in a browser if it needs one. When that is not
// to be had or fails, the page is what can be read without it, and a warning
// says so. An error is an *egress.Error, an *Error or ctx's.
func (f *Fetcher) Fetch(ctx context.Context, url string) (*Fetched, error) {
	got, err := f.Client.Fetch(ctx, url)
	if err != nil {
		return nil, err
	}
	plain := &Fetched{URL: got.URL, Document: Document{URL: got.URL, Body: got.Body, ContentType: got.Header.Get("Content-Type")}}
	plain.Page, err = f.Reader.Read(ctx, plain.Document)
	if !needsBrowser(plain, err) {
		if err != nil {
			return nil, err
		}
		return plain, nil
	}
	shown, warning := f.render(ctx, plain)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case shown != nil:
		return shown, nil
	case err != nil:
		about, _ := errors.AsType[*Error](err) // as needsBrowser found
		said := *about
		said.Why += ": " + warning
		return nil, &said
	}
	page := *plain.Page
	page.Warnings = append(slices.Clone(page.Warnings), warning)
	plain.Page = &page
	return plain, nil
}

// needsBrowser says that a page has no text of its own, and scripts.
func needsBrowser(f *Fetched, err error) bool {
	if err == nil {
		return f.Page.Scripted
	}
	about, ok := errors.AsType[*Error](err)
	return ok && about.Reason == NoText && about.Format == HTML && bytes.Contains(bytes.ToLower(f.Document.Body), []byte("<script"))
}

// render shows a page in the browser, or says why not.
func (f *Fetcher) render(ctx context.Context, plain *Fetched) (*Fetched, string) {
	const made = "the page is made by scripts"
	if f.Browser == nil {
		return nil, made + ", which were not run"
	}
	r, err := f.Browser.Render(ctx, plain.URL)
	if errors.Is(err, ErrNoBrowser) {
		return nil, made + ", and no browser is installed to run them (Chromium or Chrome)"
	}
	if err != nil {
		return nil, made + ", and the browser could not show it: " + err.Error()
	}
	shown := &Fetched{URL: r.URL, Document: Document{URL: r.URL, Body: r.HTML, ContentType: "text/html; charset=utf-8"}, Rendered: true}
	if shown.Page, err = f.Reader.Read(ctx, shown.Document); err != nil {
		return nil, made + ", and what the browser shows cannot be read: " + err.Error()
	}
	if plain.Page != nil && len(shown.Page.Text) < len(plain.Page.Text) {
		return nil, made + ", and in a browser it has less text"
	}
	return shown, ""
}
