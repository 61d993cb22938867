package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/base/trace"
	"dossier/lang"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// mostCalls is how many calls of one reply are carried out.
const mostCalls = 20

// acts carries out the calls of an iteration in their order and makes them fit to
// be sent back. Once one of them has ended the work the others are not carried
// out, nor are those beyond mostCalls. The limits of the run hold from call to
// call.
func (w *Work) acts(ctx context.Context, in Input, c *Choice) ([]Action, error) {
	w.strikes, w.cut = 0, c.Cut
	c.Calls = slices.Clone(c.Calls) // the reply is not ours to change
	w.number(c.Calls)
	p := &w.Agent.Phases
	act := (*Work).Act
	if p.Act != nil {
		act = func(w *Work, ctx context.Context, in Input, call llm.ToolCall, n int) (Action, error) {
			return p.Act(ctx, w, in, call, n)
		}
	}
	actions, tools := make([]Action, 0, len(c.Calls)), in.Tools
	for i, call := range c.Calls {
		if w.State.Status.Finished() || i == mostCalls {
			break
		}
		if i > 0 && p.PrepareTools == nil {
			in.Tools = tool.Available(w.rules, w.State, in.Tools)
		}
		w.acted++
		a, err := act(w, ctx, in, call, w.acted)
		if err != nil {
			return nil, err
		}
		w.logAction(&a, c.At)
		actions = append(actions, a)
	}
	tidy(c.Calls, tools)
	return actions, nil
}

// Carry carries out a call that code has decided on, not the model, as a further
// one of the iteration: for phases and steps that have something done by
// themselves. Record shows it to the model.
func (w *Work) Carry(ctx context.Context, in Input, call llm.ToolCall) (Action, error) {
	w.acted++
	call.ID = strconv.Itoa(w.State.Iteration) + "-action"
	if w.acted > 1 {
		call.ID += "-" + strconv.Itoa(w.acted)
	}
	calls := []llm.ToolCall{call}
	w.number(calls)
	a, err := w.Act(ctx, in, calls[0], w.acted)
	if err == nil {
		w.logAction(&a, time.Time{})
	}
	return a, err
}

// Act carries out one call, the n-th of its iteration, and tells of it.
func (w *Work) Act(ctx context.Context, in Input, call llm.ToolCall, n int) (Action, error) {
	t, args, refusal := w.admit(in, call)
	shown := event.AgentAction{Tool: presentable(call.Name), CallID: call.ID, Arguments: args, Iteration: w.State.Iteration}
	if t != nil {
		shown.Tool = t.Spec().Name
	}
	if err := w.Scope.Emit(shown); err != nil {
		return Action{}, err
	}
	a := Action{Call: llm.ToolCall{ID: call.ID, Name: shown.Tool, Arguments: call.Arguments}}
	if refusal != nil {
		a.Outcome = tool.Failure(refusal)
	} else {
		var err error
		if a.Outcome, err = w.invoke(ctx, t, args, call.ID, n); err != nil {
			return Action{}, err
		}
		if w.State.Calls == nil {
			w.State.Calls = make(map[string]int)
		}
		w.State.Calls[shown.Tool]++
		if kind := t.Spec().Kind; kind != tool.Searching && kind != tool.Reading {
			w.private = append(w.private, a.Outcome.Text) // what the web said is public
		}
		if kind := t.Spec().Kind; kind == tool.Searching || kind == tool.Lookup {
			w.unasked = ""
			if a.Outcome.Failed {
				w.unasked = kind
			}
		}
		w.State.Apply(a.Outcome.Change)
		if q := a.Outcome.Change.Ask; q != nil {
			if err := w.ask(ctx, &a, *q); err != nil {
				return Action{}, err
			}
		}
	}
	const most = 20_000 // characters of a result that the log of events holds
	shown.Arguments, shown.Result, shown.Failed = nil, tool.Cut(a.Outcome.Text, most), a.Outcome.Failed
	return a, w.Scope.Emit(shown)
}

// admit finds the tool of a call and makes its arguments fit, or says why the
// call can't be made.
func (w *Work) admit(in Input, call llm.ToolCall) (tool.Tool, json.RawMessage, error) {
	t := named(in.Tools, call.Name)
	if t == nil {
		return nil, nil, w.missing(in.Tools, call.Name)
	}
	spec := t.Spec()
	text := call.Arguments
	if none := strings.TrimSpace(text); none == "" || none == "null" {
		text = "{}"
	}
	if len(text) > mostArguments {
		return t, nil, &tool.ArgumentError{Tool: spec.Name, Err: fmt.Errorf("they have %d bytes, and %d are the most", len(text), mostArguments)}
	}
	args, err := spec.Schema.Read(text)
	if w.cut && !json.Valid([]byte(text)) {
		// What was mended of it would be taken for the whole.
		err = errors.New("your reply was broken off because it was too long: write less")
	}
	if err != nil {
		if answer := answerIn(text); spec.Kind == tool.Final && answer != "" {
			w.draft = answer
		}
		return t, nil, &tool.ArgumentError{Tool: spec.Name, Err: err}
	}
	return t, args, w.again(spec, args)
}

// mostArguments is how long the arguments of a call may be, in bytes.
const mostArguments = 1 << 20

// again refuses a call that was made with the same arguments before, and would
// only bring the same.
func (w *Work) again(spec *tool.Spec, args json.RawMessage) error {
	const most = 2
	if spec.Kind == tool.Final || spec.Kind == tool.Reasoning {
		return nil
	}
	if w.repeats == nil {
		w.repeats = make(map[[sha256.Size]byte]int)
	}
	h := sha256.New()
	h.Write([]byte(spec.Name))
	h.Write([]byte{0})
	h.Write(args)
	var key [sha256.Size]byte
	h.Sum(key[:0])
	w.repeats[key]++
	switch n := w.repeats[key]; {
	case n <= most:
		return nil
	case n > most+1 && w.forced == 0:
		w.forced = w.State.Iteration // it goes round in circles
	}
	return fmt.Errorf("%s was called with the same arguments %d times already, and its results are above. Do something else, or answer with what there is", spec.Name, most)
}

// missing says that a tool is not there, and which ones are.
func (w *Work) missing(offered []tool.Tool, name string) error {
	names := make([]string, len(offered))
	for i, t := range offered {
		names[i] = t.Spec().Name
	}
	there := strings.Join(names, ", ")
	t, known := w.Agent.Tools.Get(name)
	if !known {
		return fmt.Errorf("there is no tool %q. Call one of these: %s", tool.Cut(name, 100), there)
	}
	why := "a limit of this run is reached"
	switch t.Spec().Kind {
	case tool.Clarify:
		why = fmt.Sprintf("no more than %d questions may be asked. Go on with your best assumptions", w.limits.Clarifications)
	case tool.Searching:
		why = fmt.Sprintf("no more than %d searches may be made. Work with what was found", w.limits.Searches)
	}
	return fmt.Errorf("%s is not available any more: %s. Call one of these: %s", t.Spec().Name, why, there)
}

// named returns the tool of a name, nil if there is none.
func named(tools []tool.Tool, name string) tool.Tool {
	name = strings.TrimPrefix(name, "functions.")
	for _, t := range tools {
		if t.Spec().Name == name {
			return t
		}
	}
	plain := tool.PlainName(name)
	for _, t := range tools {
		if n := tool.PlainName(t.Spec().Name); n == plain || n == plain+"tool" {
			return t
		}
	}
	return nil
}

// invoke has a tool do its work, as a step or as a branch of the run.
func (w *Work) invoke(ctx context.Context, t tool.Tool, args json.RawMessage, id string, n int) (tool.Outcome, error) {
	spec := t.Spec()
	name := "act-" + strconv.Itoa(w.State.Iteration)
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	call := &tool.Call{ID: id, Args: args, State: w.State, Given: w.Task.Custom, Callers: w.Task.Callers, Private: slices.Clip(w.private)}
	if b, ok := t.(tool.Branch); ok {
		return w.branch(ctx, b, call, name)
	}
	out, err := run.EffectStep(ctx, w.Scope, spec.Effect, name, func(ctx context.Context, s *run.Scope) (tool.Outcome, error) {
		call.Scope = s
		var began time.Time
		if w.Agent.Used != nil {
			began = time.Now()
		}
		breakable := s
		if spec.Effect == run.Effectful {
			breakable = w.Scope // what it has done by the end it has done, and need not do again
		}
		until, cancel := breakable.UntilFinish(ctx)
		defer cancel()
		out, err := tool.Invoke(ctx, t, call, w.guard(until, spec))
		if out.Failed || err != nil {
			w.State = w.State.Copy() // the tool may have been left behind, with the one that it was given
		}
		failed := ""
		if unknown, ok := errors.AsType[*tool.UnknownEffectError](err); ok {
			code, hint := unknown.Fault()
			failed = unknown.Error()
			if err := s.Emit(event.RunError{Code: code, Message: failed, Hint: hint}); err != nil {
				return out, err
			}
		} else if out.Failed {
			failed = out.Text
		}
		if w.Agent.Used != nil && (err == nil || failed != "") {
			w.Agent.Used(spec, failed, time.Since(began))
		}
		return out, err
	})
	if fault, failed := run.FaultOf(err); failed && !run.Stopped(err) {
		return tool.Failure(errors.New(fault.Message)), nil
	}
	return out, err
}

// guard bounds a call by where the tool comes from, and by the run's own end.
func (w *Work) guard(until context.Context, spec *tool.Spec) tool.Guard {
	g := tool.Guard{Until: until}
	if strings.HasPrefix(spec.Origin, "mcp:") {
		g.MostText = w.limits.MCPContext
	}
	return g
}

// branch has a tool work in a branch of the run.
func (w *Work) branch(ctx context.Context, b tool.Branch, call *tool.Call, name string) (tool.Outcome, error) {
	call.Callers = append(slices.Clone(w.Task.Callers), w.Agent.Definition.Name)
	s := w.Scope.Child(name)
	call.Scope = s
	var result tool.Result
	spec := b.Spec()
	ctx, span := trace.InBranch(ctx, w.Scope.Path(), trace.Call{Tool: spec.Name, ID: call.ID, Elsewhere: spec.Elsewhere()})
	err := run.Go(ctx, s, "work", func(ctx context.Context, s *run.Scope) (err error) {
		result, err = b.Branch(ctx, s, call)
		return err
	}).Wait(ctx)
	Traced(span, err)
	if err == nil {
		return tool.Success(result), nil
	}
	if run.Stopped(err) || ctx.Err() != nil {
		return tool.Outcome{}, err
	}
	return tool.Failure(err), nil
}

// ask puts a tool's question to the user and notes the answer.
func (w *Work) ask(ctx context.Context, a *Action, q run.Question) error {
	w.State.Clarifications++
	if w.Task.NoInput {
		a.Outcome.Text += "\n\nNobody can be asked here. Go on with your best assumptions, and name them in the answer."
		return nil
	}
	w.State.Status = tool.Waiting
	q.Iteration = w.State.Iteration
	answer, err := w.Scope.Ask(ctx, q)
	w.State.Status = tool.Researching
	if err != nil {
		return err
	}
	if answer.Skipped || lang.IsSkip(answer.Text) {
		a.Outcome.Text += "\n\nThe user did not answer. Go on with your best assumptions, and name them in the answer."
		return nil
	}
	a.Reply = &answer
	w.State.Task += "\n\n" + answer.Text // it is part of what is asked from now on
	return nil
}
