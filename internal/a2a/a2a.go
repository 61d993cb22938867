// Package a2a shows agents to those who speak the A2A protocol
// (https://a2a-protocol.org): a card for each agent, and its work as tasks over
// JSON-RPC and HTTP+JSON, with streams. It keeps nothing itself: a task is what
// the port says it is, so tasks outlive the process as far as their runs do.
//
// Who may call is for the handlers in front of it, and whose tasks a caller may
// see is for the port: both get the request's context.
package a2a

import (
	"context"
	"errors"
	"iter"
)

// Agents is what the package needs of whoever has the agents.
type Agents interface {
	// Cards of the agents that may be called from outside. The first one is that
	// of whoever does not name an agent.
	Cards(ctx context.Context) ([]Card, error)
	// Start begins work on a text in a session; an empty session is a new one.
	Start(ctx context.Context, agent, session, text string) (id string, err error)
	// Follow yields how the work is now and then each change, and ends when it
	// asks or is over.
	Follow(ctx context.Context, id string) iter.Seq2[Progress, error]
	// Answer goes on with work that asks.
	Answer(ctx context.Context, id, text string) error
	// Cancel ends work that is not over.
	Cancel(ctx context.Context, id string) error
}

// Errors of Agents that callers are told. Any other is kept from them.
var (
	// ErrUnknown says that there is no such agent, session or task, or none that
	// the caller may know of.
	ErrUnknown = errors.New("there is no such agent, session or task")
	// ErrOver says that the work is over, or does not ask.
	ErrOver = errors.New("the task can't go on from where it is")
	// ErrBusy says that there is no room for more work now.
	ErrBusy = errors.New("there is too much to do already; try again later")
)

// Card is an agent as others see it.
type Card struct {
	// Name is part of addresses: letters, digits, "_" and "-".
	Name        string
	Title       string // Name when empty
	Description string
	Version     string
	Skills      []Skill
}

// Skill is something that an agent can do.
type Skill struct {
	ID          string
	Name        string
	Description string
	Tags        []string
	Examples    []string
}

// State of work.
type State string

// The states.
const (
	Working   State = "working"
	Asking    State = "asking"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Progress is how work is.
type Progress struct {
	Agent   string
	Session string
	State   State
	// Text is the answer when it is done, and what went wrong when it failed;
	// while it works, what it is doing.
	Text string
	// Question is what it asks.
	Question string
}
