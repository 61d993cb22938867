package gigachat

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"dossier/llm"
	"dossier/llm/internal/upstream"
)

// refreshBefore is how long before its end a token is replaced.
const refreshBefore = time.Minute

// tokens keeps the access token. Callers that need a new one at the same time
// share one request.
type tokens struct {
	target *upstream.Target
	form   string

	mu      sync.Mutex
	token   string
	expires time.Time
	pending *fetch
}

// fetch is a request for a token under way.
type fetch struct {
	done  chan struct{}
	token string
	err   error
}

func newTokens(cfg Config, timeout time.Duration) (*tokens, error) {
	key := strings.TrimSpace(cfg.Key)
	if word, rest, ok := strings.Cut(key, " "); ok && strings.EqualFold(word, "basic") {
		key = strings.TrimSpace(rest)
	}
	header := http.Header{
		"Content-Type":  {"application/x-www-form-urlencoded"},
		"Accept":        {"application/json"},
		"Authorization": {"Basic " + key},
	}
	target, err := upstream.NewTarget(cfg.HTTP, http.MethodPost, cfg.AuthURL, "", header, upstream.Limits{Timeout: timeout}, key)
	if err != nil {
		return nil, err
	}
	return &tokens{target: target, form: url.Values{"scope": {cfg.Scope}}.Encode()}, nil
}

// get returns a token that is valid for a while.
func (t *tokens) get(ctx context.Context) (string, error) {
	for {
		t.mu.Lock()
		if t.token != "" && time.Until(t.expires) > refreshBefore {
			defer t.mu.Unlock()
			return t.token, nil
		}
		f := t.pending
		if f == nil {
			f = &fetch{done: make(chan struct{})}
			t.pending = f
			t.mu.Unlock()
			t.fetch(ctx, f)
			return f.token, f.err
		}
		t.mu.Unlock()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-f.done:
		}
		// The one who asked may have given up; that is no reason for others to.
		if f.err == nil || llm.KindOf(f.err) != "" {
			return f.token, f.err
		}
	}
}

// drop forgets a token that was refused.
func (t *tokens) drop(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

func (t *tokens) fetch(ctx context.Context, f *fetch) {
	var expires time.Time
	f.token, expires, f.err = t.request(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.err == nil {
		t.token, t.expires = f.token, expires
	}
	t.pending = nil
	close(f.done)
}

func (t *tokens) request(ctx context.Context) (string, time.Time, error) {
	body := upstream.Body()
	*body = append(*body, t.form...)
	call, err := t.target.With("RqUID", uuid()).Do(ctx, "", body, false)
	if err != nil {
		return "", time.Time{}, err
	}
	defer call.Close()
	raw, err := call.Lines().Rest()
	if err != nil {
		return "", time.Time{}, call.ReadError(err)
	}
	// Beside the documented names an older edition answers with tok and exp,
	// the latter in seconds.
	var w struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_at"`
		Tok     string `json:"tok"`
		Exp     int64  `json:"exp"`
	}
	if json.Unmarshal(raw, &w) == nil && w.Token == "" {
		w.Token, w.Expires = w.Tok, w.Exp*1000
	}
	if w.Token == "" {
		return "", time.Time{}, call.Error(llm.ErrMalformed, "the authorization service answered without a token; check the auth URL")
	}
	return w.Token, time.UnixMilli(w.Expires), nil
}

// uuid is a random UUID of version 4.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
