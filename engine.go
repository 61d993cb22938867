// Package dossier is the engine as a library: open it, start runs, follow
// their events, answer their questions. The command line and the server are
// clients of this package.
//
//	engine, err := dossier.Open(ctx, dossier.Options{})
//	…
//	defer engine.Close()
//	for ev, err := range engine.Run(ctx, dossier.Request{Question: "hello"}) {
//		…
//	}
package dossier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"dossier/agent"
	"dossier/internal/access"
	"dossier/internal/base/trace"
	"dossier/internal/base/trace/otlp"
	"dossier/internal/base/usage"
	"dossier/internal/dispatch"
	"dossier/internal/fleet"
	"dossier/internal/schedule"
	"dossier/internal/store"
	"dossier/internal/webhook"
	"dossier/internal/wire"
	"dossier/kb"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/reader"
	"dossier/run"
	"dossier/sources"
	"dossier/toolkit"
)

// Engine runs requests. It is safe for concurrent use.
type Engine struct {
	store   store.Store
	home    machine
	owner   string
	work    *dispatch.Local
	modes   map[string]mode.Mode
	log     *slog.Logger
	limits  run.Limits // of runs that bring none
	library *kb.Library
	reader  *reader.Reader
	web     *sources.Web
	models  *llm.Models
	hasty   *llm.Models // with console.timeout for a reply; nil as models
	agency  *agency
	keys    *access.Keys
	clock   *schedule.Scheduler
	hooks   *webhook.Sender
	closers []func() error // in the order in which they are called

	tracer    trace.Tracer // nil for none
	spans     sync.Map     // trace.Live by run that is at work, where there is a tracer
	delivered sync.Map     // quality by run, until its outcome is recorded
	// permit is AttendOptions.Permit, nil before Attend.
	permit atomic.Pointer[func(context.Context, *Request) error]
}

// Request is what a run is asked to do.
type Request struct {
	// Mode of the run, or a short name of it as ModeName knows; empty means
	// chat.
	Mode string `json:"mode,omitempty"`
	// Session to continue; empty starts a new one.
	Session string `json:"session,omitempty"`
	// Messages are a whole conversation that ends with the question, in place of
	// Question and History; see mode.Request.Say.
	Messages []mode.Turn `json:"messages,omitempty"`
	// User whose run it is; empty is the operator's, or that of the session's
	// user.
	User string `json:"user,omitempty"`
	mode.Request
}

// agency is what the engine knows of agents: how each is made ready, and the
// fleet of those that live on.
type agency struct {
	*wire.Agency
	fleet *fleet.Fleet
}

// DefaultAgent works when none is named.
const DefaultAgent = wire.DefaultAgent

// fleetError gives the errors of a fleet a hint.
func fleetError(err error) error { return wire.FleetError(err) }

// maxQuestion bounds a question and all that comes with it in bytes: what is longer
// is a document and belongs into a folder or a collection.
const maxQuestion = 8 << 20

// parts is what an Engine is made of.
type parts struct {
	store   store.Store
	modes   []mode.Mode
	log     *slog.Logger
	owner   string
	ttl     time.Duration
	workers int
	// alive and adopt are as in dispatch.Options.
	alive   func(owner string) (bool, error)
	adopt   bool
	limits  run.Limits
	hooks   webhook.Options
	product *wire.Product // nil for an engine of modes alone
	tracer  *otlp.Tracer  // nil for none
}

func newEngine(p parts) *Engine {
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		store: p.store, owner: p.owner, modes: make(map[string]mode.Mode), log: p.log, limits: p.limits,
		keys: access.NewKeys(p.store, nil),
	}
	if made := p.product; made != nil {
		e.library, e.reader, e.web, e.models, e.hasty = made.Library, made.Reader, made.Web, made.Models, made.Hasty
		e.agency = &agency{Agency: made.Agency, fleet: made.Agency.Fleet}
		e.closers = append(e.closers, made.Close)
		p.modes = slices.Concat(made.Modes, p.modes)
	}
	e.clock, e.hooks = e.newScheduler(), e.newSender(p.hooks)
	e.closers = append(e.closers, p.store.Close)
	if p.tracer != nil {
		e.tracer, e.closers = p.tracer, append(e.closers, p.tracer.Close)
	}
	for _, m := range p.modes {
		e.modes[m.Name()] = m
	}
	o := dispatch.Options{
		Store: p.store, Owner: p.owner, TTL: p.ttl, Workers: p.workers, Program: e.program, Left: e.settle,
		Alive: p.alive, Adopt: p.adopt, Log: p.log,
	}
	if e.agency != nil {
		o.Turns = &turns{engine: e}
	}
	if e.tracer != nil {
		o.Watch = watch
	}
	e.work = dispatch.NewLocal(o)
	return e
}

// Close stops the engine: runs under way are put back to be continued by the
// next one that opens the store.
func (e *Engine) Close() error {
	e.work.Close()
	var errs []error
	for _, c := range e.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Modes returns the names of the modes.
func (e *Engine) Modes() []string {
	names := make([]string, 0, len(e.modes))
	for name := range e.modes {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// SearchEngines returns the names of the search engines that are set up.
func (e *Engine) SearchEngines() []string {
	if e.web == nil {
		return nil
	}
	var names []string
	for _, known := range e.web.Known() {
		names = append(names, known.Name)
	}
	return names
}

// modeAliases are short names of modes.
var modeAliases = map[string]string{"": "chat", "search": "web_search", "web": "web_search", "deep": "deep_search"}

// ModeName returns the name of the mode that is asked for by a name, which may
// be a short one.
func ModeName(name string) string {
	if full, ok := modeAliases[name]; ok {
		return full
	}
	return name
}

// Start creates a run and sets it going. The run does not depend on ctx:
// Cancel ends it, leaving does not.
func (e *Engine) Start(ctx context.Context, req Request) (run.Record, error) {
	return e.startAs(ctx, req, "")
}

// startAs is Start of a run whose id is chosen already; "" makes one.
func (e *Engine) startAs(ctx context.Context, req Request, id string) (run.Record, error) {
	rec, err := e.record(ctx, req, id)
	if err != nil {
		return run.Record{}, err
	}
	if err := e.begin(ctx, rec, nil, nil); err != nil {
		return run.Record{}, err
	}
	return rec, nil
}

// begin creates a run, with a past if it has one, and sets it going. One that its
// instance does not take is gone again: it was never begun. Whoever leaves meanwhile
// leaves a run that is going, not one that nobody works on.
func (e *Engine) begin(ctx context.Context, rec run.Record, entries []run.Entry, events []run.PlacedEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	defer e.work.Expect(rec.ID)()
	if err := e.store.Create(ctx, rec, entries, events); err != nil {
		return fmt.Errorf("creating the run: %w", err)
	}
	err := e.work.Enqueue(ctx, rec.ID, dispatch.Fresh)
	if rec.ForkOf != "" && errors.Is(err, fleet.ErrNoInstance) {
		err = e.work.Enqueue(ctx, rec.ID, dispatch.Resumed) // as its original would go on
	}
	if err != nil {
		err = errors.Join(err, e.store.Delete(ctx, rec.ID))
	}
	return err
}

// record checks a request and makes the record of its run, with the id given or,
// if that is empty, a new one.
func (e *Engine) record(ctx context.Context, req Request, id string) (run.Record, error) {
	if err := e.goOn(ctx, &req); err != nil {
		return run.Record{}, err
	}
	m, ok := e.modes[req.Mode]
	if !ok {
		req.Mode = ModeName(req.Mode)
		m, ok = e.modes[req.Mode]
	}
	if !ok {
		return run.Record{}, &UsageError{Message: fmt.Sprintf("there is no mode %q", req.Mode), Hint: "the modes are " + strings.Join(e.Modes(), ", ")}
	}
	if err := req.check(); err != nil {
		return run.Record{}, err
	}
	req.Imported = ""
	if req.Limits == (run.Limits{}) {
		req.Limits = e.limits
	}
	if req.In.Base == "" && req.In.Collection != "" && e.library != nil {
		// What was put into a collection is shown by the path that it has there.
		if c, err := e.library.Get(ctx, req.In.Collection); err == nil {
			req.In.Base = e.library.Uploads(c)
		}
	}
	if err := e.belongs(ctx, &req); err != nil {
		return run.Record{}, err
	}
	frozen := m.Settings()
	if c, ok := m.(mode.Configured); ok {
		var err error
		if frozen, err = c.SettingsFor(ctx, &req.Request); err != nil {
			return run.Record{}, err
		}
	}
	if ofInstance := req.Mode == agents.Name && req.Instance != ""; req.Session != "" && !ofInstance && e.agency != nil {
		if err := e.agency.fleet.Free(ctx, req.Session); err != nil {
			return run.Record{}, fleetError(err)
		}
	}
	now := time.Now()
	if web := req.In.Web; web != nil && web.Days > 0 {
		scope := *web
		scope.Since = now.AddDate(0, 0, -scope.Days)
		req.In.Web = &scope
	}
	rec := run.Record{ID: cmp.Or(id, newID(now)), Session: req.Session, User: req.User, Mode: req.Mode, Title: title(req.Question), Status: run.Queued, Created: now, Home: e.owner}
	if rec.Session == "" {
		rec.Session = rec.ID
	}
	if set, ok := frozen.(agents.Settings); ok && req.AgentID == "" {
		req.AgentID = agent.ID(set.Agent.Name, rec.ID)
	}
	rec.Agent = req.AgentID
	var err error
	if req.Settings, err = json.Marshal(frozen); err != nil {
		return run.Record{}, fmt.Errorf("settings of mode %s: %w", req.Mode, err)
	}
	req.Circumstances, req.Trace = circumstances(ctx, m, &req.Request), trace.Parent(ctx)
	if rec.Request, err = json.Marshal(req.Request); err != nil {
		return run.Record{}, fmt.Errorf("request: %w", err)
	}
	return rec, nil
}

// check makes what is asked fit to be stored, or says why that can't be.
func (req *Request) check() error {
	if len(req.Messages) > 0 {
		if req.Question != "" || len(req.History) > 0 {
			return &UsageError{Message: "messages are a whole conversation: question and history can't be given beside them"}
		}
		if err := req.Say(req.Messages); err != nil {
			return &UsageError{Message: err.Error()}
		}
	}
	// Text that is not UTF-8 would not survive its storage as JSON.
	req.Question = strings.TrimSpace(strings.ToValidUTF8(req.Question, "\uFFFD"))
	req.Context = strings.ToValidUTF8(req.Context, "\uFFFD")
	if req.Question == "" {
		return &UsageError{Message: "the question is empty", Hint: "say what you want to know, for example: dossier ask \"why is the sky blue?\""}
	}
	size := len(req.Question) + len(req.Context)
	req.History = slices.Clone(req.History)
	for i := range req.History {
		h := &req.History[i]
		h.Content = strings.ToValidUTF8(h.Content, "\uFFFD")
		size += len(h.Content)
	}
	for key, value := range req.Custom {
		if toolkit.Reserved(key) {
			return &UsageError{Message: fmt.Sprintf("custom_context can't have the key %q: the tools for documents use it among themselves", key)}
		}
		size += len(key) + len(value)
	}
	if size > maxQuestion {
		return &UsageError{Message: fmt.Sprintf("the question has %d bytes, more than the %d that fit", size, maxQuestion), Hint: "put the material into a file and ask about it"}
	}
	return nil
}

// belongs makes a run that continues a session its user's, and refuses the
// sessions of others.
func (e *Engine) belongs(ctx context.Context, req *Request) error {
	if req.Session == "" {
		return nil
	}
	s, err := e.store.Session(ctx, req.Session)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil // it is made with the run
	case err != nil:
		return err
	case req.User != "" && req.User != s.User:
		return fmt.Errorf("session %q: %w", req.Session, store.ErrNotFound)
	}
	req.User = s.User
	return nil
}

// title is the first line of a question, shortened.
func title(question string) string {
	const most = 80
	line, _, _ := strings.Cut(question, "\n")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	runes := []rune(line)
	return string(runes[:most-1]) + "…"
}

// program is the code of a run that is executed here. What has changed since the
// run was created is told first.
func (e *Engine) program(rec run.Record) (run.Func, run.Limits, error) {
	m, req, err := e.request(rec)
	if err != nil {
		return nil, run.Limits{}, err
	}
	fn := e.carryOut(m, req, func(q quality) { e.delivered.Store(rec.ID, q) })
	return func(ctx context.Context, s *run.Scope) error {
		ctx = e.traced(ctx, rec, req)
		if err := tellChanges(ctx, s, m, req); err != nil {
			return err
		}
		return fn(ctx, s)
	}, req.Limits, nil
}

// code is that of a run, without what is told of its fate in the world. How good
// its answer is, deliver is told.
func (e *Engine) code(rec run.Record, deliver func(quality)) (run.Func, run.Limits, error) {
	m, req, err := e.request(rec)
	if err != nil {
		return nil, run.Limits{}, err
	}
	return e.carryOut(m, req, deliver), req.Limits, nil
}

// request is what a run was asked to do, and the mode that does it.
func (e *Engine) request(rec run.Record) (mode.Mode, *mode.Request, error) {
	m, ok := e.modes[rec.Mode]
	if !ok {
		return nil, nil, fmt.Errorf("this program has no mode %q", rec.Mode)
	}
	req := new(mode.Request)
	if err := json.Unmarshal(rec.Request, req); err != nil {
		return nil, nil, fmt.Errorf("the stored request: %w", err)
	}
	if req.Imported != "" {
		return nil, nil, importedError(rec.ID)
	}
	return m, req, nil
}

// Sweep takes up what was left behind: runs whose worker is gone, and outcomes
// that were not recorded. It returns how many runs go on. An engine does so by
// itself, in the time of a lease.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	if err := e.recoverOutcomes(ctx); err != nil {
		return 0, err
	}
	e.collect(ctx)
	return e.work.Sweep(ctx)
}

// UsageError is a request that can't be carried out as it is.
type UsageError = usage.Error
