// Package sitetest serves a whole Dossier with protocols for a test: a data
// directory on disk, a scripted model, and the web of invented pages.
package sitetest

import (
	"context"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// Site is what is served.
type Site struct {
	Engine *dossier.Engine
	URL    string
	// Ann and Bob are tokens of two users, Root that of the operator.
	Ann, Bob, Root string
	Model          *llmtest.Server

	options server.Options
	public  *server.Public
	open    func() (*dossier.Engine, error)
	speak   func(e *dossier.Engine) []server.Protocol
}

// Reopen is Restart that ends the engine too, as when a process ends, and takes up
// again in a new one what was under way.
func (s *Site) Reopen(ctx context.Context) error {
	if err := s.public.Close(); err != nil {
		return err
	}
	if err := s.Engine.Close(); err != nil {
		return err
	}
	e, err := s.open()
	if err != nil {
		return err
	}
	s.Engine = e
	s.options.Engine, s.options.Protocols = e, s.speak(e)
	if _, err := e.Sweep(ctx); err != nil {
		return err
	}
	return s.Restart()
}

// Leave ends the server, as one that nobody started again; Restart does.
func (s *Site) Leave() error { return s.public.Close() }

// Restart ends the server and serves anew at the same address; the engine goes on.
func (s *Site) Restart() error {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		return err
	}
	if s.options.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	if err := s.public.Close(); err != nil {
		return err
	}
	s.public, err = server.Listen(s.options)
	return err
}

// Options of a site.
type Options struct {
	Script llmtest.Script
	// Protocols are made when the engine is there.
	Protocols func(e *dossier.Engine) []server.Protocol
	// Set are more settings.
	Set map[string]string
	// Open asks nobody for a token.
	Open bool
}

// Start serves a site until the test is over.
func Start(t testing.TB, o Options) *Site {
	t.Helper()
	web, err := webtest.Start(webtest.Options{Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	at, err := url.Parse(web.Searx())
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{Model: llmtest.Start(t, o.Script), Root: "the-operators-token"}
	set := map[string]string{
		"models.default.base_url": s.Model.URL() + "/v1", "models.default.model": "scripted",
		"search.engines": "searxng", "search.searxng.base_url": web.Searx(), "search.allow_networks": "127.0.0.0/8", "search.allow_ports": at.Port(),
		"search.page_delay": "0s", "search.browser": "false",
	}
	maps.Copy(set, o.Set)
	home := t.TempDir()
	s.speak = o.Protocols
	s.open = func() (*dossier.Engine, error) {
		return dossier.Open(t.Context(), dossier.Options{DataDir: filepath.Join(home, "data"), ConfigFile: "none", Set: set, Env: []string{"HOME=" + home}})
	}
	if s.Engine, err = s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Engine.Close(); err != nil {
			t.Error(err)
		}
	})
	for user, into := range map[string]*string{"ann": &s.Ann, "bob": &s.Bob} {
		made, err := s.Engine.CreateToken(t.Context(), dossier.Token{User: user, Scopes: []access.Scope{access.Read, access.Run, access.Documents, access.Agents, access.Tools}})
		if err != nil {
			t.Fatal(err)
		}
		*into = made.Text
	}
	s.options = server.Options{
		Engine: s.Engine, Version: "test", Host: "127.0.0.1", Port: reserve(t), Access: server.Access{Required: !o.Open, Token: s.Root}, Protocols: o.Protocols(s.Engine),
	}
	if s.public, err = server.Listen(s.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.public.Close() })
	s.URL = s.public.URL()
	return s
}
