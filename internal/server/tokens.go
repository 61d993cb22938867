package server

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"dossier"
	"dossier/internal/access"
)

// tokenBody asks for a token.
type tokenBody struct {
	// User that it is for; empty makes one of the operator.
	User    string         `json:"user,omitempty"`
	Scopes  []access.Scope `json:"scopes,omitempty"`
	Note    string         `json:"note,omitempty"`
	Expires time.Time      `json:"expires,omitzero"`
}

// tokenRoutes are about tokens.
func tokenRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/tokens", Scope: access.Admin, Doc: &Doc{Summary: "List the tokens; what they are is kept nowhere", Reply: []dossier.Token{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Tokens(r.Context())
				return give(w, nonNil(list), err)
			},
		},
		{
			Pattern: "POST /api/tokens", Scope: access.Admin,
			Doc: &Doc{Summary: "Make a token; the reply is the only place where it stands", Body: tokenBody{}, Reply: dossier.CreatedToken{}, Status: http.StatusCreated},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b tokenBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				names := make([]string, len(b.Scopes))
				for i, s := range b.Scopes {
					names[i] = string(s)
				}
				scopes, err := access.ParseScopes(names)
				if err != nil {
					return err
				}
				made, err := EngineOf(r.Context()).CreateToken(r.Context(), dossier.Token{User: b.User, Scopes: scopes, Note: b.Note, Expires: b.Expires})
				if err != nil {
					return err
				}
				return reply(w, http.StatusCreated, made)
			},
		},
		{
			Pattern: "DELETE /api/tokens/{id}", Scope: access.Admin, Serve: told(Engine.RevokeToken), Doc: &Doc{Summary: "Make a token invalid"},
		},
		{
			Pattern: "GET /api/me", Scope: access.Read, Doc: &Doc{Summary: "Who you are, and what you may do", Reply: access.Caller{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				return reply(w, http.StatusOK, CallerOf(r.Context()))
			},
		},
	}
}

// Tokens implements Keyring.
func (c *Client) Tokens(ctx context.Context) ([]dossier.Token, error) {
	return fetch[[]dossier.Token](ctx, c, http.MethodGet, "/api/tokens", nil)
}

// CreateToken implements Keyring.
func (c *Client) CreateToken(ctx context.Context, t dossier.Token) (dossier.CreatedToken, error) {
	return fetch[dossier.CreatedToken](ctx, c, http.MethodPost, "/api/tokens", tokenBody{t.User, t.Scopes, t.Note, t.Expires})
}

// RevokeToken implements Keyring.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/api/tokens/"+url.PathEscape(id), nil, nil)
}
