package dossier

import (
	"context"

	"dossier/internal/access"
)

// Token is what is known of a token by which a user is known.
type Token = access.Token

// CreatedToken is a new token with its text, which is kept nowhere.
type CreatedToken struct {
	Token
	Text string `json:"token"`
}

// Tokens returns the tokens in the order in which they were made.
func (e *Engine) Tokens(ctx context.Context) ([]Token, error) { return e.keys.List(ctx) }

// CreateToken makes a token for a user, or with an empty one for the operator.
func (e *Engine) CreateToken(ctx context.Context, t Token) (CreatedToken, error) {
	made, text, err := e.keys.Create(ctx, t)
	if err != nil {
		return CreatedToken{}, err
	}
	return CreatedToken{made, text}, nil
}

// RevokeToken makes a token invalid from now on.
func (e *Engine) RevokeToken(ctx context.Context, id string) error { return e.keys.Revoke(ctx, id) }

// Authenticate says who shows a token. It fails with access.ErrRefused.
func (e *Engine) Authenticate(ctx context.Context, text string) (access.Caller, error) {
	return e.keys.Check(ctx, text)
}
