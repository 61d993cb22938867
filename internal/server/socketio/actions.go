package socketio

import (
	"context"
	"fmt"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/run"
)

// action is something that clients can ask for by an event with one argument.
type action struct {
	scope access.Scope
	// do returns a run where there is one to show, and what is to follow when that
	// is acknowledged.
	do func(t *talk, ctx context.Context, arg []byte) (rec *run.Record, then func(), err error)
}

// The arguments, beside the request that start takes, as POST /api/runs does.
type (
	aboutRun struct {
		Run string `json:"run"`
	}
	subscribeArgs struct {
		Run string `json:"run"`
		// After is the sequence of the last event that the client has seen.
		After int64 `json:"after,omitempty"`
	}
	answerArgs struct {
		Run string `json:"run"`
		// Ask is the id of the question; empty is the oldest that waits.
		Ask  string `json:"ask,omitempty"`
		Text string `json:"text"`
	}
	steerArgs struct {
		Run  string `json:"run"`
		Text string `json:"text"`
	}
)

// actions are all, by the event that asks for them.
var actions = map[string]action{
	"start":       {access.Run, (*talk).start},
	"subscribe":   {access.Read, (*talk).subscribe},
	"unsubscribe": {access.Read, (*talk).unsubscribe},
	"answer": told(func(ctx context.Context, e server.Engine, a answerArgs) error {
		return e.Answer(ctx, a.Run, a.Ask, a.Text)
	}),
	"steer":  told(func(ctx context.Context, e server.Engine, a steerArgs) error { return e.Steer(ctx, a.Run, a.Text) }),
	"pause":  told(func(ctx context.Context, e server.Engine, a aboutRun) error { return e.Pause(ctx, a.Run) }),
	"finish": told(func(ctx context.Context, e server.Engine, a aboutRun) error { return e.Finish(ctx, a.Run) }),
	"cancel": told(func(ctx context.Context, e server.Engine, a aboutRun) error { return e.Cancel(ctx, a.Run) }),
}

// told is an action that tells a run something.
func told[A any](tell func(context.Context, server.Engine, A) error) action {
	return action{access.Run, func(_ *talk, ctx context.Context, arg []byte) (*run.Record, func(), error) {
		var a A
		if err := server.Decode(arg, &a); err != nil {
			return nil, nil, err
		}
		return nil, nil, tell(ctx, server.EngineOf(ctx), a)
	}}
}

// start starts a run and follows it. One that can't be followed is started all
// the same.
func (t *talk) start(ctx context.Context, arg []byte) (*run.Record, func(), error) {
	var req dossier.Request
	if err := server.Decode(arg, &req); err != nil {
		return nil, nil, err
	}
	rec, err := server.EngineOf(ctx).Start(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	then, err := t.follow(ctx, rec.ID, 0)
	if err != nil {
		then = func() { t.stop(rec.ID, server.Explain(ctx, err)) }
	}
	return &rec, then, nil
}

func (t *talk) subscribe(ctx context.Context, arg []byte) (*run.Record, func(), error) {
	var a subscribeArgs
	if err := server.Decode(arg, &a); err != nil {
		return nil, nil, err
	}
	if a.After < 0 {
		return nil, nil, &server.Problem{Code: "usage", Message: fmt.Sprintf("%d is not the sequence of an event", a.After)}
	}
	rec, err := server.EngineOf(ctx).Get(ctx, a.Run)
	if err != nil {
		return nil, nil, err
	}
	then, err := t.follow(ctx, rec.ID, a.After)
	return &rec, then, err
}

func (t *talk) unsubscribe(_ context.Context, arg []byte) (*run.Record, func(), error) {
	var a aboutRun
	if err := server.Decode(arg, &a); err != nil {
		return nil, nil, err
	}
	t.unfollow(a.Run)
	return nil, nil, nil
}
