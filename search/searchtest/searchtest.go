// Package searchtest is what every search engine has to do, whatever its
// service looks like. An engine's test brings a server that speaks the format
// which the service documents; the suite asks through it, and has it fail in all
// the ways in which services do.
package searchtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/search"
)

// Spec is an engine under test.
type Spec struct {
	// New returns the engine with the server at base, an URL without a slash at
	// its end, in place of its service.
	New func(t *testing.T, base string) search.Engine
	// Serve answers a request as the service does when hits are what it finds.
	Serve func(w http.ResponseWriter, r *http.Request, hits []search.Hit)
	// Query returns the words that a request asks for; Serve's requests that
	// are no search return "".
	Query func(r *http.Request) string
	// Asked returns what Query finds when text is asked for, where the service
	// can't be told all of its characters, or nothing of it; nil means text.
	Asked func(text string) string
	// Hits returns n hits as this engine gives them when Serve has served them;
	// nil means Samples. Engine and Score are not compared.
	Hits func(n int) []search.Hit
	// Secret is the key that New gave to the engine, which may show in no error.
	Secret string
}

// Samples returns n hits in three languages, with what needs care in markup and
// in JSON.
func Samples(n int) []search.Hit {
	texts := []struct{ title, snippet string }{
		{`Bees & "honey" <in> the city`, `A keeper's year: 5 > 3 hives, 100% "raw" honey — it's <not> cheap & never was.`},
		{"Мёд и пчёлы в городе", "Пасека на крыше: 12 ульев, «липовый» мёд и № 1 на выставке."},
		{"城市里的蜜蜂", "屋顶上的养蜂场有十二个蜂箱，蜂蜜在秋天采收。"},
	}
	hits := make([]search.Hit, n)
	for i := range hits {
		t := texts[i%len(texts)]
		hits[i] = search.Hit{
			URL:     fmt.Sprintf("https://site%d.example/path/%d?a=1&b=%d", i%4, i, i),
			Title:   fmt.Sprintf("%s %d", t.title, i),
			Snippet: fmt.Sprintf("%s (%d)", t.snippet, i),
		}
	}
	return hits
}

// Run holds an engine to the contract of search.Engine.
func Run(t *testing.T, spec Spec) {
	if spec.Hits == nil {
		spec.Hits = Samples
	}
	s := suite{spec}
	t.Run("finds", s.finds)
	t.Run("describes itself", s.describes)
	t.Run("asks for the words as they are", s.words)
	t.Run("limit", s.limit)
	t.Run("nothing found", s.nothing)
	t.Run("faults", s.faults)
	t.Run("cut reply", s.cut)
	t.Run("never answers", s.never)
	t.Run("cancelled", s.cancelled)
	t.Run("unreachable", s.unreachable)
	t.Run("many at once", s.many)
}

type suite struct{ Spec }

func (s suite) serve(t *testing.T, h http.HandlerFunc) search.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return s.New(t, server.URL)
}

func (s suite) hits(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, s.Hits(n)) }
}

// same compares hits field by field, but for what an engine adds.
func same(t *testing.T, got, want []search.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, not %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		g, w := got[i], want[i]
		g.Engine, g.Score, w.Engine, w.Score = "", 0, "", 0
		if g != w {
			t.Errorf("hit %d:\n got %+v\nwant %+v", i, g, w)
		}
	}
}

func (s suite) finds(t *testing.T) {
	e := s.serve(t, s.hits(6))
	got, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, s.Hits(6))
	for _, h := range got {
		if h.Engine != e.Info().Name {
			t.Errorf("a hit of %q from %q", h.Engine, e.Info().Name)
		}
	}
}

func (s suite) describes(t *testing.T) {
	info := s.serve(t, s.hits(0)).Info()
	if info.Name == "" || len(info.Topics) == 0 || !strings.HasPrefix(info.Document, "http") {
		t.Errorf("%+v", info)
	}
}

func (s suite) words(t *testing.T) {
	for _, text := range []string{"bees in the city", "пчёлы на крыше: мёд & воск", "城市 养蜂 100%", `"exact phrase" +c#`} {
		var mu sync.Mutex
		asked := ""
		e := s.serve(t, func(w http.ResponseWriter, r *http.Request) {
			if q := s.Query(r); q != "" {
				mu.Lock()
				asked = q
				mu.Unlock()
			}
			s.Serve(w, r, s.Hits(1))
		})
		if _, err := e.Search(t.Context(), search.Query{Text: text, Limit: 5}); err != nil {
			t.Fatal(err)
		}
		want := text
		if s.Asked != nil {
			want = s.Asked(text)
		}
		if asked != want {
			t.Errorf("asked for %q, not %q", asked, want)
		}
	}
}

func (s suite) limit(t *testing.T) {
	e := s.serve(t, s.hits(9))
	got, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, s.Hits(9)[:4])
}

func (s suite) nothing(t *testing.T) {
	got, err := s.serve(t, s.hits(0)).Search(t.Context(), search.Query{Text: "bees", Limit: 5})
	if err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// fails expects an *search.Error that keeps the key.
func (s suite) fails(t *testing.T, e search.Engine, reasons ...search.Reason) *search.Error {
	t.Helper()
	got, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 5})
	fault, ok := errors.AsType[*search.Error](err)
	if !ok {
		t.Fatalf("%+v, %v", got, err)
	}
	if !slices.Contains(reasons, fault.Reason) {
		t.Errorf("%v, not %v", err, reasons)
	}
	if fault.Engine != e.Info().Name {
		t.Errorf("the error is of %q", fault.Engine)
	}
	if s.Secret != "" && strings.Contains(fmt.Sprintf("%+v %v", fault, fault.Err), s.Secret) {
		t.Error("the error tells the key")
	}
	return fault
}

const captcha = `<!DOCTYPE html><html><head><title>Attention</title></head><body><div class="g-recaptcha">Please complete the CAPTCHA to continue.</div></body></html>`

func (s suite) faults(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string // Retry-After
		kind   string
		body   string
		want   []search.Reason
	}{
		"too many":              {429, "7", "application/json", `{"message":"slow down"}`, []search.Reason{search.RateLimited}},
		"no key":                {401, "", "application/json", `{"error":"no key"}`, []search.Reason{search.Unauthorized}},
		"forbidden":             {403, "", "text/html", "<html>403</html>", []search.Reason{search.Blocked, search.Unauthorized}},
		"broken":                {500, "", "text/plain", "oops", []search.Reason{search.Unavailable}},
		"overloaded":            {503, "3", "text/html", "<html>busy</html>", []search.Reason{search.Unavailable}},
		"bad request":           {400, "", "application/json", `{"detail":"no"}`, []search.Reason{search.Rejected}},
		"robot check":           {200, "", "text/html", captcha, []search.Reason{search.Blocked}},
		"robot check, accepted": {202, "", "text/html", captcha, []search.Reason{search.Blocked}},
		"another page":          {200, "", "text/html", "<html><body><h1>Welcome</h1><p>It works!</p></body></html>", []search.Reason{search.Malformed, search.Blocked}},
		"garbage":               {200, "", "application/json", "\x00\x01{]", []search.Reason{search.Malformed}},
		"no reply":              {200, "", "application/json", "", []search.Reason{search.Malformed}},
		"other JSON":            {200, "", "application/json", `{"unexpected":true}`, []search.Reason{search.Malformed}},
		"endless":               {200, "", "application/json", strings.Repeat(" ", 9<<20), []search.Reason{search.Malformed}},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			fault := s.fails(t, e, c.want...)
			if c.header != "" && fmt.Sprint(int(fault.RetryAfter.Seconds())) != c.header {
				t.Errorf("to be left alone for %v, not %s s", fault.RetryAfter, c.header)
			}
		})
	}
}

// cut ends the connection in the middle of a good reply.
func (s suite) cut(t *testing.T) {
	e := s.serve(t, func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		s.Serve(whole, r, s.Hits(6))
		body := whole.Body.Bytes()
		w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:len(body)/2])
	})
	_ = s.fails(t, e, search.Unreachable, search.Malformed)
}

func (s suite) never(t *testing.T) {
	e := s.serve(t, func(_ http.ResponseWriter, r *http.Request) { gone(r) })
	ctx, cancel := context.WithTimeout(t.Context(), 1) // it is over before it began
	defer cancel()
	_, err := e.Search(ctx, search.Query{Text: "bees"})
	if search.ReasonOf(err) != search.TooSlow && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// gone waits until the client is. A server sees that only once it has read what
// the client sent.
func gone(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := s.serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		gone(r)
	})
	if _, err := e.Search(ctx, search.Query{Text: "bees"}); !errors.Is(err, context.Canceled) || search.ReasonOf(err) != "" {
		t.Errorf("%v: to be stopped is no fault of the engine", err)
	}
}

func (s suite) unreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_ = s.fails(t, s.New(t, server.URL), search.Unreachable)
}

func (s suite) many(t *testing.T) {
	e := s.serve(t, s.hits(3))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			got, err := e.Search(t.Context(), search.Query{Text: fmt.Sprintf("bees %d", i), Limit: 3})
			if err != nil || len(got) != 3 {
				t.Errorf("%d hits, %v", len(got), err)
			}
		})
	}
	wg.Wait()
}
