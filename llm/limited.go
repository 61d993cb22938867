package llm

import (
	"context"
	"errors"
	"time"
)

// Limited returns m with so much time for each whole reply. One that takes longer
// fails with ErrTimeout, which a governor around it repeats.
func Limited(m Model, limit time.Duration, endpoint string) Model {
	return limitedModel{m, timeLimit{limit, endpoint}}
}

// LimitedEmbedder is Limited for an Embedder.
func LimitedEmbedder(e Embedder, limit time.Duration, endpoint string) Embedder {
	return limitedEmbedder{e, timeLimit{limit, endpoint}}
}

type timeLimit struct {
	limit    time.Duration
	endpoint string
}

// ReplyLimit implements Timed.
func (t timeLimit) ReplyLimit() time.Duration { return t.limit }

var errLate = errors.New("the time of the reply is up")

func (t timeLimit) start(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, t.limit, errLate)
}

// late is err, or that the time was up where that is why.
func (t timeLimit) late(ctx context.Context, model string, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errLate) {
		return &Error{Kind: ErrTimeout, Endpoint: t.endpoint, Model: model, Message: "no whole answer within " + t.limit.String()}
	}
	return err
}

type limitedModel struct {
	m Model
	timeLimit
}

func (l limitedModel) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	ctx, cancel := l.start(ctx)
	defer cancel()
	resp, err := l.m.Stream(ctx, req, sink)
	return resp, l.late(ctx, req.Model, err)
}

type limitedEmbedder struct {
	e Embedder
	timeLimit
}

func (l limitedEmbedder) Embed(ctx context.Context, model string, texts []string) (*Embeddings, error) {
	ctx, cancel := l.start(ctx)
	defer cancel()
	out, err := l.e.Embed(ctx, model, texts)
	return out, l.late(ctx, model, err)
}
