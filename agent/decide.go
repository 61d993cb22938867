package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"dossier/event"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/tool"
)

// Decider turns a model's replies into the next calls.
type Decider interface {
	// Reason has the model think. A thought may hold the choice already.
	Reason(ctx context.Context, w *Work, in Input) (Thought, error)
	// Select has the model choose. A choice without calls says what was wrong.
	Select(ctx context.Context, w *Work, in Input, t Thought) (Choice, error)
	// Record appends the iteration as the model is to read it from now on.
	Record(w *Work, t Thought, c Choice, actions []Action, to []llm.Message) []llm.Message
}

// Thought is what a model thinks before it acts.
type Thought struct {
	Text      string
	Reasoning Reasoning
	// Choice is set when the thought has chosen already.
	Choice *Choice
	// Message is the reply that it was read from.
	Message llm.Message
	// Extracted says that rules thought it.
	Extracted bool
	At        time.Time
}

// Reasoning is a thought in the form that models are asked for.
type Reasoning struct {
	Steps      []string `json:"reasoning_steps" min:"2" max:"3" jsonschema:"step by step, each a short sentence"`
	Situation  string   `json:"current_situation" max:"300" jsonschema:"what is known and what is missing"`
	PlanStatus string   `json:"plan_status" max:"150" jsonschema:"where the plan stands"`
	Enough     bool     `json:"enough_data" default:"false" jsonschema:"whether what was gathered is enough to answer"`
	Remaining  []string `json:"remaining_steps" max:"3" jsonschema:"what is left to do, the next first"`
	Completed  bool     `json:"task_completed" jsonschema:"whether the task is done"`
}

// reasons is what a Reasoning is read as. Models are told the bounds, but one
// step too many is no reason to ask again.
type reasons struct {
	Steps      []string `json:"reasoning_steps"`
	Situation  string   `json:"current_situation"`
	PlanStatus string   `json:"plan_status"`
	Enough     bool     `json:"enough_data" default:"false"`
	Remaining  []string `json:"remaining_steps"`
	Completed  bool     `json:"task_completed"`
}

// Choice is what a model wants done.
type Choice struct {
	Calls []llm.ToolCall
	// Text of a reply that called nothing, and what is to be said about it.
	Text      string
	Complaint string
	// Message is the reply that it was read from.
	Message llm.Message
	Model   string
	// Cut says that the reply was broken off, and At when it came.
	Cut bool
	At  time.Time
}

// deciderFor returns the decider of a name.
func deciderFor(name DeciderName) Decider {
	switch name {
	case SGR:
		return sgr{}
	case Native:
		return native{}
	case Iron:
		return iron{}
	case ReAct, KB:
		return react{}
	case ByRules:
		return rules{}
	}
	return hybrid{}
}

// reply is what a call of the model came to, as its step records it.
type reply struct {
	Message llm.Message `json:"message,omitzero"`
	// Object is what was asked for, where the reply had to be one.
	Object json.RawMessage `json:"object,omitempty"`
	Model  string          `json:"model,omitempty"`
	// Cut says that the reply was broken off at its greatest length.
	Cut bool      `json:"cut,omitempty"`
	At  time.Time `json:"at,omitzero"`
	// Gone says why there is no reply.
	Gone *goneError `json:"gone,omitempty"`
}

// AppendJSON implements run.JSONAppender.
func (r *reply) AppendJSON(buf []byte) (_ []byte, err error) {
	size := 192 + len(r.Message.Content) + len(r.Object) + len(r.Model)
	for i := range r.Message.ToolCalls {
		size += 128 + 2*len(r.Message.ToolCalls[i].Arguments)
	}
	buf = append(slices.Grow(buf, size+size/8), '{')
	if r.Message.Role != "" {
		buf = append(buf, `"message":`...)
		if buf, err = r.Message.AppendJSON(buf); err != nil {
			return nil, err
		}
		buf = append(buf, ',')
	}
	if r.Object != nil {
		buf = append(append(append(buf, `"object":`...), r.Object...), ',')
	}
	if r.Gone != nil {
		gone, err := json.Marshal(r.Gone)
		if err != nil {
			return nil, err
		}
		buf = append(append(append(buf, `"gone":`...), gone...), ',')
	}
	if r.Cut {
		buf = append(buf, `"cut":true,`...)
	}
	buf = llm.AppendString(append(buf, `"model":`...), r.Model)
	buf = r.At.AppendFormat(append(buf, `,"at":"`...), time.RFC3339Nano)
	return append(buf, `"}`...), nil
}

// goneError says that the model can't be asked.
type goneError struct {
	Why string `json:"why"`
	// Spent says that nothing more may be spent, and Unsupported what the
	// endpoint does not take.
	Spent       bool   `json:"spent,omitempty"`
	Unsupported string `json:"unsupported,omitempty"`
	// Unfit says that it answers, but never as it should; Raw is its last word.
	Unfit bool   `json:"unfit,omitempty"`
	Raw   string `json:"raw,omitempty"`
}

func (e *goneError) Error() string { return e.Why }

// object is what a structured reply has to be.
type object struct {
	schema *llm.Schema
	accept func(json.RawMessage) error
}

// call makes one call of the model as a step of the run. With want the reply is
// held to it; find shows the answer in it, nil if there can't be one. That there
// is no reply is a *goneError.
func (w *Work) call(ctx context.Context, phase string, req *llm.Request, want *object, find finder) (reply, error) {
	req.Model = cmp.Or(req.Model, w.Task.Model, w.Agent.Definition.Model, w.client.Setting().Name)
	step := phase + "-" + strconv.Itoa(w.State.Iteration)
	r, err := run.Step(ctx, w.Scope, step, func(ctx context.Context, s *run.Scope) (reply, error) {
		if err := s.Budget().Check(); err != nil {
			return reply{Gone: &goneError{Why: run.Reason(err), Spent: true}}, nil
		}
		call, cancel := s.UntilFinish(ctx)
		defer cancel()
		who := prompt.Caller{Scope: s, Role: w.Agent.Role, Model: req.Model}
		watched, vigil := who.Watch(call)
		var r reply
		var err error
		show := w.showing(s, find)
		if want == nil {
			r, err = w.plain(watched, s, req, who, show.sink())
		} else {
			r, err = w.structured(watched, s, req, want, show.sink())
		}
		vigil.End()
		if err == nil {
			show.end()
			r.At = time.Now().UTC()
			return r, nil
		}
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		if call.Err() != nil {
			return reply{Gone: &goneError{Why: run.Reason(context.Cause(call)), Spent: true}}, nil
		}
		gone := goneFrom(err)
		if errors.Is(err, llm.ErrNotConfigured) {
			return reply{Gone: gone}, nil // which is no failure
		}
		return reply{Gone: gone}, who.Failed(err, gone.then())
	})
	if err != nil {
		return reply{}, err
	}
	if r.Gone != nil {
		return reply{}, r.Gone
	}
	return r, nil
}

func goneFrom(err error) *goneError {
	g := &goneError{Why: err.Error()}
	if errors.Is(err, llm.ErrNotConfigured) {
		g.Why = llm.ErrNotConfigured.Error()
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		g.Unsupported = e.Unsupported
	}
	if no, ok := errors.AsType[*llm.NoObjectError](err); ok {
		g.Unfit, g.Raw = true, tool.Cut(no.Raw, 8000)
	}
	return g
}

// then is what follows from it; see Work.hopeless and misread.
func (e *goneError) then() llm.Consequence {
	switch {
	case e.toolless():
		return llm.ThenWithoutTools
	case e.Unfit:
		return llm.ThenAgain
	}
	return llm.ThenRules
}

// toolless says that the endpoint does not know function calling.
func (e *goneError) toolless() bool {
	return e.Unsupported == "tools" || e.Unsupported == "tool_choice"
}

// plain asks for a reply as it comes.
func (w *Work) plain(ctx context.Context, s *run.Scope, req *llm.Request, who prompt.Caller, sink func(llm.Chunk)) (reply, error) {
	resp, err := w.client.Stream(ctx, req, sink)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Unsupported == "tool_choice" && req.ToolChoice != "" {
		softer := *req
		softer.ToolChoice = ""
		if err := who.Failed(err, llm.ThenOtherWay); err != nil {
			return reply{}, err
		}
		resp, err = w.client.Stream(ctx, &softer, sink)
	}
	if err != nil {
		return reply{}, err
	}
	resp.Message.Role = llm.RoleAssistant // it is read from the journal by it
	return reply{Message: resp.Message, Model: resp.Model, Cut: resp.Finish == llm.FinishLength}, w.charge(s, req, resp.Usage, 1)
}

// structured asks for an object.
func (w *Work) structured(ctx context.Context, s *run.Scope, req *llm.Request, want *object, sink func(llm.Chunk)) (reply, error) {
	var made json.RawMessage
	info, err := llm.ObjectAs(ctx, w.client, req, want.schema, func(raw json.RawMessage) error {
		if err := want.accept(raw); err != nil {
			return err
		}
		made = raw
		return nil
	}, llm.ObjectOptions{Watch: sink})
	if cerr := w.charge(s, req, info.Usage, info.Attempts); cerr != nil {
		return reply{}, cerr
	}
	return reply{Object: made, Model: info.Model}, err
}

// charge records what a call cost.
func (w *Work) charge(s *run.Scope, req *llm.Request, u llm.Usage, calls int) error {
	if calls == 0 {
		return nil
	}
	s.Charge(run.Spent{Calls: calls, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
	model := req.Model
	if model == "" {
		model = w.client.Setting().Name
	}
	return s.Emit(event.Usage{
		Role: string(w.Agent.Role), Model: model, Input: u.Input, Output: u.Output, CachedInput: u.CachedInput, Cost: u.Cost, Estimated: u.Estimated,
	})
}

// described are tools as the model is told of them: mostly the same as in the
// iteration before.
func (w *Work) described(tools []tool.Tool, skip ...tool.Kind) []llm.Tool {
	if told := w.told.tools; len(told) > 0 && len(told) == len(tools) && &told[0] == &tools[0] && slices.Equal(w.told.skip, skip) {
		return w.told.as
	}
	out := make([]llm.Tool, 0, len(tools))
next:
	for _, t := range tools {
		spec := t.Spec()
		for _, kind := range skip {
			if spec.Kind == kind {
				continue next
			}
		}
		out = append(out, spec.For())
	}
	w.told.tools, w.told.skip, w.told.as = tools, skip, out
	return out
}
