package responses

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/internal/server/internal/models"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/relay"
	"dossier/run"
)

// begin starts the run that a response is of, or answers what the run asks that
// the response goes on with.
func (a *api) begin(ctx context.Context, req *createRequest) (*response, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	previous, err := a.previous(ctx, req)
	if err != nil {
		return nil, err
	}
	ask := dossier.Request{Messages: req.turns(nil)}
	if ask.Custom, err = req.kept(); err != nil {
		return nil, err
	}
	switch {
	case previous == nil:
		err = a.of(ctx, req.Model, req, &ask)
	case previous.run.Status == run.Waiting:
		return answer(ctx, previous, req)
	case !previous.run.Status.Ended():
		return nil, &server.Problem{Code: "not_done", Message: "response " + previous.id() + " is not done", Hint: "wait for it, or cancel it", Run: previous.run.ID}
	default:
		err = a.follow(ctx, previous, req, &ask)
	}
	if err != nil {
		return nil, err
	}
	rec, err := server.EngineOf(ctx).Start(ctx, ask)
	if err != nil {
		return nil, err
	}
	return newResponse(rec, 0)
}

// of makes a request one for a model.
func (a *api) of(ctx context.Context, name string, req *createRequest, ask *dossier.Request) error {
	model, err := a.Find(ctx, name)
	if err != nil {
		return err
	}
	if err := model.Form(req.Text.Format.Type, req.Text.Format.Schema); err != nil {
		return err
	}
	model.Into(ask)
	last := ask.Messages[len(ask.Messages)-1]
	if model.Passes() && (req.relayed() || last.Role == llm.RoleTool) {
		ask.Mode, ask.Relay, ask.Messages = relay.Name, req.relay(ask.Messages), nil
		ask.Question = cmp.Or(strings.TrimSpace(last.Content), "…")
	}
	return nil
}

// previous is the response that a request goes on with; nil for none. A model that
// is an agent at work, by its id, is gone on with too.
func (a *api) previous(ctx context.Context, req *createRequest) (*response, error) {
	if req.Previous != "" {
		return find(ctx, req.Previous)
	}
	if !models.IsAgentID(req.Model) {
		return nil, nil
	}
	e := server.EngineOf(ctx)
	list, err := e.List(ctx, dossier.Filter{Agent: req.Model, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	rec, err := e.Get(ctx, list[0].ID)
	if err != nil {
		return nil, err
	}
	return newResponse(rec, 0)
}

// answer tells a run what it asks.
func answer(ctx context.Context, previous *response, req *createRequest) (*response, error) {
	e, asks := server.EngineOf(ctx), previous.run.LastSeq
	if req.Previous != "" {
		t, err := previous.now(ctx)
		if err != nil {
			return nil, err
		}
		if t.last != asks {
			return nil, &server.Problem{Code: "answered", Message: "what response " + previous.id() + " asks is answered", Run: previous.run.ID}
		}
	}
	said := req.Input[len(req.Input)-1]
	if said.Role != llm.RoleUser {
		return nil, &dossier.UsageError{Message: "the last message has to be the user's: it answers what was asked"}
	}
	if err := e.Answer(ctx, previous.run.ID, "", said.Content); err != nil {
		return nil, err
	}
	return newResponse(previous.run, asks)
}

// follow makes a request one that goes on after a response. Its session goes on; if
// that has gone on from there already, the conversation up to there is taken along
// into a new one.
func (a *api) follow(ctx context.Context, previous *response, req *createRequest, ask *dossier.Request) error {
	rec := previous.run
	newest, err := server.EngineOf(ctx).List(ctx, dossier.Filter{Session: rec.Session, Limit: 1})
	if err != nil {
		return err
	}
	latest := len(newest) > 0 && newest[0].ID == rec.ID
	// A session tells what was said in it where nothing comes along.
	if !latest || len(ask.Messages) > 1 || req.relayed() || req.Input[0].Role == llm.RoleTool {
		before, err := conversation(ctx, rec)
		if err != nil {
			return err
		}
		ask.Messages = req.turns(before)
	}
	same := req.Model == "" || req.Model == previous.model() || req.Model == rec.Agent
	if rec.Agent != "" && same && latest {
		ask.AgentID = rec.Agent
		return nil
	}
	if latest {
		ask.Session = rec.Session
	}
	name := req.Model
	if same {
		name = previous.model()
	}
	return a.of(ctx, name, req, ask)
}

// mostRuns is how many runs of a session are taken along.
const mostRuns = 20

// conversation is what was said in a session until the end of a run. A run that
// passed a conversation on has all of it.
func conversation(ctx context.Context, rec run.Record) ([]mode.Turn, error) {
	e := server.EngineOf(ctx)
	list, err := e.List(ctx, dossier.Filter{Session: rec.Session, Before: rec.ID, Limit: mostRuns})
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	var out []mode.Turn
	for _, r := range append(list, rec) {
		log, err := e.Log(ctx, r.ID, 0)
		if err != nil {
			return nil, err
		}
		var asked mode.Request
		if r.Mode == relay.Name {
			if r, err = e.Get(ctx, r.ID); err != nil { // a list has no requests
				return nil, err
			}
		}
		if r.Mode == relay.Name && json.Unmarshal(r.Request, &asked) == nil && asked.Relay != nil {
			out = nil
			for _, m := range asked.Relay.Messages {
				if m.Role != llm.RoleSystem { // instructions are for one response
					out = append(out, mode.Turn(m))
				}
			}
		}
		for _, ev := range log {
			m, ok := ev.Data.(event.Message)
			if !ok || ev.Agent != "" || asked.Relay != nil && m.Role == "user" {
				continue
			}
			said := mode.Turn{Role: llm.Role(m.Role), Content: m.Said()}
			for _, c := range m.Calls {
				said.ToolCalls = append(said.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
			}
			out = append(out, said)
		}
	}
	return out, nil
}
