package kbqa_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/kbqa"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/mode/ingest"
	"dossier/sources"
	"dossier/toolkit"
)

const built = "The pier of Aldworth was built in 1911 by Tilda Moor [1]."

// begin serves a site whose model answers at once, and in which ann has a
// collection.
func begin(t *testing.T, reply *llmtest.Reply, set map[string]string) *sitetest.Site {
	t.Helper()
	s := sitetest.Start(t, sitetest.Options{
		Script:    llmtest.Script{Rules: []llmtest.Rule{{Reply: reply}}},
		Protocols: func(*dossier.Engine) []server.Protocol { return []server.Protocol{kbqa.Protocol()} },
		Set:       set,
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pier.md"), []byte("# The pier of Aldworth\n\nThe pier of Aldworth was built in 1911 by Tilda Moor.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	req := dossier.Request{Mode: ingest.Name, User: "ann", Request: mode.Request{Question: "read", In: sources.Target{Paths: []string{dir}, Collection: "piers"}}}
	for _, err := range s.Engine.Run(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func call(t *testing.T, s *sitetest.Site, token, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
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

// message is one of a stream.
type message struct {
	id, name string
	kbqa.AgentStepEvent
}

func messages(t *testing.T, body string) (out []message) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	var m message
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			m.id = value
		case "event":
			m.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &m.AgentStepEvent); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
			out = append(out, m)
			m = message{}
		}
	}
	return out
}

const question = `{"question":"Who built the pier of Aldworth?","collection":"piers","max_steps":3}`

func TestTheStepsOfAnAnswer(t *testing.T) {
	s := begin(t, llmtest.Say("Thought: source 1 says it\nFinalAnswer: "+built), nil)
	resp, body := call(t, s, s.Ann, "POST", "/api/agent/stream", question)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	all := messages(t, body)
	var told []string
	for _, m := range all {
		if m.name != string(m.Type) || m.RequestID != resp.Header.Get("X-Run-ID") || m.Step == 0 {
			t.Errorf("%+v", m)
		}
		word := string(m.Type)
		if m.Tool != "" {
			word += ":" + m.Tool
		}
		told = append(told, word)
	}
	want := "step_started thought tool_invoked:router_select observation:router_select tool_invoked:query_plan observation:query_plan " +
		"tool_invoked:search observation:search tool_invoked:search observation:search tool_invoked:compose_context observation:compose_context " +
		"step_started thought thought tool_invoked:verify observation:verify verify final"
	if got := strings.Join(told, " "); got != want {
		t.Errorf("%s", got)
	}
	last := all[len(all)-1]
	if last.Content != built || last.Step != 2 || last.Metadata == nil || last.Metadata.Coverage != 1 || *last.Metadata.CitationCoverage != 1 ||
		*last.Metadata.Confidence == 0 || last.Metadata.AnsweredBy != "model" || last.Metadata.Verification == nil || !last.Metadata.Verification.Passed {
		t.Errorf("%+v %+v", last, last.Metadata)
	}

	// Who has seen some of it gets the rest.
	at := slices.IndexFunc(all, func(m message) bool { return m.Tool == toolkit.ComposeContext })
	again := `{"run":"` + last.RequestID + `"}`
	_, rest := call(t, s, s.Ann, "POST", "/api/agent/stream", again, "Last-Event-ID", all[at].id)
	if got := messages(t, rest); len(got) != len(all)-at-1 || got[len(got)-1].Content != built {
		t.Errorf("%d of %d after %d: %s", len(got), len(all), at, rest)
	}
}

func TestAModelThatFailsIsTold(t *testing.T) {
	s := begin(t, nil, map[string]string{"models.default.base_url": "http://127.0.0.1:1/v1", "governor.retries": "0"})
	_, body := call(t, s, s.Ann, "POST", "/api/agent/stream", question)
	all := messages(t, body)
	at := slices.IndexFunc(all, func(m message) bool { return m.Type == kbqa.Failed })
	last := all[len(all)-1]
	if at < 0 || !strings.Contains(all[at].Content, "scripted") || last.Type != kbqa.Final || !strings.Contains(last.Content, "Tilda Moor") || last.Metadata.AnsweredBy != "rules" {
		t.Errorf("%s", body)
	}
}

// Why a run failed is told once.
func TestAFailureIsToldOnce(t *testing.T) {
	p := kbqa.NewProjection("r")
	var told []string
	for _, data := range []event.Data{event.RunError{Code: "usage", Message: "there is no collection"}, event.RunStatus{Status: "failed", Reason: "there is no collection"}} {
		for _, ev := range p.Next(event.Event{Data: data}) {
			told = append(told, string(ev.Type)+" "+ev.Content)
		}
	}
	if got := strings.Join(told, "; "); got != "step_started ; error there is no collection" || !p.Over {
		t.Error(got)
	}
	p = kbqa.NewProjection("r")
	if got := p.Next(event.Event{Data: event.RunStatus{Status: "cancelled"}}); len(got) != 2 || got[1].Content != "cancelled" || !p.Over {
		t.Errorf("%+v", got)
	}
}

// What is another user's is not there: neither a collection nor a run.
func TestOthersThingsAreNotThere(t *testing.T) {
	s := begin(t, llmtest.Say("Thought: source 1 says it\nFinalAnswer: "+built), nil)
	first, _ := call(t, s, s.Ann, "POST", "/api/agent/stream", question)
	hers := first.Header.Get("X-Run-ID")
	for _, body := range []string{question, `{"run":"` + hers + `"}`, `{"run":"nothing"}`} {
		if resp, said := call(t, s, s.Bob, "POST", "/api/agent/stream", body); resp.StatusCode != http.StatusNotFound || strings.Contains(said, "Tilda") {
			t.Errorf("%s: %d %s", body, resp.StatusCode, said)
		}
	}
	for _, body := range []string{`{}`, `{"question":" "}`, `[]`, `{"question":"x","agent":"nobody"}`} {
		if resp, said := call(t, s, s.Ann, "POST", "/api/agent/stream", body); resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: %d %s", body, resp.StatusCode, said)
		}
	}
	if resp, _ := call(t, s, "nobody", "GET", "/api/agent/tools", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Error(resp.Status)
	}
}

func TestTheTools(t *testing.T) {
	s := begin(t, nil, nil)
	_, body := call(t, s, s.Bob, "GET", "/api/agent/tools", "")
	var tools map[string]struct {
		Description string
		Parameters  struct {
			Type       string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal([]byte(body), &tools); err != nil || len(tools) != 7 {
		t.Fatalf("%v %s", err, body)
	}
	for _, name := range []string{"query_plan", "search", "rerank", "fetch_docs", "compose_context", "verify", "router_select"} {
		if d := tools[name]; d.Description == "" || d.Parameters.Type != "object" || len(d.Parameters.Properties) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, ok := tools["compose_context"].Parameters.Properties["hit_ids"]; !ok {
		t.Error(body)
	}
}
