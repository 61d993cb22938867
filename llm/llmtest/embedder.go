package llmtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"dossier/llm"
)

// RunEmbedder checks a provider against the contract of llm.Embedder.
// newEmbedder is given what newModel is given in [Run].
func RunEmbedder(t *testing.T, newEmbedder func(t *testing.T, s *Server) llm.Embedder) {
	start := func(t *testing.T, script Script) (*Server, llm.Embedder) {
		t.Helper()
		s := Start(t, script)
		if silent(script) {
			s.patience = 150 * time.Millisecond
		}
		return s, newEmbedder(t, s)
	}
	texts := []string{"красная лиса", "狐狸", "", "a fox, a “fox” & <fox>"}

	t.Run("Vectors", func(t *testing.T) {
		_, e := start(t, Script{Dimensions: 64})
		given := slices.Clone(texts)
		got, err := e.Embed(t.Context(), "test", given)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(given, texts) {
			t.Errorf("the provider changed the texts: %q", given)
		}
		if len(got.Vectors) != len(texts) {
			t.Fatalf("%d vectors for %d texts", len(got.Vectors), len(texts))
		}
		for i, text := range texts {
			// An empty text may be sent as something else.
			if text != "" && !reflect.DeepEqual(got.Vectors[i], Vector(text, 64)) {
				t.Errorf("vector %d is not that of %q", i, text)
			}
		}
		if got.Usage.Input <= 0 {
			t.Errorf("usage %+v", got.Usage)
		}
	})
	t.Run("Many", func(t *testing.T) {
		_, e := start(t, Script{Dimensions: 4})
		many := make([]string, 1000)
		for i := range many {
			many[i] = string(rune('一' + i))
		}
		got, err := e.Embed(t.Context(), "test", many)
		if err != nil {
			t.Fatal(err)
		}
		for i := range many {
			if i >= len(got.Vectors) || !reflect.DeepEqual(got.Vectors[i], Vector(many[i], 4)) {
				t.Fatalf("vector %d of %d is not that of its text", i, len(got.Vectors))
			}
		}
	})
	t.Run("Failures", func(t *testing.T) {
		for kind, f := range map[llm.ErrorKind][]Fault{
			llm.ErrRateLimited: {{Kind: RateLimit, RetryAfter: 2 * time.Second}},
			llm.ErrServer:      {{Kind: Status}, {Kind: HTML}},
			llm.ErrAuth:        {{Kind: Auth}},
			llm.ErrNoModel:     {{Kind: NoModel}},
			llm.ErrMalformed:   {{Kind: Malformed}, {Kind: Empty}, {Kind: HTML, Status: 200}},
			llm.ErrTimeout:     {{Kind: Slow}, {Kind: Stall}},
			llm.ErrCut:         {{Kind: Cut}},
		} {
			for _, fault := range f {
				_, e := start(t, Script{Rules: []Rule{{Endpoint: "embeddings", Fault: &fault}}})
				_, err := e.Embed(t.Context(), "test", texts[:2])
				var le *llm.Error
				if !errors.As(err, &le) || le.Kind != kind || le.RetryAfter != fault.RetryAfter {
					t.Errorf("%s: %v, want %s", fault.Kind, err, kind)
				}
			}
		}
	})
	t.Run("Cancel", func(t *testing.T) {
		s, e := start(t, Script{Latency: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := e.Embed(ctx, "test", texts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want %v", err, context.DeadlineExceeded)
		}
		if len(s.Calls()) > 0 {
			suite{}.gone(t, s)
		}
	})
}
