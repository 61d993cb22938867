package server

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/internal/access"
	"dossier/run"
)

const aSession = "/api/sessions/{id}"

type titleBody struct {
	Title string `json:"title"`
}

// sessionDetail is a session with its newest runs.
type sessionDetail struct {
	dossier.Session
	List []run.Record `json:"list"`
}

// sessionRoutes are about conversations.
func sessionRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/sessions", Scope: access.Read,
			Doc: &Doc{Summary: "List sessions, the one with the newest run first; the next page is before the last one's id", Reply: []dossier.Session{}, Query: []Param{
				{"user", "string", "whose sessions; for the operator"},
				{"before", "string", "only sessions older than the one with this id"},
				{"limit", "integer", "how many, 100 by default and 1000 at most"},
			}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				q := r.URL.Query()
				limit, err := number("limit", q.Get("limit"))
				if err != nil {
					return err
				}
				found, err := EngineOf(r.Context()).Sessions(r.Context(), dossier.SessionFilter{User: q.Get("user"), Before: q.Get("before"), Limit: min(limit, mostListed)})
				return give(w, nonNil(found), err)
			},
		},
		{
			Pattern: "GET " + aSession, Scope: access.Read, Doc: &Doc{Summary: "Show a session with its newest runs", Reply: sessionDetail{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				e := EngineOf(r.Context())
				s, err := e.Session(r.Context(), r.PathValue("id"))
				if err != nil {
					return err
				}
				runs, err := e.List(r.Context(), dossier.Filter{Session: s.ID})
				return give(w, sessionDetail{s, recordsFor(r, runs)}, err)
			},
		},
		{
			Pattern: "PATCH " + aSession, Scope: access.Run, Doc: &Doc{Summary: "Give a session another title", Body: titleBody{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b titleBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				return done(w, EngineOf(r.Context()).RenameSession(r.Context(), r.PathValue("id"), b.Title))
			},
		},
		{
			Pattern: "DELETE " + aSession, Scope: access.Run, Serve: told(Engine.DeleteSession),
			Doc: &Doc{Summary: "Delete a session with its runs, unless one of them is worked on"},
		},
	}
}

// Sessions implements Conversations.
func (c *Client) Sessions(ctx context.Context, f dossier.SessionFilter) ([]dossier.Session, error) {
	q := url.Values{}
	for key, value := range map[string]string{"user": f.User, "before": f.Before} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return fetch[[]dossier.Session](ctx, c, http.MethodGet, "/api/sessions?"+q.Encode(), nil)
}

// Session implements Conversations.
func (c *Client) Session(ctx context.Context, id string) (dossier.Session, error) {
	return fetch[dossier.Session](ctx, c, http.MethodGet, session(id), nil)
}

// RenameSession implements Conversations.
func (c *Client) RenameSession(ctx context.Context, id, title string) error {
	return c.call(ctx, http.MethodPatch, session(id), titleBody{title}, nil)
}

// DeleteSession implements Conversations.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, session(id), nil, nil)
}

func session(id string) string { return "/api/sessions/" + url.PathEscape(id) }
