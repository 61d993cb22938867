package dossier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/kb"
	"dossier/lang"
	"dossier/search"
)

// Finding is the result of one check of the engine's health.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Code is why a call to somebody else failed, as auth or timeout; "" for others.
	Code string        `json:"code,omitempty"`
	Took time.Duration `json:"took,omitempty"`
	// Optional says that the rest works without it.
	Optional bool `json:"optional,omitempty"`
	// Unset says that it is not there, so that there was nothing to check.
	Unset bool `json:"unset,omitempty"`
}

// In is a finding whose detail and hint are in a language: why a call to somebody
// else failed is found out in English.
func (f Finding) In(to lang.Code) Finding {
	f.Detail, f.Hint = lang.Retold(to, f.Detail), lang.Retold(to, f.Hint)
	return f
}

// Checkup says how an engine is to be checked.
type Checkup struct {
	// Offline leaves the search engines out: nothing is sent anywhere.
	Offline bool
	// Lang is what the findings are written in; English for those that there are no
	// messages in.
	Lang lang.Code
}

// say is a message of a checkup.
func (c Checkup) say(key string, args ...any) string {
	return lang.Text(c.Lang, "doctor."+key, args...)
}

// Diagnose checks the data directory, the store, the collections, the parsers, the
// search engines, and what else of this machine is used. Each engine that is set up
// gets one search for ProbeWord, all at once.
func (e *Engine) Diagnose(ctx context.Context, c Checkup) ([]Finding, error) {
	var engines []Finding
	var asked sync.WaitGroup
	if !c.Offline && e.web != nil {
		asked.Go(func() { engines = e.tryEngines(ctx, c) })
	}
	out, err := e.diagnose(ctx, c)
	asked.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	for _, f := range engines {
		out = append(out, f.In(c.Lang))
	}
	if e.home.dir == "" || err != nil {
		return out, err
	}
	models, err := e.modelFinding(ctx, c)
	return slices.Concat([]Finding{e.home.examine(c)}, out, e.home.fonts(c), []Finding{browserFinding(c), models}), err
}

// diagnose checks what is on this machine.
func (e *Engine) diagnose(ctx context.Context, how Checkup) ([]Finding, error) {
	began := time.Now()
	err := e.store.Check(ctx)
	out := []Finding{{What: how.say("database"), OK: err == nil, Took: time.Since(began)}}
	if err != nil {
		out[0].Detail, out[0].Hint = err.Error(), how.say("database.hint")
	}
	list, err := e.library.List(ctx)
	if err != nil {
		return out, err
	}
	for _, c := range list {
		out = append(out, e.examine(ctx, how, c))
	}
	for _, c := range e.reader.SelfTest(ctx) {
		f := Finding{What: how.say("parser", "name", c.Format), OK: c.OK, Detail: c.Detail, Took: c.Took}
		if c.Sample != "" {
			f.What += " (" + c.Sample + ")"
		}
		if !c.OK {
			f.Hint = how.say("parser.hint")
		}
		out = append(out, f)
	}
	return out, nil
}

// examine checks one collection: its index and the folders that it mirrors.
func (e *Engine) examine(ctx context.Context, how Checkup, c kb.Collection) Finding {
	began := time.Now()
	f := Finding{What: how.say("collection", "name", c.Name), OK: true, Detail: how.say("counts", "documents", c.Documents, "passages", c.Chunks)}
	if c.Failed > 0 {
		f.Detail += how.say("failed", "files", c.Failed)
	}
	if c.Outdated > 0 {
		f.Detail += how.say("outdated", "files", c.Outdated)
		f.Hint = how.say("outdated.hint")
	}
	if err := e.library.Verify(ctx, c.ID); err != nil {
		f.OK, f.Detail, f.Hint = false, err.Error(), how.say("index.hint")
	}
	for _, root := range c.Roots {
		if _, err := os.Stat(root); err != nil {
			f.OK, f.Detail, f.Hint = false, how.say("root", "root", root, "why", err), how.say("root.hint")
		}
	}
	f.Took = time.Since(began)
	return f
}

const (
	// ProbeWord is what Diagnose searches for.
	ProbeWord = "science"
	// ProbeTime is how long it waits for each engine.
	ProbeTime = 15 * time.Second

	probeResults = 5
)

// tryEngines has each engine that is set up search for something, and tells
// what the others need.
func (e *Engine) tryEngines(ctx context.Context, how Checkup) []Finding {
	tried := make([]Finding, len(e.web.Engines))
	var all sync.WaitGroup
	for i, engine := range e.web.Engines {
		all.Go(func() { tried[i] = tryEngine(ctx, how, engine) })
	}
	all.Wait()
	out := slices.Clone(tried)
	for _, name := range slices.Sorted(maps.Keys(e.web.Missing)) {
		out = append(out, Finding{What: how.say("engine", "name", name), Detail: how.say("needs", "what", e.web.Missing[name]), Optional: true, Unset: true})
	}
	switch {
	case len(tried) == 0:
		out = append(out, Finding{
			What: how.say("web"), Detail: how.say("web.none"), Optional: true, Unset: true,
			Hint: how.say("web.none.hint"),
		})
	case !slices.ContainsFunc(tried, func(f Finding) bool { return f.OK }):
		out = append(out, Finding{
			What: how.say("web"), Detail: how.say("web.down"), Optional: true,
			Hint: how.say("web.down.hint"),
		})
	}
	return out
}

// fresh is an engine that keeps replies and can be asked past them.
type fresh interface{ Fresh() search.Engine }

// tryEngine has one engine search. One that does not come back in time is left
// behind.
func tryEngine(ctx context.Context, how Checkup, engine search.Engine) Finding {
	f := Finding{What: how.say("engine", "name", engine.Info().Name), Optional: true}
	if kept, ok := engine.(fresh); ok {
		engine = kept.Fresh()
	}
	ctx, cancel := context.WithTimeout(ctx, ProbeTime)
	defer cancel()
	type reply struct {
		hits []search.Hit
		err  error
	}
	trace := &search.Trace{}
	came := make(chan reply, 1)
	began := time.Now()
	go func() {
		hits, err := engine.Search(search.WithTrace(ctx, trace), search.Query{Text: ProbeWord, Limit: probeResults})
		came <- reply{hits, err}
	}()
	var got reply
	select {
	case got = <-came:
	case <-ctx.Done():
		got.err = context.Cause(ctx)
	}
	f.Took = time.Since(began)
	if got.err != nil {
		f.Code, f.Detail, f.Hint = whyFailed(got.err)
		return f
	}
	f.OK, f.Detail = true, how.say("results", "n", len(got.hits))
	if slices.ContainsFunc(trace.Attempts(), func(a search.Attempt) bool { return a.Cached }) {
		f.Detail += how.say("kept")
	}
	return f
}

// whyFailed says why an engine did not search, and what to do where that helps.
func whyFailed(err error) (code, detail, hint string) {
	failed, ok := errors.AsType[*search.Error](err)
	switch {
	case !ok && errors.Is(err, context.DeadlineExceeded):
		return codeOf(search.TooSlow), fmt.Sprintf("%s: no answer in %s", search.TooSlow, ProbeTime), ""
	case !ok: // the words of others may hold a key
		return codeOf(search.Unavailable), fmt.Sprintf("%s: it failed with an unexpected %T", search.Unavailable, err), ""
	}
	if failed.Reason == search.Unauthorized {
		_, hint = failed.Fault()
	}
	return codeOf(failed.Reason), strings.TrimPrefix(failed.Error(), failed.Engine+": "), hint
}
