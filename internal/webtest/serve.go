package webtest

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// enormous is how many bytes the enormous page has at least.
const enormous = 24 << 20

func (w *Web) serve(rw http.ResponseWriter, r *http.Request) {
	host, at := r.Host, r.URL.RequestURI()
	if "http://"+host == w.base {
		switch {
		case r.URL.Path == "/search" || r.URL.Path == "/":
			w.search(rw, r)
			return
		case r.URL.Path == "/robots.txt":
			w.robots(rw, "")
			return
		case !w.opt.Loopback:
			http.NotFound(rw, r)
			return
		}
		host, at, _ = strings.Cut(strings.TrimPrefix(at, "/"), "/")
		at = "/" + at
	} else if r.URL.Path == "/robots.txt" {
		w.robots(rw, host)
		return
	}
	w.page(rw, r, "http://"+host+at)
}

// robots sends the robots.txt of a host, or of all of them under one origin.
func (w *Web) robots(rw http.ResponseWriter, host string) {
	var b strings.Builder
	for _, p := range w.site.pages {
		u, err := url.Parse(p.URL)
		if err != nil || p.Kind != Robots || host != "" && u.Host != host {
			continue
		}
		folder := path.Dir(u.Path) + "/"
		if host == "" {
			folder = "/" + u.Host + folder
		}
		fmt.Fprintf(&b, "Disallow: %s\n", folder)
	}
	if b.Len() == 0 {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(rw, "User-agent: *\n%s", b.String())
}

// page sends the page at a URL of the web.
func (w *Web) page(rw http.ResponseWriter, r *http.Request, key string) {
	bare, _, _ := strings.Cut(key, "?")
	p := w.site.byURL[key]
	if p == nil {
		p = w.site.byURL[bare] // sites ignore parameters that they do not know
	}
	w.mu.Lock()
	w.fetches[w.shown(key)]++
	var f Fault
	if p != nil {
		f = w.faults[p.URL]
		w.faults[p.URL] = f.spend()
	}
	w.mu.Unlock()
	w.watched(Visit{URL: w.shown(key)})
	if !w.wait(r.Context(), w.opt.PageLatency) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case p == nil && hostOf(key) == "collector.example":
		fmt.Fprint(rw, "thank you")
		return
	case p == nil:
		send(rw, "text/html; charset=utf-8", http.StatusNotFound, []byte("<!DOCTYPE html><title>Not found</title><h1>Not found</h1>"))
		return
	case f.Kind == NoResults:
		send(rw, "text/html; charset=utf-8", http.StatusOK, nil)
		return
	case w.fail(rw, r, f):
		return
	}
	w.send(rw, r, p)
}

func (w *Web) send(rw http.ResponseWriter, r *http.Request, p *page) {
	const page = "text/html; charset=utf-8"
	title := "<!DOCTYPE html><html><head><title>" + html.EscapeString(p.Title) + "</title></head><body>"
	switch p.Kind {
	case Redirect, Loop, Private:
		to := w.shown(p.to)
		if to == "" { // under one origin there are no names to resolve
			to = "http://" + privateAddr.String() + "/"
		}
		rw.Header().Set("Location", to)
		send(rw, page, cmp.Or(p.status, http.StatusFound), nil)
	case Unresolved:
		panic(http.ErrAbortHandler)
	case Dead:
		send(rw, page, p.status, []byte(title+"<h1>This page is no longer here</h1></body></html>"))
	case Paywall:
		send(rw, page, p.status, []byte(title+"<h1>For subscribers</h1><p>Subscribe to read on.</p></body></html>"))
	case Login:
		send(rw, page, http.StatusOK, []byte(title+`<h1>Sign in</h1><form method="post"><label>Name <input name="user"></label><label>Password <input type="password" name="password"></label><button>Sign in</button></form><p>Please sign in to see this page.</p></body></html>`))
	case Empty:
		send(rw, page, http.StatusOK, []byte("<!DOCTYPE html><html><head></head><body></body></html>"))
	case Script:
		text := strconv.Quote(p.Text) // of plain letters, so a string of JavaScript as well
		send(rw, page, http.StatusOK, []byte("<!DOCTYPE html><html><head></head><body><div id=\"app\"></div><script>var text="+text+";document.getElementById('app').innerHTML='<article><h1>'+document.title+'</h1><p>'+text+'</p></article>'</script></body></html>"))
	case Enormous:
		w.sendEnormous(rw, p)
	case Text:
		send(rw, "text/plain; charset=utf-8", http.StatusOK, []byte(strings.Join(p.body, "\n")+"\n"))
	case PDF:
		send(rw, "application/pdf", http.StatusOK, pdf(p.Title, p.Author, p.body))
	case Slow:
		if w.opt.Slow == 0 {
			w.forever(r.Context())
			panic(http.ErrAbortHandler)
		}
		if !w.wait(r.Context(), w.opt.Slow) {
			panic(http.ErrAbortHandler)
		}
		fallthrough
	default:
		body, err := encoded(w.shown(w.site.html(p)), p.charset)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		kind := page
		switch p.charset {
		case "":
		case "big5": // the server says it
			kind = "text/html; charset=big5"
		default: // the page alone says it
			kind = "text/html"
		}
		send(rw, kind, http.StatusOK, body)
	}
}

func send(rw http.ResponseWriter, contentType string, status int, body []byte) {
	rw.Header().Set("Content-Type", contentType)
	rw.WriteHeader(status)
	rw.Write(body)
}

// sendEnormous writes a page without telling its length.
func (w *Web) sendEnormous(rw http.ResponseWriter, p *page) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	b := bufio.NewWriterSize(rw, 64<<10)
	fmt.Fprintf(b, "<!DOCTYPE html><html><head><title>%s</title></head><body><p>%s</p>", html.EscapeString(p.Title), html.EscapeString(p.Text))
	for n, i := 0, 0; n < enormous; i++ {
		k, err := fmt.Fprintf(b, "<p>Reading %d: %d millimetres above the zero of the gauge.</p>\n", i, i*7919%4000)
		if err != nil {
			return
		}
		n += k
	}
	_ = b.Flush()
}
