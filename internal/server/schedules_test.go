package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// decoded is a reply that has to be of a status.
func decoded[T any](s *site, want int, token, method, path, body string) T {
	s.t.Helper()
	status, said := s.ask(token, method, path, body)
	var out T
	if status != want {
		s.t.Fatalf("%s %s: %d %s", method, path, status, said)
	}
	if said != "" {
		if err := json.Unmarshal([]byte(said), &out); err != nil {
			s.t.Fatalf("%s: %v", said, err)
		}
	}
	return out
}

// A user keeps a schedule, changes it, has it carried out, and removes it.
func TestSchedulesOverHTTP(t *testing.T) {
	s := serve(t, nil)
	const about = "/api/schedules"
	made := decoded[dossier.Schedule](s, http.StatusCreated, s.ann, "POST", about, `{"name":"daily","cron":"30 7 * * mon-fri","zone":"Europe/Moscow","user":"bob","request":{"mode":"scripted","question":"hello"}}`)
	if made.User != "ann" || made.Next.IsZero() || !made.Request.NoInput || made.Request.Question != "hello" {
		t.Errorf("%+v", made)
	}
	at := about + "/" + made.ID
	if list := decoded[[]dossier.Schedule](s, http.StatusOK, s.ann, "GET", about, ""); len(list) != 1 || list[0].ID != made.ID {
		t.Errorf("%+v", list)
	}
	if list := decoded[[]dossier.Schedule](s, http.StatusOK, s.bob, "GET", about, ""); len(list) != 0 {
		t.Errorf("bob sees %+v", list)
	}
	if got := decoded[dossier.Schedule](s, http.StatusOK, s.ann, "PATCH", at, `{"paused":true,"cron":"@hourly"}`); !got.Paused || !got.Next.IsZero() || got.Cron != "@hourly" || got.Name != "daily" {
		t.Errorf("%+v", got)
	}
	fired := decoded[dossier.Firing](s, http.StatusOK, s.ann, "POST", at+"/run", "")
	s.until(fired.Run, run.Done)
	if runs := decoded[[]dossier.ScheduledRun](s, http.StatusOK, s.ann, "GET", at+"/runs", ""); len(runs) != 1 || runs[0].Run != fired.Run || runs[0].Status != run.Done {
		t.Errorf("%+v", runs)
	}
	if status, _ := s.ask(s.bob, "GET", "/api/runs/"+fired.Run, ""); status != http.StatusNotFound {
		t.Errorf("bob gets %d for ann's run", status)
	}
	if changes := decoded[[]dossier.Comparison](s, http.StatusOK, s.ann, "GET", at+"/changes", ""); len(changes) != 0 { // a run without a report
		t.Errorf("%+v", changes)
	}
	decoded[any](s, http.StatusNoContent, s.ann, "DELETE", at, "")
	decoded[any](s, http.StatusNotFound, s.ann, "GET", at, "")
	decoded[any](s, http.StatusOK, s.ann, "GET", "/api/runs/"+fired.Run, "")
	for what, body := range map[string]string{
		"no expression": `{"request":{"mode":"scripted","question":"x"}}`, "no time": `{"cron":"0 0 30 2 *","request":{"mode":"scripted","question":"x"}}`,
		"no question": `{"cron":"@daily","request":{"mode":"scripted"}}`, "a session": `{"cron":"@daily","request":{"mode":"scripted","question":"x","session":"s"}}`,
		"a field": `{"cron":"@daily","when":"now","request":{"mode":"scripted","question":"x"}}`, "no zone": `{"cron":"@daily","zone":"Mars","request":{"mode":"scripted","question":"x"}}`,
	} {
		if status, said := s.ask(s.ann, "POST", about, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", what, status, said)
		}
	}
}

// A schedule that names a folder is carried out only while the operator allows it.
func TestScheduledFoldersAreTheOperatorsToAllow(t *testing.T) {
	dir := t.TempDir()
	folders, err := server.NewFolders([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(o *server.Options) { o.Policy.Folders = folders })
	body := func(path string) string {
		raw, err := json.Marshal(map[string]any{"cron": "@daily", "request": map[string]any{"mode": "scripted", "question": "x", "in": map[string]any{"paths": []string{path}}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	decoded[any](s, http.StatusBadRequest, s.ann, "POST", "/api/schedules", body(filepath.Dir(dir)))
	made := decoded[dossier.Schedule](s, http.StatusCreated, s.ann, "POST", "/api/schedules", body(dir))
	decoded[any](s, http.StatusBadRequest, s.ann, "PATCH", "/api/schedules/"+made.ID, `{"request":{"mode":"scripted","question":"x","in":{"paths":["/"]}}}`)

	ask := func(user, path string) error {
		req := dossier.Request{Mode: "scripted", User: user, Request: mode.Request{Question: "x", In: sources.Target{Paths: []string{path}}}}
		return server.PermitSchedules(s.engine, &server.Policy{Folders: folders})(t.Context(), &req)
	}
	if err := ask("ann", dir); err != nil {
		t.Errorf("what is allowed: %v", err)
	}
	if err := ask("ann", filepath.Dir(dir)); err == nil || !strings.Contains(err.Error(), "may be asked about") {
		t.Errorf("what is not allowed any more: %v", err)
	}
	if err := ask("", filepath.Dir(dir)); err != nil {
		t.Errorf("the operator's: %v", err)
	}
}
