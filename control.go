package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/base/trace"
	"dossier/internal/dispatch"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/mode/evidence"
	"dossier/run"
)

// Run starts a run and follows it to its end. A yielded error is terminal. A
// caller who stops early leaves the run going; its id is in every event.
func (e *Engine) Run(ctx context.Context, req Request) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		rec, err := e.record(ctx, req, "")
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		w := e.work.Watch(rec.ID) // before the run begins, so that no delta is missed
		defer w.Leave()
		if err := e.begin(ctx, rec, nil, nil); err != nil {
			yield(event.Event{}, err)
			return
		}
		w.Follow(ctx, dispatch.Begin, yield)
	}
}

// Events follows a run: first the durable events after the given sequence,
// then everything as it happens, transient events included if it is worked on
// here, until the run is over. A yielded error is terminal.
func (e *Engine) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return e.work.Follow(ctx, id, after)
}

// Stay is Events that goes on when the run is over: what people change in its report
// comes as they do.
func (e *Engine) Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return e.work.Stay(ctx, id, after)
}

// StoppedError says that a run can't go on here, though it is not over.
type StoppedError = dispatch.StoppedError

// Detail is all that is known of a run.
type Detail struct {
	Record run.Record `json:"run"`
	// Steps are the entries of the journal in the order of recording.
	Steps []run.Entry `json:"steps,omitempty"`
	// Asks are the questions that wait for an answer.
	Asks []Ask `json:"asks,omitempty"`
	// State is how far a deep research is, under the names of its engine; nil for
	// other runs, and before there is one.
	State json.RawMessage `json:"state,omitempty"`
}

// Ask is a question that a run waits for.
type Ask struct {
	ID string `json:"id"`
	run.Question
}

// Get returns the record of a run. The id may be shortened to any unique
// beginning or end of it that has four characters; "last" is the newest run.
func (e *Engine) Get(ctx context.Context, id string) (run.Record, error) {
	if rec, err := e.store.Run(ctx, id); err == nil || !errors.Is(err, run.ErrUnknownRun) {
		return rec, err
	}
	if id == "last" {
		list, err := e.store.List(ctx, store.Filter{Limit: 1})
		if err != nil {
			return run.Record{}, err
		}
		if len(list) > 0 {
			return e.store.Run(ctx, list[0].ID)
		}
	}
	found, err := e.store.Find(ctx, id)
	if err != nil {
		return run.Record{}, err
	}
	switch len(found) {
	case 1:
		return e.store.Run(ctx, found[0])
	case 0:
		return run.Record{}, fmt.Errorf("%w: %q", run.ErrUnknownRun, id)
	case store.FindMost:
		return run.Record{}, &UsageError{Message: fmt.Sprintf("%q fits %d runs or more", id, len(found)), Hint: "give more of the id"}
	}
	return run.Record{}, &UsageError{Message: fmt.Sprintf("%q fits %d runs", id, len(found)), Hint: "give more of the id"}
}

// Show returns a run with its journal and open questions.
func (e *Engine) Show(ctx context.Context, id string) (Detail, error) {
	rec, err := e.Get(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	h, err := e.store.History(ctx, rec.ID)
	if err != nil {
		return Detail{}, err
	}
	open, err := e.store.Asks(ctx, rec.ID)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Record: h.Record, Steps: h.Entries}
	for _, entry := range open {
		ask := Ask{ID: entry.Key}
		if err := json.Unmarshal(entry.Value, &ask.Question); err != nil {
			return Detail{}, fmt.Errorf("question %s: %w", entry.Key, err)
		}
		d.Asks = append(d.Asks, ask)
	}
	d.State = stateOf(d)
	return d, nil
}

// stateOf is the last state that a run recorded of itself, with the question that
// it waits for.
func stateOf(d Detail) json.RawMessage {
	var state map[string]any
	for _, entry := range d.Steps {
		if entry.Kind == run.EntryStep && path.Base(entry.Key) == evidence.StateStep {
			state = nil
			if json.Unmarshal(entry.Value, &state) != nil {
				return nil
			}
		}
	}
	if state == nil {
		return nil
	}
	if len(d.Asks) > 0 {
		state["pending_question"] = strings.Join(d.Asks[0].Questions, "\n")
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return nil
	}
	return raw
}

// Filter narrows List.
type Filter = store.Filter

// List returns runs, the last created first, without their requests.
func (e *Engine) List(ctx context.Context, f Filter) ([]run.Record, error) {
	return e.store.List(ctx, f)
}

// Log returns the durable events of a run after the given sequence.
func (e *Engine) Log(ctx context.Context, id string, after int64) ([]event.Event, error) {
	placed, err := e.store.Events(ctx, id, after, 0)
	events := make([]event.Event, len(placed))
	for i := range placed {
		events[i] = placed[i].Event
	}
	return events, err
}

// Answer answers a question of a run: the one with the given id, or the oldest
// open one when ask is empty. The run goes on.
func (e *Engine) Answer(ctx context.Context, id, ask, text string) error {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if err := e.store.Answer(ctx, id, ask, text); err != nil {
		return err
	}
	return e.work.Wake(ctx, id)
}

// Wake has signals to a run taken in that another process has recorded.
func (e *Engine) Wake(ctx context.Context, id string) error { return e.work.Wake(ctx, id) }

// Owner is the name of this engine's worker in the data directory.
func (e *Engine) Owner() string { return e.owner }

// Pause lets a run finish the steps under way and then rest.
func (e *Engine) Pause(ctx context.Context, id string) error {
	rec, err := e.store.Run(ctx, id)
	if err != nil {
		return err
	}
	if rec.Status == run.Paused {
		return nil
	}
	return e.work.Signal(ctx, id, run.Signal{Kind: run.SignalPause})
}

// Finish makes a run end now with what there is.
func (e *Engine) Finish(ctx context.Context, id string) error {
	return e.work.Signal(ctx, id, run.Signal{Kind: run.SignalFinish})
}

// Cancel ends a run at once.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	return e.work.Signal(ctx, id, run.Signal{Kind: run.SignalCancel})
}

// Steer tells a run something that it takes into account where it can.
func (e *Engine) Steer(ctx context.Context, id, text string) error {
	if strings.TrimSpace(text) == "" {
		return &UsageError{Message: "the run is told nothing", Hint: "say what it is to consider"}
	}
	return e.work.Signal(ctx, id, run.Signal{Kind: run.SignalSteer, Text: strings.ToValidUTF8(text, "\uFFFD")})
}

// ResumeOptions say how a run goes on.
type ResumeOptions struct {
	// From names the step that is done anew, with all that came of it; empty
	// means those that failed.
	From string `json:"from,omitempty"`
	// Limits replace those of the run that they name; zero ones stay.
	Limits run.Limits `json:"limits,omitzero"`
}

// Resume goes on with a run that was paused, interrupted, cancelled or failed,
// or that ended with what there was because it was told to finish or a limit
// was reached that is raised now. Steps that are recorded are not done again,
// save those that failed or fell short, and what came of them.
func (e *Engine) Resume(ctx context.Context, id string, o ResumeOptions) error {
	rec, err := e.store.Run(ctx, id)
	if err != nil {
		return err
	}
	if _, _, err := e.request(rec); errors.Is(err, errImported) {
		return err
	}
	if s, belongs := e.seat(rec); belongs {
		// A run that its instance does not take stays as it is.
		if err := e.agency.fleet.Resumes(ctx, s.Instance); err != nil && !errors.Is(err, fleet.ErrNoInstance) {
			return fleetError(err)
		}
	}
	defer e.work.Expect(id)()
	if err := e.reopen(ctx, id, o); err != nil {
		return err
	}
	return e.work.Enqueue(ctx, id, dispatch.Resumed)
}

// reopen makes a run that rests runnable again.
func (e *Engine) reopen(ctx context.Context, id string, o ResumeOptions) error {
	for {
		h, err := e.store.History(ctx, id)
		if err != nil {
			return err
		}
		rest := h.Record.Status.Ended() || h.Record.Status == run.Paused
		if !rest && o == (ResumeOptions{}) {
			return nil
		}
		request, raised, err := raise(h.Record.Request, o.Limits)
		if err != nil {
			return err
		}
		r, err := run.Reopen(h, run.ReopenOptions{From: o.From, Raised: raised, Request: request, Home: e.owner})
		if err != nil {
			return resumeError(id, err)
		}
		switch err := e.store.Reopen(ctx, id, r); {
		case err == nil:
			return nil
		case !errors.Is(err, run.ErrChanged):
			return err
		}
	}
}

// raise returns a request with other limits, and which of them are higher.
func raise(request json.RawMessage, to run.Limits) (_ json.RawMessage, raised []string, _ error) {
	if to == (run.Limits{}) {
		return nil, nil, nil
	}
	var req mode.Request
	if err := json.Unmarshal(request, &req); err != nil {
		return nil, nil, fmt.Errorf("the stored request: %w", err)
	}
	var err error
	if req.Limits, raised, err = req.Limits.Raise(to); err != nil {
		return nil, nil, &UsageError{Message: err.Error(), Hint: "`dossier runs show` tells what is spent; limits count from the run's beginning"}
	}
	raw, err := json.Marshal(req)
	return raw, raised, err
}

// resumeError says what to do where a run can't go on as it is.
func resumeError(id string, err error) error {
	if spent, ok := errors.AsType[*run.SpentError](err); ok {
		return &UsageError{Message: err.Error(), Hint: "`dossier runs resume " + id + " --max-" + spent.What + " …` raises it", Err: err}
	}
	if _, ok := errors.AsType[*run.NoStepError](err); ok {
		return &UsageError{Message: err.Error(), Err: err}
	}
	return fmt.Errorf("run %q: %w", id, err)
}

// ForkOptions says what a fork does differently.
type ForkOptions struct {
	// Model replaces the model of every role.
	Model string `json:"model,omitempty"`
	// Question replaces the question.
	Question string `json:"question,omitempty"`
}

// Fork starts a new run that shares the past of another one up to the step at,
// and does that step and what follows anew.
func (e *Engine) Fork(ctx context.Context, id, at string, o ForkOptions) (run.Record, error) {
	h, log, err := e.past(ctx, id)
	if err != nil {
		return run.Record{}, err
	}
	entries, events, err := run.Fork(h, log, at)
	if err != nil {
		return run.Record{}, resumeError(id, err)
	}
	var req mode.Request
	if err := json.Unmarshal(h.Record.Request, &req); err != nil {
		return run.Record{}, fmt.Errorf("the stored request: %w", err)
	}
	if o.Model != "" {
		req.Model = o.Model
	}
	if o.Question != "" {
		req.Question = strings.TrimSpace(strings.ToValidUTF8(o.Question, "\uFFFD"))
		// The past that is shared holds the old question as the first thing
		// that the run's code said.
		for i := range events {
			if m, ok := events[i].Data.(event.Message); ok && m.Role == "user" {
				m.Text = req.Question
				events[i].Data = m
			}
		}
	}
	now := time.Now()
	fork := newID(now)
	if h.Record.Mode == agents.Name {
		var set agents.Settings
		if err := json.Unmarshal(req.Settings, &set); err != nil {
			return run.Record{}, fmt.Errorf("the stored request: %w", err)
		}
		req.AgentID = agent.ID(set.Agent.Name, fork)
	}
	req.Trace = trace.Parent(ctx)
	rename(events, fork, req.AgentID)
	rec := run.Record{
		ID: fork, Session: h.Record.Session, User: h.Record.User, Agent: req.AgentID, Mode: h.Record.Mode, Title: title(req.Question),
		Status: run.Queued, Created: now, Home: e.owner, ForkOf: h.Record.ID, ForkAt: at,
	}
	if rec.Request, err = json.Marshal(req); err != nil {
		return run.Record{}, err
	}
	if err := e.begin(ctx, rec, entries, events); err != nil {
		return run.Record{}, err
	}
	return rec, nil
}

// rename gives the agents in the past of a fork the ids that they have in it; own
// is that of the agent whose run it is, if any.
func rename(events []run.PlacedEvent, fork, own string) {
	for i := range events {
		if d, ok := events[i].Data.(event.AgentStarted); ok && d.ID != "" {
			path, _, _ := strings.Cut(events[i].Place, "#")
			if d.ID = own; path != "" || own == "" {
				d.ID = agent.ID(d.Name, fork+path)
			}
			events[i].Data = d
		}
	}
}

// Replay executes a run that is over from its journal alone and returns the
// event log that comes out of it, which equals the recorded one or the replay
// fails. Nothing is called and nothing is stored.
func (e *Engine) Replay(ctx context.Context, id string) ([]event.Event, error) {
	h, log, err := e.past(ctx, id)
	if err != nil {
		return nil, err
	}
	fn, limits, err := e.code(h.Record, func(quality) {})
	if err != nil {
		return nil, err
	}
	return run.Replay(ctx, h, log, fn, limits)
}

func (e *Engine) past(ctx context.Context, id string) (*run.History, []run.PlacedEvent, error) {
	h, err := e.store.History(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	log, err := e.store.Events(ctx, id, 0, 0)
	return h, log, err
}

// Bundle is a run as a file: its record, journal and log.
type Bundle struct {
	Version int               `json:"version"`
	Run     run.Record        `json:"run"`
	Entries []run.Entry       `json:"journal"`
	Events  []run.PlacedEvent `json:"events"`
}

// BundleVersion of the file format.
const BundleVersion = 1

// Export returns all that is recorded of a run.
func (e *Engine) Export(ctx context.Context, id string) (Bundle, error) {
	h, log, err := e.past(ctx, id)
	if err != nil {
		return Bundle{}, err
	}
	h.Record.Owner, h.Record.LeaseUntil = "", time.Time{}
	return Bundle{Version: BundleVersion, Run: h.Record, Entries: h.Entries, Events: log}, nil
}

// Delete removes a run that nobody works on.
func (e *Engine) Delete(ctx context.Context, id string) error {
	if err := e.store.Delete(ctx, id); err != nil {
		return err
	}
	e.work.Forget(context.WithoutCancel(ctx), id)
	e.collect(ctx)
	return nil
}

// What a run can have of tags: mostTags of them, with longestTag characters at most.
const mostTags, longestTag = 20, 50

// TagCount is a tag and how many runs have it.
type TagCount = store.TagCount

// Tag gives a run these tags in place of those that it had.
func (e *Engine) Tag(ctx context.Context, id string, tags []string) ([]string, error) {
	var clean []string
	for _, tag := range tags {
		tag = strings.Join(strings.Fields(strings.ToValidUTF8(tag, "\uFFFD")), " ")
		if tag == "" || utf8.RuneCountInString(tag) > longestTag || strings.ContainsFunc(tag, unicode.IsControl) {
			return nil, &UsageError{Message: fmt.Sprintf("%q is no tag", tag), Hint: fmt.Sprintf("a tag has 1 to %d characters", longestTag)}
		}
		clean = append(clean, tag)
	}
	clean = store.CleanTags(clean)
	if len(clean) > mostTags {
		return nil, &UsageError{Message: fmt.Sprintf("a run has %d tags at most", mostTags)}
	}
	rec, err := e.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return clean, e.store.Tag(ctx, rec.ID, clean)
}

// Tags returns the tags that runs of a user have, of all with an empty one.
func (e *Engine) Tags(ctx context.Context, user string) ([]TagCount, error) {
	return e.store.Tags(ctx, user)
}
