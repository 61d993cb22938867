package dossier

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/run"
)

// cutStore loses its power after some commits.
type cutStore struct {
	store.Store
	left atomic.Int64
}

func (s *cutStore) Commit(b *run.Batch, done func(error)) {
	if s.left.Add(-1) < 0 {
		done(errors.New("no power"))
		return
	}
	s.Store.Commit(b, done)
}

func (s *cutStore) Close() error { return nil }

// told is what the code of a run emitted, without what tells of its fate and
// of who was faster.
func told(t *testing.T, e *Engine, id string) string {
	t.Helper()
	log, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, ev := range log {
		if k := ev.Kind(); k == event.KindRunStatus || k == event.KindRunError || k == event.KindUsage || k == event.KindExportReady {
			continue
		}
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", ev.Kind(), strings.ReplaceAll(string(data), id, "RUN"))
	}
	return runDate.ReplaceAllString(b.String(), "TIME $1")
}

// TestResearchSurvivesAPowerCut cuts the power after each commit of a run in
// which a model decides everything there is to decide. Another engine goes on:
// the same comes out, no decision that was recorded is made again, and the
// replay agrees.
func TestResearchSurvivesAPowerCut(t *testing.T) {
	dir := library(t)
	answer := "The lighthouse was built in 1874 by Maria Lindqvist [1]. The moon is made of green cheese from Holland [1]."
	script := llmtest.Script{Rules: append(writer(answer),
		llmtest.Rule{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "unsupported", "passage": 0}}})},
		llmtest.Rule{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": answer})},
	)}
	// Calls that a cut broke off may arrive late: who goes on has a server of
	// its own, at which they are not counted.
	srv, later := llmtest.Start(t, script), llmtest.Start(t, script)
	req := research("Who built the lighthouse of Cape Kestrel?", dir)
	whole := engine(t, memory.New(memory.Options{}), connected(srv))
	want := told(t, whole, follow(t, whole, req)[0].Run)
	inAll := callsBySchema(srv, 0)
	for schema, n := range map[string]int{"plan": 1, "synthesized_answer": 1, "judgements": 2, "rewritten": 1} {
		if inAll[schema] != n {
			t.Fatalf("%d calls for %s", inAll[schema], schema)
		}
	}

	for n := int64(1); ; n++ {
		disk := memory.New(memory.Options{})
		cut := &cutStore{Store: disk}
		cut.left.Store(n)
		first := engine(t, cut, connected(srv))
		rec, err := first.Start(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range first.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				break
			}
		}
		_ = first.Close()
		got, err := disk.Run(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == run.Done {
			if n < 10 {
				t.Fatalf("a run of %d commits is no test", n)
			}
			return
		}
		before, err := disk.History(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		calls := len(later.Calls())
		if err := evictAll(t.Context(), disk); err != nil {
			t.Fatal(err)
		}
		second := engine(t, disk, connected(later))
		if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, err := range second.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := told(t, second, rec.ID); got != want {
			t.Fatalf("cut after %d commits, the run says\n%s\ninstead of\n%s", n, got, want)
		}
		again, due := callsBySchema(later, calls), maps.Clone(inAll)
		for _, entry := range before.Entries {
			if entry.Kind == run.EntryStep {
				due[schemaOf[path.Base(entry.Key)]]--
			}
		}
		for schema, count := range again {
			if count != due[schema] {
				t.Errorf("cut after %d commits: %d calls for %s, %d were left to do", n, count, schema, due[schema])
			}
		}
		settled(t, second, rec.ID)
		if _, err := second.Replay(t.Context(), rec.ID); err != nil {
			t.Errorf("cut after %d commits: %v", n, err)
		}
		_ = second.Close()
	}
}

// schemaOf is what a model is asked for in the steps that ask one.
var schemaOf = map[string]string{
	"plan": "plan", "rerank": "ranked_list", "followups": "follow_up_list", "note": "note",
	"answer": "synthesized_answer", "judge": "judgements", "rewrite": "rewritten",
}

// settled waits until a run whose last event was seen is recorded as over.
func settled(t *testing.T, e *Engine, id string) {
	t.Helper()
	for {
		rec, err := e.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Status != run.Running && rec.Status != run.Queued {
			return
		}
		runtime.Gosched()
	}
}

// callsBySchema counts the calls of a server from one on.
func callsBySchema(srv *llmtest.Server, from int) map[string]int {
	out := map[string]int{}
	for _, c := range srv.Calls()[from:] {
		out[c.Schema]++
	}
	return out
}

// TestReplayNeedsNoModel replays a run on an engine that is configured
// otherwise than the one that did it.
func TestReplayNeedsNoModel(t *testing.T) {
	dir := library(t)
	srv := llmtest.Start(t, llmtest.Script{Rules: writer("The lighthouse was built in 1874 by Maria Lindqvist [1]. The moon is made of green cheese [1].")})
	both := []map[string]string{connected(srv), nil}
	for i, flags := range both {
		s := &cutStore{Store: memory.New(memory.Options{})}
		s.left.Store(1 << 40)
		id := follow(t, engine(t, s, flags), research("Who built the lighthouse of Cape Kestrel?", dir))[0].Run
		if _, err := engine(t, s, both[1-i]).Replay(t.Context(), id); err != nil {
			t.Errorf("done with %v, replayed with %v: %v", flags, both[1-i], err)
		}
	}
	if !slices.ContainsFunc(srv.Calls(), func(c llmtest.Call) bool { return c.Schema == "judgements" }) {
		t.Error("the model was not asked about the claim that fails")
	}
}
