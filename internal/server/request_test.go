package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/server"
	"dossier/llm"
	"dossier/mode"
)

// What a caller gives along, and a whole conversation, come through the socket and
// are kept with the run.
func TestRequestsThroughTheSocket(t *testing.T) {
	b := remote(t)
	req := dossier.Request{
		Mode:     "scripted",
		Messages: []mode.Turn{{Role: llm.RoleSystem, Content: "be short"}, {Role: llm.RoleUser, Content: "one"}, {Role: llm.RoleAssistant, Content: "two"}, {Role: llm.RoleUser, Content: "three"}},
		Request:  mode.Request{Custom: map[string]json.RawMessage{"tenant": json.RawMessage(`{"name":"x"}`)}},
	}
	rec, err := b.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err = b.Get(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	var kept mode.Request
	if err := json.Unmarshal(rec.Request, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Question != "three" || len(kept.History) != 3 || string(kept.Custom["tenant"]) != `{"name":"x"}` {
		t.Errorf("%s", rec.Request)
	}
	b.until(rec.ID, "done")
	if list, err := b.List(t.Context(), dossier.Filter{Agent: "nobody"}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	req.Messages = req.Messages[:1]
	if _, err := b.Start(t.Context(), req); err == nil || !strings.Contains(err.Error(), "last message") {
		t.Errorf("%v", err)
	}
}

// A field that there is not is named, with where those that there are can be seen.
func TestUnknownFieldIsNamed(t *testing.T) {
	var into struct {
		Question string `json:"question"`
	}
	problem := server.Describe(server.Decode([]byte(`{"question":"x","qestion":"y"}`), &into))
	if problem.Code != "usage" || problem.Message != `there is no field "qestion" here` || !strings.Contains(problem.Hint, "/docs") {
		t.Errorf("%+v", problem)
	}
}
