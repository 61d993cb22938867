// Package webtest is a web that fits in a process: some 250 invented pages in
// three languages on hosts that end in .example, with the troubles that the web
// has — copies, contradictions, dead links, traps, injected instructions — and a
// search engine over them that answers as SearXNG does. Everything in it is the
// same on every start. It misbehaves on request and remembers what it was asked.
package webtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/egress"
)

// Today is the date on which the web stands still: no page is younger.
var Today = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// Options are how the web is reached and how quick it is.
type Options struct {
	// Loopback gives pages URLs of the form http://127.0.0.1:PORT/host/path, so
	// that another process reads them if loopback and the port are open to it.
	Loopback bool
	// Memory opens no socket: pages and engine are reached by Client and HTTP
	// alone, also inside a testing/synctest bubble.
	Memory bool

	EngineLatency time.Duration // before each answer of the engine
	PageLatency   time.Duration // before each page
	// Slow is how long slow pages take; 0 is longer than anyone waits.
	Slow time.Duration
	// Watch is called with each visit once it is counted, and the answer waits
	// for its return. It may be called by many at once.
	Watch func(Visit)
}

// Visit is a request for results, with the query, or for a page, with its URL
// as the reader asked for it.
type Visit struct{ Query, URL string }

// Web is the pages and the engine over them. It is safe for concurrent use.
type Web struct {
	opt   Options
	site  *site
	base  string // of the socket, without a slash
	guard *egress.Client
	http  *http.Client

	server *http.Server
	pipes  *pipes
	done   chan struct{}
	once   sync.Once

	mu       sync.Mutex
	searches []string
	fetches  map[string]int
	broken   Fault
	faults   map[string]Fault
}

// searxHost is where the engine is when there is no socket.
const searxHost = "searx.example"

// local are the addresses that the hosts of the web have: of the block for
// documentation, so that a connection that escaped would lead nowhere.
var local = netip.MustParsePrefix("192.0.2.0/24")

// Start makes the web and opens it. Close ends it.
func Start(o Options) (*Web, error) {
	if o.Memory && o.Loopback {
		return nil, errors.New("webtest: Memory has no socket that Loopback could use; choose one of them")
	}
	s, err := shared()
	if err != nil {
		return nil, err
	}
	w := &Web{opt: o, site: s, base: "http://" + searxHost, fetches: map[string]int{}, faults: map[string]Fault{}, done: make(chan struct{}), pipes: newPipes()}
	w.server = &http.Server{Handler: http.HandlerFunc(w.serve), ReadHeaderTimeout: time.Minute}
	if !o.Memory {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("webtest: %w", err)
		}
		w.base = "http://" + l.Addr().String()
		go w.server.Serve(l)
	}
	go w.server.Serve(w.pipes)
	w.http = &http.Client{Transport: &http.Transport{DialContext: w.pipes.dial, MaxIdleConnsPerHost: 16}}
	w.guard = egress.Guarded(w.Guard())
	return w, nil
}

// LetGo closes connections over which nothing is asked.
func (w *Web) LetGo() {
	w.server.SetKeepAlivesEnabled(false)
	w.server.SetKeepAlivesEnabled(true)
}

// Close ends the web, also for who waits for a page of it.
func (w *Web) Close() {
	w.once.Do(func() {
		close(w.done)
		w.http.CloseIdleConnections()
		w.guard.Close()
		_ = w.server.Close()
		_ = w.pipes.Close()
	})
}

// Searx is the base URL of the engine, without a slash at its end.
func (w *Web) Searx() string { return w.base }

// HTTP is a client whose every connection leads to this web. Engines are asked
// through it; with Memory there is no other way to them.
func (w *Web) HTTP() *http.Client { return w.http }

// Client is the guarded client for the pages. It resolves the hosts of the web
// and no others, and connects to this web and nowhere else.
func (w *Web) Client() *egress.Client { return w.guard }

// Guard is how Client is made, for a test that wants another timeout or limit.
func (w *Web) Guard() egress.GuardConfig {
	c := egress.GuardConfig{Resolver: resolver{w.site}, Dial: w.pipes.dial, AllowPrefixes: []netip.Prefix{local}, MinDelay: 1, PerHost: 16}
	if w.opt.Loopback {
		at := netip.MustParseAddrPort(strings.TrimPrefix(w.base, "http://"))
		c.AllowPrefixes = []netip.Prefix{netip.PrefixFrom(at.Addr(), 32)}
		c.AllowPorts = []uint16{at.Port()}
	}
	return c
}

// Pages returns all pages in a fixed order, with the URLs that the engine
// gives them.
func (w *Web) Pages() []Page {
	out := make([]Page, len(w.site.pages))
	for i, p := range w.site.pages {
		out[i] = p.Page
		out[i].URL, out[i].Text = w.shown(p.URL), w.shown(p.Text)
		if p.Kind == Slow && w.opt.Slow == 0 {
			out[i].Fails = string(egress.Timeout)
		}
	}
	return out
}

// Questions returns what can be asked about the pages.
func (w *Web) Questions() []Question {
	out := slices.Clone(w.site.questions)
	for i := range out {
		out[i].Pages = w.allShown(out[i].Pages)
		out[i].Via = w.allShown(out[i].Via)
	}
	return out
}

// Searches are the queries that the engine was asked, in order, also those to
// which it gave no answer.
func (w *Web) Searches() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.searches)
}

// Fetches counts the requests for each URL, as the reader asked for it, also
// for pages that do not exist. A robots.txt is not counted.
func (w *Web) Fetches() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.fetches)
}

// ownHost finds URLs of the web in texts, up to the end of the host.
var ownHost = regexp.MustCompile(`https?://([a-z0-9.-]+\.example)\b`)

// shown is a text with the URLs of the web as readers get them.
func (w *Web) shown(text string) string {
	if !w.opt.Loopback {
		return text
	}
	return ownHost.ReplaceAllString(text, w.base+"/$1")
}

func (w *Web) allShown(urls []string) []string {
	out := make([]string, len(urls))
	for i, u := range urls {
		out[i] = w.shown(u)
	}
	return out
}

// key is the URL of the web that a URL as shown stands for.
func (w *Web) key(shown string) string {
	if rest, ok := strings.CutPrefix(shown, w.base+"/"); ok && w.opt.Loopback {
		return "http://" + rest
	}
	return shown
}

// watched tells who watches of a visit.
func (w *Web) watched(v Visit) {
	if w.opt.Watch != nil {
		w.opt.Watch(v)
	}
}

// wait holds an answer back; false says that nobody waits for it any more.
func (w *Web) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-w.done:
	}
	return false
}

// forever waits until the asker or the web has gone.
func (w *Web) forever(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-w.done:
	}
}

// resolver knows the hosts of the web.
type resolver struct{ site *site }

func (r resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := r.site.hosts[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{a}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// hostOf is the host of a URL of the web.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
