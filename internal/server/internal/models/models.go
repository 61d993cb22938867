// Package models is what clients that ask for a model by its name can name: a
// mode, an agent, a template, or an instance.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/fleet"
	"dossier/internal/server"
	"dossier/mode/agents"
	"dossier/mode/chat"
	"dossier/mode/ingest"
	"dossier/mode/relay"
	"dossier/mode/toolcall"
)

// Kinds of entries in the directory of agents.
const (
	instance = "instance"
	remote   = "remote"
)

// Directory is where models are looked up.
type Directory struct {
	// Modes that can be asked for.
	Modes []string
	// Default is the model of requests that name none, if there is one of the name.
	Default string
}

// New is the directory of what can be asked for among some modes.
func New(modes []string, byDefault string) Directory {
	return Directory{Modes: slices.DeleteFunc(slices.Clone(modes), func(name string) bool { return slices.Contains(inner, name) }), Default: byDefault}
}

// inner are the modes that are none to be asked for by their names.
var inner = []string{agents.Name, ingest.Name, relay.Name, toolcall.Name}

// Model is what a name stands for: a mode, or else an agent.
type Model struct {
	Name string
	// Mode says that it is one; Instance that it is a long-lived agent, made from
	// Template.
	Mode, Instance bool
	Template       string
}

// Into makes a request one for the model. A mode asks nobody: whoever calls it by
// this name waits for an answer.
func (m Model) Into(ask *dossier.Request) {
	switch {
	case m.Mode:
		ask.Mode, ask.NoInput = m.Name, true
	case m.Instance:
		ask.Mode, ask.Instance = agents.Name, m.Name
	default:
		ask.Mode, ask.Agent = agents.Name, m.Name
	}
}

// Passes says whether the model passes a conversation on as it is: functions of the
// caller's and answers in JSON are for the one behind it.
func (m Model) Passes() bool { return m.Mode && m.Name == chat.Name }

// Form says why the model can't answer in a form: text, which it is where none is
// named, json_object, or json_schema with a schema.
func (m Model) Form(kind string, schema json.RawMessage) error {
	switch kind {
	case "", "text":
		return nil
	case "json_object", "json_schema":
	default:
		return &dossier.UsageError{Message: fmt.Sprintf("there is no form %q of an answer", kind), Hint: "the forms are text, json_object and json_schema"}
	}
	if kind == "json_schema" && (len(schema) == 0 || string(schema) == "null") {
		return &dossier.UsageError{Message: "the form of the answer is json_schema, and there is no schema", Hint: "a name and a schema belong to it"}
	}
	if !m.Passes() {
		return &dossier.UsageError{Message: fmt.Sprintf("%s does not answer in JSON", m.Name), Hint: "the model chat does: give it this one's answer, with the schema"}
	}
	return nil
}

// Definition is the name of the agent that the model is; empty for a mode.
func (m Model) Definition() string {
	switch {
	case m.Mode:
		return ""
	case m.Instance:
		return m.Template
	}
	return m.Name
}

// Names are those of the models that the caller can ask for, modes first.
func (d Directory) Names(ctx context.Context) ([]string, error) {
	list, err := server.EngineOf(ctx).Agents(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(d.Modes)
	for _, entry := range list {
		if entry.Kind != remote && !slices.Contains(names, entry.Name) {
			names = append(names, entry.Name)
		}
	}
	return names, nil
}

// Find finds a model that the caller can ask for by its name.
func (d Directory) Find(ctx context.Context, name string) (Model, error) {
	wanted := []string{name}
	if name == "" {
		wanted = []string{d.Default, name}
	}
	for _, name := range wanted {
		if full := dossier.ModeName(name); slices.Contains(d.Modes, full) {
			return Model{Name: full, Mode: true}, nil
		}
		found, ok, err := agentNamed(ctx, name)
		if err != nil || ok {
			return found, err
		}
	}
	switch i, err := server.EngineOf(ctx).Instance(ctx, name); {
	case err == nil:
		return Model{Name: i.Name, Instance: true, Template: i.Template}, nil
	case !errors.Is(err, fleet.ErrNoInstance):
		return Model{}, err
	}
	names, err := d.Names(ctx)
	if err != nil {
		return Model{}, err
	}
	return Model{}, &dossier.UsageError{Message: fmt.Sprintf("Invalid model '%s'. Available models: ['%s']", name, strings.Join(names, "', '"))}
}

// agentNamed finds the agent of a name, if the caller can ask for one.
func agentNamed(ctx context.Context, name string) (found Model, ok bool, err error) {
	if name == "" {
		return Model{}, false, nil
	}
	list, err := server.EngineOf(ctx).Agents(ctx)
	if err != nil {
		return Model{}, false, err
	}
	at := slices.IndexFunc(list, func(entry dossier.AgentEntry) bool { return entry.Name == name && entry.Kind != remote })
	if at < 0 {
		return Model{}, false, nil
	}
	return Model{Name: list[at].Name, Instance: list[at].Kind == instance, Template: list[at].Template}, true, nil
}

// agentID is how ids of agents look.
var agentID = regexp.MustCompile(`(?i)[\p{L}\p{Nd}_]+_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`)

// latinID is the end of one that has a Latin name: where no space is before it,
// letters of another script are not its own.
var latinID = regexp.MustCompile(`(?i)\w+_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$`)

// AgentIDs are the ids of agents that may stand in a text.
func AgentIDs(text string) []string {
	var ids []string
	for _, id := range agentID.FindAllString(text, -1) {
		ids = append(ids, id)
		if short := latinID.FindString(id); short != id && short != "" {
			ids = append(ids, short)
		}
	}
	return ids
}

// IsAgentID says whether a name is the id of an agent.
func IsAgentID(name string) bool { return name != "" && agentID.FindString(name) == name }
