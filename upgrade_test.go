package dossier

import (
	"compress/gzip"
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/fleet"
	"dossier/internal/store/sqlite"
	"dossier/internal/webtest"
	"dossier/kb"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// A database that a program without agents has left goes on with this one:
// schema2.db.gz holds a collection, a conversation and a run that was not begun.
func TestUpgradeOfADatabaseWithoutAgents(t *testing.T) {
	path := unpack(t, "schema2.db.gz")
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

// unpack writes a database that an earlier program has left to a data directory.
func unpack(t *testing.T, name string) (path string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("internal/store/sqlite/testdata", name))
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
	path = filepath.Join(t.TempDir(), "dossier.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Documents that an earlier program has read are found as it read them until the
// next sync, which reads them again: schema10.db.gz holds testdata/handbook,
// mirrored at /handbook by a program that knew no pages of manuals.
func TestUpgradeReadsDocumentsAgain(t *testing.T) {
	path := unpack(t, "schema10.db.gz")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS("testdata/handbook")); err != nil {
		t.Fatal(err)
	}
	disk, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	e := engine(t, disk, nil)
	moved := move(t, disk, path, root)
	for _, f := range moved { // the files are as they were
		if err := os.Chtimes(f.Path, f.Modified, f.Modified); err != nil {
			t.Fatal(err)
		}
	}
	look := func() (c kb.Collection, doctor Finding) {
		t.Helper()
		list, err := e.Collections(ctx)
		if err != nil || len(list.Collections) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		findings, err := e.Diagnose(ctx, Checkup{Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.What == "collection handbook" })
		return list.Collections[0], findings[i]
	}
	if c, doctor := look(); c.Outdated != 3 || !doctor.OK || !strings.Contains(doctor.Detail, "3 read by another version") || doctor.Hint == "" {
		t.Errorf("before: %+v, %+v", c, doctor)
	}
	// It can be asked as it is, and says so.
	follow(t, e, Request{Mode: "web_search", Request: mode.Request{Question: "What is the default of boil_hold?", In: sources.Target{Collection: "handbook"}}})
	if said := report.Markdown(reportOf(t, e)); !strings.Contains(said, "40 seconds") || !strings.Contains(said, "3 documents are searched as another version") {
		t.Errorf("asked as it was: %s", said)
	}
	// The next sync reads all of it again.
	again := Request{Mode: "ingest", Request: mode.Request{Question: "again", In: sources.Target{Collection: "handbook", Paths: []string{root}}, Lang: "en", NoInput: true}}
	if said := answerTo(t, e, again); !strings.Contains(said, "3 documents were read again") || !strings.Contains(said, "0 changed") {
		t.Errorf("read again: %q", said)
	}
	if c, doctor := look(); c.Outdated != 0 || c.Documents != 3 || strings.Contains(doctor.Detail, "another version") || doctor.Hint != "" {
		t.Errorf("after: %+v, %+v", c, doctor)
	}
	for question, want := range map[string]string{"boil_hold default": "boil_hold", "lamp slow blue": "vinegar programme", "descale --vinegar option": "--vinegar"} {
		got, err := e.SearchCollection(ctx, "handbook", kb.Query{Text: question, Limit: 1})
		if err != nil || len(got.Hits) != 1 || !strings.Contains(got.Hits[0].Text, want) || strings.Contains(got.Hits[0].Text, ".TP") {
			t.Errorf("%s: %+v, %v", question, got.Hits, err)
		}
	}
	if said := answerTo(t, e, again); strings.Contains(said, "again") {
		t.Errorf("nothing was left to read: %q", said)
	}
}

// move has a collection whose files are below /handbook mirror them at root.
func move(t *testing.T, s *sqlite.Store, path, root string) []kb.File {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE documents SET path = CAST(? || substr(CAST(path AS TEXT), length('/handbook') + 1) AS BLOB)", root); err != nil {
		t.Fatal(err)
	}
	c, err := s.Collection(t.Context(), "handbook")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ChangeCollection(t.Context(), c.ID, kb.Change{Revision: c.Revision, Roots: []string{root}}); err != nil {
		t.Fatal(err)
	}
	files, err := s.Files(t.Context(), c.ID)
	if err != nil || len(files) != 3 {
		t.Fatalf("%+v, %v", files, err)
	}
	return files
}

// Searches that an earlier program has made replay as they were: searches.db.gz
// holds runs whose rounds a rule ended, whose results without a snippet counted
// as copies of each other, whose facets said one thing twice, and whose rewritten
// answer stands although it holds no better.
func TestUpgradeReplaysSearches(t *testing.T) {
	disk, err := sqlite.Open(unpack(t, "searches.db.gz"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := engine(t, disk, nil)
	runs, err := e.List(t.Context(), Filter{})
	if err != nil || len(runs) != 5 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if events, err := e.Replay(t.Context(), r.ID); err != nil || len(events) == 0 {
			t.Errorf("%s: %v", r.Mode, err)
		}
	}
}

// What an earlier program told lacks fields that events have now: answers.db.gz
// holds runs of agents, of web searches and of deep research in both ways, without
// answers by themselves, iterations and ids. They replay, and the one that waited
// for an answer goes on and replays too.
func TestUpgradeReplaysAnswers(t *testing.T) {
	disk, err := sqlite.Open(unpack(t, "answers.db.gz"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := startWeb(t, webtest.Options{})
	e := engine(t, disk, onWeb(t, w, connected(llmtest.Start(t, agenttest.Script(agent.SGR)))))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs, err := e.List(ctx, Filter{})
	if err != nil || len(runs) != 7 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if r.Status != run.Waiting {
			if events, err := e.Replay(ctx, r.ID); err != nil || len(events) == 0 {
				t.Errorf("%s: %v", r.Mode, err)
			}
			continue
		}
		if err := e.Answer(ctx, r.ID, "", agenttest.Reply); err != nil {
			t.Fatal(err)
		}
		if said, err := finished(ctx, e, r.ID); err != nil || !strings.Contains(said, "11 years") {
			t.Errorf("%q, %v", said, err)
		}
		events, err := e.Replay(ctx, r.ID)
		if err != nil {
			t.Error(err)
		}
		iterations := 0
		for _, ev := range events {
			if d, ok := ev.Data.(event.AgentReasoning); ok && d.Iteration > 0 {
				iterations++
			}
		}
		if iterations != agenttest.Moves()-2 { // the first two were the earlier program's
			t.Errorf("%d iterations of this program", iterations)
		}
	}
}
