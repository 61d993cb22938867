package completion

import (
	"context"
	"errors"
	"net/http"

	"dossier/internal/server"
)

// Error is an error in OpenAI's form. Detail is where the clients of SGR agents
// look for it.
type Error struct {
	Error  ErrorBody `json:"error"`
	Detail any       `json:"detail"`
}

// ErrorBody is what went wrong.
type ErrorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
	Hint    string  `json:"hint,omitempty"`
	Run     string  `json:"run,omitempty"`
}

// NewError puts a problem into that form.
func NewError(status int, p *server.Problem) Error {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusForbidden:
		kind = "permission_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return Error{Error: ErrorBody{Message: p.Message, Type: kind, Code: p.Code, Hint: p.Hint, Run: p.Run}, Detail: p.Message}
}

// Stream serves a run as chunks from the event after a sequence on, until it is
// over or asks something. What goes wrong on the way is the last thing said.
func Stream(w http.ResponseWriter, r *http.Request, run string, after int64, p Projection) error {
	out, err := server.NewStream(w, r)
	if err != nil {
		return err
	}
	defer out.Close()
	out.Gap = func(string) (string, []byte) {
		return "", []byte(`{"error":{"message":"the reader was too slow","type":"server_error","param":null,"code":"gap","run":"` + run + `"},"detail":"the reader was too slow"}`)
	}
	send := func(chunks []Chunk) bool {
		for i := range chunks {
			if !out.SendJSON("", "", &chunks[i]) {
				return false
			}
		}
		return true
	}
	if !send(p.Begin()) {
		return nil
	}
	for ev, err := range server.EngineOf(r.Context()).Events(out.Context(), run, after) {
		if err != nil {
			failed(out, run, err)
			return nil
		}
		chunks, over := p.Take(ev)
		if !send(chunks) {
			return nil
		}
		if over {
			break
		}
	}
	chunks, err := p.End()
	if err != nil {
		failed(out, run, err)
		return nil
	}
	if send(chunks) {
		out.Send("", "", []byte("[DONE]"))
	}
	return nil
}

// failed tells what went wrong.
func failed(out *server.Stream, run string, err error) {
	p := Problem(out.Context(), err)
	p.Run = run
	out.SendJSON("", "", NewError(http.StatusInternalServerError, p))
	out.Send("", "", []byte("[DONE]"))
}

// Problem describes an error of a run to whoever asked for it.
func Problem(ctx context.Context, err error) *server.Problem {
	if f, ok := errors.AsType[*FailedError](err); ok {
		return &server.Problem{Code: f.Code, Message: f.Message, Hint: f.Hint}
	}
	p := *server.For(server.CallerOf(ctx), err)
	return &p
}

// Wait follows a run from the event after a sequence until it is over or asks
// something, and returns the whole of it.
func Wait(ctx context.Context, run string, after int64, w *Whole) (Completion, error) {
	for ev, err := range server.EngineOf(ctx).Events(ctx, run, after) {
		if err != nil {
			return Completion{}, err
		}
		if w.Take(ev) {
			break
		}
	}
	return w.Completion()
}
