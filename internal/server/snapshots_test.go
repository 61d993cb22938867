package server_test

import (
	"net/http"
	"strings"
	"testing"

	"dossier"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// A text that a report rests on is had by the run's own user, and by nobody else:
// also not by its hash in a run of theirs.
func TestSnapshotIsOfItsRun(t *testing.T) {
	s := serve(t, nil)
	anns := s.estate()
	rec, err := s.engine.Start(t.Context(), dossier.Request{Mode: "web_search", User: "ann", Request: mode.Request{
		Question: "Where is the secret?", In: sources.Target{Collection: anns.collection},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.until(rec.ID, run.Done)
	bobs := s.runOf("bob", "hello")
	rep, err := s.engine.Report(t.Context(), rec.ID)
	if err != nil || len(rep.Sources) == 0 {
		t.Fatalf("the report: %v", err)
	}
	hash := rep.Sources[0].Snapshot
	if status, text := s.ask(s.ann, http.MethodGet, "/api/runs/"+rec.ID+"/snapshots/"+hash, ""); status != http.StatusOK || !strings.Contains(text, "under the stone") {
		t.Errorf("ann gets %d %s", status, text)
	}
	for _, path := range []string{"/api/runs/" + rec.ID + "/snapshots/" + hash, "/api/runs/" + bobs.ID + "/snapshots/" + hash} {
		if status, text := s.ask(s.bob, http.MethodGet, path, ""); status != http.StatusNotFound || strings.Contains(text, "stone") {
			t.Errorf("bob gets %d %s of %s", status, text, path)
		}
	}
	if status, _ := s.ask(s.ann, http.MethodGet, "/api/runs/"+rec.ID+"/snapshots/sha256-0", ""); status != http.StatusNotFound {
		t.Errorf("a text that there is not: %d", status)
	}
}
