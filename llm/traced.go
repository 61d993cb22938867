package llm

import (
	"context"

	"dossier/internal/base/trace"
)

// Traced returns m with each call told to the tracer of its context, from its first
// attempt to its end: it goes around the governor.
func Traced(m Model, at trace.Endpoint) Model { return tracedModel{m, at} }

type tracedModel struct {
	m  Model
	at trace.Endpoint
}

func (t tracedModel) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	ctx, span := trace.Chat(ctx, t.at, trace.Inference{Model: req.Model, MaxTokens: req.MaxTokens, Temperature: req.Temperature, JSON: req.Format != nil})
	if trace.Idle(span) {
		return t.m.Stream(ctx, req, sink)
	}
	defer span.End()
	outer, _ := ctx.Value(watchKey{}).(Watcher)
	resp, err := t.m.Stream(&Watched{Context: ctx, Watcher: repeats{span, outer}}, req, sink)
	if err != nil {
		span.Fail(codeIn(ctx, err))
		return nil, err
	}
	trace.Answered(span, trace.Inferred{
		ID: resp.ID, Model: resp.Model, Finish: string(resp.Finish),
		Input: resp.Usage.Input, Output: resp.Usage.Output, Cached: resp.Usage.CachedInput,
	})
	return resp, nil
}

// codeIn is CodeOf, and says where nobody wanted the reply any longer.
func codeIn(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "cancelled"
	}
	return CodeOf(err)
}

// repeats tells a span of the failures that are worked around, and whoever else
// wants to know.
type repeats struct {
	span  trace.Live
	outer Watcher
}

// CallFailed implements Watcher.
func (r repeats) CallFailed(f Failure) {
	if f.Then == ThenRepeated {
		trace.Repeated(r.span, CodeOf(f.Err))
	}
	if r.outer != nil {
		r.outer.CallFailed(f)
	}
}

// TracedEmbedder is Traced for an Embedder.
func TracedEmbedder(e Embedder, at trace.Endpoint) Embedder { return tracedEmbedder{e, at} }

type tracedEmbedder struct {
	e  Embedder
	at trace.Endpoint
}

func (t tracedEmbedder) Embed(ctx context.Context, model string, texts []string) (*Embeddings, error) {
	ctx, span := trace.Embeddings(ctx, t.at, model)
	defer span.End()
	out, err := t.e.Embed(ctx, model, texts)
	if err != nil {
		span.Fail(codeIn(ctx, err))
		return nil, err
	}
	trace.Answered(span, trace.Inferred{Model: out.Model, Input: out.Usage.Input})
	return out, nil
}
