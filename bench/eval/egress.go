package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"dossier/egress"
)

// publicAddress is what the fake resolver gives to hosts that stand for
// places on the internet.
const publicAddress = "93.184.215.14"

// fakeNet answers a guarded client without a network: it resolves names by
// resolve, records each dial, and serves handler at whatever is dialled.
type fakeNet struct {
	resolve func(host string) string
	handler http.HandlerFunc

	mu    sync.Mutex
	dials []string
	conns chan net.Conn
}

func (f *fakeNet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a, err := netip.ParseAddr(f.resolve(strings.TrimSuffix(host, ".")))
	return []netip.Addr{a}, err
}

func (f *fakeNet) dial(_ context.Context, _, address string) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, address)
	f.mu.Unlock()
	client, server := net.Pipe()
	f.conns <- server
	return client, nil
}

func (f *fakeNet) Accept() (net.Conn, error) {
	if c, ok := <-f.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (f *fakeNet) Close() error   { return nil }
func (f *fakeNet) Addr() net.Addr { return &net.TCPAddr{} }

// fetchAll runs fn with a client on the fake network.
func (f *fakeNet) fetchAll(fn func(c *egress.Client) error) error {
	f.conns = make(chan net.Conn)
	server := &http.Server{Handler: f.handler}
	served := make(chan struct{})
	go func() { server.Serve(f); close(served) }()
	client := egress.Guarded(egress.GuardConfig{Resolver: f, Dial: f.dial, IgnoreRobots: true, MinDelay: 1, Timeout: 5 * time.Second})
	err := fn(client)
	client.Close()
	close(f.conns)
	server.Close()
	<-served
	return err
}

// refusedDials counts the dials to addresses that must not be reached.
func (f *fakeNet) refusedDials() int {
	n := 0
	for _, d := range f.dials {
		at, err := netip.ParseAddrPort(d)
		if err != nil || egress.RefusedAddress(at.Addr()) != "" {
			n++
		}
	}
	return n
}

// guardAnswer is what Record gets for a URL.
type guardAnswer struct {
	URL    string `json:"url"`
	Reason string `json:"reason"`
	Error  string `json:"error,omitempty"`
}

// redirector serves at any host a redirect to where its handler is told.
const redirector = "http://redirector.example/"

// measureGuard fetches each URL, once directly and once as the target of a
// redirect, and reports how many were refused and what was dialled.
func measureGuard(ctx context.Context, env *Env, f *fakeNet, urls []string) error {
	blocked, location := 0, ""
	inner := f.handler
	f.handler = func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "redirector.example" && r.URL.Path == "/" {
			w.Header()["Location"] = []string{location}
			w.WriteHeader(http.StatusFound)
			return
		}
		inner(w, r)
	}
	err := f.fetchAll(func(c *egress.Client) error {
		for _, u := range urls {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := c.Fetch(ctx, u)
			reason := egress.ReasonOf(err)
			if reason == egress.Refused {
				blocked++
			}
			answer := guardAnswer{URL: u, Reason: string(reason)}
			if err != nil {
				answer.Error = err.Error()
			}
			if err := env.Record(answer); err != nil {
				return err
			}
			if location = strings.Map(headerSafe, u); location != "" {
				c.Fetch(ctx, redirector) // counts by what it dials
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	env.Ratio("blocked", blocked, len(urls))
	env.Count("dials", f.refusedDials(), len(urls))
	return nil
}

func headerSafe(r rune) rune {
	if r == '\r' || r == '\n' || r == 0 {
		return -1
	}
	return r
}

// runSSRF measures the guarded client on URLs that attack it. Names resolve
// as in the wild: nip.io to the address that they spell, the r3dir service to
// a public address that redirects to localhost, metadata services to theirs.
func runSSRF(ctx context.Context, env *Env) error {
	cases, err := readLines[struct {
		URL string `json:"url"`
	}](env, "urls.jsonl")
	if err != nil {
		return err
	}
	f := &fakeNet{
		resolve: func(host string) string {
			switch {
			case strings.HasSuffix(host, ".nip.io"):
				return strings.TrimSuffix(host, ".nip.io")
			case strings.HasSuffix(host, ".r3dir.me"), host == "redirector.example":
				return publicAddress
			case strings.Contains(host, "metadata"):
				return "169.254.169.254"
			}
			return "127.0.0.1"
		},
		handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Host, ".r3dir.me") {
				w.Header().Set("Location", "http://localhost")
				w.WriteHeader(http.StatusFound)
			}
		},
	}
	urls := make([]string, len(cases))
	for i, c := range cases {
		urls[i] = c.URL
		if strings.Contains(c.URL, "r3dir.me") { // there is no TLS here, and the redirect is what counts
			urls[i] = strings.Replace(c.URL, "https:", "http:", 1)
		}
	}
	return measureGuard(ctx, env, f, urls)
}

// wptCase is a case of the web platform's URL tests.
type wptCase struct {
	Input    string  `json:"input"`
	Base     *string `json:"base"`
	Href     string  `json:"href"`
	Failure  bool    `json:"failure"`
	Protocol string  `json:"protocol"`
	Hostname string  `json:"hostname"`
}

// runWPT measures the URL parser, and the guard on the set's http(s) URLs
// with every name resolved to 127.0.0.1. URLs whose host is itself a public
// address have no name to resolve and are left out.
func runWPT(ctx context.Context, env *Env) error {
	cases, err := readLines[wptCase](env, "urltestdata.jsonl.gz")
	if err != nil {
		return err
	}
	conform := 0
	var urls []string
	for _, c := range cases {
		base := ""
		if c.Base != nil {
			base = *c.Base
		}
		got, err := egress.NormalizeURL(c.Input, base)
		ok := err == nil && !c.Failure && got == c.Href || err != nil && c.Failure
		if ok {
			conform++
		} else if err := env.Record(map[string]string{"input": c.Input, "base": base, "want": c.Href, "got": got, "error": fmt.Sprint(err)}); err != nil {
			return err
		}
		if c.Protocol != "http:" && c.Protocol != "https:" {
			continue
		}
		if a, err := netip.ParseAddr(strings.Trim(c.Hostname, "[]")); err == nil && egress.RefusedAddress(a) == "" {
			continue
		}
		urls = append(urls, c.Href)
		if base == "" {
			urls = append(urls, c.Input)
		}
	}
	f := &fakeNet{
		resolve: func(host string) string {
			if host == "redirector.example" {
				return publicAddress
			}
			return "127.0.0.1"
		},
		handler: http.NotFound,
	}
	if err := measureGuard(ctx, env, f, urls); err != nil {
		return err
	}
	env.Ratio("conform", conform, len(cases))
	return nil
}
