// Package openai lets clients of OpenAI's API use Dossier unchanged: a model is a
// mode, an agent, a template, an instance, or an agent that is at work and known
// by its id.
package openai

import (
	"context"
	"net/http"

	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/internal/server/internal/models"
	"dossier/llm"
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
	a := &api{o, models.New(o.Modes, o.Default)}
	return server.Protocol{Name: "openai", Fail: fail, Failure: completion.Error{}, Routes: []server.Route{
		{Pattern: "GET /v1/models", Scope: access.Read, Serve: a.models, Doc: &server.Doc{Summary: "List the models: modes, agents, templates and instances", Reply: modelList{}}},
		{Pattern: "GET /v1/models/{model}", Scope: access.Read, Serve: a.model, Doc: &server.Doc{Summary: "Show a model", Reply: modelBody{}}},
		{Pattern: "POST /v1/chat/completions", Scope: access.Run, Serve: a.chat, Doc: &server.Doc{
			Summary: "Answer a conversation; with stream as server-sent events", Body: chatRequest{}, Reply: completion.Completion{},
		}},
		{Pattern: "POST /v1/embeddings", Scope: access.Run, Serve: a.embeddings, Doc: &server.Doc{Summary: "Turn texts into vectors", Body: embeddingRequest{}, Reply: embeddingList{}}},
	}}
}

type api struct {
	Options
	directory models.Directory
}

// fail writes an error in the form that clients of this API expect.
func fail(w http.ResponseWriter, _ *http.Request, status int, p *server.Problem) {
	_ = server.Reply(w, status, completion.NewError(status, p)) // it always encodes
}
