package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/a2a"
	"dossier/internal/store"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
)

// callable are the agents for those who speak A2A, as the caller of a request
// sees them: a task is a run.
type callable struct{}

// Cards implements a2a.Agents. The agent that works when none is named comes
// first; one that can't work is not shown.
func (c callable) Cards(ctx context.Context) ([]a2a.Card, error) {
	all, err := EngineOf(ctx).Agents(ctx)
	if err != nil {
		return nil, err
	}
	var cards []a2a.Card
	for _, e := range all {
		if e.Trouble != "" || e.Kind == "remote" {
			continue
		}
		card := a2a.Card{Name: e.Name, Description: e.Description, Version: fmt.Sprint(max(1, e.Version))}
		for _, can := range e.Capabilities {
			card.Skills = append(card.Skills, a2a.Skill{ID: strings.ReplaceAll(can, " ", "-"), Name: can, Description: can, Tags: []string{can}})
		}
		if e.Name == dossier.DefaultAgent {
			cards = append([]a2a.Card{card}, cards...)
		} else {
			cards = append(cards, card)
		}
	}
	return cards, nil
}

// Start implements a2a.Agents.
func (c callable) Start(ctx context.Context, agent, session, text string) (string, error) {
	rec, err := EngineOf(ctx).Start(ctx, dossier.Request{Mode: "agent", Session: session, Request: mode.Request{Question: text, Agent: agent}})
	return rec.ID, outward(err)
}

// outward turns the errors of an engine into those that callers are told.
func outward(err error) error {
	var usage *dossier.UsageError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, run.ErrUnknownRun):
		return a2a.ErrUnknown
	case errors.Is(err, run.ErrEnded), errors.Is(err, store.ErrNotWaiting), errors.Is(err, store.ErrAnswered):
		return a2a.ErrOver
	case errors.As(err, &usage):
		return fmt.Errorf("%w: %s", a2a.ErrUnknown, usage.Message)
	}
	return err
}

// Follow implements a2a.Agents: how the run is now, and then what changes.
func (c callable) Follow(ctx context.Context, id string) iter.Seq2[a2a.Progress, error] {
	return func(yield func(a2a.Progress, error) bool) {
		rec, err := EngineOf(ctx).Get(ctx, id)
		if err != nil {
			yield(a2a.Progress{}, outward(err))
			return
		}
		p := a2a.Progress{Agent: agentOf(rec), Session: rec.Session, State: a2a.Working}
		if rec.LastSeq == 0 && p.Agent != "" && !yield(p, nil) {
			return
		}
		for ev, err := range EngineOf(ctx).Events(ctx, rec.ID, 0) {
			if err != nil {
				yield(p, outward(err))
				return
			}
			before := p
			changed := c.advance(ctx, &p, ev, ev.Seq >= rec.LastSeq)
			switch {
			case !ev.Transient() && ev.Seq < rec.LastSeq:
				continue // it is of before
			case ev.Seq != rec.LastSeq && (!changed || p == before):
				continue
			}
			if !yield(p, nil) || p.State == a2a.Asking {
				return
			}
		}
	}
}

// agentOf is the agent that a run was asked of; "" where the log tells.
func agentOf(rec run.Record) string {
	var req mode.Request
	if rec.Mode != agents.Name || json.Unmarshal(rec.Request, &req) != nil {
		return ""
	}
	return templateOf(req.Agent)
}

// advance takes an event in and says whether callers should hear of it. One that
// is not of now is followed by others that are recorded already.
func (c callable) advance(ctx context.Context, p *a2a.Progress, ev event.Event, now bool) bool {
	switch d := ev.Data.(type) {
	case event.AgentStarted:
		if p.Agent == "" {
			p.Agent = d.Name
		}
		return true
	case event.AgentReasoning:
		p.State, p.Text, p.Question = a2a.Working, d.Text, ""
		return true
	case event.Message:
		if d.Role == string(llm.RoleAssistant) {
			p.Text = d.Text
		}
	case event.RunError:
		if d.Fatal {
			p.Text = d.Message
		}
	case event.RunStatus:
		return c.status(ctx, p, ev.Run, run.Status(d.Status), now)
	}
	return false
}

func (c callable) status(ctx context.Context, p *a2a.Progress, id string, s run.Status, now bool) bool {
	p.Question = ""
	switch s {
	case run.Done:
		p.State = a2a.Done
	case run.Failed:
		p.State = a2a.Failed
	case run.Cancelled:
		p.State = a2a.Cancelled
	case run.Waiting:
		p.State = a2a.Working
		if !now {
			return false
		}
		// What was asked may be answered by now.
		d, err := EngineOf(ctx).Show(ctx, id)
		if err != nil || len(d.Asks) == 0 {
			return false
		}
		p.State, p.Question = a2a.Asking, strings.Join(d.Asks[0].Questions, "\n")
	default:
		p.State = a2a.Working
	}
	return true
}

// Answer implements a2a.Agents.
func (c callable) Answer(ctx context.Context, id, text string) error {
	return outward(EngineOf(ctx).Answer(ctx, id, "", text))
}

// Cancel implements a2a.Agents.
func (c callable) Cancel(ctx context.Context, id string) error {
	return outward(EngineOf(ctx).Cancel(ctx, id))
}
