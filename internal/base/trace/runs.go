package trace

import (
	"context"
	"time"
)

// Run is a run at work.
type Run struct {
	ID, Session, Mode string
	// Created is when the run was.
	Created time.Time
	// Parent is the span of whoever asked for it, as a traceparent; "" for none.
	Parent string
	Past   Past
}

// Past is what a run did before it was taken up.
type Past struct {
	// Lives counts how often it has ended: each time it had a span of its own.
	Lives int
	// Begun is when the life at hand began; zero is when the run was created.
	Begun time.Time
	// Work are the agents and the calls of tools in it, by AgentKey and CallKey.
	Work map[string]Earlier
}

// Earlier is a piece of work that began before the run was taken up.
type Earlier struct {
	Begun time.Time
	// Over says that it also ended, and was told of.
	Over bool
}

// AgentKey is that of the agent at a path in a run.
func AgentKey(path string) string { return "agent " + path }

// CallKey is that of a call that the agent at a path makes.
func CallKey(path, call string) string { return "call " + path + " " + call }

// Begin begins the span of a run and returns the context in which it works. The
// caller ends it when the run has ended, and leaves it when the run is to go on
// later.
func Begin(ctx context.Context, t Tracer, r Run) (context.Context, Live) {
	ctx = t.Under(ctx, r.Parent)
	begun := r.Past.Begun
	if begun.IsZero() {
		begun = r.Created
	}
	return place{tracer: t, run: &r}.start(ctx, Span{
		Name: opRun + " " + r.Mode, Key: "run", Begun: begun, Attributes: []Attribute{
			{keyOperation, opRun}, {keyWorkflow, r.Mode}, {keyConversation, r.Session}, {keyRun, r.ID},
		},
	})
}

// Ended ends the span of a run: how it stands, and the code of its failure.
func Ended(l Live, status, failure string) {
	l.Set(Attribute{keyRunStatus, status})
	if failure != "" {
		l.Fail(failure)
	}
	l.End()
}

// Step begins the span of a step of a run.
func Step(ctx context.Context, key string) (context.Context, Live) {
	p, ok := placeOf(ctx)
	if !ok || p.run == nil {
		return ctx, nothing{}
	}
	return p.start(ctx, Span{Name: nameStep + " " + kindOf(key), Key: "step " + key, Attributes: []Attribute{{keyStep, key}}})
}

// kindOf is what a step is called wherever it is: the last part of its key, without
// the numbers that tell it from others of its kind.
func kindOf(key string) string {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '/' {
			key = key[i+1:]
			break
		}
	}
	end := len(key)
	for end > 0 && (key[end-1] >= '0' && key[end-1] <= '9' || key[end-1] == '-' || key[end-1] == '_') {
		end--
	}
	if end == 0 {
		return key
	}
	return key[:end]
}

// Agent begins the work of an agent at a path of a run; the model is that of its
// definition, of a provider, and both may be empty.
func Agent(ctx context.Context, path, name, id, providerName, model string) (context.Context, Live) {
	attributes := []Attribute{{keyOperation, opAgent}, {keyProvider, provider(providerName)}, {keyAgentName, name}}
	if id != "" {
		attributes = append(attributes, Attribute{keyAgentID, id})
	}
	if model != "" {
		attributes = append(attributes, Attribute{keyModel, model})
	}
	return span(ctx, AgentKey(path), opAgent+" "+name, attributes)
}

// span begins a piece of a run's work that goes on over several steps, and may
// have begun, or be over, before the run was taken up.
func span(ctx context.Context, key, name string, attributes []Attribute) (context.Context, Live) {
	p, ok := placeOf(ctx)
	if !ok || p.run == nil {
		return ctx, nothing{}
	}
	earlier := p.run.Past.Work[key]
	ctx, live := p.start(ctx, Span{Name: name, Key: key, Begun: earlier.Begun, Attributes: append(attributes, Attribute{keyConversation, p.run.Session})})
	if earlier.Over {
		return ctx, nothing{}
	}
	return ctx, live
}

// Call is one of a tool, of this program or of a server elsewhere.
type Call struct {
	Tool, ID  string
	Elsewhere bool
}

func (c Call) attributes() []Attribute {
	kind := toolFunction
	if c.Elsewhere {
		kind = toolExtension
	}
	out := []Attribute{{keyOperation, opTool}, {keyToolName, c.Tool}, {keyToolType, kind}}
	if c.ID != "" {
		out = append(out, Attribute{keyToolCall, c.ID})
	}
	return out
}

// InStep says that the step of ctx is a call of a tool: its span becomes that of
// the call, which the caller tells of failures and does not end.
func InStep(ctx context.Context, c Call) Live {
	p, ok := placeOf(ctx)
	if !ok || p.run == nil || p.live == nil {
		return nothing{}
	}
	p.live.Rename(opTool + " " + c.Tool)
	p.live.Set(append(c.attributes(), Attribute{keyConversation, p.run.Session})...)
	return p.live
}

// InBranch begins a call of a tool that works in a branch of the run of its own,
// made by the agent at a path.
func InBranch(ctx context.Context, path string, c Call) (context.Context, Live) {
	return span(ctx, CallKey(path, c.ID), opTool+" "+c.Tool, c.attributes())
}
