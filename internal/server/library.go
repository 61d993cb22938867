package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/kb"
	"dossier/report"
)

// useBody names the collection to use.
type useBody struct {
	Name string `json:"name"`
}

// handleFunc registers a handler that may fail.
type handleFunc func(pattern string, h func(w http.ResponseWriter, r *http.Request) error)

// library registers what is about collections. Their names stand in the query:
// many are paths.
func (a *api) library(handle handleFunc) {
	name := func(r *http.Request) string { return r.URL.Query().Get("name") }
	handle("GET /api/kb/collections", func(w http.ResponseWriter, r *http.Request) error {
		list, err := a.runs.Collections(r.Context())
		list.Collections = nonNil(list.Collections)
		return give(w, list, err)
	})
	handle("GET /api/kb/collection", func(w http.ResponseWriter, r *http.Request) error {
		c, err := a.runs.Collection(r.Context(), name(r))
		return give(w, c, err)
	})
	handle("DELETE /api/kb/collection", func(w http.ResponseWriter, r *http.Request) error {
		return done(w, a.runs.DeleteCollection(r.Context(), name(r)))
	})
	handle("POST /api/kb/search", func(w http.ResponseWriter, r *http.Request) error {
		var q kb.Query
		if err := read(w, r, &q); err != nil {
			return err
		}
		found, err := a.runs.SearchCollection(r.Context(), name(r), q)
		found.Hits = nonNil(found.Hits)
		return give(w, found, err)
	})
	handle("POST /api/kb/use", func(w http.ResponseWriter, r *http.Request) error {
		var b useBody
		if err := read(w, r, &b); err != nil {
			return err
		}
		c, err := a.runs.UseCollection(r.Context(), b.Name)
		return give(w, c, err)
	})
	handle("GET /api/doctor", func(w http.ResponseWriter, r *http.Request) error {
		offline := false
		if text := r.URL.Query().Get("offline"); text != "" {
			var err error
			if offline, err = strconv.ParseBool(text); err != nil {
				return &dossier.UsageError{Message: fmt.Sprintf("offline is %q", text), Hint: "write true or false"}
			}
		}
		found, err := a.runs.Diagnose(r.Context(), offline)
		return give(w, nonNil(found), err)
	})
}

// give replies with a value unless there is an error.
func give(w http.ResponseWriter, value any, err error) error {
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, value)
}

// Report implements Runs.
func (c *Client) Report(ctx context.Context, id string) (*report.Report, error) {
	return fetch[*report.Report](ctx, c, http.MethodGet, path(id)+"/report.json", nil)
}

// Snapshots implements Runs.
func (c *Client) Snapshots(ctx context.Context, id string) (map[string]string, error) {
	return fetch[map[string]string](ctx, c, http.MethodGet, path(id)+"/snapshots", nil)
}

// Collections implements Library.
func (c *Client) Collections(ctx context.Context) (dossier.CollectionList, error) {
	return fetch[dossier.CollectionList](ctx, c, http.MethodGet, "/api/kb/collections", nil)
}

// Collection implements Library.
func (c *Client) Collection(ctx context.Context, name string) (dossier.CollectionDetail, error) {
	return fetch[dossier.CollectionDetail](ctx, c, http.MethodGet, named("/api/kb/collection", name), nil)
}

// SearchCollection implements Library.
func (c *Client) SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error) {
	return fetch[kb.Result](ctx, c, http.MethodPost, named("/api/kb/search", name), q)
}

// DeleteCollection implements Library.
func (c *Client) DeleteCollection(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, named("/api/kb/collection", name), nil, nil)
}

// UseCollection implements Library.
func (c *Client) UseCollection(ctx context.Context, name string) (kb.Collection, error) {
	return fetch[kb.Collection](ctx, c, http.MethodPost, "/api/kb/use", useBody{name})
}

// Diagnose implements Library.
func (c *Client) Diagnose(ctx context.Context, offline bool) ([]dossier.Finding, error) {
	return fetch[[]dossier.Finding](ctx, c, http.MethodGet, "/api/doctor?offline="+strconv.FormatBool(offline), nil)
}

func named(path, name string) string { return path + "?" + url.Values{"name": {name}}.Encode() }
