package openai_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dossier"
	"dossier/agent"
	"dossier/internal/agenttest"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/openai"
	"dossier/llm/llmtest"
	"dossier/reader"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func protocols(generator string) func(*dossier.Engine) []server.Protocol {
	return func(e *dossier.Engine) []server.Protocol {
		return []server.Protocol{openai.Protocol(openai.Options{Modes: e.Modes(), Default: "sgr_tool_calling_agent", Generator: generator, Embed: e.Embed})}
	}
}

// talks is a site whose model answers what it is asked.
func talks(t *testing.T) *sitetest.Site {
	return sitetest.Start(t, sitetest.Options{Protocols: protocols(""), Script: llmtest.Script{Rules: []llmtest.Rule{{
		Reply: llmtest.JSON(map[string]any{"reasoning": "it is known", "answer": "The sky scatters blue light.", "key_points": []string{"blue"}}),
	}}}})
}

// works is a site whose model is an agent's.
func works(t *testing.T, decider agent.DeciderName, generator string) *sitetest.Site {
	return sitetest.Start(t, sitetest.Options{Protocols: protocols(generator), Script: agenttest.Script(decider)})
}

// post sends a body and returns the reply.
func post(t *testing.T, s *sitetest.Site, token, path, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

// message is a request's body.
func message(model, text string, more ...string) string {
	body := map[string]any{"model": model, "messages": []any{map[string]any{"role": "user", "content": text}}}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = json.RawMessage(more[i+1])
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// data are the messages of a stream of events.
func data(body string) []string {
	var out []string
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			out = append(out, text)
		}
	}
	return out
}

func TestAModeIsAModel(t *testing.T) {
	s := talks(t)
	resp, body := post(t, s, s.Ann, "/v1/chat/completions", message("chat", "Why is the sky blue?"))
	var got struct {
		Object  string
		Model   string
		Choices []struct {
			Message      struct{ Role, Content string }
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			Total int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", resp.StatusCode, body, err)
	}
	if c := got.Choices[0]; got.Object != "chat.completion" || got.Model != "chat" || c.Message.Role != "assistant" || c.Message.Content != "The sky scatters blue light." || c.FinishReason != "stop" || got.Usage.Total == 0 {
		t.Errorf("%s", body)
	}
	if resp.Header.Get("X-Run-ID") == "" || resp.Header.Get("X-Agent-ID") != "" {
		t.Errorf("%v", resp.Header)
	}
}

// TestAnAgentIsAModel freezes the stream of an agent that asks, is answered by the
// id in its model, and answers.
func TestAnAgentIsAModel(t *testing.T) {
	for _, c := range []struct {
		name, model string
		decider     agent.DeciderName
		generator   string
	}{
		{"openai", "research_sgr_tool_calling_agent", agent.Hybrid, ""},
		{"open_webui", "research_sgr_agent", agent.SGR, "open_webui"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := works(t, c.decider, c.generator)
			resp, asked := post(t, s, s.Ann, "/v1/chat/completions", message(c.model, agenttest.Task, "stream", "true"))
			id := resp.Header.Get("X-Agent-ID")
			if resp.StatusCode != http.StatusOK || id == "" || resp.Header.Get("X-Agent-Model") != c.model || resp.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%d %v\n%s", resp.StatusCode, resp.Header, asked)
			}
			resp, answered := post(t, s, s.Ann, "/v1/chat/completions", message(id, agenttest.Reply, "stream", "true"))
			if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Agent-ID") != id || resp.Header.Get("X-Agent-Model") != "" {
				t.Fatalf("%d %v\n%s", resp.StatusCode, resp.Header, answered)
			}
			frozen(t, "agent-"+c.name+".txt", s, id, append(append(data(asked), "-- answered --"), data(answered)...))
		})
	}
}

// An agent of somebody else's is as one that there is not, and goes on waiting for
// whoever began it.
func TestAgentsOfOthersAreNotThere(t *testing.T) {
	s := works(t, agent.Hybrid, "")
	resp, body := post(t, s, s.Ann, "/v1/chat/completions", message("research_sgr_tool_calling_agent", agenttest.Task))
	id := resp.Header.Get("X-Agent-ID")
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "Which newt do you mean?") {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	unknown := id[:len(id)-4] + "0000"
	for what, request := range map[string]func(id string) (string, string){
		"model":    func(id string) (string, string) { return "/v1/chat/completions", message(id, agenttest.Reply) },
		"agent_id": func(id string) (string, string) { return "/api/runs", `{"question":"more","agent_id":"` + id + `"}` },
	} {
		path, ask := request(id)
		resp, others := post(t, s, s.Bob, path, ask)
		path, ask = request(unknown)
		none, nothing := post(t, s, s.Bob, path, ask)
		if resp.StatusCode != none.StatusCode || resp.StatusCode < 400 || resp.StatusCode >= 500 || strings.ReplaceAll(others, id, unknown) != nothing {
			t.Errorf("%s: %d %s, and %d %s", what, resp.StatusCode, others, none.StatusCode, nothing)
		}
	}
	// Said in a text it is nothing to anybody else.
	if resp, _ := post(t, s, s.Bob, "/v1/chat/completions", message("research_sgr_tool_calling_agent", "What does "+id+" do?")); resp.Header.Get("X-Agent-ID") == id {
		t.Error("an id in a text reached another user's agent")
	}
	resp, body = post(t, s, s.Ann, "/v1/chat/completions", message("research_sgr_tool_calling_agent", "For "+id+": "+agenttest.Reply))
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "up to 11 years") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	// One that is done goes on with its next task.
	resp, body = post(t, s, s.Ann, "/v1/chat/completions", message(id, "And how many are there?"))
	if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Agent-ID") != id {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
}

var (
	when    = regexp.MustCompile(`"created":\d+`)
	tokens  = regexp.MustCompile(`_tokens":\d+`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	moment  = regexp.MustCompile(`\d{8}_\d{6}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*Z?`)
	folder  = regexp.MustCompile(`[^"\\ ]*/data/`)
)

func frozen(t *testing.T, name string, s *sitetest.Site, id string, lines []string) {
	t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	text = strings.NewReplacer(id, "AGENT").Replace(text)
	for re, with := range map[*regexp.Regexp]string{when: `"created":0`, tokens: `_tokens":0`, address: "WEB", moment: "TIME", folder: "DATA/"} {
		text = re.ReplaceAllString(text, with)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, []byte(text)) {
		t.Errorf("%s is otherwise (-update rewrites it): %v\n%s", path, err, text)
	}
}
