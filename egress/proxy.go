package egress

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ProxyConfig bounds what goes through a Proxy. A field that is 0 has the
// default that it names.
type ProxyConfig struct {
	MaxBytes int64         // over all connections and both ways, within a buffer; 64 MiB
	MaxConns int           // connections of the browser at once; 128
	Timeout  time.Duration // after which everything is closed; 2 min
}

// Proxy is a forward HTTP proxy for a browser that shows one page from outside.
// It opens what the client that made it would open: http and https, allowed
// ports, and addresses that pass the check when they are dialled. It listens
// on this machine only, and serves who knows the password.
type Proxy struct {
	// Address is the host and port where it listens; User and Password are
	// for basic authentication.
	Address, User, Password string

	client *Client
	conf   ProxyConfig
	server *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	left   atomic.Int64
	served sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]bool // of both sides
	refused []error
}

// Proxy starts a proxy. Close ends it, and so does ctx.
func (c *Client) Proxy(ctx context.Context, conf ProxyConfig) (*Proxy, error) {
	conf.MaxBytes = cmp.Or(conf.MaxBytes, 64<<20)
	conf.MaxConns = cmp.Or(conf.MaxConns, 128)
	conf.Timeout = cmp.Or(conf.Timeout, 2*time.Minute)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Address: listener.Addr().String(), User: "browser", Password: rand.Text(), client: c, conf: conf, conns: map[net.Conn]bool{}}
	p.ctx, p.cancel = context.WithTimeout(ctx, conf.Timeout)
	p.left.Store(conf.MaxBytes)
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 20 * time.Second,
		MaxHeaderBytes:    int(c.conf.MaxHeader),
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
	}
	p.served.Go(func() { _ = p.server.Serve(&entrance{listener, p}) })
	context.AfterFunc(p.ctx, p.shut)
	return p, nil
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.cancel()
	p.shut()
	p.served.Wait()
}

// Refused returns what was asked for and not opened, the first 100.
func (p *Proxy) Refused() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// Exhausted says that the page used up the bytes that it may move.
func (p *Proxy) Exhausted() bool { return p.left.Load() <= 0 }

func (p *Proxy) shut() {
	_ = p.server.Close()
	p.mu.Lock()
	conns := slices.Collect(maps.Keys(p.conns))
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}

// spend counts bytes and ends everything when there were too many.
func (p *Proxy) spend(n int) {
	if n > 0 && p.left.Add(int64(-n)) <= 0 {
		p.cancel()
	}
}

// entrance gives out connections of the browser that count what goes through
// them: whatever sites send or are sent passes here.
type entrance struct {
	net.Listener
	proxy *Proxy
}

func (e *entrance) Accept() (net.Conn, error) {
	for {
		c, err := e.Listener.Accept()
		if err != nil {
			return nil, err
		}
		counted := &metered{Conn: c, proxy: e.proxy}
		if e.proxy.keep(counted) {
			return counted, nil
		}
		_ = c.Close()
	}
}

func (p *Proxy) keep(c *metered) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || len(p.conns) >= p.conf.MaxConns {
		return false
	}
	p.conns[c] = true
	return true
}

var errExhausted = errors.New("the page has moved all the bytes that it may")

type metered struct {
	net.Conn
	proxy *Proxy
}

func (c *metered) Read(b []byte) (int, error) {
	if c.proxy.Exhausted() {
		return 0, errExhausted
	}
	n, err := c.Conn.Read(b)
	c.proxy.spend(n)
	return n, err
}

func (c *metered) Write(b []byte) (int, error) {
	if c.proxy.Exhausted() {
		return 0, errExhausted
	}
	n, err := c.Conn.Write(b)
	c.proxy.spend(n)
	return n, err
}

func (c *metered) Close() error {
	c.proxy.mu.Lock()
	delete(c.proxy.conns, c)
	c.proxy.mu.Unlock()
	return c.Conn.Close()
}

// ServeHTTP answers one request of the browser.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.known(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="dossier"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	raw := r.RequestURI
	if r.Method == http.MethodConnect {
		raw = "https://" + r.RequestURI + "/"
	}
	t, err := p.client.target(raw, "")
	switch {
	case err != nil:
	case r.Method == http.MethodConnect:
		err = p.tunnel(w, r, t)
	case t.scheme != "http":
		err = &Error{Reason: Refused, URL: shorten(raw), Why: "https goes through a tunnel"}
	default:
		err = p.forward(w, r, t)
	}
	if err == nil {
		return
	}
	if ReasonOf(err) == Refused {
		p.mu.Lock()
		if len(p.refused) < 100 {
			p.refused = append(p.refused, placed(t, err))
		}
		p.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.WriteHeader(http.StatusBadGateway)
}

func (p *Proxy) known(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	want := base64.StdEncoding.EncodeToString([]byte(p.User + ":" + p.Password))
	return ok && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// tunnel connects the browser with a site. Only an error from before the
// connection is returned.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, t *target) error {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	site, err := p.client.dial(ctx, "tcp", net.JoinHostPort(t.name, strconv.Itoa(int(t.port))))
	if err != nil {
		return err
	}
	defer site.Close()
	browser, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer browser.Close()
	stop := context.AfterFunc(p.ctx, func() { _ = site.Close() })
	defer stop()
	if _, err := browser.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return nil
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(site, buffered)
		if half, ok := site.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = site.Close()
		}
	})
	_, _ = io.Copy(browser, site)
	_ = browser.Close() // ends the other way too
	up.Wait()
	return nil
}

// hopByHop are the headers between a client and its proxy.
var hopByHop = []string{"Connection", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// forward makes a plain request. Only an error from before the reply is
// returned.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, t *target) error {
	u, err := t.requestURL()
	if err != nil {
		return err
	}
	out := r.Clone(r.Context())
	out.URL, out.Host, out.RequestURI, out.Close = u, "", "", false
	strip(out.Header)
	if r.ContentLength == 0 {
		out.Body = nil
	}
	resp, err := p.client.transport.RoundTrip(out)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	strip(resp.Header)
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	chunk := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(chunk)
		if n > 0 {
			if _, err := w.Write(chunk[:n]); err != nil {
				return nil
			}
			_ = flush.Flush()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the browser must see that it is not whole
		}
	}
}

func strip(h http.Header) {
	for _, list := range h.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}
