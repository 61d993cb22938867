package server_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/server"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
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

// A run that is not over has no report, for those on the other side of the socket too.
func TestNoReportThroughTheSocket(t *testing.T) {
	b := remote(t)
	rec := b.start("ask")
	b.until(rec.ID, run.Waiting)
	if _, err := b.Report(t.Context(), rec.ID); !errors.Is(err, dossier.ErrNoReport) {
		t.Errorf("before the end: %v", err)
	}
	if err := b.Cancel(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	b.until(rec.ID, run.Cancelled)
	if _, err := b.Report(t.Context(), rec.ID); !errors.Is(err, dossier.ErrNoReport) {
		t.Errorf("after it: %v", err)
	}
}

// What is wrong with a body is said as it is, with what belongs there.
func TestWrongBodiesInWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"question":[]}`:           `the field "question" can't be an array: it is a text`,
		`{"no_input":"yes"}`:        `the field "no_input" can't be a string: it is true or false`,
		`{"limits":{"tokens":"5"}}`: `the field "limits.tokens" can't be a string: it is a whole number`,
		`{"limits":{"time":"10m"}}`: `the field "limits.time" can't be a string: it is a number of nanoseconds: 60000000000 is a minute`,
		`{"limits":7}`:              `the field "limits" can't be a number: it is an object`,
		`[]`:                        `a JSON object is expected here, not an array: `,
		`{"question":`:              `the JSON of the request ends in the middle: `,
		`{"question":x}`:            `the request is no JSON: invalid character 'x' looking for beginning of value: `,
		`{"question":"x"} more`:     `there is more behind the JSON of the request: `,
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`: `a message has a part of type "image_url", and only text can be read here: `,
	} {
		var into dossier.Request
		p := server.Describe(server.Decode([]byte(body), &into))
		if got := p.Message + ": " + p.Hint; got != want {
			t.Errorf("%s: %s\nwant %s", body, got, want)
		}
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
