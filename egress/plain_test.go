package egress

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func plain(t *testing.T, c PlainConfig) *http.Client {
	t.Helper()
	client, err := Plain(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var seen string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.URL.String()
		io.WriteString(w, "from the proxy")
	}))
	defer proxy.Close()
	resp, err := plain(t, PlainConfig{Proxy: proxy.URL}).Get("http://model.test/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "from the proxy" || seen != "http://model.test/v1/models" {
		t.Errorf("%q, %q", body, seen)
	}
	if tr := plain(t, PlainConfig{}).Transport.(*http.Transport); tr.Proxy != nil {
		t.Error("the environment's proxy is used")
	}
	for _, bad := range []string{"ftp://u:s3cret@x", "://s3cret", "x:s3cret:y", "http://"} {
		if _, err := Plain(PlainConfig{Proxy: bad}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, good := range []string{"http://x:1", "https://x:1", "socks5://u:p@x:1"} {
		if _, err := Plain(PlainConfig{Proxy: good}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestCAFile(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	defer s.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := plain(t, PlainConfig{}).Get(s.URL); err == nil {
		t.Error("an unknown authority was trusted")
	}
	resp, err := plain(t, PlainConfig{CAFile: ca}).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Plain(PlainConfig{CAFile: empty}); err == nil || !strings.Contains(err.Error(), "no PEM certificate") {
		t.Error(err)
	}
	if _, err := Plain(PlainConfig{CAFile: filepath.Join(dir, "missing")}); err == nil || !strings.Contains(err.Error(), "CA file") {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	got := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got++ }))
	defer other.Close()
	target := ""
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/end" {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		}
	}))
	defer first.Close()
	client := plain(t, PlainConfig{})
	get := func(to, header string) error {
		target = to
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, first.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set(header, "secret")
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	for _, h := range []string{"Authorization", "Cookie", "X-Api-Key", "Api-Key"} {
		if err := get(other.URL, h); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", h, err)
		}
	}
	if got != 0 {
		t.Errorf("the other host was reached %d times", got)
	}
	if err := get(first.URL+"/end", "Authorization"); err != nil {
		t.Errorf("the same host: %v", err)
	}
	if err := get(other.URL, ""); err == nil || got != 0 {
		t.Errorf("without credentials: %v, and the other host was reached %d times", err, got)
	}
	if err := get(first.URL, ""); err == nil {
		t.Error("an endless redirect was followed")
	}
	u := func(s string) *http.Request {
		p, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: p, Header: http.Header{"Authorization": {"x"}}}
	}
	if sameHostOnly(u("http://a/x"), []*http.Request{u("https://a/")}) == nil {
		t.Error("credentials may go on without encryption")
	}
}
