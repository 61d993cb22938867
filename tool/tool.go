// Package tool is the contract of what an agent can call: a tool's name,
// description, schema and effect, a call with what the tools of a run share,
// and a result with what it changes of that. Around a call there are validation
// whose errors a model can act on, isolation, so that whatever a tool does is a
// result and never the end of the run, and rules that say which tools are there.
//
// catalog finds tools, mcptool brings those of MCP servers and a2atool agents
// elsewhere.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dossier/llm"
	"dossier/run"
)

// Tool is something that an agent can call. It is safe for concurrent use and
// keeps nothing of a run: what tools share is in State.
type Tool interface {
	// Spec says what the tool is. It never changes, and nobody changes it.
	Spec() *Spec
	// Call carries out a call whose arguments fit the schema, inside a step of
	// the run. The text of its error is for the model: it says what to do
	// differently.
	Call(ctx context.Context, c *Call) (Result, error)
}

// Branch is a tool that does its work in steps of its own, as an agent does
// that another one calls. It gets a branch of the run instead of a step.
type Branch interface {
	Tool
	Branch(ctx context.Context, s *run.Scope, c *Call) (Result, error)
}

// Spec is what is known of a tool before it is called.
type Spec struct {
	// Name by which a model calls it: letters, digits, "_" and "-".
	Name        string
	Description string
	Schema      *llm.Schema
	Effect      run.Effect
	// Timeout of a call; 0 is DefaultTimeout.
	Timeout time.Duration
	// Kind is what the loop and the rules know the tool by; empty for most.
	Kind Kind
	// System tools are in front of the model whatever a tool search finds.
	System bool
	// Origin is where the tool comes from: Builtin, or "mcp:", "a2a:" and
	// "agent:" with a name.
	Origin   string
	Tags     []string
	Examples []string // what somebody says who needs it
}

// Builtin is the origin of tools that are part of the program.
const Builtin = "builtin"

// DefaultTimeout of a call.
const DefaultTimeout = 60 * time.Second

// Kind is what a tool is to the loop.
type Kind string

// The kinds.
const (
	Reasoning Kind = "reasoning" // thinks; its call is no action
	Final     Kind = "final"     // ends the run with an answer
	Reporting Kind = "report"    // writes the report
	Clarify   Kind = "clarify"   // asks the user
	Planning  Kind = "plan"      // makes or changes the plan
	Searching Kind = "search"    // looks for sources
	Reading   Kind = "read"      // reads sources
	Lookup    Kind = "lookup"    // looks in the user's own documents
	Gathering Kind = "gather"    // makes sources of what was looked up
	Answering Kind = "answer"    // says something to the user and goes on
	Finding   Kind = "find"      // looks for more tools
)

// Elsewhere says whether a server carries the tool out, not this program.
func (s *Spec) Elsewhere() bool {
	return strings.HasPrefix(s.Origin, "mcp:") || strings.HasPrefix(s.Origin, "a2a:")
}

// For is the tool as a model is told of it.
func (s *Spec) For() llm.Tool {
	return llm.Tool{Name: s.Name, Description: s.Description, Parameters: s.Schema.Strict, Strict: s.Origin == Builtin}
}

// Call is one call of a tool.
type Call struct {
	// ID of the call in the conversation.
	ID string
	// Args fit the tool's schema.
	Args json.RawMessage
	// State is what the run's tools share, as it was when the call was made. A
	// tool reads it; what it wants changed is in its Result.
	State *State
	// Scope is the step, for events and charges that belong to the call.
	Scope *run.Scope
	// Given is what came along with the agent's task for its tools: the beginning
	// of the state's Custom. Agents that are called get it too.
	Given map[string]json.RawMessage
	// Callers are the agents that wait for this call, the outermost first.
	Callers []string
	// Private is what the agent has seen and nobody outside may: the conversation,
	// what came along with the task, and what tools said that read nothing public.
	Private []string

	read any             // Args as a pointer to what the tool wants, once they are read
	from json.RawMessage // the Args that read was made of
}

// Result is what came of a call.
type Result struct {
	// Text is what the model reads.
	Text string `json:"text"`
	// Data is the same for programs; nil for most.
	Data json.RawMessage `json:"data,omitempty"`
	// Change is what it does to what the tools share.
	Change Change `json:"change,omitzero"`
}

// Func is the work of a tool whose arguments are an In.
type Func[In any] func(ctx context.Context, c *Call, in In) (Result, error)

// New makes a tool of a function. The schema is that of In (see llm.SchemaOf),
// and arguments for which In's method Validate() error, if it has one, fails
// are refused. It panics when In has no schema: that is a mistake in the code.
func New[In any](spec Spec, call Func[In]) Tool {
	schema, err := llm.SchemaOf[In]()
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	spec.Schema = schema
	if spec.Origin == "" {
		spec.Origin = Builtin
	}
	return &typed[In]{spec: spec, call: call}
}

type typed[In any] struct {
	spec Spec
	call Func[In]
}

func (t *typed[In]) Spec() *Spec { return &t.spec }

func (t *typed[In]) Call(ctx context.Context, c *Call) (Result, error) {
	in, err := Args[In](c)
	if err != nil {
		return Result{}, &ArgumentError{Tool: t.spec.Name, Err: err}
	}
	return t.call(ctx, c, in)
}

// early is a tool that can read its arguments before it is called.
type early interface{ readArgs(c *Call) }

// readArgs reads the arguments on the goroutine of the caller, whose stack is
// large enough by now: that of a new one would have to grow for it. What can't
// be read is left to the call, where it is told.
func (t *typed[In]) readArgs(c *Call) {
	defer func() {
		_ = recover() // it breaks down in the call again
	}()
	in := new(In)
	if json.Unmarshal(c.Args, in) == nil {
		c.read, c.from = in, c.Args
	}
}

// Args reads the arguments of a call.
func Args[In any](c *Call) (in In, err error) {
	p, ok := c.read.(*In)
	if c.read = nil; !ok || !same(c.from, c.Args) {
		p = new(In)
		if err := json.Unmarshal(c.Args, p); err != nil {
			return in, err
		}
	}
	if v, ok := any(p).(interface{ Validate() error }); ok {
		err = v.Validate()
	}
	return *p, err
}

// same says whether two slices are one.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// JSON is a result whose data is v and whose text is v as JSON.
func JSON(v any) (Result, error) {
	raw, err := json.Marshal(v)
	return Result{Text: string(raw), Data: raw}, err
}

// Renamed is a tool under another name, such as a second one with settings of
// its own.
func Renamed(t Tool, name string) Tool {
	spec := *t.Spec()
	spec.Name = name
	return respecified(t, spec)
}

// respecified is a tool with another spec.
func respecified(t Tool, spec Spec) Tool {
	if b, ok := t.(Branch); ok {
		return &specBranch{Branch: b, spec: spec}
	}
	return &specTool{Tool: t, spec: spec}
}

type specTool struct {
	Tool
	spec Spec
}

func (t *specTool) Spec() *Spec { return &t.spec }

type specBranch struct {
	Branch
	spec Spec
}

func (b *specBranch) Spec() *Spec { return &b.spec }
