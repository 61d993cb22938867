// Package openai lets clients of OpenAI's API use Dossier unchanged: a model is a
// mode, an agent, a template, an instance, or an agent that is at work and known
// by its id.
package openai

import (
	"context"
	"net/http"
	"slices"

	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/llm"
	"dossier/mode/agents"
	"dossier/mode/ingest"
	"dossier/mode/relay"
	"dossier/mode/toolcall"
)

// Options of the protocol.
type Options struct {
	// Modes that can be asked for as models.
	Modes []string
	// Default is the model of requests that name none, if there is one of the name.
	Default string
	// Generator is the form of the streams of agents that name none: openai, or
	// open_webui for text with foldable parts.
	Generator string
	// Embed turns texts into vectors.
	Embed func(ctx context.Context, texts []string) (*llm.Embeddings, error)
}

// Protocol returns the routes.
func Protocol(o Options) server.Protocol {
	o.Modes = slices.DeleteFunc(slices.Clone(o.Modes), func(name string) bool { return slices.Contains(inner, name) })
	a := &api{o}
	return server.Protocol{Name: "openai", Fail: fail, Routes: []server.Route{
		{Pattern: "GET /v1/models", Scope: access.Read, Serve: a.models, Doc: &server.Doc{Summary: "List the models: modes, agents, templates and instances", Reply: modelList{}}},
		{Pattern: "GET /v1/models/{model}", Scope: access.Read, Serve: a.model, Doc: &server.Doc{Summary: "Show a model", Reply: modelBody{}}},
		{Pattern: "POST /v1/chat/completions", Scope: access.Run, Serve: a.chat, Doc: &server.Doc{
			Summary: "Answer a conversation; with stream as server-sent events", Body: chatRequest{}, Reply: completion.Completion{},
		}},
		{Pattern: "POST /v1/embeddings", Scope: access.Run, Serve: a.embeddings, Doc: &server.Doc{Summary: "Turn texts into vectors", Body: embeddingRequest{}, Reply: embeddingList{}}},
	}}
}

// inner are the modes that are none to be asked for by their names.
var inner = []string{agents.Name, ingest.Name, relay.Name, toolcall.Name}

type api struct{ Options }

// fail writes an error in the form that clients of this API expect.
func fail(w http.ResponseWriter, _ *http.Request, status int, p *server.Problem) {
	_ = server.Reply(w, status, completion.NewError(status, p)) // it always encodes
}
