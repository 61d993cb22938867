package server

import (
	"maps"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/clienttest"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/llm/llmtest"
	"dossier/mode"
)

// openScripted opens an engine of its own on a scripted model.
func openScripted(t *testing.T, script llmtest.Script, set map[string]string) *dossier.Engine {
	t.Helper()
	srv := llmtest.Start(t, script)
	flags := map[string]string{"models.default.base_url": srv.URL() + "/v1", "models.default.model": "scripted"}
	maps.Copy(flags, set)
	delete(flags, "config")
	e, err := dossier.Open(t.Context(), dossier.Options{
		DataDir: t.TempDir(), ConfigFile: set["config"], Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}, Set: flags,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func final(answer string) *llmtest.Reply {
	return llmtest.CallTool("finalanswertool", map[string]any{"reasoning": "r", "completed_steps": []string{"s"}, "answer": answer, "status": "completed"})
}

// An agent of one engine asks an agent of another one over A2A.
func TestAgentsOfTwoEnginesTalk(t *testing.T) {
	there := openScripted(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: final("forty-two")}}}, map[string]string{"config": config.NoFile})
	_, _, err := there.SaveTemplate(t.Context(), "oracle", fleet.Text{Document: "base_class: ToolCallingAgent\ndescription: Knows the answer.\ncapabilities: [answers]\ntools: [final_answer_tool]\nexecution: {logs_dir: \"\"}\n"})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{engine: there, closing: t.Context()}
	srv := httptest.NewServer(a.private("s3cret"))
	defer srv.Close()

	file := t.TempDir() + "/config.yaml"
	writeFile(t, file, `a2a: {agents: {oracle: {url: "`+srv.URL+`/a2a/oracle", headers: {Authorization: Bearer s3cret}}}}
agents:
  asker:
    base_class: ToolCallingAgent
    execution: {logs_dir: ""}
    tools: ["a2a:oracle", final_answer_tool]
`)
	here := openScripted(t, llmtest.Script{Rules: []llmtest.Rule{
		{ToolResults: new(0), Reply: llmtest.CallTool("agent_oracle", map[string]any{"message": "What is the answer?"})},
		{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
			return final("It says: " + req.Messages[len(req.Messages)-1].Content)
		})},
	}}, map[string]string{"config": file})
	var said strings.Builder
	for ev, err := range here.Run(t.Context(), dossier.Request{Mode: "agent", Request: mode.Request{Question: "Ask the oracle.", Agent: "asker"}}) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := ev.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		said.Write(raw)
	}
	if !strings.Contains(said.String(), "forty-two") || strings.Contains(said.String(), "s3cret") {
		t.Errorf("%s", said.String())
	}
	agents, err := here.Agents(t.Context())
	if err != nil || len(agents) == 0 {
		t.Fatal(err)
	}
	found := false
	for _, e := range agents {
		found = found || e.Name == "oracle" && e.Kind == "remote"
	}
	if !found {
		t.Errorf("%+v", agents)
	}
}

// The official client in Python sends, streams, gets, answers and cancels tasks,
// and sees none of another user's.
func TestTasksWithTheClientInPython(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	e := openScripted(t, llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "slowly", Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
			<-over
			return final("too late")
		})},
		{Contains: "unclear", ToolResults: new(0), Reply: llmtest.CallTool("clarificationtool", map[string]any{
			"reasoning": "r", "unclear_terms": []string{"it"}, "assumptions": []string{"a", "b"}, "questions": []string{"which one?"},
		})},
		{Contains: "the second one", Reply: final("the second, then")},
		{Reply: final("forty-two")},
	}}, map[string]string{"config": config.NoFile})
	_, _, err := e.SaveTemplate(t.Context(), "oracle", fleet.Text{Document: "base_class: ToolCallingAgent\ndescription: Knows the answer.\ntools: [clarification_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n"})
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for _, user := range []string{"ann", "bob"} {
		made, err := e.CreateToken(t.Context(), dossier.Token{User: user})
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, made.Text)
	}
	p, err := Listen(Options{Engine: e, Host: "127.0.0.1", Access: Access{Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	out := clienttest.Python(t, "a2a.py", p.URL()+"/a2a/oracle", tokens[0], tokens[1])
	for _, want := range []string{
		"card: oracle", "sent: COMPLETED forty-two", "got: COMPLETED forty-two", "streamed: COMPLETED forty-two",
		"asked: INPUT_REQUIRED which one?", "answered: COMPLETED the second, then", "begun: WORKING", "cancelled: CANCELED", "after: CANCELED", "another: refused",
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
