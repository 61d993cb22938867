package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Remote is a service at an address: a RAG and a Poet, whichever is there.
type Remote struct {
	URL string
	// HTTP is the client for addresses that the operator configured.
	HTTP *http.Client
	// Timeout of a request.
	Timeout time.Duration
	// Key is sent as a bearer token, if there is one.
	Key string
}

// mostReply bounds what is read of a reply.
const mostReply = 4 << 20

// Health implements RAG and Poet: the reply is an object with a status, or the status
// itself.
func (r *Remote) Health(ctx context.Context) (string, error) {
	raw, err := r.ask(ctx, http.MethodGet, "/health", nil)
	if err != nil {
		return "", err
	}
	var body struct {
		Status *string `json:"status"`
	}
	if err := json.Unmarshal(raw, &body); err == nil {
		if body.Status == nil {
			return "", errors.New("the reply has no status")
		}
		return *body.Status, nil
	}
	text := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	if text == "" || len(text) > 20 || strings.ContainsAny(text, "{}<>[]") {
		return "", fmt.Errorf("the reply is no status: %q", shorten(string(raw), 100))
	}
	return text, nil
}

// Search implements RAG.
func (r *Remote) Search(ctx context.Context, question string, topK int) (Found, error) {
	var out struct {
		Found
		Answer *string `json:"answer"`
		Error  any     `json:"error"`
	}
	err := r.post(ctx, "/search", map[string]any{"question": question, "top_k": topK}, &out)
	if err != nil {
		return Found{}, err
	}
	out.Found.Error = errorText(out.Error)
	if out.Answer == nil && out.Found.Error == "" {
		return Found{}, errors.New("the reply has no answer")
	}
	if out.Answer != nil {
		out.Found.Answer = *out.Answer
	}
	return out.Found, nil
}

// Generate implements Poet.
func (r *Remote) Generate(ctx context.Context, theme string) (Haiku, error) {
	var out struct {
		Haiku
		Error any `json:"error"`
	}
	if err := r.post(ctx, "/generate_haiku", map[string]any{"theme": theme}, &out); err != nil {
		return Haiku{}, err
	}
	out.Haiku.Error = errorText(out.Error)
	if strings.TrimSpace(out.Text) == "" && out.Haiku.Error == "" {
		return Haiku{}, errors.New("the reply has no haiku_text")
	}
	return out.Haiku, nil
}

// errorText is the field error of a reply: a text, nothing, or something that says
// more.
func errorText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func (r *Remote) post(ctx context.Context, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	reply, err := r.ask(ctx, http.MethodPost, path, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("the reply can't be read: %w", err)
	}
	return nil
}

// ask makes a request. What is no success is an error.
func (r *Remote) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("no reply within %s", r.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(r.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.Key)
	}
	resp, err := r.HTTP.Do(req)
	if err != nil {
		return nil, late(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostReply))
	if err != nil {
		return nil, late(ctx, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, fmt.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, shorten(strings.Join(strings.Fields(string(raw)), " "), 200))
	}
	return raw, nil
}

// late says that the time was up, where it was.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

var (
	_ RAG  = (*Remote)(nil)
	_ Poet = (*Remote)(nil)
)
