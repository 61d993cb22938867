package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/internal/server/internal/models"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/relay"
	"dossier/run"
)

// chatRequest is what a completion is asked with. Functions and a form of the
// answer go to the model behind chat, as the conversation is; what steers a model
// and not the answer (temperature, max_tokens and the like) counts then, too, and
// is passed over otherwise.
type chatRequest struct {
	Model         string                     `json:"model,omitempty"`
	Messages      []mode.Turn                `json:"messages"`
	Stream        bool                       `json:"stream,omitempty"`
	StreamOptions streamOptions              `json:"stream_options,omitzero"`
	Custom        map[string]json.RawMessage `json:"custom_context,omitempty"`

	Tools       []llm.Tool     `json:"tools,omitempty"`
	ToolChoice  toolChoice     `json:"tool_choice,omitzero"`
	Format      responseFormat `json:"response_format,omitzero"`
	MaxTokens   int            `json:"max_tokens,omitempty"`
	MaxAnswer   int            `json:"max_completion_tokens,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Stop        stopWords      `json:"stop,omitempty"`
}

// relayed says whether the model is to answer by itself: with functions, in JSON, or
// to what a function has returned.
func (r *chatRequest) relayed() bool {
	return len(r.Tools) > 0 || r.Format.Type != "" && r.Format.Type != "text" || r.Messages[len(r.Messages)-1].Role == llm.RoleTool
}

// relay is the conversation as it is passed on.
func (r *chatRequest) relay() *mode.Relay {
	out := &mode.Relay{
		Tools: r.Tools, ToolChoice: string(r.ToolChoice), JSON: r.Format.Type == "json_object", SchemaName: r.Format.Schema.Name, Schema: r.Format.Schema.Schema,
		MaxTokens: cmp.Or(r.MaxAnswer, r.MaxTokens), Temperature: r.Temperature, Stop: r.Stop,
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, llm.Message(m))
	}
	return out
}

// toolChoice is a word, or the name of the function that is to be called.
type toolChoice string

// UnmarshalJSON reads either form.
func (c *toolChoice) UnmarshalJSON(raw []byte) error {
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &named) == nil && named.Function.Name != "" {
		*c = toolChoice(named.Function.Name)
		return nil
	}
	return json.Unmarshal(raw, (*string)(c))
}

// Form implements server.Formed.
func (toolChoice) Form() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "object", "null"}, Description: "auto, none, required, or the function that is to be called"}
}

// responseFormat is the form of an answer: text, json_object or json_schema.
type responseFormat struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema,omitzero"`
}

// stopWords are one or several.
type stopWords []string

// UnmarshalJSON reads either form.
func (w *stopWords) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if *w = nil; one != "" {
			*w = stopWords{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(w))
}

// Form implements server.Formed.
func (stopWords) Form() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "array", "null"}, Items: &jsonschema.Schema{Type: "string"}}
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage,omitempty"`
}

// work is a run that a request has begun, or goes on with.
type work struct {
	run   run.Record
	after int64 // what of it was told before
	fresh bool  // it was begun by this request
	webUI bool
}

func (a *api) chat(w http.ResponseWriter, r *http.Request) error {
	var req chatRequest
	if err := server.Read(w, r, &req); err != nil {
		return err
	}
	if len(req.Messages) == 0 {
		return &dossier.UsageError{Message: "messages is empty: the question is the last of them"}
	}
	at, err := a.begin(r.Context(), &req)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("X-Run-ID", at.run.ID)
	head := completion.Head{Model: req.Model, Created: at.run.Created}
	if id := at.run.Agent; id != "" {
		h.Set("X-Agent-ID", id)
		if at.fresh {
			h.Set("X-Agent-Model", req.Model)
		}
		head.Model = id
	}
	name := "chatcmpl-" + at.run.ID
	switch {
	case !req.Stream:
		whole := completion.Whole{Head: head, ID: name}
		body, err := completion.Wait(r.Context(), at.run.ID, at.after, &whole)
		if err != nil {
			p := completion.Problem(r.Context(), err)
			p.Run = at.run.ID
			if errors.As(err, new(*completion.FailedError)) {
				h.Set("X-Should-Retry", "false") // clients that try again by themselves would pay for another run
			}
			return p
		}
		return server.Reply(w, http.StatusOK, body)
	case at.run.Agent != "":
		return completion.Stream(w, r, at.run.ID, at.after, &completion.Agent{Head: head, WebUI: at.webUI, Continued: at.after > 0})
	}
	return completion.Stream(w, r, at.run.ID, at.after, &completion.Plain{Head: head, ID: name, Usage: req.StreamOptions.IncludeUsage})
}

// begin starts the run that is asked for, or tells the one that waits what it
// waits for.
func (a *api) begin(ctx context.Context, req *chatRequest) (work, error) {
	e := server.EngineOf(ctx)
	last, err := meant(ctx, req)
	if err != nil {
		return work{}, err
	}
	if last.ID != "" {
		return a.goOn(ctx, e, req, last)
	}
	model, err := a.directory.Find(ctx, req.Model)
	if err != nil {
		return work{}, err
	}
	if err := model.Form(req.Format.Type, req.Format.Schema.Schema); err != nil {
		return work{}, err
	}
	ask := dossier.Request{Messages: req.Messages, Request: mode.Request{Custom: req.Custom}}
	model.Into(&ask)
	if model.Passes() && req.relayed() {
		ask.Mode, ask.Relay, ask.Messages = relay.Name, req.relay(), nil
		ask.Question = cmp.Or(strings.TrimSpace(req.Messages[len(req.Messages)-1].Content), "…")
	}
	req.Model = model.Name
	rec, err := e.Start(ctx, ask)
	if err != nil {
		return work{}, err
	}
	return work{run: rec, fresh: true, webUI: !model.Mode && completion.WebUI(ctx, model.Definition(), a.Generator)}, nil
}

// meant is the last run of the agent that a request is for: the first one named
// that waits for an answer, else the one that is the model, else the first one
// that has ended. One without an id says that it is for none.
func meant(ctx context.Context, req *chatRequest) (run.Record, error) {
	var model, done run.Record
	for _, id := range named(req) {
		last, err := completion.LastRun(ctx, id)
		switch {
		case err != nil || last.Status == run.Waiting:
			return last, err
		case last.ID == "":
		case id == req.Model:
			model = last
		case last.Status.Ended() && done.ID == "":
			done = last
		}
	}
	if model.ID != "" {
		return model, nil
	}
	return done, nil
}

// named are the ids of agents that a request may be meant for: those in what was
// said, the first one first, then the model. Where no space is left before one,
// it is looked for without the letters that no Latin name has, too.
func named(req *chatRequest) []string {
	var ids []string
	for _, m := range req.Messages {
		ids = append(ids, models.AgentIDs(m.Content)...)
	}
	if models.IsAgentID(req.Model) {
		ids = append(ids, req.Model)
	}
	return ids
}

// goOn answers what an agent has asked, or gives one that is done its next task.
func (a *api) goOn(ctx context.Context, e server.Engine, req *chatRequest, last run.Record) (work, error) {
	before, err := completion.Asked(last)
	if err != nil {
		return work{}, err
	}
	at := work{run: last, after: last.LastSeq, webUI: completion.WebUI(ctx, before.Agent, a.Generator)}
	said := req.Messages[len(req.Messages)-1]
	if last.Status == run.Waiting {
		if said.Role != llm.RoleUser {
			return work{}, &dossier.UsageError{Message: "the last message has to be the user's: it answers what the agent has asked"}
		}
		return at, e.Answer(ctx, last.ID, "", said.Content)
	}
	rec, err := e.Start(ctx, dossier.Request{Messages: req.Messages[len(req.Messages)-1:], Request: mode.Request{AgentID: last.Agent, Custom: req.Custom}})
	at.run, at.after = rec, 0
	return at, err
}
