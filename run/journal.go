package run

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"dossier/event"
)

// Status of a run.
type Status string

// A run is queued until a worker takes it, running while one works on it,
// waiting while it asks the user something, paused when told to, and ends as
// done, failed or cancelled.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Waiting   Status = "waiting"
	Paused    Status = "paused"
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended says whether the run is over.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Record is what is known of a run beside its journal and events.
type Record struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// User whose run it is; "" is the operator's.
	User string `json:"user,omitempty"`
	Mode string `json:"mode"`
	// Request is what was asked, with every setting that the run depends on.
	Request json.RawMessage `json:"request,omitempty"`
	// Agent is the id by which clients know the agent that works on it: one agent
	// may have several runs. It is empty where none does.
	Agent string `json:"agent_id,omitempty"`
	// Title is a short line for lists.
	Title  string `json:"title"`
	Status Status `json:"status"`
	// Failure is set when Status is Failed.
	Failure *Failure `json:"failure,omitempty"`
	// Epoch counts the workers that have held the run; each commit carries
	// the epoch of the worker that makes it.
	Epoch int64  `json:"epoch"`
	Owner string `json:"owner,omitempty"`
	// Home names the worker that is to execute the run, "" whoever finds it.
	Home       string    `json:"home,omitempty"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated,omitzero"`
	// LastSeq is the sequence of the last durable event.
	LastSeq int64 `json:"last_seq"`
	// Active is the time that workers have spent on the run, in nanoseconds
	// where it is JSON.
	Active time.Duration `json:"active"`
	// Spent is what the recorded steps cost.
	Spent Spent `json:"spent"`
	// ForkOf and ForkAt name the run and the step that this run was forked
	// from; empty for others.
	ForkOf string `json:"fork_of,omitempty"`
	ForkAt string `json:"fork_at,omitempty"`
	// Tags are words by which its user finds it again, in order.
	Tags []string `json:"tags,omitempty"`
}

// Failure is why a run failed, for people.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Step    string `json:"step,omitempty"` // key of the step that failed
	// Steps are all that failed, where several did together.
	Steps []string `json:"steps,omitempty"`
	// Stack is that of a panic.
	Stack string `json:"stack,omitempty"`
}

// Spent is what a step, or a run, has cost.
type Spent struct {
	Calls        int     `json:"calls,omitempty"`
	InputTokens  int     `json:"input_tokens,omitempty"`
	OutputTokens int     `json:"output_tokens,omitempty"`
	Cost         float64 `json:"cost,omitempty"` // USD
	Searches     int     `json:"searches,omitempty"`
	Pages        int     `json:"pages,omitempty"`
}

// Add returns the sum of both.
func (s Spent) Add(o Spent) Spent {
	return Spent{
		Calls: s.Calls + o.Calls, InputTokens: s.InputTokens + o.InputTokens, OutputTokens: s.OutputTokens + o.OutputTokens,
		Cost: s.Cost + o.Cost, Searches: s.Searches + o.Searches, Pages: s.Pages + o.Pages,
	}
}

// EntryKind says what a journal entry records.
type EntryKind string

// The kinds of entries.
const (
	EntryStep    EntryKind = "step"    // a finished step and its result
	EntryFault   EntryKind = "fault"   // a step that failed, with its error
	EntryIntent  EntryKind = "intent"  // an effectful step is about to start
	EntryAsk     EntryKind = "ask"     // a question to the user
	EntryAnswer  EntryKind = "answer"  // the answer that the run used
	EntrySend    EntryKind = "send"    // a message put into a mailbox
	EntryReceive EntryKind = "receive" // a message taken out: the key of its send
	EntrySteer   EntryKind = "steer"   // steering that the run has seen
	EntryCheck   EntryKind = "check"   // what a look at the budget found
)

// Entry is one record of a run's journal. Key is the place in the run's code;
// (run, key, kind) is unique.
type Entry struct {
	// Ord counts the entries of a run from 1 in the order of recording.
	Ord   int64           `json:"ord"`
	Key   string          `json:"key"`
	Kind  EntryKind       `json:"kind"`
	Value json.RawMessage `json:"value"`
	Spent Spent           `json:"spent,omitzero"`
	// Seq is the run's last event when the entry was recorded. The events of a
	// step are recorded with it and lie before.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	// Branch is how many bytes of the Key name the parallel branch, started
	// with Go, in which the entry was recorded; 0 is the run's own.
	Branch int `json:"branch,omitempty"`
	// Born is one more than the Ord of the last entry that the code knew of which
	// began that branch: what was recorded elsewhere after it was not its cause.
	Born int64 `json:"born,omitempty"`
	// Short says that less was done than could have been: "finish" because the
	// run was told to, or the name of the limit that was reached.
	Short string `json:"short,omitempty"`
}

// PlacedEvent is a durable event and the place in the run's code that emitted
// it; (run, place) is unique.
type PlacedEvent struct {
	Place string
	event.Event
}

type wirePlaced struct {
	Place string      `json:"place"`
	Event event.Event `json:"event"`
}

// MarshalJSON keeps the place beside the event: the embedded event's own
// encoding would drop it.
func (p PlacedEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(wirePlaced{p.Place, p.Event})
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (p *PlacedEvent) UnmarshalJSON(b []byte) error {
	var w wirePlaced
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	p.Place, p.Event = w.Place, w.Event
	return nil
}

// SignalKind says what somebody outside wants of a run.
type SignalKind string

// The kinds of signals.
const (
	SignalAnswer SignalKind = "answer" // Key is the ask's, Text the answer
	SignalSteer  SignalKind = "steer"  // Text is for the run to consider
	SignalPause  SignalKind = "pause"
	SignalFinish SignalKind = "finish" // end now with what there is
	SignalCancel SignalKind = "cancel"
)

// Signal is a durable message from outside to a run.
type Signal struct {
	N    int64 // order of arrival, assigned by the store
	Kind SignalKind
	Key  string
	Text string
	Time time.Time
}

// History is all that is needed to go on with a run.
type History struct {
	Record  Record
	Entries []Entry
	// LastOrd is the Ord of the last entry that was recorded, be it forgotten
	// since.
	LastOrd int64
	// Places maps the place of each durable event to its sequence.
	Places  map[string]int64
	Signals []Signal
}

// Batch is what a worker commits at once: all of it or nothing.
type Batch struct {
	Run     string
	Epoch   int64
	Entries []Entry
	Events  []PlacedEvent
	// State, if set, is the run's new state. Release gives the lease up.
	State   *State
	Release bool
	// Active is added to the run's active time, Spent to what it has spent.
	Active time.Duration
	Spent  Spent
}

// State is the part of a Record that a worker changes.
type State struct {
	Status  Status
	Failure *Failure
}

// UnstoredError is an error of storage that says nothing of the run, as that the
// disk is full. A step that meets one has not failed: the run stops as it does when
// the step can't be recorded, and is taken up again.
type UnstoredError struct{ Code, Message, Hint string }

func (e *UnstoredError) Error() string { return e.Message }

// Fault tells the kernel how to record the error.
func (e *UnstoredError) Fault() (code, hint string) { return e.Code, e.Hint }

// Journal is the kernel's port to storage.
type Journal interface {
	// Acquire takes the lease of a run that is free (no owner, or an expired
	// lease), raises its epoch, sets it running and returns its history. It
	// fails with ErrLeased when a worker (this one too) holds a live lease,
	// with ErrEnded when the run is over and with ErrUnknownRun.
	Acquire(ctx context.Context, id, owner string, ttl time.Duration) (*History, error)

	// Commit queues b and returns at once; done is called exactly once, when
	// the batch is durable or has failed, maybe before Commit returns; it must
	// not block. Batches of one run are committed, and reported, in the order
	// of the calls. A batch whose epoch is not the run's, or whose run has no
	// owner (it was released), fails with ErrFenced and changes nothing; it
	// never disturbs other runs' batches. The events must go on from the run's
	// last sequence without a gap. After done the journal does not touch b or
	// its slices any more: the caller uses them again.
	Commit(b *Batch, done func(error))

	// Renew extends the leases of the runs in held that owner still owns
	// until ttl from now, and returns the runs among them that have signals
	// with N greater than the given high-water mark of each, and those of
	// held that it no longer owns. A lease that has expired and that nobody
	// has taken is still its owner's.
	Renew(ctx context.Context, owner string, ttl time.Duration, held map[string]int64) (signalled, lost []string, err error)

	// Signalled returns the runs that owner holds and that have signals, each
	// with the N of its last one.
	Signalled(ctx context.Context, owner string) (map[string]int64, error)

	// Signals returns a run's signals with N > after, in order.
	Signals(ctx context.Context, id string, after int64) ([]Signal, error)

	// History reads a run without taking it.
	History(ctx context.Context, id string) (*History, error)
}

// Errors of the Journal port.
var (
	ErrUnknownRun = errors.New("no such run")
	ErrLeased     = errors.New("another worker is on this run")
	ErrEnded      = errors.New("the run is over")
	ErrFenced     = errors.New("another worker has taken the run over")
)
