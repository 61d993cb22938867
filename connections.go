package dossier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dossier/internal/config"
	"dossier/llm"
	"dossier/search"
)

// Connection is something elsewhere that the engine calls: a model or a search
// engine. It never holds a key.
type Connection struct {
	// Kind is model or engine.
	Kind string `json:"kind"`
	// Name is the first of the roles of a model, or the name of a search engine.
	Name string `json:"name"`
	// Roles, Model, Provider and Endpoint of a model.
	Roles    []string `json:"roles,omitempty"`
	Model    string   `json:"model,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Endpoint string   `json:"endpoint,omitempty"`
	// Missing is what it needs before it can be called.
	Missing string `json:"missing,omitempty"`
}

// The kinds of connections.
const (
	ToModel  = "model"
	ToEngine = "engine"
)

// Connections are the models, each once for all roles that share it, and the search
// engines: those that are set up, then those that lack something.
func (e *Engine) Connections(context.Context) ([]Connection, error) {
	out := []Connection{}
	if e.models != nil {
		for _, role := range config.Roles() {
			s := e.models.Setting(llm.RoleName(role))
			if s.Model == nil && s.Embedder == nil || role == config.RoleEmbeddings && (s.Embedder == nil || s.Name == "") {
				continue
			}
			c := Connection{Kind: ToModel, Name: string(role), Roles: []string{string(role)}, Model: s.Name, Provider: s.Provider, Endpoint: s.Endpoint}
			same := func(o Connection) bool {
				return o.Model == c.Model && o.Endpoint == c.Endpoint && o.Provider == c.Provider && role != config.RoleEmbeddings
			}
			if i := slices.IndexFunc(out, same); i >= 0 {
				out[i].Roles = append(out[i].Roles, string(role))
				continue
			}
			out = append(out, c)
		}
	}
	if e.web == nil {
		return out, nil
	}
	for _, engine := range e.web.Engines {
		out = append(out, Connection{Kind: ToEngine, Name: engine.Info().Name})
	}
	for _, name := range slices.Sorted(maps.Keys(e.web.Missing)) {
		out = append(out, Connection{Kind: ToEngine, Name: name, Missing: e.web.Missing[name]})
	}
	return out, nil
}

// TryConnection makes one small call to a model, named by its role, or to a search
// engine, and says how it went. It waits ProbeTime at most and repeats nothing.
func (e *Engine) TryConnection(ctx context.Context, kind, name string) (Finding, error) {
	list, err := e.Connections(ctx)
	if err != nil {
		return Finding{}, err
	}
	i := slices.IndexFunc(list, func(c Connection) bool {
		return c.Kind == kind && (c.Name == name || slices.Contains(c.Roles, name))
	})
	if i < 0 {
		return Finding{}, &UsageError{Message: fmt.Sprintf("no %s %q is set up", kind, name), Hint: "GET /api/connections lists what there is"}
	}
	switch c := list[i]; {
	case c.Missing != "":
		return Finding{What: kind + " " + name, Detail: "it needs " + c.Missing, Code: "not_configured", Unset: true}, nil
	case kind == ToModel:
		return e.tryModel(ctx, name), nil
	}
	for _, engine := range e.web.Engines {
		if engine.Info().Name == name {
			return tryEngine(ctx, Checkup{}, engine), nil
		}
	}
	return Finding{}, fmt.Errorf("the engine %s is gone", name)
}

// firstFailure hears of the first failure, at which a trial is over.
type firstFailure struct{ end context.CancelCauseFunc }

func (w firstFailure) CallFailed(f llm.Failure) { w.end(f.Err) }

// tryModel has the model of a role say something.
func (e *Engine) tryModel(ctx context.Context, role string) Finding {
	f := Finding{What: "model " + role, Optional: true}
	timed, cancel := context.WithTimeout(ctx, ProbeTime)
	defer cancel()
	once, end := context.WithCancelCause(timed)
	defer end(nil)
	began := time.Now()
	t, err := try(&llm.Watched{Context: llm.Replaceable(once), Watcher: firstFailure{end}}, e.models, role)
	f.Took = time.Since(began)
	if err == nil {
		f.OK, f.Detail = true, strings.TrimSpace(t.Reply)
		return f
	}
	if first, ok := errors.AsType[*llm.Error](context.Cause(once)); ok {
		err = first
	}
	failed, ok := errors.AsType[*llm.Error](err)
	switch {
	case ok:
		f.Code, f.Hint = failed.Fault()
		f.Detail = failed.Error()
		if failed.Retryable() && failed.Kind != llm.ErrUnreachable {
			f.Hint = "try again in a while, or use another model"
		}
	case errors.Is(err, llm.ErrNotConfigured):
		f.Code, f.Detail, f.Hint = "not_configured", err.Error(), "`dossier models` says how to connect one"
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Detail, f.Hint = string(llm.ErrTimeout), fmt.Sprintf("no answer in %s", ProbeTime), "try again in a while, or use another model"
	default:
		f.Code, f.Detail = "failed", err.Error()
	}
	return f
}

// codeOf is why an engine did not search, in the words that models fail with.
func codeOf(r search.Reason) string {
	switch r {
	case search.RateLimited:
		return string(llm.ErrRateLimited)
	case search.Unauthorized:
		return string(llm.ErrAuth)
	case search.TooSlow:
		return string(llm.ErrTimeout)
	case search.Unreachable:
		return string(llm.ErrUnreachable)
	case search.Blocked:
		return "blocked"
	}
	return string(llm.ErrServer)
}
