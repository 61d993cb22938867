package server

import (
	"context"
	"net/http"
	"sync"

	"dossier"
	"dossier/internal/access"
)

// connectionBody names what is to be tried.
type connectionBody struct {
	// Kind is model or engine.
	Kind string `json:"kind"`
	// Name of the role of a model, or of the search engine.
	Name string `json:"name"`
}

// connectionRoutes are about models and search engines elsewhere. Each trial is a call
// that somebody pays for, so there are not many at a time.
func (a *api) connectionRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/connections", Scope: access.Admin, Doc: &Doc{Summary: "List the models and search engines that are called; their keys are not shown", Reply: []dossier.Connection{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Connections(r.Context())
				return give(w, nonNil(list), err)
			},
		},
		{
			Pattern: "POST /api/connections/test", Scope: access.Admin,
			Doc: &Doc{Summary: "Make one small call to a model or a search engine, and say how it went", Body: connectionBody{}, Reply: dossier.Finding{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b connectionBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				if err := a.trials.enter(); err != nil {
					return err
				}
				found, err := EngineOf(r.Context()).TryConnection(r.Context(), b.Kind, b.Name)
				return give(w, findingFor(r, found), err)
			},
		},
	}
}

// trialRate is how many trials a second there may be on average; some more may come
// at once.
const trialRate = 0.2

// trials bounds how often connections are tried, whoever does it.
type trials struct {
	once sync.Once
	pace *pace
}

func (t *trials) enter() error {
	t.once.Do(func() { t.pace = newPace(trialRate) })
	if wait, ok := t.pace.take("trials"); !ok {
		return &tooFast{&Problem{Code: "rate_limit", Message: "connections are tried too often", Hint: "wait for the seconds that Retry-After says"}, wait}
	}
	return nil
}

// Connections implements Library.
func (c *Client) Connections(ctx context.Context) ([]dossier.Connection, error) {
	return fetch[[]dossier.Connection](ctx, c, http.MethodGet, "/api/connections", nil)
}

// TryConnection implements Library.
func (c *Client) TryConnection(ctx context.Context, kind, name string) (dossier.Finding, error) {
	return fetch[dossier.Finding](ctx, c, http.MethodPost, "/api/connections/test", connectionBody{kind, name})
}
