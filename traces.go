package dossier

import (
	"context"
	"slices"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/base/trace"
	"dossier/mode"
	"dossier/run"
)

// Tracer is what is told of the engine's work; nil for nobody.
func (e *Engine) Tracer() trace.Tracer { return e.tracer }

// watch tells of the steps of runs.
func watch(ctx context.Context, key string) (context.Context, func(error)) {
	ctx, span := trace.Step(ctx, key)
	return ctx, func(err error) { agent.Traced(span, err) }
}

// traced is the context in which a run works whose spans are told of.
func (e *Engine) traced(ctx context.Context, rec run.Record, req *mode.Request) context.Context {
	if e.tracer == nil {
		return ctx
	}
	r := trace.Run{ID: rec.ID, Session: rec.Session, Mode: rec.Mode, Created: rec.Created, Parent: req.Trace}
	if rec.LastSeq > 0 {
		past, err := e.store.Events(ctx, rec.ID, 0, 0)
		if err != nil {
			e.log.Warn("the past of a run is not known to its trace", "run", rec.ID, "error", err)
		}
		if r.Past = pastOf(past, rec.Created); r.Past.Lives > 0 && r.Past.Begun.IsZero() {
			r.Past.Begun = time.Now()
		}
	}
	ctx, span := trace.Begin(ctx, e.tracer, r)
	e.spans.Store(rec.ID, span)
	return ctx
}

// traceEnd tells of a run that a worker has left, if it is over.
func (e *Engine) traceEnd(id string, status run.Status) {
	if e.tracer == nil {
		return
	}
	span, ok := e.spans.LoadAndDelete(id)
	if !ok || !status.Ended() {
		return
	}
	failure := ""
	switch status {
	case run.Cancelled:
		failure = string(status)
	case run.Failed:
		failure = "failed"
		if rec, err := e.store.Run(context.Background(), id); err == nil && rec.Failure != nil {
			failure = rec.Failure.Code
		}
	}
	trace.Ended(span.(trace.Live), string(status), failure)
}

// pastOf is what the log of a run that was created at a time says of its spans.
func pastOf(log []run.PlacedEvent, created time.Time) trace.Past {
	type noted struct {
		trace.Earlier
		from, to int64 // sequences
	}
	p := trace.Past{Work: make(map[string]trace.Earlier)}
	work := make(map[string]*noted)
	begin := func(key string, ev event.Event) {
		at := ev.Time
		if at.Before(created) { // of the run that this one is a fork of
			at = created
		}
		work[key] = &noted{trace.Earlier{Begun: at}, ev.Seq, 0}
	}
	end := func(key string, ev event.Event) {
		if w := work[key]; w != nil {
			w.Over, w.to = true, ev.Seq
		}
	}
	for i := range log {
		ev := log[i].Event
		switch d := ev.Data.(type) {
		case event.AgentStarted:
			begin(trace.AgentKey(ev.Agent), ev)
		case event.AgentFinished:
			end(trace.AgentKey(ev.Agent), ev)
		case event.AgentAction:
			if key := trace.CallKey(ev.Agent, d.CallID); work[key] == nil {
				begin(key, ev)
			} else {
				end(key, ev)
			}
		case event.RunReopened:
			void := func(seq int64) bool {
				return slices.ContainsFunc(d.Void, func(r [2]int64) bool { return seq >= r[0] && seq <= r[1] })
			}
			for key, w := range work {
				if void(w.from) {
					delete(work, key)
				} else if void(w.to) {
					w.Over = false
				}
			}
		case event.RunStatus:
			switch status := run.Status(d.Status); {
			case status.Ended():
				p.Lives++
				p.Begun = time.Time{}
				for key, w := range work {
					if !w.Over { // it ended with the run
						delete(work, key)
					}
				}
			case status == run.Running && p.Lives > 0 && p.Begun.IsZero():
				p.Begun = ev.Time
			}
		}
	}
	for key, w := range work {
		p.Work[key] = w.Earlier
	}
	return p
}
