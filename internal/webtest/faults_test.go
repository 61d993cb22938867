package webtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/egress"
)

func TestFaults(t *testing.T) {
	w := start(t, Options{Memory: true})
	do := func() (*http.Response, string, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Searx()+"/search?format=json&q=Keldra+Bridge", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.HTTP().Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, string(body), err
	}
	for _, test := range []struct {
		fault  Fault
		status int
		says   string
	}{
		{Fault{Kind: RateLimited, RetryAfter: 1500 * time.Millisecond}, 429, "Too Many"},
		{Fault{Kind: ServerError}, 500, "Error"},
		{Fault{Kind: NoJSON}, 403, "Forbidden"},
		{Fault{Kind: HTMLPage}, 200, "<html"},
		{Fault{Kind: Captcha}, 200, "captcha"},
		{Fault{Kind: NoResults}, 200, `"results":[]`},
		{Fault{Kind: Garbage}, 200, "\xff"},
		{Fault{Kind: Unresponsive}, 200, `["duckduckgo","CAPTCHA"]`},
	} {
		w.Break(test.fault)
		resp, body, err := do()
		if err != nil || resp.StatusCode != test.status || !strings.Contains(body, test.says) {
			t.Errorf("%s: %v %q %v", test.fault.Kind, resp, body, err)
			continue
		}
		if after := resp.Header.Get("Retry-After"); test.fault.RetryAfter > 0 && after != "2" {
			t.Errorf("Retry-After %q", after)
		}
	}
	w.Break(Fault{Kind: Dropped, Times: 1})
	if _, body, err := do(); err == nil && !strings.Contains(body, `"results":[{`) { // the transport asks again by itself
		t.Errorf("dropped: %q", body)
	}
	w.Break(Fault{Kind: ServerError, Times: 2})
	for i, want := range []int{500, 500, 200, 200} {
		if resp, _, err := do(); err != nil || resp.StatusCode != want {
			t.Errorf("request %d: %v %v", i, resp, err)
		}
	}
}

func TestPageFaults(t *testing.T) {
	w := start(t, Options{Memory: true})
	at := "http://encyclo.example/wiki/keldra-bridge"
	if err := w.BreakPage(at, Fault{Kind: RateLimited, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client().Fetch(t.Context(), at); egress.ReasonOf(err) != egress.Status {
		t.Errorf("a page that fails: %v", err)
	}
	if _, err := w.Client().Fetch(t.Context(), at+"?ref=x"); err != nil {
		t.Errorf("a page that is well again: %v", err)
	}
	if err := w.BreakPage("http://encyclo.example/none", Fault{Kind: Never}); err == nil {
		t.Error("a page that does not exist was broken")
	}
	if got := w.Fetches(); got[at] != 1 || got[at+"?ref=x"] != 1 {
		t.Errorf("counted %v", got)
	}
	for _, outside := range []string{"http://nowhere.example/", "http://127.0.0.1/", "http://8.8.8.8:53/"} {
		if _, err := w.Client().Fetch(t.Context(), outside); err == nil {
			t.Errorf("%s was opened", outside)
		}
	}
	if _, err := w.Client().Fetch(t.Context(), "http://collector.example/log?question=secret"); err != nil || w.Fetches()["http://collector.example/log?question=secret"] != 1 {
		t.Errorf("what escapes is not seen: %v", err)
	}
}

// TestTime has the slow parts pass in virtual time.
func TestTime(t *testing.T) {
	if _, err := shared(); err != nil { // outside the bubble, so that others can use it
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w, err := Start(Options{Memory: true, EngineLatency: 100 * time.Millisecond, PageLatency: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		began := time.Now()
		ask(t, w, "Corvane tram")
		if d := time.Since(began); d != 100*time.Millisecond {
			t.Errorf("the engine took %s", d)
		}
		began = time.Now()
		if _, err := w.Client().Fetch(t.Context(), "http://quernel.example/docs/4.2/install"); err != nil || time.Since(began).Round(time.Millisecond) != 50*time.Millisecond {
			t.Errorf("the page took %s: %v", time.Since(began), err)
		}
		if _, err := w.Client().Fetch(t.Context(), "http://slowcoast.example/corvane-tram"); egress.ReasonOf(err) != egress.Timeout {
			t.Errorf("the slow page: %v", err)
		}
		w.Break(Fault{Kind: Never})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Searx()+"/search?format=json&q=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.HTTP().Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the engine that never answers: %v", err)
		}
	})
}
