package responses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dossier/event"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/mode/chat"
	"dossier/mode/relay"
	"dossier/run"
)

// prefix of the ids of responses.
const prefix = "resp_"

// response is a stretch of a run: what its log has after a sequence, until the run
// ends or asks.
type response struct {
	run   run.Record
	after int64
	kept  kept
	asked mode.Request
}

// kept is what a request says of its response and of nothing else. It is kept with
// the run.
type kept struct {
	Background   bool              `json:"background,omitempty"`
	Previous     string            `json:"previous_response_id,omitempty"`
	Instructions string            `json:"instructions,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	User         string            `json:"user,omitempty"`
	Relayed      *relayed          `json:"relayed,omitempty"`
}

// relayed is what was passed on to the model.
type relayed struct {
	Tools       []toolParam  `json:"tools,omitempty"`
	ToolChoice  toolChoice   `json:"tool_choice"`
	Text        textSettings `json:"text,omitzero"`
	MaxTokens   *int         `json:"max_output_tokens,omitempty"`
	Temperature *float64     `json:"temperature,omitempty"`
}

// custom is where in a run's own context it is kept.
const custom = "openai_response"

func newResponse(rec run.Record, after int64) (*response, error) {
	rs := &response{run: rec, after: after}
	if err := json.Unmarshal(rec.Request, &rs.asked); err != nil {
		return nil, fmt.Errorf("the stored request: %w", err)
	}
	if raw := rs.asked.Custom[custom]; raw != nil {
		if err := json.Unmarshal(raw, &rs.kept); err != nil {
			rs.kept = kept{} // it is somebody else's
		}
	}
	if after > 0 {
		rs.kept = kept{} // what it was answered with told nothing that is kept
	}
	return rs, nil
}

// key is the id without its prefix.
func (rs *response) key() string {
	if rs.after == 0 {
		return rs.run.ID
	}
	return rs.run.ID + "_" + strconv.FormatInt(rs.after, 10)
}

func (rs *response) id() string { return prefix + rs.key() }

// model is what the response was asked of.
func (rs *response) model() string {
	switch rs.run.Mode {
	case agents.Name:
	case relay.Name:
		return chat.Name
	default:
		return rs.run.Mode
	}
	if rs.asked.Instance != "" {
		return rs.asked.Instance
	}
	return rs.asked.Agent
}

// head is the response before anything is known of it.
func (rs *response) head() Response {
	r := blank()
	r.ID, r.CreatedAt, r.Model, r.Background = rs.id(), rs.run.Created.Unix(), rs.model(), rs.kept.Background
	if rs.kept.Metadata != nil {
		r.Metadata = rs.kept.Metadata
	}
	if on := rs.kept.Relayed; on != nil {
		r.ToolChoice, r.MaxOutputTokens = on.ToolChoice, on.MaxTokens
		r.Tools = append(r.Tools, on.Tools...)
		if on.Text.Format.Type != "" {
			r.Text = on.Text
		}
		if on.Temperature != nil {
			r.Temperature = *on.Temperature
		}
	}
	r.Previous, r.Instructions, r.User = named(rs.kept.Previous), named(rs.kept.Instructions), named(rs.kept.User)
	return r
}

// named is a text that may not be there.
func named(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// find finds a response that the caller sees.
func find(ctx context.Context, id string) (*response, error) {
	missing := &server.Problem{Code: "not_found", Message: fmt.Sprintf("there is no response %q", id)}
	key, ours := strings.CutPrefix(id, prefix)
	name, from, later := strings.Cut(key, "_")
	after := int64(0)
	if later {
		n, err := strconv.ParseInt(from, 10, 64)
		if err != nil || n <= 0 || from != strconv.FormatInt(n, 10) {
			return nil, missing
		}
		after = n
	}
	if !ours || name == "" {
		return nil, missing
	}
	e := server.EngineOf(ctx)
	rec, err := e.Get(ctx, name)
	if errors.Is(err, run.ErrUnknownRun) || err == nil && rec.ID != name {
		return nil, missing // the operator's ids may be short elsewhere, but an id here is one
	}
	if err != nil {
		return nil, err
	}
	if later {
		log, err := e.Log(ctx, name, after-1)
		if err != nil {
			return nil, err
		}
		if len(log) < 2 || !waits(log[0]) { // nobody has answered
			return nil, missing
		}
	}
	return newResponse(rec, after)
}

// waits says whether a run waits from an event on.
func waits(ev event.Event) bool {
	d, ok := ev.Data.(event.RunStatus)
	return ok && run.Status(d.Status) == run.Waiting
}

// now is the response as its log tells it.
func (rs *response) now(ctx context.Context) (*teller, error) {
	log, err := server.EngineOf(ctx).Log(ctx, rs.run.ID, rs.after)
	if err != nil {
		return nil, err
	}
	t := newTeller(rs, -1)
	for _, ev := range log {
		t.take(ev)
	}
	return t, nil
}

// wait follows a response until it is over.
func (rs *response) wait(ctx context.Context) (*teller, error) {
	t := newTeller(rs, -1)
	for ev, err := range server.EngineOf(ctx).Events(ctx, rs.run.ID, rs.after) {
		if err != nil {
			return nil, err
		}
		if ev.Seq == 0 {
			continue
		}
		if t.take(ev); t.over {
			return t, nil
		}
	}
	return nil, &server.Problem{Code: "failed", Message: "the log of the run tells no end", Run: rs.run.ID}
}
