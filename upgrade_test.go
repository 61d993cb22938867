package dossier

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store/sqlite"
	"dossier/llm/llmtest"
)

// A database that a program without agents has left goes on with this one:
// schema2.db.gz holds a collection, a conversation and a run that was not begun.
func TestUpgradeOfADatabaseWithoutAgents(t *testing.T) {
	packed, err := os.Open("internal/store/sqlite/testdata/schema2.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	file, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dossier.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "r", "answer": "Because of the sky.", "key_points": []string{"k"}})},
		{Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply { return finalReply("done") })},
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for turn := range 2 { // the second time there is nothing to change
		disk, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := disk.Check(ctx); err != nil {
			t.Error(err)
		}
		e := engine(t, disk, connected(srv))
		runs, err := e.List(ctx, Filter{Session: "talk"})
		if err != nil || len(runs) != 2 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		if _, err := e.Replay(ctx, runs[1].ID); err != nil {
			t.Error(err)
		}
		found, err := disk.Collection(ctx, "cape")
		if err != nil || found.Documents != 1 {
			t.Errorf("%+v, %v", found, err)
		}
		if turn == 0 {
			if n, err := e.Sweep(ctx); err != nil || n != 1 {
				t.Errorf("%d runs were left behind, %v", n, err)
			}
			save(t, e, "worker", parrotTemplate)
			if _, err := e.RegisterInstance(ctx, fleet.Instance{Template: "worker", Name: "w"}); err != nil {
				t.Fatal(err)
			}
		}
		if said, err := finished(ctx, e, runs[0].ID); err != nil || said != "Because of the sky." {
			t.Errorf("%q, %v", said, err)
		}
		if said := answerTo(t, e, job("x")); said != "done" {
			t.Errorf("%q", said)
		}
		if s := ready(t, e, "w"); s.Served != int64(turn+1) {
			t.Errorf("%+v", s)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
