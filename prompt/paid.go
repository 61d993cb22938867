package prompt

import (
	"cmp"
	"context"

	"dossier/event"
	"dossier/llm"
	"dossier/run"
)

// Paid is a model whose calls a step of a run pays for, and tells of. It is for
// conversations that are no Task.
type Paid struct {
	*llm.Client
	Scope *run.Scope
	Role  llm.RoleName
	// Then is what comes of a failure.
	Then llm.Consequence
}

// Stream implements llm.Model. It fails with a budget that is spent.
func (p *Paid) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	if err := p.Scope.Budget().Check(); err != nil {
		return nil, err
	}
	model := cmp.Or(req.Model, p.Setting().Name)
	who := Caller{Scope: p.Scope, Role: p.Role, Model: model}
	watched, vigil := who.Watch(ctx)
	resp, err := p.Client.Stream(watched, req, sink)
	vigil.End()
	if err != nil {
		if ctx.Err() == nil {
			_ = who.Failed(err, p.Then) // the call's own error is what matters
		}
		return nil, err
	}
	u := resp.Usage
	p.Scope.Charge(run.Spent{Calls: 1, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
	return resp, p.Scope.Emit(event.Usage{
		Role: string(p.Role), Model: model, Input: u.Input, Output: u.Output, CachedInput: u.CachedInput, Cost: u.Cost, Estimated: u.Estimated,
	})
}

var _ llm.Model = (*Paid)(nil)
