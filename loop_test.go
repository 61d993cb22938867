package dossier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// looped are the settings for the evidence loop.
var looped = map[string]string{"deep_research.engine": "loop"}

// townScholar is a plan for a question of the web.
var townScholar = scholar{
	title: "Oststrand and its people",
	sections: []planned{
		{"Population", "How many inhabitants does Oststrand have?", []string{"Oststrand inhabitants census"}},
		{"Government", "Who is the mayor of Oststrand?", []string{"mayor of Oststrand"}},
		{"Bridge", "When was the Keldra Bridge opened?", []string{"Keldra Bridge opened"}},
	},
	enough: 2, next: []string{"Oststrand fish market", "Keldra Bridge length", "Oststrand harbour", "Oststrand pilots", "river Aune", "Oststrand history", "Grenmoor", "Oststrand museum", "Veyholm", "Skarrow windmill", "Aune newts", "Oststrand ferry"},
	scribe: scribe{lie: "The town hall of Oststrand is built of chocolate [1]."},
}

const oststrandQuestion = "What kind of town is Oststrand, and how is it governed?"

func startLoop(t *testing.T, s *scholar, more ...map[string]string) (*Engine, *webtest.Web) {
	t.Helper()
	w := startWeb(t, webtest.Options{})
	flags := append([]map[string]string{looped}, more...)
	if s != nil {
		flags = append(flags, connected(llmtest.Start(t, llmtest.Script{Rules: s.rules()})))
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
	never.enough = 0
	for _, c := range []struct{ set, want int }{{0, 5}, {1, 1}, {3, 3}, {10, 10}} {
		t.Run(fmt.Sprint(c.set), func(t *testing.T) {
			more := map[string]string{"deep_research.section_pages": "1"}
			if c.set > 0 {
				more["deep_research_max_iterations"] = fmt.Sprint(c.set)
			}
			e, _ := startLoop(t, &never, more)
			events := follow(t, e, onTheWeb("deep_research", oststrandQuestion))
			if got := reflections(events); got != c.want {
				for _, ev := range events {
					if strings.HasPrefix(ev.Agent, "iteration") {
						t.Logf("%s %s %+v", ev.Agent, ev.Kind(), ev.Data)
					}
				}
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
