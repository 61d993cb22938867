package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// GuardConfig bounds what a URL from outside can make this machine do. The
// zero value is safe; a field that is 0 has the default that it names.
type GuardConfig struct {
	// AllowPorts are ports to open beside 80 and 443.
	AllowPorts []uint16
	// AllowPrefixes are networks that the operator opens although they are
	// not public, such as that of an intranet wiki.
	AllowPrefixes []netip.Prefix

	Timeout      time.Duration // for one fetch with its redirects, without waiting for a turn; 30 s
	MaxWire      int64         // bytes of a body as sent; 16 MiB
	MaxBody      int64         // bytes of a body unpacked; 32 MiB
	MaxRatio     int           // unpacked by sent, over 1 MiB; 100
	MaxHeader    int64         // bytes of a header; 256 KiB
	MaxRedirects int           // 10

	PerHost  int           // requests to one host at once; 2
	MinDelay time.Duration // between two requests to one host; 200 ms
	MaxWait  time.Duration // the longest delay that a site's Retry-After or Crawl-delay gets; 15 s
	// IgnoreRobots reads pages that robots.txt disallows.
	IgnoreRobots bool
	// UserAgent names us to sites and their robots.txt, by its first word.
	UserAgent string

	// Resolver and Dial stand in for the network in tests. Dial gets an
	// address and port that passed the checks.
	Resolver Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

const userAgent = "Dossier/1 (research assistant; reads pages that its user asked about)"

func (c GuardConfig) withDefaults() GuardConfig {
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.MaxWire = cmp.Or(c.MaxWire, 16<<20)
	c.MaxBody = cmp.Or(c.MaxBody, 32<<20)
	c.MaxRatio = cmp.Or(c.MaxRatio, 100)
	c.MaxHeader = cmp.Or(c.MaxHeader, 256<<10)
	c.MaxRedirects = cmp.Or(c.MaxRedirects, maxRedirects)
	c.PerHost = cmp.Or(c.PerHost, 2)
	c.MinDelay = cmp.Or(c.MinDelay, 200*time.Millisecond)
	c.MaxWait = cmp.Or(c.MaxWait, 15*time.Second)
	c.UserAgent = cmp.Or(c.UserAgent, userAgent)
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	return c
}

// Client fetches URLs that come from outside: from search engines, models,
// pages. It is safe for concurrent use.
type Client struct {
	conf      GuardConfig
	token     string
	transport *http.Transport
	manners   *manners
	robots    robots
}

// Guarded makes a client.
func Guarded(conf GuardConfig) *Client {
	c := &Client{conf: conf.withDefaults()}
	c.token = productToken(c.conf.UserAgent)
	c.manners = newManners(&c.conf)
	c.robots.origins = map[string]*rules{}
	if c.conf.Dial == nil {
		c.conf.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: c.control}).DialContext
	}
	c.transport = &http.Transport{
		// No Proxy: one from the environment would resolve names behind the
		// guard's back.
		DialContext:            c.dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  c.conf.Timeout,
		MaxResponseHeaderBytes: c.conf.MaxHeader,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    c.conf.PerHost,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // unpacked here, under limits
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
	return c
}

// Close closes unused connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// control is the last check: what the system is about to connect to.
func (c *Client) control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return &Error{Reason: Refused, Why: fmt.Sprintf("%s %s is not a TCP address", network, address)}
	}
	return c.addressCheck(at.Addr())
}

// dial resolves a host and connects to the first of its public addresses that
// answers. No address that is refused is dialled, whatever else the name has.
func (c *Client) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	t := &target{name: name}
	addrs := []netip.Addr{}
	if a, ok := t.literal(); ok {
		addrs = append(addrs, a)
	} else if addrs, err = c.conf.Resolver.LookupNetIP(ctx, "ip", name); err != nil {
		return nil, err
	}
	var failed []error
	var refused error
	for i, a := range addrs {
		a = a.Unmap()
		if err := c.addressCheck(a); err != nil {
			refused = err
			continue
		}
		conn, err := c.dialOne(ctx, network, netip.AddrPortFrom(a, uint16(n)), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	switch {
	case len(failed) > 0:
		return nil, failed[0]
	case refused != nil:
		return nil, refused
	}
	return nil, &net.DNSError{Err: "no address", Name: name, IsNotFound: true}
}

// dialOne connects to one of the left addresses within its share of the time.
func (c *Client) dialOne(ctx context.Context, network string, at netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		share := max(time.Until(end)/time.Duration(left), 2*time.Second)
		limited, cancel := context.WithTimeout(ctx, share)
		defer cancel()
		ctx = limited
	}
	return c.conf.Dial(ctx, network, at.String())
}

// Response is a page that was fetched.
type Response struct {
	// URL is where the body came from, after redirects.
	URL    string
	Header http.Header // the headers in keptHeaders
	Body   []byte      // unpacked
	// Redirects are the URLs that led here, the asked one first.
	Redirects []string
}

// keptHeaders are the response headers that say something about the page.
var keptHeaders = []string{"Content-Type", "Content-Language", "Content-Disposition", "Last-Modified", "Etag", "Date", "X-Robots-Tag"}

// Check says whether a URL may be opened, as far as that can be told without
// asking for the addresses of its host.
func (c *Client) Check(url string) error {
	_, err := c.target(url, "")
	return err
}

// Fetch gets a page. An error that tells about the URL or the site is an
// *Error; if ctx ended, it is ctx's.
func (c *Client) Fetch(ctx context.Context, url string) (*Response, error) {
	t, err := c.target(url, "")
	if err != nil {
		return nil, err
	}
	return c.follow(ctx, t, &c.conf, !c.conf.IgnoreRobots)
}

// follow gets t and what it redirects to, each hop checked like the first.
func (c *Client) follow(ctx context.Context, t *target, conf *GuardConfig, robots bool) (*Response, error) {
	left := conf.Timeout
	var via []string
	for {
		if robots {
			if err := c.allowed(ctx, t); err != nil {
				return nil, c.explain(ctx, t, err, false)
			}
		}
		done, err := c.manners.enter(ctx, t.host)
		if err != nil {
			return nil, c.explain(ctx, t, err, false)
		}
		start := time.Now()
		hop, cancel := context.WithTimeout(ctx, left)
		got, location, err := c.get(hop, t, conf)
		late := hop.Err() != nil
		cancel()
		done()
		if err != nil {
			return nil, c.explain(ctx, t, err, late)
		}
		if location == "" {
			got.URL, got.Redirects = t.String(), via
			return got, nil
		}
		if left -= time.Since(start); left <= 0 {
			return nil, c.explain(ctx, t, context.DeadlineExceeded, true)
		}
		if via = append(via, t.String()); len(via) > conf.MaxRedirects {
			return nil, &Error{Reason: Redirects, URL: shorten(via[0]), Why: fmt.Sprintf("more than %d redirects", conf.MaxRedirects)}
		}
		next, err := c.target(location, t.String())
		if err != nil {
			return nil, err
		}
		if next.fragment == "" {
			next.fragment = t.fragment
		}
		t = next
	}
}

// get makes one request. It returns the page or where it redirects to.
func (c *Client) get(ctx context.Context, t *target, conf *GuardConfig) (*Response, string, error) {
	u, err := t.requestURL()
	if err != nil {
		return nil, "", err
	}
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{
		"User-Agent":      {conf.UserAgent},
		"Accept":          {"text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5"},
		"Accept-Encoding": {"gzip, deflate"},
	}}).WithContext(ctx)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location := resp.Header.Get("Location")
		if location == "" {
			return nil, "", &Error{Reason: Redirects, Why: "a redirect without a place"}
		}
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // a short body frees the connection for the next hop
		return nil, location, nil
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNonAuthoritativeInfo {
		e := &Error{Reason: Status, Code: resp.StatusCode, Why: "the site answered " + statusText(resp.StatusCode)}
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
			if e.RetryAfter = retryAfter(resp.Header, time.Now()); e.RetryAfter > 0 {
				c.manners.hold(t.host, e.RetryAfter)
			}
		}
		return nil, "", e
	}
	if resp.ContentLength > conf.MaxWire {
		return nil, "", &Error{Reason: TooLarge, Why: fmt.Sprintf("%d bytes on the wire, more than %d", resp.ContentLength, conf.MaxWire)}
	}
	body, err := readBody(resp.Body, resp.Header.Get("Content-Encoding"), conf)
	if err != nil {
		return nil, "", err
	}
	kept := http.Header{}
	for _, name := range keptHeaders {
		if v := resp.Header.Values(name); v != nil {
			kept[name] = v
		}
	}
	return &Response{Header: kept, Body: body}, "", nil
}

func statusText(code int) string {
	if s := http.StatusText(code); s != "" {
		return fmt.Sprintf("%d %s", code, s)
	}
	return strconv.Itoa(code)
}

// explain turns what went wrong at t into an *Error with its place, or into
// the caller's own reason if that is what ended it.
func (c *Client) explain(ctx context.Context, t *target, err error, late bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return placed(t, err)
	}
	var slow net.Error
	if late || errors.As(err, &slow) && slow.Timeout() {
		return &Error{Reason: Timeout, URL: shorten(t.String()), Why: "it took too long"}
	}
	return &Error{Reason: Network, URL: shorten(t.String()), Why: "no reply", Err: err}
}

// placed is the *Error in err with its URL, which is t's unless it has one.
func placed(t *target, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	at := *e
	if at.URL == "" && t != nil {
		at.URL = shorten(t.String())
	}
	return &at
}
