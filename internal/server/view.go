package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/store"
	"dossier/mode/ingest"
	"dossier/mode/toolcall"
	"dossier/report"
	"dossier/run"
)

// Policy is what the operator allows those who come over the network.
type Policy struct {
	// Folders below which requests may name folders and files.
	Folders Folders
	// Shared are collections of the operator's that every user may ask.
	Shared []string
	// Limits of each run; a request can ask for less, not for more.
	Limits run.Limits
}

// view is an engine as one caller sees it: what is another user's is not there,
// and what the operator does not allow is refused. Its files are by what they are
// about: runs here, documents and agents beside it.
type view struct {
	Engine
	caller access.Caller
	policy *Policy
	// closing ends when the server stops: whoever follows a run then is told so.
	closing context.Context
}

var _ Engine = view{}

// own finds a run that the caller sees. Only the operator's ids may be short:
// those of others would tell of runs that are not theirs.
func (v view) own(ctx context.Context, id string) (run.Record, error) {
	rec, err := v.Engine.Get(ctx, id)
	if v.caller.Operates() {
		about(ctx, rec.ID)
		return rec, err
	}
	var ambiguous *dossier.UsageError
	if errors.As(err, &ambiguous) || err == nil && (rec.ID != id || !v.caller.Sees(rec.User)) {
		err = run.ErrUnknownRun
	}
	if errors.Is(err, run.ErrUnknownRun) {
		return run.Record{}, fmt.Errorf("%w: %q", run.ErrUnknownRun, id)
	}
	about(ctx, rec.ID)
	return rec, err
}

// shown is a record without what is none of a user's business: who works on the
// run, and the settings of the installation that are frozen into it.
func (v view) shown(rec run.Record) run.Record {
	if v.caller.Operates() {
		return rec
	}
	rec.Owner, rec.Home = "", ""
	var req map[string]json.RawMessage
	if json.Unmarshal(rec.Request, &req) == nil {
		delete(req, "settings")
		delete(req, "circumstances")
		if raw, err := json.Marshal(req); err == nil {
			rec.Request = raw
		}
	}
	return rec
}

// with does something with a run that the caller sees.
func (v view) with(ctx context.Context, id string, do func(id string) error) error {
	rec, err := v.own(ctx, id)
	if err != nil {
		return err
	}
	return do(rec.ID)
}

// Start implements Runs.
func (v view) Start(ctx context.Context, req dossier.Request) (run.Record, error) {
	req.Settings, req.Circumstances, req.Trace, req.Schedule = nil, nil, "", ""
	if !v.caller.Operates() {
		req.User = v.caller.User
	}
	if err := v.permits(ctx, &req); err != nil {
		return run.Record{}, err
	}
	rec, err := v.Engine.Start(ctx, req)
	about(ctx, rec.ID)
	return v.shown(rec), err
}

// permits says why a request is not carried out.
func (v view) permits(ctx context.Context, req *dossier.Request) error {
	switch dossier.ModeName(req.Mode) {
	case toolcall.Name:
		if !v.caller.May(access.Tools) {
			return lacks(access.Tools)
		}
	case ingest.Name:
		if !v.caller.May(access.Documents) {
			return lacks(access.Documents)
		}
	}
	if len(req.In.Paths) > 0 && req.In.Collection != "" && !v.caller.May(access.Documents) {
		return lacks(access.Documents)
	}
	if err := v.target(ctx, req); err != nil {
		return err
	}
	if req.AgentID != "" {
		// The agents of others are not there; its definition was allowed when it began.
		switch list, err := v.List(ctx, dossier.Filter{Agent: req.AgentID, Limit: 1}); {
		case err != nil:
			return err
		case len(list) == 0:
			return &dossier.UsageError{Message: fmt.Sprintf("%v: %q", dossier.ErrUnknownAgent, req.AgentID), Err: dossier.ErrUnknownAgent}
		}
	}
	if req.CompareWith != "" {
		rec, err := v.own(ctx, req.CompareWith)
		if err != nil {
			return err
		}
		req.CompareWith = rec.ID
	}
	agent := req.Agent
	if req.Instance != "" {
		i, err := v.instance(ctx, req.Instance)
		if err != nil {
			return err
		}
		agent = i.Template
	}
	if dossier.ModeName(req.Mode) != toolcall.Name {
		if err := v.calls(ctx, agent, map[string]bool{}); err != nil {
			return err
		}
	}
	if err := req.Limits.Check(); err != nil {
		return &dossier.UsageError{Message: err.Error(), Err: err}
	}
	if req.Limits != (run.Limits{}) {
		req.Limits = within(req.Limits, v.policy.Limits)
	}
	return nil
}

// lacks says that the caller's token does not allow something.
func lacks(s access.Scope) error {
	return &Problem{Code: "forbidden", Message: fmt.Sprintf("this token does not allow that: it lacks the scope %s", s), Hint: "ask the operator for a token that has it"}
}

// within lowers limits to the operator's, which also hold where none is asked for.
func within(asked, most run.Limits) run.Limits {
	return run.Limits{
		Tokens: lower(asked.Tokens, most.Tokens), Cost: lower(asked.Cost, most.Cost), Time: lower(asked.Time, most.Time),
		Searches: lower(asked.Searches, most.Searches), Pages: lower(asked.Pages, most.Pages),
	}
}

func lower[T int | float64 | ~int64](asked, most T) T {
	if most > 0 && (asked <= 0 || asked > most) {
		return most
	}
	return asked
}

// Get implements Runs.
func (v view) Get(ctx context.Context, id string) (run.Record, error) {
	rec, err := v.own(ctx, id)
	return v.shown(rec), err
}

// Show implements Runs.
func (v view) Show(ctx context.Context, id string) (d dossier.Detail, err error) {
	err = v.with(ctx, id, func(id string) error {
		d, err = v.Engine.Show(ctx, id)
		d.Record = v.shown(d.Record)
		return err
	})
	return d, err
}

// List implements Runs.
func (v view) List(ctx context.Context, f dossier.Filter) ([]run.Record, error) {
	if !v.caller.Operates() {
		f.User = v.caller.User
	}
	if f.Before != "" {
		if _, err := v.own(ctx, f.Before); err != nil {
			return nil, err
		}
	}
	list, err := v.Engine.List(ctx, f)
	for i := range list {
		list[i] = v.shown(list[i])
	}
	return list, err
}

// Log implements Runs.
func (v view) Log(ctx context.Context, id string, after int64) (log []event.Event, err error) {
	err = v.with(ctx, id, func(id string) error { log, err = v.Engine.Log(ctx, id, after); return err })
	return log, err
}

// Events implements Runs.
func (v view) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return v.follow(ctx, id, after, v.Engine.Events)
}

// Stay implements Runs.
func (v view) Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return v.follow(ctx, id, after, v.Engine.Stay)
}

// follow follows a run of the caller's until the server stops. Thousands wait in it,
// each on a stack that is small as long as little lies on it.
func (v view) follow(ctx context.Context, id string, after int64, how func(context.Context, string, int64) iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		events, end := v.begin(ctx, id, after, how)
		defer end()
		events(stopping(v.closing, yield))
	}
}

// begin is what follow follows, or why it can't, and what ends it.
func (v *view) begin(ctx context.Context, id string, after int64, how func(context.Context, string, int64) iter.Seq2[event.Event, error]) (iter.Seq2[event.Event, error], context.CancelFunc) {
	whole, err := v.ownID(ctx, id)
	if err != nil {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }, func() {}
	}
	ctx, end := withEnd(ctx, v.closing)
	return how(ctx, whole, after), end
}

// stopping yields that the server stops in place of whatever error comes of that.
func stopping(closing context.Context, yield func(event.Event, error) bool) func(event.Event, error) bool {
	return func(ev event.Event, err error) bool {
		if err != nil && closing.Err() != nil {
			err = errStopping
		}
		return yield(ev, err)
	}
}

// errStopping ends what follows a run of a server that stops.
var errStopping = &Problem{Code: "shutdown", Message: "the server is stopping", Hint: "nothing is lost: the run goes on when the server is started again, and can be asked for by its id"}

// ownID is own for those who stay long: a record on the stacks of thousands of
// streams is what they would take most for.
func (v view) ownID(ctx context.Context, id string) (string, error) {
	rec, err := v.own(ctx, id)
	return rec.ID, err
}

// Answer implements Runs.
func (v view) Answer(ctx context.Context, id, ask, text string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Answer(ctx, id, ask, text) })
}

// Wake implements Runs.
func (v view) Wake(ctx context.Context, id string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Wake(ctx, id) })
}

// Pause implements Runs.
func (v view) Pause(ctx context.Context, id string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Pause(ctx, id) })
}

// Resume implements Runs.
func (v view) Resume(ctx context.Context, id string, o dossier.ResumeOptions) error {
	if err := o.Limits.Check(); err != nil {
		return &dossier.UsageError{Message: err.Error(), Err: err}
	}
	if o.Limits != (run.Limits{}) {
		most := v.policy.Limits
		o.Limits = run.Limits{
			Tokens: capped(o.Limits.Tokens, most.Tokens), Cost: capped(o.Limits.Cost, most.Cost), Time: capped(o.Limits.Time, most.Time),
			Searches: capped(o.Limits.Searches, most.Searches), Pages: capped(o.Limits.Pages, most.Pages),
		}
	}
	return v.with(ctx, id, func(id string) error { return v.Engine.Resume(ctx, id, o) })
}

// capped is a limit that is to be raised: one that is not named stays as it is.
func capped[T int | float64 | ~int64](asked, most T) T {
	if asked <= 0 {
		return 0
	}
	return lower(asked, most)
}

// Finish implements Runs.
func (v view) Finish(ctx context.Context, id string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Finish(ctx, id) })
}

// Cancel implements Runs.
func (v view) Cancel(ctx context.Context, id string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Cancel(ctx, id) })
}

// Steer implements Runs.
func (v view) Steer(ctx context.Context, id, text string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Steer(ctx, id, text) })
}

// Fork implements Runs.
func (v view) Fork(ctx context.Context, id, at string, o dossier.ForkOptions) (rec run.Record, err error) {
	err = v.with(ctx, id, func(id string) error { rec, err = v.Engine.Fork(ctx, id, at, o); return err })
	return v.shown(rec), err
}

// Replay implements Runs.
func (v view) Replay(ctx context.Context, id string) (log []event.Event, err error) {
	err = v.with(ctx, id, func(id string) error { log, err = v.Engine.Replay(ctx, id); return err })
	return log, err
}

// Export implements Runs.
func (v view) Export(ctx context.Context, id string) (b dossier.Bundle, err error) {
	err = v.with(ctx, id, func(id string) error { b, err = v.Engine.Export(ctx, id); return err })
	b.Run = v.shown(b.Run)
	return b, err
}

// Delete implements Runs.
func (v view) Delete(ctx context.Context, id string) error {
	return v.with(ctx, id, func(id string) error { return v.Engine.Delete(ctx, id) })
}

// Report implements Runs.
func (v view) Report(ctx context.Context, id string) (r *report.Report, err error) {
	err = v.with(ctx, id, func(id string) error { r, err = v.Engine.Report(ctx, id); return err })
	return r, err
}

// Snapshots implements Runs.
func (v view) Snapshots(ctx context.Context, id string) (texts map[string]string, err error) {
	err = v.with(ctx, id, func(id string) error { texts, err = v.Engine.Snapshots(ctx, id); return err })
	return texts, err
}

// Session implements Conversations.
func (v view) Session(ctx context.Context, id string) (dossier.Session, error) {
	s, err := v.Engine.Session(ctx, id)
	if err == nil && !v.caller.Sees(s.User) {
		return dossier.Session{}, fmt.Errorf("session %q: %w", id, store.ErrNotFound)
	}
	return s, err
}

// Sessions implements Conversations.
func (v view) Sessions(ctx context.Context, f dossier.SessionFilter) ([]dossier.Session, error) {
	if !v.caller.Operates() {
		f.User = v.caller.User
	}
	if f.Before != "" {
		if _, err := v.Session(ctx, f.Before); err != nil {
			return nil, err
		}
	}
	return v.Engine.Sessions(ctx, f)
}

// RenameSession implements Conversations.
func (v view) RenameSession(ctx context.Context, id, title string) error {
	if _, err := v.Session(ctx, id); err != nil {
		return err
	}
	return v.Engine.RenameSession(ctx, id, title)
}

// DeleteSession implements Conversations.
func (v view) DeleteSession(ctx context.Context, id string) error {
	if _, err := v.Session(ctx, id); err != nil {
		return err
	}
	return v.Engine.DeleteSession(ctx, id)
}

// templateOf is the name of a template without the version behind it.
func templateOf(agent string) string {
	name, _, _ := strings.Cut(agent, "@")
	return name
}

// operators says that something is the operator's to do.
func (v view) operators() error {
	if v.caller.Operates() {
		return nil
	}
	return &Problem{Code: "forbidden", Message: "that is the operator's to do"}
}

// Tokens implements Keyring.
func (v view) Tokens(ctx context.Context) ([]dossier.Token, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.Tokens(ctx)
}

// CreateToken implements Keyring. Nobody gives more than they have.
func (v view) CreateToken(ctx context.Context, t dossier.Token) (dossier.CreatedToken, error) {
	if err := v.operators(); err != nil {
		return dossier.CreatedToken{}, err
	}
	if len(t.Scopes) == 0 && t.User == "" {
		t.Scopes = v.caller.Scopes
	}
	if i := slices.IndexFunc(t.Scopes, func(s access.Scope) bool { return !v.caller.May(s) }); i >= 0 {
		return dossier.CreatedToken{}, lacks(t.Scopes[i])
	}
	return v.Engine.CreateToken(ctx, t)
}

// RevokeToken implements Keyring.
func (v view) RevokeToken(ctx context.Context, id string) error {
	if err := v.operators(); err != nil {
		return err
	}
	return v.Engine.RevokeToken(ctx, id)
}
