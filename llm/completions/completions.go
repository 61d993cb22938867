// Package completions offers chat completions and embeddings as two functions
// from a dictionary to a dictionary, in the published formats of OpenAI and
// GigaChat, over the port to models. They never fail: an error is logged with
// its stack at the level critical and returned as {"error": text}.
package completions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"time"

	"dossier/internal/base/logs"
	"dossier/llm"
)

// Default models of an API whose models are not set.
const (
	DefaultModel          = "GigaChat-2-Max"
	DefaultEmbeddingModel = "Embeddings"
)

// API carries out the requests.
type API struct {
	Model    llm.Model
	Embedder llm.Embedder
	// Names for payloads that have no "model"; empty means the constants.
	DefaultModel          string
	DefaultEmbeddingModel string
	Log                   *slog.Logger // nil: nothing is logged
}

// PostChatCompletions carries out a chat completion. payload has "messages"
// and may have "model" and any other parameter of the API; it isn't changed.
// With verbose, payload and response are logged at the level debug.
func (a *API) PostChatCompletions(ctx context.Context, payload map[string]any, verbose bool) map[string]any {
	c := call{"chat completion", or(a.DefaultModel, DefaultModel), verbose}
	return a.post(ctx, c, payload, func(payload map[string]any) (map[string]any, error) {
		if a.Model == nil {
			return nil, llm.ErrNotConfigured
		}
		req, dialect, err := parseChat(payload)
		if err != nil {
			return nil, err
		}
		resp, err := a.Model.Stream(ctx, req, nil)
		if err != nil {
			return nil, err
		}
		return chatResponse(resp, req.Model, dialect), nil
	})
}

// PostEmbeddings turns payload's "input", a text or a list of texts, into
// vectors, with the same conventions as PostChatCompletions.
func (a *API) PostEmbeddings(ctx context.Context, payload map[string]any, verbose bool) map[string]any {
	c := call{"embeddings", or(a.DefaultEmbeddingModel, DefaultEmbeddingModel), verbose}
	return a.post(ctx, c, payload, func(payload map[string]any) (map[string]any, error) {
		if a.Embedder == nil {
			return nil, llm.ErrNotConfigured
		}
		var p struct {
			Model string   `json:"model"`
			Input textList `json:"input"`
		}
		if err := reshape(payload, &p); err != nil {
			return nil, err
		}
		if len(p.Input) == 0 {
			return nil, fmt.Errorf("payload has no input")
		}
		out, err := a.Embedder.Embed(ctx, p.Model, p.Input)
		if err != nil {
			return nil, err
		}
		return embeddingsResponse(out, p.Model, p.Input), nil
	})
}

// Text is a chat completion of messages alone: it returns the text of the reply, and
// what went wrong as an error.
func (a *API) Text(ctx context.Context, messages []llm.Message, verbose bool) (string, error) {
	out := a.PostChatCompletions(ctx, map[string]any{"messages": messages}, verbose)
	return TextOf(out)
}

// TextOf is the text of a chat completion, or the error that stands in for one.
func TextOf(response map[string]any) (string, error) {
	if text, failed := response["error"]; failed {
		return "", fmt.Errorf("%v", text)
	}
	var r struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := reshape(response, &r); err != nil {
		return "", err
	}
	if len(r.Choices) == 0 {
		return "", errors.New("the response has no choices")
	}
	return r.Choices[0].Message.Content, nil
}

type call struct {
	what         string
	defaultModel string
	verbose      bool
}

// post does what both have in common.
func (a *API) post(ctx context.Context, c call, payload map[string]any, do func(map[string]any) (map[string]any, error)) (out map[string]any) {
	log := a.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	fail := func(err any) map[string]any {
		text := fmt.Sprint(err)
		if ctx.Err() != nil { // whoever asked has left: that is no failure
			log.DebugContext(ctx, c.what+" abandoned", "error", text)
			return map[string]any{"error": text}
		}
		log.Log(ctx, logs.LevelCritical, c.what+" failed", "error", text, "stack", string(debug.Stack()))
		return map[string]any{"error": text}
	}
	defer func() {
		if p := recover(); p != nil {
			out = fail(p)
		}
	}()
	full := make(map[string]any, len(payload)+1)
	maps.Copy(full, payload)
	if full["model"] == nil || full["model"] == "" {
		full["model"] = c.defaultModel
	}
	if c.verbose {
		log.DebugContext(ctx, c.what+" payload", "payload", full)
	}
	resp, err := do(full)
	if err != nil {
		return fail(err)
	}
	if c.verbose {
		log.DebugContext(ctx, c.what+" response", "response", resp)
	}
	return resp
}

// reshape reads a dictionary into a struct.
func reshape(from, to any) error {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func chatResponse(resp *llm.Response, asked string, d dialect) map[string]any {
	message := map[string]any{"role": string(llm.RoleAssistant), "content": resp.Message.Content}
	finish := resp.Finish
	if finish == "" {
		finish = llm.FinishStop
	}
	if calls := resp.Message.ToolCalls; len(calls) > 0 {
		if d == functionDialect {
			message["function_call"] = map[string]any{"name": calls[0].Name, "arguments": argumentsObject(calls[0].Arguments)}
			finish = "function_call"
			var state struct {
				ID string `json:"functions_state_id"`
			}
			if json.Unmarshal(resp.Message.Opaque, &state) == nil && state.ID != "" {
				message["functions_state_id"] = state.ID
			}
		} else {
			list := make([]any, len(calls))
			for i, c := range calls {
				list[i] = map[string]any{"id": c.ID, "type": "function",
					"function": map[string]any{"name": c.Name, "arguments": c.Arguments}}
			}
			message["tool_calls"] = list
			if message["content"] == "" {
				message["content"] = nil
			}
		}
	}
	usage := map[string]any{
		"prompt_tokens":     resp.Usage.Input,
		"completion_tokens": resp.Usage.Output,
		"total_tokens":      resp.Usage.Input + resp.Usage.Output,
	}
	if n := resp.Usage.CachedInput; n > 0 {
		usage["prompt_tokens_details"] = map[string]any{"cached_tokens": n}
	}
	return map[string]any{
		"id":      resp.ID,
		"object":  "chat.completion",
		"created": time.Now().Unix(),
		"model":   or(resp.Model, asked),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": string(finish)}},
		"usage":   usage,
	}
}

// argumentsObject is what GigaChat gives: an object rather than its text.
func argumentsObject(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

func embeddingsResponse(out *llm.Embeddings, asked string, input []string) map[string]any {
	shares := apportion(out.Usage.Input, input)
	data := make([]any, len(out.Vectors))
	for i, v := range out.Vectors {
		item := map[string]any{"object": "embedding", "embedding": v, "index": i}
		if i < len(shares) {
			item["usage"] = map[string]any{"prompt_tokens": shares[i]}
		}
		data[i] = item
	}
	return map[string]any{
		"object": "list",
		"data":   data,
		"model":  or(out.Model, asked),
		"usage":  map[string]any{"prompt_tokens": out.Usage.Input, "total_tokens": out.Usage.Input},
	}
}

// apportion spreads the tokens of a call over its texts by their estimated
// sizes; the parts add up to the whole.
func apportion(total int, texts []string) []int {
	sizes := make([]int, len(texts))
	sum := 0
	for i, t := range texts {
		sizes[i] = llm.EstimateTokens(t) + 1
		sum += sizes[i]
	}
	out := make([]int, len(texts))
	before, given := 0, 0
	for i, n := range sizes {
		before += n
		upTo := total * before / sum
		out[i] = upTo - given
		given = upTo
	}
	return out
}
