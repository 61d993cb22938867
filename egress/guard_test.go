package egress

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const public = "93.184.215.14"

// fakeNet is a network in memory: names by a table, every dial recorded, and
// one server behind all public addresses.
type fakeNet struct {
	names   map[string][]string // host → addresses; every other host is public
	handler http.HandlerFunc

	mu    sync.Mutex
	dials []string
	conns chan net.Conn
	done  chan struct{}
}

func (f *fakeNet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	texts, ok := f.names[strings.TrimSuffix(host, ".")]
	if !ok {
		texts = []string{public}
	}
	var addrs []netip.Addr
	for _, s := range texts {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	return addrs, nil
}

func (f *fakeNet) dial(_ context.Context, _, address string) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, address)
	f.mu.Unlock()
	client, server := net.Pipe()
	select {
	case f.conns <- server:
		return client, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

func (f *fakeNet) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}
func (f *fakeNet) Close() error   { return nil }
func (f *fakeNet) Addr() net.Addr { return &net.TCPAddr{} }

// guarded makes a client on a fake network.
func guarded(t *testing.T, conf GuardConfig, f *fakeNet) *Client {
	t.Helper()
	f.conns, f.done = make(chan net.Conn), make(chan struct{})
	conf.Resolver, conf.Dial = f, f.dial
	c := Guarded(conf)
	server := &http.Server{Handler: f.handler}
	served := make(chan struct{})
	go func() { server.Serve(f); close(served) }()
	t.Cleanup(func() {
		c.Close()
		close(f.done)
		server.Close()
		<-served
	})
	return c
}

// page serves text at every path but robots.txt, which it does not have.
func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, text)
	}
}

func TestRefusedURLs(t *testing.T) {
	f := &fakeNet{handler: page("leaked"), names: map[string][]string{
		"private.test": {"10.1.2.3"}, "mapped.test": {"::ffff:127.0.0.1"}, "both.test": {"127.0.0.1", "::1"},
		"nat64.test": {"64:ff9b::7f00:1"}, "teredo.test": {"2001:0:1::1"}, "sixtofour.test": {"2002:7f00:1::"},
		"meta.test": {"169.254.169.254"}, "ula.test": {"fd00:ec2::254"}, "cgnat.test": {"100.64.1.1"},
		"cgnat2.test": {"100.100.100.200"}, "zero.test": {"0.0.0.0"}, "site.test": {"fec0::1"}, "multi.test": {"ff02::1"},
		"compat.test": {"::127.0.0.1"}, "doc.test": {"2001:db8::1"}, "class-e.test": {"240.0.0.1"}, "bcast.test": {"255.255.255.255"},
	}}
	c := guarded(t, GuardConfig{MinDelay: 1}, f)
	urls := []string{
		"file:///etc/passwd", "ftp://example.com/", "gopher://x:70/", "javascript:alert(1)", "data:text/html,x", "", "example.com",
		"http://", "http://example.com:22/", "https://example.com:8443/", "http://example.com:99999/",
		"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://127.0.0.1", "http://127.1/", "http://2130706433/",
		"http://0177.0.0.1/", "http://0x7f.1/", "http://0x7f000001/", "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://%31%32%37.0.0.1/",
		"http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::]/", "http://0/", "http:127.0.0.1",
		"http:\\\\127.0.0.1\\", "http://example.com@127.0.0.1/", "http://127.0.0.1\\@example.com/", "ht\ttp://127.\n0.0.1/",
		"http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://192.168.0.1/",
		"http://1.2.3.4.5/", "http://256.1.1.1/", "http://" + strings.Repeat("a", maxURL),
	}
	for name := range f.names {
		urls = append(urls, "http://"+name+"/", "https://"+name+"/")
	}
	for _, u := range urls {
		if _, err := c.Fetch(t.Context(), u); ReasonOf(err) != Refused {
			t.Errorf("%.80q: %v", u, err)
		}
	}
	if len(f.dials) > 0 {
		t.Errorf("dialled %v", f.dials)
	}
}

func TestAddresses(t *testing.T) {
	for _, s := range []string{public, "1.1.1.1", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "100.63.255.255", "172.32.0.1", "2003::1"} {
		if why := RefusedAddress(netip.MustParseAddr(s)); why != "" {
			t.Errorf("%s: %s", s, why)
		}
	}
	for _, s := range []string{"172.31.255.255", "198.19.0.1", "192.88.99.1", "2001:1ff::1", "3fff::1", "64:ff9b:1::1", "4000::1", "100::1", "fe80::1%eth0", "5f00::1"} {
		if RefusedAddress(netip.MustParseAddr(s)) == "" {
			t.Errorf("%s is let through", s)
		}
	}
	if RefusedAddress(netip.Addr{}) == "" {
		t.Error("no address is let through")
	}
	// The check that the system's own connect passes through.
	c := Guarded(GuardConfig{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	for address, ok := range map[string]bool{"127.0.0.1:80": false, "[::ffff:10.0.0.1]:80": true, "10.0.0.1:80": true, "1.1.1.1:80": true, "nonsense": false} {
		if err := c.control("tcp4", address, nil); (err == nil) != ok {
			t.Errorf("control %s: %v", address, err)
		}
	}
	if c.control("unix", "1.1.1.1:80", nil) == nil {
		t.Error("another network than TCP")
	}
}

func TestOnlyThePublicAddressIsDialled(t *testing.T) {
	f := &fakeNet{handler: page("hello"), names: map[string][]string{"mixed.test": {"127.0.0.1", "10.0.0.1", public}}}
	c := guarded(t, GuardConfig{MinDelay: 1}, f)
	got, err := c.Fetch(t.Context(), "http://mixed.test/")
	if err != nil || string(got.Body) != "hello" {
		t.Fatal(got, err)
	}
	if slices.ContainsFunc(f.dials, func(d string) bool { return d != public+":80" }) {
		t.Errorf("dialled %v", f.dials)
	}
}

func TestRebinding(t *testing.T) {
	f := &fakeNet{names: map[string][]string{}}
	f.handler = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		f.names["rebind.test"] = []string{"127.0.0.1"} // the next lookup finds this machine
		page("first")(w, r)
	}
	c := guarded(t, GuardConfig{MinDelay: 1, IgnoreRobots: true}, f)
	if _, err := c.Fetch(t.Context(), "http://rebind.test/"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), "http://rebind.test/"); ReasonOf(err) != Refused {
		t.Error(err)
	}
	if len(f.dials) != 1 {
		t.Errorf("dialled %v", f.dials)
	}
}

func TestFetchRedirects(t *testing.T) {
	f := &fakeNet{names: map[string][]string{"evil.test": {"127.0.0.1"}}}
	f.handler = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/end":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Set-Cookie", "a=b")
			io.WriteString(w, "end of "+r.Host)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.URL.Path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		case r.URL.Query().Has("to"):
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			http.NotFound(w, r)
		}
	}
	c := guarded(t, GuardConfig{MinDelay: 1}, f)
	get := func(to string) (*Response, error) {
		return c.Fetch(t.Context(), "http://a.test/?to="+to+"#part")
	}
	got, err := get("//b.test/end")
	if err != nil {
		t.Fatal(err)
	}
	if got.URL != "http://b.test/end#part" || string(got.Body) != "end of b.test" || len(got.Redirects) != 1 {
		t.Errorf("%+v, body %q", got, got.Body)
	}
	if got.Header.Get("Content-Type") != "text/plain" || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("headers %v", got.Header)
	}
	if got, err := get("https:/end"); ReasonOf(err) != Network { // as a browser reads it: https://end/, which has no TLS here
		t.Errorf("%+v, %v", got, err)
	}
	before := len(f.dials)
	for _, to := range []string{"http://127.0.0.1/", "http://evil.test/", "http:%2f%2f2130706433", "//[::1]/", "file:///etc/passwd", "http://localhost", "\\\\127.0.0.1", "gopher://a", "http://b.test:22/"} {
		if got, err := get(to); ReasonOf(err) != Refused {
			t.Errorf("to %s: %+v, %v", to, got, err)
		}
	}
	for _, d := range f.dials[before:] {
		if d != public+":80" {
			t.Errorf("dialled %s", d)
		}
	}
	for _, path := range []string{"/loop", "/nowhere"} {
		if _, err := c.Fetch(t.Context(), "http://a.test"+path); ReasonOf(err) != Redirects {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func packed(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(plain)
	z.Close()
	return b.Bytes()
}

func TestBodies(t *testing.T) {
	zl := func(plain string) []byte {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		io.WriteString(z, plain)
		z.Close()
		return b.Bytes()
	}
	bomb := packed(t, make([]byte, 8<<20))
	for _, tt := range []struct {
		name, encoding string
		body           []byte
		want           string
		reason         Reason
	}{
		{"plain", "", []byte("text"), "text", ""},
		{"gzip", "gzip", packed(t, []byte("text")), "text", ""},
		{"twice", "gzip, gzip", packed(t, packed(t, []byte("text"))), "text", ""},
		{"zlib", "deflate", zl("text"), "text", ""},
		{"bare deflate", "deflate", zl("text")[2:], "text", ""},
		{"nothing", "gzip", nil, "", ""},
		{"not gzip", "gzip", []byte("text that is not packed"), "", Encoding},
		{"cut off", "gzip", packed(t, []byte("text"))[:12], "", Network},
		{"flipped", "gzip", func() []byte { b := packed(t, []byte("text")); b[len(b)-6] ^= 1; return b }(), "", Encoding},
		{"unknown", "br", []byte("text"), "", Encoding},
		{"many", "gzip,gzip,gzip,gzip", []byte("text"), "", Encoding},
		{"bomb", "gzip", bomb, "", Ratio},
		{"bomb in a bomb", "gzip,gzip", packed(t, bomb), "", Ratio},
		{"large unpacked", "", bytes.Repeat([]byte("x"), 3<<20), "", TooLarge},
		{"large on the wire", "", bytes.Repeat([]byte("x"), 5<<20), "", TooLarge},
	} {
		f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
			if tt.encoding != "" {
				w.Header().Set("Content-Encoding", tt.encoding)
			}
			w.Write(tt.body)
		}}
		c := guarded(t, GuardConfig{IgnoreRobots: true, MaxBody: 2 << 20, MaxWire: 4 << 20}, f)
		got, err := c.Fetch(t.Context(), "http://a.test/")
		if ReasonOf(err) != tt.reason {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil && string(got.Body) != tt.want {
			t.Errorf("%s: %q", tt.name, got.Body)
		}
	}
}

func TestRobots(t *testing.T) {
	asked := 0
	f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			asked++
			switch r.Host {
			case "rules.test":
				io.WriteString(w, "User-agent: *\nDisallow: /\n\nUser-agent: Dossier\nDisallow: /secret\nAllow: /secret/open\n")
			case "down.test":
				http.Error(w, "no", http.StatusBadGateway)
			case "loop.test":
				http.Redirect(w, r, "/robots.txt", http.StatusFound)
			case "noise.test":
				w.Write(bytes.Repeat([]byte{0xff, 0, '\n', 'x'}, 1000))
			default:
				http.NotFound(w, r)
			}
			return
		}
		io.WriteString(w, "page")
	}}
	c := guarded(t, GuardConfig{MinDelay: 1}, f)
	for url, want := range map[string]Reason{
		"http://rules.test/":              "",
		"http://rules.test/secret?x":      Robots,
		"http://rules.test/secret/open":   "",
		"http://down.test/":               Robots,
		"http://loop.test/":               "",
		"http://noise.test/":              "",
		"http://none.test/secret":         "",
		"http://RULES.test/%73ecret/x/..": Robots,
	} {
		if _, err := c.Fetch(t.Context(), url); ReasonOf(err) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
	before := asked
	c.Fetch(t.Context(), "http://rules.test/again")
	if asked != before {
		t.Error("robots.txt is asked for each page")
	}
	if _, err := guarded(t, GuardConfig{IgnoreRobots: true}, &fakeNet{handler: f.handler}).Fetch(t.Context(), "http://rules.test/secret"); err != nil {
		t.Error(err)
	}
}

func TestPoliteness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		var starts []time.Time
		f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now++
			most = max(most, now)
			starts = append(starts, time.Now())
			mu.Unlock()
			time.Sleep(3 * time.Second) // in the bubble's time
			mu.Lock()
			now--
			mu.Unlock()
		}}
		c := guarded(t, GuardConfig{IgnoreRobots: true, MinDelay: time.Second}, f)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if _, err := c.Fetch(t.Context(), fmt.Sprintf("http://a.test/%d", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most != 2 {
			t.Errorf("%d requests at once", most)
		}
		for i := 1; i < len(starts); i++ {
			if gap := starts[i].Sub(starts[i-1]); gap < time.Second {
				t.Errorf("requests %d and %d are %s apart", i-1, i, gap)
			}
		}
		c.Close()
	})
}

func TestRetryAfterAndCrawlDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, wait := http.StatusTooManyRequests, "10"
		f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Host == "slow.test" && r.URL.Path == "/robots.txt":
				io.WriteString(w, "User-agent: *\nCrawl-delay: 5\n")
			case r.Host == "slow.test":
			default:
				w.Header().Set("Retry-After", wait)
				w.WriteHeader(status)
			}
		}}
		c := guarded(t, GuardConfig{MaxWait: 30 * time.Second}, f)
		since := func(url string) (time.Duration, error) {
			start := time.Now()
			_, err := c.Fetch(t.Context(), url)
			return time.Since(start), err
		}
		c.Fetch(t.Context(), "http://slow.test/1")
		if took, err := since("http://slow.test/2"); took != 5*time.Second || err != nil {
			t.Errorf("the crawl delay was %s: %v", took, err)
		}
		_, err := since("http://busy.test/")
		var e *Error
		if !errors.As(err, &e) || e.Reason != Status || e.Code != 429 || e.RetryAfter != 10*time.Second {
			t.Errorf("%v", err)
		}
		status, wait = http.StatusServiceUnavailable, time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
		if took, err := since("http://busy.test/"); took != 10*time.Second || ReasonOf(err) != Status {
			t.Errorf("waited %s: %v", took, err)
		}
		if took, err := since("http://busy.test/"); took != 0 || ReasonOf(err) != Busy {
			t.Errorf("waited %s: %v", took, err)
		}
		c.Close()
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			for { // a page that trickles
				if _, err := io.WriteString(w, "."); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
					return
				}
			}
		}}
		c := guarded(t, GuardConfig{IgnoreRobots: true, Timeout: 8 * time.Second}, f)
		start := time.Now()
		_, err := c.Fetch(t.Context(), "http://a.test/")
		if took := time.Since(start); ReasonOf(err) != Timeout || took != 8*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Fetch(ctx, "http://a.test/"); !errors.Is(err, context.DeadlineExceeded) || ReasonOf(err) != "" {
			t.Errorf("the caller's own limit: %v", err)
		}
		c.Close()
	})
}

func TestErrorsKeepPasswords(t *testing.T) {
	c := guarded(t, GuardConfig{}, &fakeNet{handler: page("")})
	for _, u := range []string{"http://user:s3cret@127.0.0.1/", "ftp://user:s3cret@a/", "http://user:s3cret@a:99999/"} {
		if _, err := c.Fetch(t.Context(), u); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

func TestWireBytes(t *testing.T) {
	var got []string
	c := guarded(t, GuardConfig{IgnoreRobots: true, MinDelay: 1}, &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Host+r.RequestURI+" "+r.Header.Get("Authorization"))
	}})
	for url, want := range map[string]string{
		"http://u:p@пример.рф/путь?q=ё#x": "xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C?q=%D1%91 ",
		"http://a.test/100%/x":            "a.test/100%25/x ",
		"http://a.test//@b?":              "a.test//@b ",
		"http://a.test/a%2Fb/../c":        "a.test/c ",
	} {
		got = nil
		if _, err := c.Fetch(t.Context(), url); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1", "http://a@b:80/", "http:\\\\0x7f.1", "https://[::1]", "//x", "http://xn--"} {
		f.Add(s, "http://base.test/dir/")
	}
	c := Guarded(GuardConfig{})
	f.Fuzz(func(t *testing.T, raw, base string) {
		got, err := c.target(raw, base)
		if err != nil {
			return
		}
		if got.scheme != "http" && got.scheme != "https" || got.port != 80 && got.port != 443 {
			t.Errorf("%q: %+v", raw, got)
		}
		u, err := got.requestURL()
		if err != nil {
			return
		}
		if u.Host != got.host || u.User != nil {
			t.Errorf("%q: asks %q, checked %q", raw, u.Host, got.host)
		}
	})
}
