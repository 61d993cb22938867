package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/internal/access"
	"dossier/kb"
	"dossier/lang"
	"dossier/report"
)

// useBody names the collection to use.
type useBody struct {
	Name string `json:"name"`
}

const aCollection = "/api/kb/collections/{name}"

// libraryRoutes are about collections. Many have a path for a name: it is escaped
// in the address, or the collection is named by its id.
func libraryRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/kb/collections", Scope: access.Read, Doc: &Doc{Summary: "List the collections", Reply: dossier.CollectionList{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Collections(r.Context())
				list.Collections = nonNil(list.Collections)
				return give(w, list, err)
			},
		},
		{
			Pattern: "GET " + aCollection, Scope: access.Read, Doc: &Doc{Summary: "Show a collection, by its name or id, and what could not be read of it", Reply: dossier.CollectionDetail{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				c, err := EngineOf(r.Context()).Collection(r.Context(), r.PathValue("name"))
				return give(w, c, err)
			},
		},
		{
			Pattern: "DELETE " + aCollection, Scope: access.Documents, Doc: &Doc{Summary: "Delete a collection with what was put into it; the files that it mirrors stay"},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				return done(w, EngineOf(r.Context()).DeleteCollection(r.Context(), r.PathValue("name")))
			},
		},
		{
			Pattern: "POST " + aCollection + "/search", Scope: access.Read, Doc: &Doc{Summary: "Search a collection", Body: kb.Query{}, Reply: kb.Result{}},
			Serve: searchIn(func(r *http.Request) string { return r.PathValue("name") }),
		},
		{
			Pattern: "POST /api/kb/search", Scope: access.Read, Doc: &Doc{Summary: "Search the collection in use", Body: kb.Query{}, Reply: kb.Result{}},
			Serve: searchIn(func(*http.Request) string { return "" }),
		},
		{
			Pattern: "POST /api/kb/use", Scope: access.Admin, Doc: &Doc{Summary: "Choose the collection that is asked where none is named", Body: useBody{}, Reply: kb.Collection{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b useBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				c, err := EngineOf(r.Context()).UseCollection(r.Context(), b.Name)
				return give(w, c, err)
			},
		},
		{
			Pattern: "GET /api/abilities", Scope: access.Read, Doc: &Doc{Summary: "What there is to work with: modes, models and search engines", Reply: dossier.Abilities{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				a, err := EngineOf(r.Context()).Abilities(r.Context())
				return give(w, a, err)
			},
		},
		{Pattern: "GET /api/doctor", Scope: access.Admin, Serve: diagnose, Doc: &Doc{
			Summary: "Check that everything works", Reply: []dossier.Finding{}, Query: []Param{{"offline", "boolean", "ask nobody outside"}, {"lang", "string", "what it is told in: en, ru or zh"}},
		}},
	}
}

// searchIn searches the collection that a request names.
func searchIn(name func(*http.Request) string) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var q kb.Query
		if err := read(w, r, &q); err != nil {
			return err
		}
		found, err := EngineOf(r.Context()).SearchCollection(r.Context(), name(r), q)
		found.Hits = nonNil(found.Hits)
		return give(w, found, err)
	}
}

// flag reads a setting of the query that is true or false; false where it is not there.
func flag(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	set, err := strconv.ParseBool(text)
	if err != nil {
		err = &dossier.UsageError{Message: fmt.Sprintf("%s is %q", name, text), Hint: "write true or false"}
	}
	return set, err
}

func diagnose(w http.ResponseWriter, r *http.Request) error {
	offline, err := flag(r, "offline")
	if err != nil {
		return err
	}
	c := dossier.Checkup{Offline: offline, Lang: cmp.Or(lang.Code(r.URL.Query().Get("lang")), tongue(r))}
	found, err := EngineOf(r.Context()).Diagnose(r.Context(), c)
	return give(w, nonNil(found), err)
}

// Report implements Runs.
func (c *Client) Report(ctx context.Context, id string) (*report.Report, error) {
	r, err := fetch[*report.Report](ctx, c, http.MethodGet, path(id)+"/report.json", nil)
	if p, ok := errors.AsType[*Problem](err); ok && p.Code == "not_done" {
		err = fmt.Errorf("%w: %s", dossier.ErrNoReport, id)
	}
	return r, err
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
	return fetch[dossier.CollectionDetail](ctx, c, http.MethodGet, collection(name), nil)
}

// SearchCollection implements Library.
func (c *Client) SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error) {
	if name == "" {
		return fetch[kb.Result](ctx, c, http.MethodPost, "/api/kb/search", q)
	}
	return fetch[kb.Result](ctx, c, http.MethodPost, collection(name)+"/search", q)
}

// DeleteCollection implements Library.
func (c *Client) DeleteCollection(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, collection(name), nil, nil)
}

// UseCollection implements Library.
func (c *Client) UseCollection(ctx context.Context, name string) (kb.Collection, error) {
	return fetch[kb.Collection](ctx, c, http.MethodPost, "/api/kb/use", useBody{name})
}

// Diagnose implements Library.
func (c *Client) Diagnose(ctx context.Context, how dossier.Checkup) ([]dossier.Finding, error) {
	q := url.Values{"offline": {strconv.FormatBool(how.Offline)}, "lang": {string(how.Lang)}}
	return fetch[[]dossier.Finding](ctx, c, http.MethodGet, "/api/doctor?"+q.Encode(), nil)
}

// Abilities implements Library.
func (c *Client) Abilities(ctx context.Context) (dossier.Abilities, error) {
	return fetch[dossier.Abilities](ctx, c, http.MethodGet, "/api/abilities", nil)
}

func collection(name string) string { return "/api/kb/collections/" + url.PathEscape(name) }
