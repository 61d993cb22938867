package reader

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"dossier/egress"
)

// anywhere resolves every name to a public address.
type anywhere struct{}

func (anywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

type fakeBrowser struct {
	asked []string
	html  string
	err   error
}

func (f *fakeBrowser) Render(_ context.Context, url string) (*Rendered, error) {
	f.asked = append(f.asked, url)
	if f.err != nil {
		return nil, f.err
	}
	return &Rendered{URL: url + "#shown", HTML: []byte(f.html)}, nil
}

func TestFetcher(t *testing.T) {
	pages := map[string]string{
		"/article": articleOf("en-US", "Old bridge is closed", "", enText),
		"/app":     `<html><body><p>Loading the page …</p><div id="root"></div><script src="a.js"></script></body></html>`,
		"/empty":   `<html><body><div id="root"></div><SCRIPT src="a.js"></SCRIPT></body></html>`,
		"/blank":   `<html><body></body></html>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := pages[r.URL.Path]; ok {
			io.WriteString(w, p)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	client := egress.Guarded(egress.GuardConfig{Resolver: anywhere{}, MinDelay: 1, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}})
	t.Cleanup(client.Close)
	// As Chromium gives it: UTF-8, whatever the page says about itself.
	shown := `<!DOCTYPE html><html><head><meta charset="windows-1251"></head><body><p>` + strings.Repeat("Городской совет решил закрыть старый мост, а новый построить. ", 3) + `</p></body></html>`
	for name, test := range map[string]struct {
		path     string
		browser  *fakeBrowser
		rendered bool
		warning  string // or in the error, where there is no page
		reason   Reason
	}{
		"needs none":        {path: "/article", browser: &fakeBrowser{html: shown}},
		"rendered":          {path: "/app", browser: &fakeBrowser{html: shown}, rendered: true},
		"without any text":  {path: "/empty", browser: &fakeBrowser{html: shown}, rendered: true},
		"nothing to render": {path: "/blank", browser: &fakeBrowser{html: shown}, reason: NoText},
		"no browser":        {path: "/app", browser: &fakeBrowser{err: ErrNoBrowser}, warning: "no browser is installed"},
		"no port":           {path: "/app", warning: "were not run"},
		"fails":             {path: "/app", browser: &fakeBrowser{err: errors.New("it took too long")}, warning: "it took too long"},
		"fails, no text":    {path: "/empty", browser: &fakeBrowser{err: ErrNoBrowser}, warning: "no browser is installed", reason: NoText},
		"shows nothing":     {path: "/app", browser: &fakeBrowser{html: "<html></html>"}, warning: "cannot be read"},
		"shows less":        {path: "/app", browser: &fakeBrowser{html: "<p>Oh</p>"}, warning: "less text"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Fetcher{Client: client, Reader: newReader(t, Config{Workers: 1})}
			if test.browser != nil {
				f.Browser = test.browser
			}
			got, err := f.Fetch(t.Context(), "http://site.test"+test.path)
			if test.reason != "" {
				if about, ok := errors.AsType[*Error](err); !ok || about.Reason != test.reason || !strings.Contains(about.Why, test.warning) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(got.Page.Warnings, func(w string) bool { return strings.Contains(w, test.warning) })
			if got.Rendered != test.rendered || test.warning != "" && !warned || test.warning == "" && len(got.Page.Warnings) > 0 {
				t.Errorf("rendered %v, warnings %q", got.Rendered, got.Page.Warnings)
			}
			if test.rendered && (got.URL != "http://site.test"+test.path+"#shown" || !strings.Contains(got.Page.Text, "старый мост") || got.Document.URL != got.URL) {
				t.Errorf("%+v", got)
			}
		})
	}
	f := Fetcher{Client: client, Reader: newReader(t, Config{Workers: 1})}
	if _, err := f.Fetch(t.Context(), "http://127.0.0.1/"); egress.ReasonOf(err) != egress.Refused {
		t.Errorf("%v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	f.Browser = stopping{cancel}
	if _, err := f.Fetch(stopped, "http://site.test/app"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// stopping is a browser during which the run is stopped.
type stopping struct{ cancel context.CancelFunc }

func (s stopping) Render(ctx context.Context, _ string) (*Rendered, error) {
	s.cancel()
	return nil, ctx.Err()
}
