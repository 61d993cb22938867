package dossier

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// looped are the settings for the evidence loop.
var looped = map[string]string{"deep_research.engine": "loop"}

func startLoop(t *testing.T, s *scholar, more ...map[string]string) (*Engine, *webtest.Web) {
	t.Helper()
	w := startWeb(t, webtest.Options{})
	flags := append([]map[string]string{looped}, more...)
	if s != nil {
		flags = append(flags, connected(llmtest.Start(t, llmtest.Script{Rules: s.Rules()})))
	}
	return engine(t, memory.New(memory.Options{}), onWeb(t, w, flags...)), w
}

func TestLoopEventLogs(t *testing.T) {
	for _, c := range []struct {
		name, question string
		model          *scholar
	}{
		{"loop-model", oststrandQuestion, &townScholar},
		{"loop-quotes", "Когда открыли Заречный виадук?", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := startLoop(t, c.model)
			req := onTheWeb("deep_research", c.question)
			events := follow(t, e, req)
			r := reportOf(t, e)
			if len(r.Sections) < 3 || r.Summary == "" || r.Conclusion == "" || len(r.Sources) == 0 {
				t.Errorf("the report has %d sections, %d sources", len(r.Sections), len(r.Sources))
			}
			if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
				t.Error(err)
			}
			golden(t, c.name+".golden", []byte(frozen(t, e, w, byBranch(events))))
		})
	}
}

// byBranch puts events in an order that does not depend on who was faster: those
// of each branch in their order.
func byBranch(events []event.Event) []event.Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b event.Event) int { return strings.Compare(a.Agent, b.Agent) })
	return events
}

// reflections counts how often a run looked back.
func reflections(events []event.Event) int {
	n := 0
	for _, ev := range events {
		if _, ok := ev.Data.(event.AgentReflected); ok {
			n++
		}
	}
	return n
}

// TestLoopIterations counts the rounds of a model that never has enough: the
// limit, and then there is a report anyway.
func TestLoopIterations(t *testing.T) {
	never := townScholar
	never.Enough = 0
	for _, c := range []struct{ set, want int }{{0, 5}, {1, 1}, {3, 3}, {10, 10}} {
		t.Run(fmt.Sprint(c.set), func(t *testing.T) {
			more := map[string]string{"deep_research.section_pages": "1"}
			if c.set > 0 {
				more["deep_research_max_iterations"] = fmt.Sprint(c.set)
			}
			e, _ := startLoop(t, &never, more)
			events := follow(t, e, onTheWeb("deep_research", oststrandQuestion))
			if got := reflections(events); got != c.want {
				t.Errorf("%d iterations, want %d", got, c.want)
			}
			if r := reportOf(t, e); len(r.Sections) == 0 {
				t.Error("the report is empty")
			}
			if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLoopSurvivesAPowerCut cuts the power at many moments of a run. Another
// engine goes on to the same log and report, asks the model for nothing whose
// step was recorded, and the replay agrees.
func TestLoopSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	model := townScholar
	script := llmtest.Script{Rules: model.Rules()}
	srv, later := llmtest.Start(t, script), llmtest.Start(t, script)
	w := startWeb(t, webtest.Options{})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, looped, connected(srv), forgetful))
	req := onTheWeb("deep_research", oststrandQuestion)
	want := toldByBranch(t, e, w, follow(t, e, req)[0].Run)
	calls := callsBySchema(srv, 0)
	cuts := 0
	for n := int64(2); ; n += 7 {
		disk := memory.New(memory.Options{})
		cut := &cutStore{Store: disk}
		cut.left.Store(n)
		first := engine(t, cut, onWeb(t, w, looped, connected(srv), forgetful))
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
		if got, err := disk.Run(t.Context(), rec.ID); err != nil || got.Status == run.Done {
			break
		}
		cuts++
		before, err := disk.History(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := evictAll(t.Context(), disk); err != nil {
			t.Fatal(err)
		}
		from := len(later.Calls())
		second := engine(t, disk, onWeb(t, w, looped, connected(later), forgetful))
		if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, err := range second.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := toldByBranch(t, second, w, rec.ID); got != want {
			t.Fatalf("cut after %d commits, the run says\n%s\ninstead of\n%s", n, got, want)
		}
		due := maps.Clone(calls)
		for _, entry := range before.Entries {
			if entry.Kind == run.EntryStep {
				due[loopSchema[path.Base(entry.Key)]]--
			}
		}
		for schema, count := range callsBySchema(later, from) {
			if count != due[schema] {
				t.Errorf("cut after %d commits: %d calls for %s, %d were left to do", n, count, schema, due[schema])
			}
		}
		if _, err := second.Replay(t.Context(), rec.ID); err != nil {
			t.Errorf("cut after %d commits: %v", n, err)
		}
		_ = second.Close()
	}
	if cuts < 10 {
		t.Fatalf("%d cuts are no test", cuts)
	}
	t.Logf("%d cuts, %d calls of the model", cuts, sum(calls))
}

// loopSchema is what a step asks a model for.
var loopSchema = map[string]string{
	"clarify": "clarity", "plan": "research_plan", "reflect": "reflection", "note": "note", "rerank": "ranked_list", "section": "section",
	"summary": "section", "conclusion": "section", "judge": "judgements", "rewrite": "rewritten", "condense": "condensed",
	"followups": "suggested", "standalone": "standalone",
}

// toldByBranch is what the branches of a run told.
func toldByBranch(t *testing.T, e *Engine, w *webtest.Web, id string) string {
	t.Helper()
	log, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, ev := range byBranch(log) {
		if k := ev.Kind(); k == event.KindRunStatus || k == event.KindRunError || k == event.KindUsage || k == event.KindExportReady {
			continue
		}
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", ev.Kind(), strings.ReplaceAll(string(data), id, "RUN"))
	}
	return sameOnEachStart(t, w, b.String())
}

// A web that has nothing about the question leaves an honest report that says so.
func TestLoopOnABlankWeb(t *testing.T) {
	e, _ := startLoop(t, nil)
	events := follow(t, e, onTheWeb("deep_research", "Zzyzx qwrtplk vbnmghj?"))
	if r := reportOf(t, e); r.Outcome != report.Nothing || len(r.Sections) > 0 || r.Kind != report.Research {
		t.Errorf("%s, %d sections, kind %q", r.Outcome, len(r.Sections), r.Kind)
	}
	if _, err := e.Replay(t.Context(), events[0].Run); err != nil {
		t.Error(err)
	}
}
