package llmtest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"dossier/llm/llmtest"
)

// A server whose planner gets a plan, whose second call is refused, and which
// answers the rest by itself.
func Example() {
	server := llmtest.New(llmtest.Script{Rules: []llmtest.Rule{
		{Turn: 2, Fault: &llmtest.Fault{Kind: llmtest.RateLimit, RetryAfter: 2 * time.Second}},
		{Role: "planner", Reply: llmtest.Say("First search for ${question}, then read.")},
	}})
	h := httptest.NewServer(server)
	defer h.Close()
	for _, role := range []string{"planner", "writer", "writer"} {
		body := `{"model":"test","messages":[{"role":"user","content":"foxes"}]}`
		req, err := http.NewRequest(http.MethodPost, h.URL+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		req.Header.Set(llmtest.RoleHeader, role)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		reply, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		_, text, _ := strings.Cut(string(reply), `"content":"`)
		text, _, _ = strings.Cut(text, `"}`)
		fmt.Printf("%s: %d, wait %q: %q\n", role, resp.StatusCode, resp.Header.Get("Retry-After"), text)
	}
	fmt.Println(len(server.CallsFor("writer", "")), "calls by the writer")
	// Output:
	// planner: 200, wait "": "First search for foxes, then read."
	// writer: 429, wait "2": ""
	// writer: 200, wait "": "This is a test model, so this is not a real answer. You asked: “foxes”."
	// 2 calls by the writer
}
