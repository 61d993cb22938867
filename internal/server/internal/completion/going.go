package completion

import (
	"context"
	"encoding/json"
	"fmt"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/run"
)

// LastRun is the last run of an agent that the caller sees, known by the agent's
// id; one without an id says that there is none.
func LastRun(ctx context.Context, agent string) (run.Record, error) {
	e := server.EngineOf(ctx)
	list, err := e.List(ctx, dossier.Filter{Agent: agent, Limit: 1})
	if err != nil || len(list) == 0 || agent == "" {
		return run.Record{}, err
	}
	return e.Get(ctx, list[0].ID)
}

// Asked is what a run was asked.
func Asked(rec run.Record) (mode.Request, error) {
	var req mode.Request
	if err := json.Unmarshal(rec.Request, &req); err != nil {
		return req, fmt.Errorf("the request of run %s: %w", rec.ID, err)
	}
	return req, nil
}

// WebUI says whether the stream of an agent is to be text with foldable parts: by
// its definition, which is known by its name, else by what is usual here.
func WebUI(ctx context.Context, definition, usual string) bool {
	if member, err := server.EngineOf(ctx).Agent(ctx, definition); err == nil && member.Agent.Generator != "" {
		usual = member.Agent.Generator
	}
	return usual == "open_webui"
}

// Reasoned is a thought in the form that the clients of agents know, also where it
// came in a form of its own.
func Reasoned(d event.AgentReasoning) event.Reasoning {
	if d.Reasoning != nil {
		return *d.Reasoning
	}
	return event.Reasoning{Steps: append([]string{}, d.Steps...), Situation: d.Text, Remaining: []string{}}
}
