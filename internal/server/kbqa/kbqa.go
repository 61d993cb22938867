// Package kbqa serves the agent of the knowledge base: a question is POSTed, and a
// stream of its steps comes back; what its tools are can be asked.
//
// The stream is a projection of the run's event log (Projection, a pure function).
package kbqa

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/sources"
	"dossier/toolkit"
)

// agentName is the agent that works when none is named.
const agentName = "kb_agent"

// AgentRequest is a question to the agent. Where Run names a run of the agent, that
// is told again from its start, or from after the event whose id is sent as
// Last-Event-ID, and nothing is asked.
type AgentRequest struct {
	Question   string `json:"question"`
	Collection string `json:"collection,omitempty"` // the one in use if empty
	MaxSteps   int    `json:"max_steps,omitempty"`
	Agent      string `json:"agent,omitempty"`
	Session    string `json:"session,omitempty"`
	Lang       string `json:"lang,omitempty"`
	Model      string `json:"model,omitempty"`
	Run        string `json:"run,omitempty"`
}

// Tool is what is known of a tool.
type Tool struct {
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON schema
}

// Protocol is the agent for a server.
func Protocol() server.Protocol {
	return server.Protocol{Name: "kbqa", Routes: []server.Route{
		{
			Pattern: "POST /api/agent/stream", Scope: access.Run, Serve: stream,
			Doc: &server.Doc{Summary: "Ask the agent of the knowledge base; its steps as server-sent events", Body: AgentRequest{}, Media: "text/event-stream"},
		},
		{
			Pattern: "GET /api/agent/tools", Scope: access.Read, Serve: showTools,
			Doc: &server.Doc{Summary: "The tools of the agent of the knowledge base, by name", Reply: map[string]Tool{}},
		},
	}}
}

// availableTools are the tools of the agent, by name.
func availableTools() (map[string]Tool, error) {
	out := make(map[string]Tool)
	kit := toolkit.New(toolkit.Parts{})
	for _, name := range toolkit.ForDocuments {
		t, err := kit.Make(name, nil, toolkit.Settings{})
		if err != nil {
			return nil, err
		}
		spec := t.Spec()
		out[spec.Name] = Tool{spec.Description, spec.Schema.Strict}
	}
	return out, nil
}

func showTools(w http.ResponseWriter, _ *http.Request) error {
	tools, err := availableTools()
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, tools)
}

func stream(w http.ResponseWriter, r *http.Request) error {
	var in AgentRequest
	if err := server.Read(w, r, &in); err != nil {
		return err
	}
	ctx := r.Context()
	e := server.EngineOf(ctx)
	var after int64
	id := in.Run
	if id == "" {
		rec, err := e.Start(ctx, dossier.Request{Mode: agents.Name, Session: in.Session, Request: mode.Request{
			Question: strings.TrimSpace(in.Question), Agent: cmp.Or(in.Agent, agentName), MaxSteps: in.MaxSteps, Lang: in.Lang, Model: in.Model, NoInput: true,
			In: sources.Target{Collection: in.Collection},
		}})
		if err != nil {
			return err
		}
		id = rec.ID
	} else {
		rec, err := e.Get(ctx, id)
		if err != nil {
			return err
		}
		id = rec.ID
		if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
			after = last
		}
	}
	w.Header().Set("X-Run-ID", id)
	out, err := server.NewStream(w, r)
	if err != nil {
		return err
	}
	defer out.Close()
	p := NewProjection(id)
	send := func(seq int64, events []AgentStepEvent) bool {
		for i, ev := range events {
			at := ""
			if seq > 0 && i == len(events)-1 { // who comes back by it has all of them
				at = strconv.FormatInt(seq, 10)
			}
			if seq > 0 && seq <= after {
				continue // they have it
			}
			if !out.SendJSON(at, string(ev.Type), ev) {
				return false
			}
		}
		return true
	}
	for ev, err := range e.Events(out.Context(), id, 0) {
		if err != nil {
			problem := server.Explain(ctx, err)
			send(0, []AgentStepEvent{p.failed(problem.Message)})
			return nil
		}
		if !send(ev.Seq, p.Next(ev)) || p.Over {
			return nil
		}
	}
	return nil
}
