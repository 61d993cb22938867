package llmtest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"dossier/llm"
)

// failures are all the ways in which a call may fail, with and without a sink.
func (s suite) failures(t *testing.T) {
	fault := func(f Fault) Script { return Script{Rules: []Rule{{Fault: &f}, {Reply: Say(longText)}}} }
	for _, c := range []struct {
		name   string
		script Script
		want   llm.ErrorKind
		// plain is the kind without a sink where it may differ.
		plain  llm.ErrorKind
		status int
	}{
		{"rate limit", fault(Fault{Kind: RateLimit}), llm.ErrRateLimited, "", 429},
		{"quota", fault(Fault{Kind: Quota}), llm.ErrQuota, "", 0},
		{"500", fault(Fault{Kind: Status}), llm.ErrServer, "", 500},
		{"502", fault(Fault{Kind: Status, Status: 502}), llm.ErrServer, "", 502},
		{"503", fault(Fault{Kind: Status, Status: 503}), llm.ErrServer, "", 503},
		{"529", fault(Fault{Kind: Status, Status: 529}), llm.ErrServer, "", 529},
		{"400", fault(Fault{Kind: Status, Status: 400}), llm.ErrBadRequest, "", 400},
		{"auth", fault(Fault{Kind: Auth}), llm.ErrAuth, "", 401},
		{"403", fault(Fault{Kind: Status, Status: 403}), llm.ErrAuth, "", 403},
		{"html", fault(Fault{Kind: HTML}), llm.ErrServer, "", 502},
		{"html with 200", fault(Fault{Kind: HTML, Status: 200}), llm.ErrMalformed, "", 0},
		{"unknown model", Script{Models: []string{"other"}}, llm.ErrNoModel, "", 404},
		{"too long", Script{Context: 2}, llm.ErrTooLong, "", 400},
		{"slow first byte", fault(Fault{Kind: Slow}), llm.ErrTimeout, "", 0},
		{"stall at once", fault(Fault{Kind: Stall}), llm.ErrTimeout, "", 0},
		{"stall", fault(Fault{Kind: Stall, After: 3}), llm.ErrTimeout, "", 0},
		{"signs of life", fault(Fault{Kind: KeepAlive}), llm.ErrTimeout, "", 0},
		{"signs of life after pieces", fault(Fault{Kind: KeepAlive, After: 3}), llm.ErrTimeout, "", 0},
		{"no end", fault(Fault{Kind: Endless, After: 1}), llm.ErrTimeout, "", 0},
		{"stall before the end", fault(Fault{Kind: Stall, After: 1 << 20}), llm.ErrTimeout, "", 0},
		{"cut at once", fault(Fault{Kind: Cut}), llm.ErrCut, "", 0},
		{"cut", fault(Fault{Kind: Cut, After: 3}), llm.ErrCut, "", 0},
		{"cut before the end", fault(Fault{Kind: Cut, After: 1 << 20}), llm.ErrCut, "", 0},
		{"clean end at once", fault(Fault{Kind: EOF}), llm.ErrCut, llm.ErrMalformed, 0},
		{"clean end", fault(Fault{Kind: EOF, After: 3}), llm.ErrCut, llm.ErrMalformed, 0},
		{"clean end without finish", fault(Fault{Kind: EOF, After: 1 << 20}), llm.ErrCut, llm.ErrMalformed, 0},
		{"malformed at once", fault(Fault{Kind: Malformed}), llm.ErrMalformed, "", 0},
		{"malformed", fault(Fault{Kind: Malformed, After: 3}), llm.ErrMalformed, "", 0},
		{"empty", fault(Fault{Kind: Empty}), llm.ErrMalformed, "", 0},
		{"error in the stream", fault(Fault{Kind: StreamError, After: 3}), llm.ErrServer, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, m := s.start(t, c.script)
			for i, sink := range []func(llm.Chunk){nil, func(llm.Chunk) {}} {
				r, err := m.Stream(t.Context(), ask("hello"), sink)
				if err == nil {
					if c.name == "empty" && dialectOf(srv) == "anthropic" {
						continue // its models may say nothing at all
					}
					t.Errorf("with sink %v: a response %+v, want %s", sink != nil, r, c.want)
					continue
				}
				if r != nil {
					t.Errorf("with sink %v: a response beside the error", sink != nil)
				}
				var e *llm.Error
				if !errors.As(err, &e) {
					t.Errorf("with sink %v: %T (%v), want *llm.Error", sink != nil, err, err)
					continue
				}
				ok := e.Kind == c.want || sink == nil && c.plain != "" && e.Kind == c.plain
				if c.name == "error in the stream" && dialectOf(srv) == "gigachat" {
					ok = ok || e.Kind == llm.ErrCut // it documents no such errors
				}
				if !ok {
					t.Errorf("with sink %v: %v, want %s", sink != nil, err, c.want)
				}
				if c.status != 0 && e.Status != c.status {
					t.Errorf("with sink %v: status %d, want %d", sink != nil, e.Status, c.status)
				}
				if e.Model != "test" || e.Endpoint == "" || !strings.Contains(srv.URL(), e.Endpoint) {
					t.Errorf("with sink %v: the error names model %q at %q", sink != nil, e.Model, e.Endpoint)
				}
				if len(e.Error()) > 2000 {
					t.Errorf("with sink %v: an error of %d bytes", sink != nil, len(e.Error()))
				}
				want := i + 1
				if c.want == llm.ErrAuth && e.Status == 401 && dialectOf(srv) == "gigachat" {
					want *= 2 // the second time with a fresh token
				}
				if n := len(srv.Calls()); n != want {
					t.Errorf("with sink %v: %d calls, want %d", sink != nil, n, want)
				}
			}
		})
	}
}

// dialectOf is the dialect that the provider under test was seen to speak.
func dialectOf(s *Server) string {
	if calls := s.Calls(); len(calls) > 0 {
		return calls[0].Dialect
	}
	return ""
}

func (s suite) retryAfter(t *testing.T) {
	for _, want := range []time.Duration{0, 2 * time.Second, 90 * time.Second} {
		_, m := s.start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: RateLimit, RetryAfter: want}}}})
		_, err := m.Stream(t.Context(), ask("hello"), nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrRateLimited || e.RetryAfter != want {
			t.Errorf("%+v, want to be told to wait %v", err, want)
		}
	}
}

// unsupported checks that a refused field is named, where the dialect names
// it apart from its message.
func (s suite) unsupported(t *testing.T) {
	format := ask("hello")
	format.Format = &llm.Format{Name: "x", Schema: tools()[0].Parameters}
	object := ask("hello")
	object.Format = &llm.Format{}
	call := ask("hello")
	call.Tools = tools()
	for _, c := range []struct {
		field   string
		support Support
		req     *llm.Request
	}{
		{"response_format", Support{JSONSchema: Refuse}, format},
		{"response_format", Support{JSONObject: Refuse}, object},
		{"tools", Support{Tools: Refuse}, call},
	} {
		srv, m := s.start(t, Script{Support: c.support})
		_, err := m.Stream(t.Context(), c.req, nil)
		if dialectOf(srv) != "openai" {
			continue
		}
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrBadRequest || e.Unsupported != c.field {
			t.Errorf("%#v, want a bad request that names %s", err, c.field)
		}
	}
}

func (s suite) unreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Script{})
	srv.url = "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.newModel(t, srv).Stream(t.Context(), ask("hello"), nil)
	if llm.KindOf(err) != llm.ErrUnreachable {
		t.Errorf("%v, want %s", err, llm.ErrUnreachable)
	}
}

// secrets lets the service repeat the key in its error, as some do.
func (s suite) secrets(t *testing.T) {
	for _, script := range []Script{
		{Key: "another"},
		{Rules: []Rule{{Fault: &Fault{Kind: Auth}}}},
	} {
		_, m := s.start(t, script)
		_, err := m.Stream(t.Context(), ask("hello"), nil)
		if llm.KindOf(err) != llm.ErrAuth {
			t.Errorf("%v, want %s", err, llm.ErrAuth)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), Key) {
				t.Errorf("the error shows the key: %v", e)
			}
		}
	}
}

func (s suite) cancel(t *testing.T) {
	t.Run("before the first byte", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		srv, m := s.start(t, Script{Rules: []Rule{{
			Reply:   Do(func(*Request) *Reply { cancel(); return nil }),
			Latency: time.Hour,
		}}})
		_, err := m.Stream(ctx, ask("hello"), nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		s.gone(t, srv)
	})
	t.Run("in the middle", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		srv, m := s.start(t, Script{ChunkDelay: time.Hour, Rules: []Rule{{Reply: Say(longText)}}})
		r, err := m.Stream(ctx, ask("hello"), func(llm.Chunk) { cancel() })
		if !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%v, %v, want %v", r, err, context.Canceled)
		}
		s.gone(t, srv)
	})
	t.Run("beforehand", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		srv, m := s.start(t, Script{})
		if _, err := m.Stream(ctx, ask("hello"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		if n := len(srv.Calls()); n != 0 {
			t.Errorf("%d calls were made", n)
		}
	})
}

// deadline checks that the caller's own deadline is told from the provider's.
func (s suite) deadline(t *testing.T) {
	srv, m := s.start(t, Script{Latency: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := m.Stream(ctx, ask("hello"), nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	if len(srv.Calls()) > 0 {
		s.gone(t, srv)
	}
}
