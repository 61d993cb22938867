package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/run"
)

// site is a public server with tokens of two users.
type site struct {
	*bench
	public   *server.Public
	ann, bob string
}

func serve(t *testing.T, change func(*server.Options)) *site {
	t.Helper()
	return serveOf(direct(t), change)
}

// serveOf serves an engine to others.
func serveOf(b *bench, change func(*server.Options)) *site {
	t := b.t
	t.Helper()
	s := &site{bench: b}
	for user, into := range map[string]*string{"ann": &s.ann, "bob": &s.bob} {
		made, err := b.engine.CreateToken(t.Context(), dossier.Token{User: user, Scopes: []access.Scope{access.Read, access.Run, access.Documents, access.Agents, access.Tools}})
		if err != nil {
			t.Fatal(err)
		}
		*into = made.Text
	}
	o := server.Options{Engine: b.engine, Version: "test", Host: "127.0.0.1", Access: server.Access{Required: true, Token: "operator-secret"}}
	if change != nil {
		change(&o)
	}
	p, err := server.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	s.public = p
	return s
}

// ask makes a request and returns its status and body.
func (s *site) ask(token, method, path, body string, headers ...string) (int, string) {
	s.t.Helper()
	status, said, err := s.try(token, method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return status, said
}

// try is ask where the connection may break.
func (s *site) try(token, method, path, body string, headers ...string) (int, string, error) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.public.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func (s *site) runOf(user, question string) run.Record {
	s.t.Helper()
	rec, err := s.engine.Start(s.t.Context(), dossier.Request{Mode: "scripted", User: user, Request: mode.Request{Question: question}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.until(rec.ID, run.Done)
	return rec
}

func TestPublicBindNeedsATokenAndPortsAreTaken(t *testing.T) {
	b := direct(t)
	_, err := server.Listen(server.Options{Engine: b.engine, Host: "0.0.0.0"})
	var usage *dossier.UsageError
	if !errors.As(err, &usage) || !strings.Contains(usage.Hint, "dossier tokens create") {
		t.Errorf("a public server without a token: %v", err)
	}
	public, err := server.Listen(server.Options{Engine: b.engine, Host: "0.0.0.0", Access: server.Access{Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = public.Close() })
	if !strings.HasPrefix(public.URL(), "http://127.0.0.1:") || !public.Everywhere() {
		t.Errorf("a server on every address is at %s", public.URL())
	}
	s := serve(t, nil)
	port, err := strconv.Atoi(s.public.URL()[strings.LastIndexByte(s.public.URL(), ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	_, err = server.Listen(server.Options{Engine: b.engine, Host: "127.0.0.1", Port: port})
	if !errors.As(err, &usage) || !strings.Contains(usage.Message, "dossier serve") || !strings.Contains(usage.Hint, "--port") {
		t.Errorf("a port that is taken: %v", err)
	}
}

func TestWhoMayComeIn(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.Access.Origins = []string{"https://app.example"} })
	for _, c := range []struct {
		name, token string
		headers     []string
		want        int
	}{
		{"nobody", "", nil, http.StatusUnauthorized},
		{"a user", s.ann, nil, http.StatusOK},
		{"the operator", "operator-secret", nil, http.StatusOK},
		{"a wrong secret", s.ann[:len(s.ann)-2] + "zz", nil, http.StatusUnauthorized},
		{"another program's key", "sk-something", nil, http.StatusUnauthorized},
		{"a foreign name", s.ann, []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		{"a foreign page", s.ann, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"a page from nowhere", s.ann, []string{"Origin", "null"}, http.StatusForbidden},
		{"a page that may", s.ann, []string{"Origin", "https://app.example"}, http.StatusOK},
	} {
		if got, body := s.ask(c.token, "GET", "/api/runs", "", c.headers...); got != c.want {
			t.Errorf("%s gets %d, want %d: %s", c.name, got, c.want, body)
		}
	}
	if got, _ := s.ask("", "GET", "/health", ""); got != http.StatusOK {
		t.Errorf("/health: %d", got)
	}
	if got, _ := s.ask(s.ann, "GET", "/metrics", ""); got != http.StatusForbidden {
		t.Errorf("a user's metrics: %d", got)
	}
	if got, body := s.ask("operator-secret", "GET", "/metrics", ""); got != http.StatusOK || !strings.Contains(body, "dossier_runs{") {
		t.Errorf("metrics: %d %s", got, body)
	}
}

func TestThisMachineNeedsNoToken(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.Access = server.Access{} })
	for _, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"nobody", nil, http.StatusOK},
		{"some key", []string{"Authorization", "Bearer sk-x"}, http.StatusOK},
		{"a token that is none", []string{"Authorization", "Bearer " + access.Prefix + "a_b"}, http.StatusUnauthorized},
		{"through a proxy", []string{"X-Forwarded-For", "203.0.113.9"}, http.StatusUnauthorized},
		{"a rebound name", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
	} {
		if got, body := s.ask("", "GET", "/api/runs", "", c.headers...); got != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, got, c.want, body)
		}
	}
}

func TestFoldersAreTheOperatorsToAllow(t *testing.T) {
	dir := t.TempDir()
	allowed, secret := filepath.Join(dir, "allowed"), filepath.Join(dir, "secret")
	for _, d := range []string{allowed, secret} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(allowed, "link")); err != nil {
		t.Skip("no links here")
	}
	folders, err := server.NewFolders([]string{allowed})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		allowed: true, secret: false, filepath.Join(allowed, "link"): false, allowed + "/../secret": false, "allowed": false, allowed + "-other": false,
		filepath.Join(allowed, "none"): false, "/etc/passwd": false, "": false,
	} {
		if _, err := folders.Allow(path); (err == nil) != want {
			t.Errorf("%q: %v", path, err)
		}
	}
	s := serve(t, func(o *server.Options) { o.Policy.Folders = folders })
	for _, token := range []string{s.ann, "operator-secret"} {
		body := fmt.Sprintf(`{"mode":"web_search","question":"x","in":{"paths":[%q]}}`, secret)
		if got, said := s.ask(token, "POST", "/api/runs", body); got != http.StatusBadRequest || !strings.Contains(said, "server.folders") {
			t.Errorf("%d %s", got, said)
		}
	}
}

func TestBodiesThatAreWrong(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.MaxBody = 1 << 20 })
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"nothing":       {"", http.StatusBadRequest},
		"no JSON":       {"{", http.StatusBadRequest},
		"a list":        {"[]", http.StatusBadRequest},
		"a wrong type":  {`{"question":7}`, http.StatusBadRequest},
		"an odd field":  {`{"qestion":"x"}`, http.StatusBadRequest},
		"two values":    {`{"question":"x"}{}`, http.StatusBadRequest},
		"deep":          {`{"history":` + strings.Repeat("[", 20_000) + `}`, http.StatusBadRequest},
		"large":         {`{"question":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"less than 0":   {`{"question":"x","limits":{"tokens":-5}}`, http.StatusBadRequest},
		"no such mode":  {`{"mode":"nonsense","question":"x"}`, http.StatusBadRequest},
		"no such agent": {`{"mode":"agent","agent":"nobody","question":"x"}`, http.StatusNotFound},
	} {
		got, said := s.ask(s.ann, "POST", "/api/runs", c.body)
		if got != c.want || !json.Valid([]byte(said)) || strings.Contains(said, "Go ") {
			t.Errorf("%s: %d, want %d: %s", name, got, c.want, said)
		}
	}
}

// What a run is told and what runs are asked for has to be something.
func TestRequestsThatSayNothing(t *testing.T) {
	s := serve(t, nil)
	rec := s.start("ask")
	s.until(rec.ID, run.Waiting)
	at := "/api/runs/" + rec.ID
	for _, c := range []struct{ method, path, body, says string }{
		{"POST", at + "/steer", `{"text":" "}`, "told nothing"},
		{"POST", at + "/resume", `{"limits":{"searches":-1}}`, "searches is less than nothing"},
		{"GET", "/api/runs?status=odd", "", "no status"},
	} {
		if status, said := s.ask("operator-secret", c.method, c.path, c.body); status != http.StatusBadRequest || !strings.Contains(said, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, said)
		}
	}
	if status, said := s.ask("operator-secret", "GET", "/api/directory", ""); status != http.StatusOK || !strings.Contains(said, `"name":"`+dossier.DefaultAgent+`"`) {
		t.Errorf("the directory without a question: %d %s", status, said)
	}
	if err := s.Cancel(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
}

// Whoever waits for a run when the server stops is told so, and that nothing is lost.
func TestWaitingClientsHearOfTheEnd(t *testing.T) {
	b := direct(t)
	s := serveOf(b, func(o *server.Options) { o.Protocols = all(b.engine) })
	gone := make(chan string)
	for _, c := range []struct{ path, body string }{
		{"/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"wait"}]}`},
		{"/v1/chat/completions", `{"model":"scripted","stream":true,"messages":[{"role":"user","content":"wait"}]}`},
		{"/v1/responses", `{"model":"scripted","input":"wait"}`},
		{"/v1/responses", `{"model":"scripted","stream":true,"input":"wait"}`},
		{"/agui/scripted", `{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"wait"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`},
	} {
		go func() {
			status, said, err := s.try("operator-secret", "POST", c.path, c.body)
			gone <- fmt.Sprintf("%s: %d %s %v", c.path, status, said, err)
		}()
	}
	for {
		if runs, err := b.List(t.Context(), dossier.Filter{Status: run.Running}); err != nil {
			t.Fatal(err)
		} else if len(runs) == 5 {
			break
		}
	}
	go func() { _ = s.public.Close() }()
	for range 5 {
		if said := <-gone; !strings.Contains(said, "the server is stopping") {
			t.Error(said)
		}
	}
}

// A reader who comes back after any event sees the rest, and nothing twice.
func TestReconnectAtEverySequence(t *testing.T) {
	s := serve(t, nil)
	rec := s.runOf("ann", "one two three")
	path := "/api/runs/" + rec.ID + "/events"
	_, whole := s.ask(s.ann, "GET", path, "")
	messages := func(stream string) (out []string) {
		for msg := range strings.SplitSeq(stream, "\n\n") {
			if strings.HasPrefix(msg, "id: ") {
				out = append(out, msg)
			}
		}
		return out
	}
	all := messages(whole)
	if len(all) < 4 || !strings.Contains(whole, "event: end\n") {
		t.Fatalf("the stream: %s", whole)
	}
	for n := range all {
		_, rest := s.ask(s.ann, "GET", path, "", "Last-Event-ID", strconv.Itoa(n))
		_, same := s.ask(s.ann, "GET", path+"?after="+strconv.Itoa(n), "")
		if joined := append(append([]string{}, all[:n]...), messages(rest)...); strings.Join(joined, "\n") != strings.Join(all, "\n") || rest != same {
			t.Errorf("after %d:\n%s", n, rest)
		}
	}
	if got, _ := s.ask(s.ann, "GET", path+"?after="+strconv.Itoa(len(all)), ""); got != http.StatusNoContent {
		t.Errorf("after the last: %d", got)
	}
}

func TestKeysAreNowhere(t *testing.T) {
	s := serve(t, nil)
	rec := s.runOf("ann", "hello")
	for _, path := range []string{"/api/me", "/api/runs", "/api/runs/" + rec.ID, "/api/runs/" + rec.ID + "/bundle", "/openapi.json", "/docs", "/api/runs/nothing"} {
		_, said := s.ask(s.ann, "GET", path, "")
		if strings.Contains(said, s.ann) || strings.Contains(said, "operator-secret") {
			t.Errorf("%s has a key", path)
		}
	}
	for _, path := range []string{"/metrics", "/api/tokens"} {
		_, said := s.ask("operator-secret", "GET", path, "")
		if strings.Contains(said, s.ann) || strings.Contains(said, "operator-secret") {
			t.Errorf("%s has a key", path)
		}
	}
	db, err := os.ReadFile(filepath.Join(s.dir, "dossier.db"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(db, []byte(s.ann)) {
		t.Error("a token is in the database")
	}
}
