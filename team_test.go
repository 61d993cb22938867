package dossier

import (
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
)

func TestTeamTry(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	events := follow(t, e, onTheWeb("deep_research", "How many inhabitants does Oststrand have, who is its mayor, and how many years does an Aune spotted newt live?"))
	for _, ev := range events {
		data, _ := event.EncodeData(ev.Data)
		if len(data) > 300 {
			data = data[:300]
		}
		t.Logf("%s %s %s", ev.Agent, ev.Kind(), data)
	}
	m, _ := answerOf(events)
	t.Log(strings.TrimSpace(m.Text))
}
