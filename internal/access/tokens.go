package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/internal/base/usage"
)

// Token is what is kept of a token: not the token itself.
type Token struct {
	ID string `json:"id"`
	// User that it stands for; "" is the operator.
	User   string  `json:"user,omitempty"`
	Scopes []Scope `json:"scopes"`
	Note   string  `json:"note,omitempty"`
	// Hash is the SHA-256 of the whole text. A token is random and long, so
	// nothing slower is needed to keep it from being guessed.
	Hash    []byte    `json:"-"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	// Used is when it was last shown, to the minute.
	Used time.Time `json:"used,omitzero"`
}

// Store keeps tokens. It is safe for concurrent use.
type Store interface {
	// AddToken fails with ErrTokenExists when the id is taken.
	AddToken(ctx context.Context, t Token) error
	// Token fails with ErrNoToken.
	Token(ctx context.Context, id string) (Token, error)
	// Tokens returns all of them in the order in which they were added.
	Tokens(ctx context.Context) ([]Token, error)
	// RemoveToken fails with ErrNoToken.
	RemoveToken(ctx context.Context, id string) error
	// TokenUsed notes when a token was last shown; one that is gone is no error.
	TokenUsed(ctx context.Context, id string, at time.Time) error
}

// Errors of the port.
var (
	ErrNoToken     = errors.New("there is no such token")
	ErrTokenExists = errors.New("there is a token of that id already")
)

// ErrRefused says that a token is none, or no longer one. It does not say which.
var ErrRefused = errors.New("the token is not valid")

// Prefix of every token, so that one that turns up in the wrong place is known
// for what it is.
const Prefix = "dossier_"

// Keys makes tokens and knows their holders.
type Keys struct {
	store Store
	now   func() time.Time
	used  sync.Map // when the use of a token was last noted, by its id
}

// NewKeys returns the keys of a store. Now is the clock; time.Now when nil.
func NewKeys(s Store, now func() time.Time) *Keys {
	if now == nil {
		now = time.Now
	}
	return &Keys{store: s, now: now}
}

// Create makes a token of what is asked for and returns it with its text, which
// is nowhere else.
func (k *Keys) Create(ctx context.Context, t Token) (_ Token, text string, err error) {
	if t.User != "" {
		if err := CheckUser(t.User); err != nil {
			return Token{}, "", err
		}
	}
	if len(t.Scopes) == 0 {
		t.Scopes = Usual
		if t.User == "" {
			t.Scopes = Scopes
		}
	}
	if t.User != "" && slices.Contains(t.Scopes, Admin) {
		return Token{}, "", &usage.Error{Message: fmt.Sprintf("the scope %s is the operator's", Admin), Hint: "make a token of the operator for it, without a user"}
	}
	t.Created, t.Used = k.now().UTC().Truncate(time.Second), time.Time{}
	if !t.Expires.IsZero() && !t.Expires.After(t.Created) {
		return Token{}, "", &usage.Error{Message: "the token would have expired already"}
	}
	t.ID = strings.ToLower(rand.Text()[:10])
	text = Prefix + t.ID + "_" + strings.ToLower(rand.Text())
	sum := sha256.Sum256([]byte(text))
	t.Hash = sum[:]
	return t, text, k.store.AddToken(ctx, t)
}

// List returns the tokens in the order in which they were made.
func (k *Keys) List(ctx context.Context) ([]Token, error) { return k.store.Tokens(ctx) }

// Revoke makes a token invalid from now on. It fails with ErrNoToken.
func (k *Keys) Revoke(ctx context.Context, id string) error { return k.store.RemoveToken(ctx, id) }

// usedEvery is how exactly it is known when a token was last shown.
const usedEvery = time.Minute

// Check says who shows a token. It fails with ErrRefused.
func (k *Keys) Check(ctx context.Context, text string) (Caller, error) {
	rest, ours := strings.CutPrefix(text, Prefix)
	id, _, whole := strings.Cut(rest, "_")
	if !ours || !whole {
		return Caller{}, ErrRefused
	}
	t, err := k.store.Token(ctx, id)
	if errors.Is(err, ErrNoToken) {
		return Caller{}, ErrRefused
	}
	if err != nil {
		return Caller{}, err
	}
	now := k.now()
	sum := sha256.Sum256([]byte(text))
	right := subtle.ConstantTimeCompare(sum[:], t.Hash) == 1
	if !right || !t.Expires.IsZero() && !now.Before(t.Expires) {
		return Caller{}, ErrRefused
	}
	if last, ok := k.used.Load(id); !ok || now.Sub(last.(time.Time)) >= usedEvery {
		k.used.Store(id, now)
		if err := k.store.TokenUsed(ctx, id, now.UTC().Truncate(time.Second)); err != nil {
			return Caller{}, err
		}
	}
	return Caller{User: t.User, Token: t.ID, Scopes: t.Scopes}, nil
}
