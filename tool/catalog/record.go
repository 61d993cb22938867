package catalog

import (
	"context"
	"time"
)

// Store keeps what is known of tools beyond a process. It is safe for
// concurrent use.
type Store interface {
	// PutTools writes down what tools are; their use stays. A tool is its
	// origin and its name.
	PutTools(ctx context.Context, entries []Entry) error
	// ToolRecords returns all tools in the order of their origins and names.
	ToolRecords(ctx context.Context) ([]Record, error)
	// RecordUse adds to the use of tools. Tools that it does not know are left
	// out.
	RecordUse(ctx context.Context, uses []ToolUse) error
}

// Record is what a store keeps of a tool.
type Record struct {
	Entry
	Use
}

// Use is how often a tool was called and how that went. Health is in it: when
// it last worked, and what went wrong when it last did not.
type Use struct {
	Calls    int64
	Failures int64
	Time     time.Duration // of all calls
	Last     time.Time     // call
	OK       time.Time     // when it last worked, or its server did
	Failed   time.Time     // when it, or its server, last failed, with Error
	Error    string
}

// ToolUse is the use of a tool.
type ToolUse struct {
	Origin, Name string
	Use
}

// Add adds what was used later.
func (u *Use) Add(o Use) {
	u.Calls += o.Calls
	u.Failures += o.Failures
	u.Time += o.Time
	if o.Last.After(u.Last) {
		u.Last = o.Last
	}
	if o.OK.After(u.OK) {
		u.OK = o.OK
	}
	if !o.Failed.IsZero() && !o.Failed.Before(u.Failed) {
		u.Failed, u.Error = o.Failed, o.Error
	}
}

// Healthy says whether the last that is known of a tool is that it works, or
// nothing is known.
func (u *Use) Healthy() bool { return u.Failed.IsZero() || u.OK.After(u.Failed) }
