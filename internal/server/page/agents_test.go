package page_test

import (
	"strings"
	"testing"

	"dossier"
	"dossier/internal/fleet"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/openai"
	"dossier/internal/server/page"
	"dossier/llm/llmtest"
)

// clerk has every agent answer at once, and those that are asked to wait when the gate
// is open.
func clerk(g *gate) llmtest.Script {
	return llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
		if strings.Contains(q.Question(), "Wait") {
			g.pass()
		}
		return llmtest.CallTool("finalanswertool", object{"reasoning": "done", "completed_steps": []string{"thought"}, "answer": "The lamp is in the tower.", "status": "completed"})
	})}}}
}

// The templates of a test, which differ in a line.
const (
	careful  = "base_class: ToolCallingAgent\ndescription: Answers questions about lamps with care.\ncapabilities: [lamps]\ntools: [final_answer_tool]\nexecution: {logs_dir: \"\"}\n"
	careful2 = "base_class: ToolCallingAgent\ndescription: Answers questions about lamps and towers.\ncapabilities: [lamps]\ntools: [add_note_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n"
)

// A template gets a second version, the two are compared, an instance of it is asked,
// stopped and deleted, and a tool is found and called.
func TestAgents(t *testing.T) {
	g := newGate(t)
	s := sitetest.Start(t, sitetest.Options{Script: clerk(g), Protocols: served, Open: true})
	drive(t, "agents.mjs", object{"url": s.URL, "gate": g.url, "first": careful, "second": careful2})
}

// Connections are tried, well and badly; a token is made, used and revoked; the
// snippets do what they say.
func TestSettings(t *testing.T) {
	fails := func(model string, kind llmtest.FaultKind) llmtest.Rule {
		return llmtest.Rule{Model: model, Fault: &llmtest.Fault{Kind: kind}}
	}
	s := sitetest.Start(t, sitetest.Options{
		Script: llmtest.Script{Rules: []llmtest.Rule{fails("locked", llmtest.Auth), fails("slow", llmtest.Slow), fails("busy", llmtest.RateLimit), {Reply: llmtest.Say("I am here.")}}},
		Set: map[string]string{
			"models.default.api_key": "hush-4711", "models.summarizer.model": "locked", "models.writer.model": "slow", "models.verifier.model": "busy", "governor.first_byte_timeout": "3s",
		},
		Protocols: func(e *dossier.Engine) []server.Protocol {
			return []server.Protocol{page.Protocol(), openai.Protocol(openai.Options{Modes: e.Modes()})}
		},
	})
	drive(t, "settings.mjs", object{"url": s.URL, "root": s.Root, "ann": s.Ann, "key": "hush-4711"})
}

// fleetOf gives a site something to show of agents.
func fleetOf(t *testing.T, s *sitetest.Site) {
	t.Helper()
	for _, document := range []string{careful, careful2} {
		if _, _, err := s.Engine.SaveTemplate(t.Context(), "careful", fleet.Text{Document: document, Note: "more of it", Author: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Engine.PublishTemplate(t.Context(), "careful", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Engine.RegisterInstance(t.Context(), fleet.Instance{Name: "desk", Template: "careful", Slots: 2, Queue: 10}); err != nil {
		t.Fatal(err)
	}
}
