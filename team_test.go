package dossier

import (
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// theTeam researches four things about the invented web.
var theTeam = scriptedTeam{
	scribe: scribe{
		facets: []facet{{"How many inhabitants does Oststrand have?", []string{"Oststrand inhabitants"}}},
		enough: "it will do", after: 1,
	},
	rubric: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened?", "Who is the mayor of Oststrand?",
		"What is the telephone number of the keeper of the Skarrow windmill?",
	},
	tasks: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened?", "Who is the mayor of Oststrand?",
	},
}

const teamQuestion = "What is known about Oststrand, its mayor, the Keldra Bridge and the Aune spotted newt?"

func TestTeamTry(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	srv := llmtest.Start(t, llmtest.Script{Rules: theTeam.rules()})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
	events := follow(t, e, onTheWeb("deep_research", teamQuestion))
	for _, ev := range events {
		data, _ := event.EncodeData(ev.Data)
		if len(data) > 300 {
			data = data[:300]
		}
		t.Logf("%s %s %s", ev.Agent, ev.Kind(), data)
	}
	m, _ := answerOf(events)
	t.Log(strings.TrimSpace(m.Text))
	t.Log(callsBySchema(srv, 0))
}
