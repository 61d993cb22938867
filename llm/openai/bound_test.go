package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"dossier/llm"
)

// TestAHugeReplyIsCutAtABound lets an endpoint send half a gigabyte: it is left
// long before that, and what was taken in is a fraction of it.
func TestAHugeReplyIsCutAtABound(t *testing.T) {
	const size, most = 512 << 20, 256 << 20
	block := strings.Repeat("x", 64<<10)
	event := piece(fmt.Sprintf(`{"content":%q}`, block))
	for name, sink := range map[string]func(llm.Chunk){"stream": func(llm.Chunk) {}, "whole": nil} {
		sent := 0
		c := server(t, func(w http.ResponseWriter, r *http.Request) {
			write := func(s string) bool {
				n, err := io.WriteString(w, s)
				sent += n
				return err == nil
			}
			if sink == nil {
				write(`{"choices":[{"message":{"role":"assistant","content":"`)
			}
			for sent < size {
				text := block
				if sink != nil {
					text = event
				}
				if !write(text) {
					return
				}
			}
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Stream(t.Context(), question, sink)
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; llm.KindOf(err) != llm.ErrMalformed || !strings.Contains(err.Error(), "larger than any reply") || cost > most {
			t.Errorf("%s: %v; it cost %d MB", name, err, cost>>20)
		} else {
			t.Logf("%s: %d MB", name, cost>>20)
		}
	}
}

// TestAPromptStaysWithItsEndpoint holds that a redirect takes nothing along,
// with a key and without one.
func TestAPromptStaysWithItsEndpoint(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, key := range []string{"", "sk-0123456789"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+r.URL.Path, status)
			}))
			c, err := New(Config{BaseURL: first.URL + "/v1", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Stream(t.Context(), question, nil); err == nil || reached > 0 {
				t.Errorf("%d with key %q: %v, reached %d times", status, key, err, reached)
			}
			first.Close()
		}
	}
}
