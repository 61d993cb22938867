package server_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"dossier"
	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/responses"
	"dossier/internal/server/socketio"
	"dossier/internal/studytest"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// researches is a site whose model can research in a team, and as an agent that
// asks back.
func researches(t *testing.T) *sitetest.Site {
	t.Helper()
	return sitetest.Start(t, sitetest.Options{
		Script: agenttest.Beside(agent.Hybrid, studytest.TheTeam.Rules()),
		Set:    map[string]string{"deep_research.engine": "supervisor"},
		Protocols: func(e *dossier.Engine) []server.Protocol {
			return []server.Protocol{responses.Protocol(e.Modes()), socketio.Protocol()}
		},
	})
}

// carriedOut has a run carried out for ann, its questions answered, and returns it
// with its log and the sequences at which it waited.
func carriedOut(t *testing.T, s *sitetest.Site, req dossier.Request) (rec run.Record, log []event.Event, waits []int64) {
	t.Helper()
	req.User, req.In = "ann", sources.Target{Web: &sources.WebScope{}}
	rec, err := s.Engine.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range s.Engine.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := ev.Data.(event.RunStatus); ok && d.Status == string(run.Waiting) {
			waits = append(waits, ev.Seq)
			if err := s.Engine.Answer(t.Context(), rec.ID, "", agenttest.Reply); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rec, err = s.Engine.Get(t.Context(), rec.ID); err != nil || rec.Status != run.Done {
		t.Fatalf("the run is %s: %v %+v", rec.Status, err, rec.Failure)
	}
	if log, err = s.Engine.Log(t.Context(), rec.ID, 0); err != nil {
		t.Fatal(err)
	}
	return rec, log, waits
}

// readOn reads a run behind a number to its end.
func readOn(t *testing.T, follow followtest.Follow, at followtest.Site, id string, after int64) (all []followtest.Message) {
	t.Helper()
	for m, err := range follow(t.Context(), at, id, after) {
		if err != nil {
			t.Fatalf("after %d: %v", after, err)
		}
		all = append(all, m)
	}
	return all
}

var every = flag.Bool("every", false, "come back after every event of a research by a team too, instead of some")

// someEvents is after how many events one comes back to a long log without that.
const someEvents = 17

// Who comes back after any event of a run gets the rest of it: over server-sent
// events and over Socket.IO that is its log, over Responses the stream of its
// responses.
func TestReconnectAtEveryEvent(t *testing.T) {
	s := researches(t)
	at := followtest.Site{URL: s.URL, Token: s.Ann}
	for name, req := range map[string]dossier.Request{
		"a team":             {Mode: "deep_research", Request: mode.Request{Question: studytest.TeamQuestion}},
		"an agent that asks": {Mode: "agent", Request: mode.Request{Question: agenttest.Task, Agent: "research_sgr_tool_calling_agent"}},
	} {
		rec, log, waits := carriedOut(t, s, req)
		if len(log) < 60 && name == "a team" || len(log) < 30 || (len(waits) == 0) != (name == "a team") {
			t.Fatalf("%s: %d events, waits at %v", name, len(log), waits)
		}
		var stored []followtest.Message
		for _, ev := range log {
			raw, err := ev.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			stored = append(stored, followtest.Message{Number: ev.Seq, Text: string(raw)})
		}
		for protocol, follow := range followtest.Protocols {
			parts := []string{rec.ID}
			if protocol == "responses" {
				for _, seq := range waits {
					parts = append(parts, fmt.Sprintf("resp_%s_%d", rec.ID, seq))
				}
			}
			for _, part := range parts {
				whole := readOn(t, follow, at, part, followtest.Begin)
				if protocol != "responses" && !slices.Equal(whole, stored) {
					t.Errorf("%s over %s: %d messages, and %d events in the log", name, protocol, len(whole), len(stored))
				}
				for i, m := range whole {
					if name == "a team" && i%someEvents != 0 && !*every {
						continue
					}
					if rest := readOn(t, follow, at, part, m.Number); !slices.Equal(rest, whole[i+1:]) {
						t.Fatalf("%s over %s: after %d come %d messages of %d", name, protocol, m.Number, len(rest), len(whole)-i-1)
					}
				}
				t.Logf("%s over %s: %d messages", name, protocol, len(whole))
			}
		}
	}
}
