package dossier

import (
	"context"

	"dossier/internal/base/logs"
	"dossier/llm"
	"dossier/llm/completions"
)

// PostChatCompletions has the model of the role chat continue a conversation. payload
// has "messages" in OpenAI's format and may have "model" and any other parameter; the
// result has the published format of a chat completion. It never fails: an error is
// logged with its stack at the level critical and returned as {"error": text}. With
// verbose, payload and response are logged at the level debug, without keys.
//
// A reply may take console.timeout (30 s); a call that fails for a passing reason is
// repeated governor.retries times (3).
func (e *Engine) PostChatCompletions(ctx context.Context, payload map[string]any, verbose bool) map[string]any {
	return e.Completions().PostChatCompletions(ctx, payload, verbose)
}

// PostEmbeddings turns payload's "input", a text or a list of texts, into vectors by
// the model of the role embeddings, with the conventions of PostChatCompletions.
func (e *Engine) PostEmbeddings(ctx context.Context, payload map[string]any, verbose bool) map[string]any {
	return e.Completions().PostEmbeddings(ctx, payload, verbose)
}

// Completions is the API behind PostChatCompletions and PostEmbeddings. It has no
// Model, or no Embedder, where none is configured.
func (e *Engine) Completions() *completions.API {
	api := &completions.API{Log: logs.WithStep(e.log, "completions")}
	if e.hasty == nil {
		return api
	}
	if chat := e.hasty.For(llm.ForChat); chat.Configured() {
		api.Model, api.DefaultModel = chat, chat.Setting().Name
	}
	if embeddings := e.hasty.For(llm.ForEmbeddings); embeddings.Setting().Embedder != nil {
		api.Embedder, api.DefaultEmbeddingModel = embeddings, embeddings.Setting().Name
	}
	return api
}
