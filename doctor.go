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

// Diagnose checks the store, the collections, the parsers and the search
// engines. Each engine that is set up gets one search for ProbeWord, all at
// once; offline leaves them out, and then nothing is sent anywhere.
func (e *Engine) Diagnose(ctx context.Context, offline bool) ([]Finding, error) {
	var engines []Finding
	var asked sync.WaitGroup
	if !offline && e.web != nil {
		asked.Go(func() { engines = e.tryEngines(ctx) })
	}
	out, err := e.diagnose(ctx)
	asked.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return append(out, engines...), err
}

// diagnose checks what is on this machine.
func (e *Engine) diagnose(ctx context.Context) ([]Finding, error) {
	began := time.Now()
	err := e.store.Check(ctx)
	out := []Finding{{What: "database", OK: err == nil, Took: time.Since(began)}}
	if err != nil {
		out[0].Detail, out[0].Hint = err.Error(), "keep the file as it is and restore the data directory from a backup"
	}
	list, err := e.library.List(ctx)
	if err != nil {
		return out, err
	}
	for _, c := range list {
		out = append(out, e.examine(ctx, c))
	}
	for _, c := range e.reader.SelfTest(ctx) {
		f := Finding{What: "parser " + string(c.Format), OK: c.OK, Detail: c.Detail, Took: c.Took}
		if c.Sample != "" {
			f.What += " (" + c.Sample + ")"
		}
		if !c.OK {
			f.Hint = "documents of this kind can't be read; the log file says more"
		}
		out = append(out, f)
	}
	return out, nil
}

// examine checks one collection: its index and the folders that it mirrors.
func (e *Engine) examine(ctx context.Context, c kb.Collection) Finding {
	began := time.Now()
	f := Finding{What: "collection " + c.Name, OK: true, Detail: fmt.Sprintf("%d documents, %d passages", c.Documents, c.Chunks)}
	if c.Failed > 0 {
		f.Detail += fmt.Sprintf(", %d files without text", c.Failed)
	}
	if c.Outdated > 0 {
		f.Detail += fmt.Sprintf(", %d read by another version of this program", c.Outdated)
		f.Hint = "they are found as that version read them; `dossier kb add` with its folder and --name reads them again"
	}
	if err := e.library.Verify(ctx, c.ID); err != nil {
		f.OK, f.Detail, f.Hint = false, err.Error(), "`dossier kb rm` and `dossier kb add` build it anew; the files are not touched"
	}
	for _, root := range c.Roots {
		if _, err := os.Stat(root); err != nil {
			f.OK, f.Detail, f.Hint = false, "the folder "+root+" can't be read: "+err.Error(), "its documents are still found; `dossier kb rm` forgets them"
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
func (e *Engine) tryEngines(ctx context.Context) []Finding {
	tried := make([]Finding, len(e.web.Engines))
	var all sync.WaitGroup
	for i, engine := range e.web.Engines {
		all.Go(func() { tried[i] = tryEngine(ctx, engine) })
	}
	all.Wait()
	out := slices.Clone(tried)
	for _, name := range slices.Sorted(maps.Keys(e.web.Missing)) {
		out = append(out, Finding{What: "engine " + name, Detail: "it needs " + e.web.Missing[name], Optional: true, Unset: true})
	}
	switch {
	case len(tried) == 0:
		out = append(out, Finding{
			What: "web search", Detail: "no search engine is set up", Optional: true, Unset: true,
			Hint: "`dossier config explain search` lists the settings; your own documents can be asked without",
		})
	case !slices.ContainsFunc(tried, func(f Finding) bool { return f.OK }):
		out = append(out, Finding{
			What: "web search", Detail: "no search engine answers", Optional: true,
			Hint: "is this machine connected to the Internet? `dossier doctor --offline` leaves the engines out",
		})
	}
	return out
}

// fresh is an engine that keeps replies and can be asked past them.
type fresh interface{ Fresh() search.Engine }

// tryEngine has one engine search. One that does not come back in time is left
// behind.
func tryEngine(ctx context.Context, engine search.Engine) Finding {
	f := Finding{What: "engine " + engine.Info().Name, Optional: true}
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
	f.OK, f.Detail = true, fmt.Sprintf("%d results", len(got.hits))
	if len(got.hits) == 1 {
		f.Detail = "1 result"
	}
	if slices.ContainsFunc(trace.Attempts(), func(a search.Attempt) bool { return a.Cached }) {
		f.Detail += ", kept from an earlier search"
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
