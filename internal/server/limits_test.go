package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/store"
	"dossier/run"
)

// do makes a request and returns the reply without its body.
func (s *site) do(method, path, token string, headers ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.public.URL()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// A token that asks too often, or has too many streams open, is told so; others
// are not kept from anything by that.
func TestLimitsAreThoseOfAToken(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.Access.Rate, o.Streams = 0.001, 1 })
	var last *http.Response
	for range 11 {
		last = s.do("GET", "/api/me", s.ann)
	}
	if last.StatusCode != http.StatusTooManyRequests || last.Header.Get("Retry-After") == "" {
		t.Errorf("the eleventh request: %s, Retry-After %q", last.Status, last.Header.Get("Retry-After"))
	}
	if got := s.do("GET", "/api/me", s.bob); got.StatusCode != http.StatusOK {
		t.Errorf("another token: %s", got.Status)
	}
	waiting := s.start("ask")
	s.until(waiting.ID, run.Waiting)
	path := "/api/runs/" + waiting.ID + "/events"
	if got := s.do("GET", path, "operator-secret"); got.StatusCode != http.StatusOK {
		t.Errorf("a stream: %s", got.Status)
	}
	if status, said := s.ask("operator-secret", "GET", path, ""); status != http.StatusTooManyRequests || !strings.Contains(said, "server.streams") {
		t.Errorf("a second one: %d %s", status, said)
	}
}

// Pages of servers that may call are told so before and with each reply; no reply
// is anything but what it says it is.
func TestBrowsersAreTold(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.Access.Origins = []string{"https://app.example"} })
	asked := s.do("OPTIONS", "/api/runs", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "Authorization, X-Stainless-Lang")
	if asked.StatusCode != http.StatusNoContent || asked.Header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
		!strings.Contains(asked.Header.Get("Access-Control-Allow-Headers"), "Authorization, X-Stainless-Lang") || !strings.Contains(asked.Header.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf("a page that may: %s %v", asked.Status, asked.Header)
	}
	refused := s.do("OPTIONS", "/api/runs", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if refused.StatusCode != http.StatusForbidden || refused.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page that may not: %s %v", refused.Status, refused.Header)
	}
	for _, path := range []string{"/health", "/api/me", "/docs", "/nowhere"} {
		h := s.do("GET", path, s.ann).Header
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: Content-Security-Policy is %q", path, h.Get("Content-Security-Policy"))
		}
	}
}

// A PDF is made of deep research that is done: before, and of other runs, the
// reason is said.
func TestPDFIsOfDeepResearch(t *testing.T) {
	s := serve(t, nil)
	waiting := s.start("ask")
	s.until(waiting.ID, run.Waiting)
	if status, said := s.ask("operator-secret", "GET", "/api/runs/"+waiting.ID+"/report.pdf", ""); status != http.StatusConflict || !strings.Contains(said, "not_done") {
		t.Errorf("before the end: %d %s", status, said)
	}
	if status, said := s.ask("operator-secret", "GET", "/api/runs/"+waiting.ID+"/report.md", ""); status != http.StatusConflict || !strings.Contains(said, "not_done") {
		t.Errorf("another format before the end: %d %s", status, said)
	}
	if err := s.Cancel(t.Context(), waiting.ID); err != nil {
		t.Fatal(err)
	}
	s.until(waiting.ID, run.Cancelled)
	if status, said := s.ask("operator-secret", "GET", "/api/runs/"+waiting.ID+"/report.pdf", ""); status != http.StatusConflict || !strings.Contains(said, "not_done") {
		t.Errorf("of a cancelled one: %d %s", status, said)
	}
	// Of a run that has no report at all, too.
	other := s.start("hello")
	s.until(other.ID, run.Done)
	if status, said := s.ask("operator-secret", "GET", "/api/runs/"+other.ID+"/report.pdf", ""); status != http.StatusConflict || !strings.Contains(said, "not_research") {
		t.Errorf("of another mode: %d %s", status, said)
	}
	if status, said := s.ask("operator-secret", "GET", "/api/runs/"+other.ID+"/report.md", ""); status != http.StatusNotFound || !strings.Contains(said, "no_report") {
		t.Errorf("none there: %d %s", status, said)
	}
}

// A stream is not kept back on its way.
func TestStreamsAreNotBuffered(t *testing.T) {
	s := serve(t, nil)
	rec := s.runOf("ann", "one")
	h := s.do("GET", "/api/runs/"+rec.ID+"/events", s.ann, "Accept-Encoding", "gzip").Header
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Encoding": "", "Cache-Control": "no-cache, no-transform"} {
		if h.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, h.Get(name), want)
		}
	}
}

// What is wrong inside is said to the operator; others are not told of files.
func TestOthersAreNotToldOfFiles(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("creating the run: %w (/srv/dossier.db)", store.ErrDiskFull), fmt.Errorf("%w: /srv/dossier.db", store.ErrReadOnly),
		fmt.Errorf("%w: /srv/dossier.db", store.ErrCorrupt), errors.New("open /srv/dossier.db: no"),
		&dossier.StoppedError{Run: "r1", Failure: run.Failure{Code: "storage", Message: "/srv/dossier.db"}},
	} {
		if got := server.For(access.Operator(), err); !strings.Contains(got.Message, "/srv") {
			t.Errorf("the operator hears %q", got.Message)
		}
		if got := server.For(access.Caller{User: "ann"}, err); strings.Contains(got.Message+got.Hint, "/srv") || got.Message == "" || got.Code != server.Describe(err).Code {
			t.Errorf("others hear %+v", got)
		}
	}
}

// Each trial of a connection is a call that somebody pays for: they come one by one,
// and only the operator makes them.
func TestConnectionsAreNotTriedTooOften(t *testing.T) {
	s := serve(t, nil)
	const path, body = "/api/connections/test", `{"kind":"model","name":"nobody"}`
	for i := range 1000 {
		status, said := s.ask("operator-secret", "POST", path, body)
		if i >= 10 && status == http.StatusTooManyRequests && codeOf(said) == "rate_limit" {
			break // the eleventh, or a later one where the first ones took their time
		}
		if status != http.StatusBadRequest || !strings.Contains(said, "nobody") || i == 999 {
			t.Fatalf("trial %d: %d %s", i, status, said)
		}
	}
	if status, said := s.ask(s.ann, "POST", path, body); status != http.StatusForbidden {
		t.Errorf("a user: %d %s", status, said)
	}
}
