package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func proxied(t *testing.T, conf ProxyConfig, f *fakeNet) (*Proxy, *http.Client) {
	t.Helper()
	p, err := guarded(t, GuardConfig{}, f).Proxy(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	via := &url.URL{Scheme: "http", Host: p.Address, User: url.UserPassword(p.User, p.Password)}
	transport := &http.Transport{Proxy: http.ProxyURL(via)}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Transport: transport}
}

// connect asks for a tunnel and returns it with the proxy's answer.
func connect(t *testing.T, p *Proxy, to, auth string) (net.Conn, *bufio.Reader, int) {
	t.Helper()
	c, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", to, to, auth)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return c, r, resp.StatusCode
}

func (p *Proxy) header() string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(p.User, p.Password)
	return "Proxy-Authorization: " + r.Header.Get("Authorization") + "\r\n"
}

func TestProxyForwards(t *testing.T) {
	f := &fakeNet{handler: func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "X-Hop"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the site sees %s", name)
			}
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.RequestURI, body)
	}}
	p, client := proxied(t, ProxyConfig{}, f)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://site.example/a%2fb?x=1", strings.NewReader("said"))
	req.Header.Set("Connection", "X-Hop")
	req.Header.Set("X-Hop", "1")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "POST site.example /a%2fb?x=1 said" || resp.StatusCode != http.StatusTeapot || resp.Header.Get("Set-Cookie") != "a=b" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}

	tunnel, r, code := connect(t, p, "site.example:443", p.header())
	if code != http.StatusOK {
		t.Fatalf("the tunnel: %d", code)
	}
	fmt.Fprint(tunnel, "GET /through HTTP/1.1\r\nHost: inner\r\n\r\n")
	inner, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(inner.Body); string(body) != "GET inner /through " {
		t.Errorf("%q through the tunnel", body)
	}
	if want := []string{public + ":80", public + ":443"}; fmt.Sprint(f.dials) != fmt.Sprint(want) {
		t.Errorf("dialled %v", f.dials)
	}
}

func TestProxyRefuses(t *testing.T) {
	f := &fakeNet{handler: page("leaked"), names: map[string][]string{
		"private.test": {"10.1.2.3"}, "meta.test": {"169.254.169.254"}, "both.test": {"127.0.0.1", "::1"}, "mapped.test": {"::ffff:127.0.0.1"},
	}}
	p, client := proxied(t, ProxyConfig{}, f)
	for _, u := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://169.254.169.254/latest", "http://2130706433/", "http://0x7f.1/",
		"http://private.test/", "http://meta.test/", "http://both.test/", "http://mapped.test/", "http://site.example:22/", "http://" + p.Address + "/",
	} {
		resp, err := client.Get(u)
		if err != nil {
			t.Errorf("%s: %v", u, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", u, resp.StatusCode)
		}
	}
	n := len(p.Refused())
	if n != 12 || !strings.Contains(fmt.Sprint(p.Refused()), "both.test") {
		t.Errorf("refused %v", p.Refused())
	}
	for _, to := range []string{"127.0.0.1:443", "localhost:443", "meta.test:443", "[::1]:443", "site.example:25", "2130706433:443", "private.test:80"} {
		if _, _, code := connect(t, p, to, p.header()); code != http.StatusForbidden {
			t.Errorf("%s: %d", to, code)
		}
	}
	for _, auth := range []string{"", "Proxy-Authorization: Basic eDp5\r\n", "Proxy-Authorization: Bearer " + p.Password + "\r\n"} {
		if _, _, code := connect(t, p, "site.example:443", auth); code != http.StatusProxyAuthRequired {
			t.Errorf("with %q: %d", auth, code)
		}
	}
	// What a page of another browser could make it send.
	direct, err := http.Get("http://" + p.Address + "/")
	if err != nil {
		t.Fatal(err)
	}
	direct.Body.Close()
	if direct.StatusCode != http.StatusProxyAuthRequired {
		t.Errorf("asked as a server: %d", direct.StatusCode)
	}
	if len(f.dials) > 0 {
		t.Errorf("dialled %v", f.dials)
	}
}

func TestProxyEnds(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	t.Run("bytes", func(t *testing.T) {
		p, client := proxied(t, ProxyConfig{MaxBytes: 1 << 20}, &fakeNet{handler: endless})
		resp, err := client.Get("http://site.example/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil || n > 5<<18 || !p.Exhausted() {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("tunnel", func(t *testing.T) {
		p, _ := proxied(t, ProxyConfig{MaxBytes: 1 << 20}, &fakeNet{handler: endless})
		c, r, _ := connect(t, p, "site.example:443", p.header())
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if n, _ := io.Copy(io.Discard, r); n > 5<<18 || !p.Exhausted() {
			t.Errorf("%d bytes", n)
		}
	})
	t.Run("time", func(t *testing.T) {
		_, client := proxied(t, ProxyConfig{Timeout: 50 * time.Millisecond}, &fakeNet{handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
		if resp, err := client.Get("http://site.example/"); err == nil && resp.StatusCode == http.StatusOK {
			t.Error("no end")
		}
	})
	t.Run("context and close", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := guarded(t, GuardConfig{}, &fakeNet{handler: endless}).Proxy(ctx, ProxyConfig{})
		if err != nil {
			t.Fatal(err)
		}
		c, r, _ := connect(t, p, "site.example:443", p.header())
		cancel()
		if _, err := r.ReadByte(); err == nil {
			t.Error("the tunnel is open")
		}
		c.Close()
		p.Close()
		if c, err := net.Dial("tcp", p.Address); err == nil {
			c.Close()
			t.Error("it still listens")
		}
	})
	t.Run("connections", func(t *testing.T) {
		p, _ := proxied(t, ProxyConfig{MaxConns: 2}, &fakeNet{handler: page("x")})
		for range 2 {
			connect(t, p, "site.example:443", p.header())
		}
		c, err := net.Dial("tcp", p.Address)
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a third connection")
		}
	})
}
