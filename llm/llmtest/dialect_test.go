package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const anthropicPath = "/v1/messages"

// one script for all dialects: a call of a tool, then an answer.
var foxScript = Script{ChunkSize: 5, Rules: []Rule{
	{ToolResults: new(0), Reply: &Reply{Text: "Looking.", ToolCalls: []ToolCall{{ID: "t1", Name: "search", Arguments: `{"query":"fox"}`}}}},
	{Reply: Say("A fox is here.")},
}}

func TestAnthropicToolLoop(t *testing.T) {
	s := Start(t, foxScript)
	tools := `"tools":[{"name":"search","description":"d","input_schema":{"type":"object"}}]`
	a := post(t, s, anthropicPath, `{"model":"m","max_tokens":99,"system":"be brief","messages":[{"role":"user","content":"find"}],`+tools+`}`)
	var r struct {
		Type, Role string
		Content    []json.RawMessage
		StopReason string `json:"stop_reason"`
		Usage      struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Fatal(err)
	}
	if r.Type != "message" || r.StopReason != "tool_use" || len(r.Content) != 2 || r.Usage.Input == 0 || r.Usage.Output == 0 ||
		!strings.Contains(string(r.Content[1]), `"input":{"query":"fox"}`) {
		t.Fatalf("reply %s", a.body)
	}
	body := fmt.Sprintf(`{"model":"m","max_tokens":99,"stream":true,%s,"messages":[{"role":"user","content":"find"},{"role":"assistant","content":[%s,%s]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"found"}]}]}]}`, tools, r.Content[0], r.Content[1])
	a = post(t, s, anthropicPath, body)
	var text string
	var events []string
	for line := range strings.Lines(a.body) {
		if e, ok := strings.CutPrefix(line, "event: "); ok {
			events = append(events, strings.TrimSpace(e))
		}
		var d struct{ Delta struct{ Text string } }
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &d) == nil {
			text += d.Delta.Text
		}
	}
	want := "message_start ping content_block_start content_block_delta content_block_delta content_block_delta content_block_stop message_delta message_stop"
	if text != "A fox is here." || strings.Join(events, " ") != want {
		t.Errorf("text %q, events %v", text, events)
	}
	q := s.Calls()[1].Request
	if last := q.Messages[len(q.Messages)-1]; last.Content != "found" || last.ToolCallID != "t1" {
		t.Errorf("the result arrived as %+v", last)
	}
	if q := s.Calls()[0].Request; q.Messages[0].Content != "be brief" {
		t.Errorf("the system prompt arrived as %+v", q.Messages[0])
	}
}

func TestAnthropicForms(t *testing.T) {
	s := Start(t, Script{Models: []string{"m"}, Rules: []Rule{
		{Schema: "note", Reply: JSON(map[string]any{"ok": true})},
		{Contains: "busy", Fault: &Fault{Kind: Status, Status: 529}},
		{Contains: "poor", Fault: &Fault{Kind: Quota}},
		{Contains: "think", Reply: &Reply{Reasoning: "hm", Text: "yes"}},
		{Contains: "break", Fault: &Fault{Kind: StreamError}},
	}})
	body := func(question, more string) string {
		return fmt.Sprintf(`{"model":"m","max_tokens":99,"messages":[{"role":"user","content":%q}]%s}`, question, more)
	}
	tool := `,"tools":[{"name":"note","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"note"}`
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{body("x", tool), 200, `"input":{"ok":true},"name":"note","type":"tool_use"`},
		{body("x", `,"output_config":{"format":{"type":"json_schema","schema":{"title":"note"}}}`), 200, `"text":"{\"ok\":true}"`},
		{body("busy", ""), 529, "overloaded_error"},
		{body("poor", ""), 400, "credit balance is too low"},
		{body("think", ""), 200, `"thinking":"hm"`},
		{body("think", streamed), 200, `"type":"thinking_delta"`},
		{body("break", streamed), 200, "event: error\n"},
		{strings.Replace(body("x", ""), `"m"`, `"other"`, 1), 404, "not_found_error"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}]}`, 400, "max_tokens: Field required"},
		{`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[]}]}`, 400, "must not be empty"},
	} {
		if a := post(t, s, anthropicPath, c.body); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: status %d, %s", c.body, a.status, a.body)
		}
	}
	keyed := Start(t, Script{Key: "k"})
	if a := post(t, keyed, anthropicPath, body("x", ""), "X-Api-Key", "k"); a.status != 200 {
		t.Errorf("the right key got %d", a.status)
	}
	if a := post(t, keyed, anthropicPath, body("x", ""), "X-Api-Key", "no"); a.status != 401 || !strings.Contains(a.body, "authentication_error") {
		t.Errorf("a wrong key got %d, %s", a.status, a.body)
	}
}

const gigaPath = "/api/v1/chat/completions"

// token asks for an access token as GigaChat's clients do.
func token(t *testing.T, s *Server) string {
	t.Helper()
	a := post(t, s, "/api/v2/oauth", url.Values{"scope": {"GIGACHAT_API_PERS"}}.Encode(),
		"Authorization", "Basic a2V5", "RqUID", "6f0b1291-c7f3-43c6-bb2e-9f3efb2dc98e", "Content-Type", "application/x-www-form-urlencoded")
	var r struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_at"`
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || r.Token == "" || time.Until(time.UnixMilli(r.Expires)) <= 0 {
		t.Fatalf("token: %d %s", a.status, a.body)
	}
	return r.Token
}

func TestGigaChatToolLoop(t *testing.T) {
	s := Start(t, foxScript)
	auth := []string{"Authorization", "Bearer " + token(t, s)}
	functions := `"functions":[{"name":"search","parameters":{"type":"object"}}],"function_call":"auto"`
	a := post(t, s, gigaPath, `{"model":"GigaChat","messages":[{"role":"system","content":"кратко"},{"role":"user","content":"найди"}],`+functions+`}`, auth...)
	var r gigaChatReply
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || len(r.Choices) != 1 {
		t.Fatalf("%v: %s", err, a.body)
	}
	c := r.Choices[0]
	if c.Finish != "function_call" || c.Message.FunctionCall == nil || string(c.Message.FunctionCall.Arguments) != `{"query":"fox"}` ||
		c.Message.StateID == "" || r.Usage.Total == 0 {
		t.Fatalf("reply %s", a.body)
	}
	said, err := json.Marshal(c.Message)
	if err != nil {
		t.Fatal(err)
	}
	a = post(t, s, gigaPath, fmt.Sprintf(`{"model":"GigaChat","stream":true,%s,"messages":[{"role":"user","content":"найди"},%s,
		{"role":"function","name":"search","content":"{\"hits\":1}"}]}`, functions, said), auth...)
	var text string
	for line := range strings.Lines(a.body) {
		var chunk gigaChatReply
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &chunk) == nil {
			text += chunk.Choices[0].Delta.Content
		}
	}
	if text != "A fox is here." || !strings.Contains(a.body, `"finish_reason":"stop"`) || !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
		t.Errorf("stream %s", a.body)
	}
}

func TestGigaChatForms(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{{Contains: "limit", Fault: &Fault{Kind: RateLimit}}}})
	auth := []string{"Authorization", "Bearer " + token(t, s)}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{gigaPath, `{"model":"g","messages":[{"role":"user","content":"limit"}]}`, 429, `"status":429`},
		{gigaPath, `{"model":"g","messages":[{"role":"user","content":"q"}],"functions":[{"name":"f"}],"function_call":{"name":"f"}}`, 200, `"name":"f"`},
		{gigaPath, `{"model":"g","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_schema","schema":{"type":"object","required":["answer"]}}}`, 200, `{\"answer\":`},
		{gigaPath, `{"model":"g","messages":[{"role":"user","content":"q"},{"role":"system","content":"late"}]}`, 400, "must be the first"},
		{gigaPath, `{"model":"g","messages":[{"role":"user","content":"q"},{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}]}`, 400, "not an object"},
		{gigaPath, `{"model":"g","messages":[{"role":"assistant","function_call":{"name":"f","arguments":{}}},{"role":"function","name":"f","content":"no json"}]}`, 400, "is not JSON"},
		{"/api/v1/embeddings", `{"model":"Embeddings","input":["лиса"]}`, 200, `"usage":{"prompt_tokens":2}`},
	} {
		if a := post(t, s, c.path, c.body, auth...); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: status %d, %s", c.body, a.status, a.body)
		}
	}
}

func TestGigaChatTokens(t *testing.T) {
	s := Start(t, Script{TokenTTL: time.Nanosecond})
	body := `{"model":"g","messages":[{"role":"user","content":"q"}]}`
	for _, auth := range []string{"", "Bearer made-up"} {
		if a := post(t, s, gigaPath, body, "Authorization", auth); a.status != 401 {
			t.Errorf("%q got %d", auth, a.status)
		}
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for want, header := range map[int][]string{
		http.StatusUnauthorized: {"RqUID", "1"},
		http.StatusBadRequest:   {"Authorization", "Basic a2V5"},
	} {
		if a := post(t, s, "/api/v2/oauth", "scope=GIGACHAT_API_PERS", append(form, header...)...); a.status != want {
			t.Errorf("%v got %d, want %d", header, a.status, want)
		}
	}
	if n := s.TokensIssued(); n != 0 {
		t.Errorf("%d tokens issued", n)
	}
}
