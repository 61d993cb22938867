package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"dossier/internal/access"
	"dossier/internal/base/logs"
	"dossier/internal/server"
	"dossier/internal/server/openai"
	"dossier/internal/server/sgr"
)

// written is a log that is read while it is written.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *written) lines(t *testing.T) (out []map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.buf.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, o)
	}
	return out
}

// Each request is a line of the log that says what was asked, by whom, how it went,
// and which run it was about.
func TestRequestsAreLogged(t *testing.T) {
	var log written
	s := serve(t, func(o *server.Options) { o.Log = slog.New(logs.NewJSONHandler(&log, slog.LevelInfo, nil)) })
	rec := s.runOf("ann", "quick")
	s.ask(s.ann, "GET", "/api/runs/"+rec.ID+"?access_token="+s.ann, "", "X-Request-Id", "proxy-7")
	s.ask(s.ann, "GET", "/api/runs/nothing", "")
	s.ask("", "GET", "/health", "")
	_, started := s.ask(s.ann, "POST", "/api/runs", `{"mode":"scripted","question":"quick"}`, "X-Request-Id", "two words")
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(started), &made); err != nil || made.ID == "" {
		t.Fatalf("%v: %s", err, started)
	}
	if err := s.public.Close(); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, line := range log.lines(t) {
		if line["msg"] == "request" {
			got = append(got, line)
		}
	}
	if len(got) != 3 {
		t.Fatalf("%d lines, want 3 (none of /health): %v", len(got), got)
	}
	for i, want := range []map[string]any{
		{"method": "GET", "route": "/api/runs/{id}", "status": 200.0, "user": "ann", "run": rec.ID, "request": "proxy-7"},
		{"method": "GET", "route": "/api/runs/{id}", "status": 404.0, "user": "ann", "run": nil},
		{"method": "POST", "route": "/api/runs", "status": 201.0, "user": "ann", "run": made.ID},
	} {
		for key, value := range want {
			if got[i][key] != value {
				t.Errorf("line %d: %s is %v, want %v", i, key, got[i][key], value)
			}
		}
		if id, _ := got[i]["request"].(string); id == "" || id == "two words" {
			t.Errorf("line %d: request %q", i, id)
		}
	}
	if strings.Contains(log.buf.String(), s.ann) {
		t.Errorf("the log has the token:\n%s", log.buf.String())
	}
}

// Where no route is, the error has the form of the protocols that have routes there.
func TestNoRouteInTheFormOfItsProtocol(t *testing.T) {
	s := serve(t, func(o *server.Options) {
		o.Protocols = []server.Protocol{openai.Protocol(openai.Options{}), sgr.Protocol(sgr.Options{})}
	})
	for path, form := range map[string][]string{
		"/v1/nothing": {`"error":{`, `"detail":`}, "/agents/x/nothing": {`"error":{`, `"detail":`}, "/v1": {`"detail":`},
		"/api/nothing": {`"code":"no_route"`, `"message":`}, "/nothing": {`"code":"no_route"`},
	} {
		status, body := s.ask(s.ann, "POST", path, "{}")
		if status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
		for _, part := range form {
			if !strings.Contains(body, part) {
				t.Errorf("%s: no %s in %s", path, part, body)
			}
		}
	}
}

// What is refused before any route has that form too.
func TestRefusedInTheFormOfTheProtocol(t *testing.T) {
	s := serve(t, func(o *server.Options) {
		o.Protocols = []server.Protocol{openai.Protocol(openai.Options{})}
	})
	for _, c := range []struct {
		header, value, path, part string
		status                    int
	}{
		{"Origin", "https://evil.example", "/v1/models", `"error":{"message":"pages of other servers`, http.StatusForbidden},
		{"Origin", "https://evil.example", "/v1/models", `"detail":"pages of other servers`, http.StatusForbidden},
		{"Origin", "https://evil.example", "/api/runs", `"code":"foreign_origin"`, http.StatusForbidden},
	} {
		resp := s.do("GET", c.path, s.ann, c.header, c.value)
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.part) {
			t.Errorf("%s with %s: %d %s %v", c.path, c.header, resp.StatusCode, body, err)
		}
	}
}

// A method that a path does not take is told, with those that it takes.
func TestMethodsThatAPathTakes(t *testing.T) {
	s := serve(t, func(o *server.Options) {
		o.Protocols = []server.Protocol{openai.Protocol(openai.Options{})}
	})
	for path, takes := range map[string]string{"/api/runs": "GET, POST", "/v1/chat/completions": "POST", "/health": "GET"} {
		resp := s.do("PUT", path, s.ann)
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != takes || !strings.Contains(string(body), "it takes "+takes) {
			t.Errorf("%s: %d %v %s %v", path, resp.StatusCode, resp.Header, body, err)
		}
	}
}

// What goes wrong inside for a caller who does not come over HTTP is in the log, if
// there is one.
func TestExplainWithoutHTTP(t *testing.T) {
	b := direct(t)
	var log written
	caller := access.Caller{User: "ann", Scopes: []access.Scope{access.Read}}
	for _, l := range []*slog.Logger{nil, slog.New(logs.NewJSONHandler(&log, nil, nil))} {
		ctx := server.Admit(t.Context(), b.engine, caller, &server.Policy{}, l)
		if p := server.Explain(ctx, errors.New("the disk is on fire")); p.Code != "failed" || strings.Contains(p.Message, "fire") {
			t.Errorf("a user is told %+v", p)
		}
	}
	if lines := log.lines(t); len(lines) != 1 || lines[0]["error"] != "the disk is on fire" {
		t.Errorf("the log says %v", lines)
	}
}
