// Package server is the HTTP side of Dossier. Today it is the control socket:
// each process that works in a data directory serves the runs API to the other
// processes of the same user, which find it through a file in that directory:
// they see the deltas of its runs, and have it look at signals at once.
//
// Leaving a stream is not cancelling: a run ends by itself or by POST
// /api/runs/{id}/cancel.
package server

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/a2a"
	"dossier/kb"
	"dossier/report"
	"dossier/run"
)

// Runs is what can be done with runs. An Engine does it itself, a Client asks
// the process that works on them.
type Runs interface {
	Start(ctx context.Context, req dossier.Request) (run.Record, error)
	Get(ctx context.Context, id string) (run.Record, error)
	Show(ctx context.Context, id string) (dossier.Detail, error)
	List(ctx context.Context, f dossier.Filter) ([]run.Record, error)
	Log(ctx context.Context, id string, after int64) ([]event.Event, error)
	Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error]
	Answer(ctx context.Context, id, ask, text string) error
	// Wake has signals taken in that somebody else has recorded.
	Wake(ctx context.Context, id string) error
	Pause(ctx context.Context, id string) error
	Resume(ctx context.Context, id string, o dossier.ResumeOptions) error
	Finish(ctx context.Context, id string) error
	Cancel(ctx context.Context, id string) error
	Steer(ctx context.Context, id, text string) error
	Fork(ctx context.Context, id, at string, o dossier.ForkOptions) (run.Record, error)
	Replay(ctx context.Context, id string) ([]event.Event, error)
	Export(ctx context.Context, id string) (dossier.Bundle, error)
	Delete(ctx context.Context, id string) error
	Report(ctx context.Context, id string) (*report.Report, error)
	Snapshots(ctx context.Context, id string) (map[string]string, error)
}

// Library is what can be done with collections, and the health of all.
type Library interface {
	Collections(ctx context.Context) (dossier.CollectionList, error)
	Collection(ctx context.Context, name string) (dossier.CollectionDetail, error)
	SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error)
	DeleteCollection(ctx context.Context, name string) error
	UseCollection(ctx context.Context, name string) (kb.Collection, error)
	Diagnose(ctx context.Context, offline bool) ([]dossier.Finding, error)
}

// Engine is all that is served.
type Engine interface {
	Runs
	Library
	Fleet
}

var (
	_ Engine = (*dossier.Engine)(nil)
	_ Engine = (*Client)(nil)
)

// maxBody bounds a request: a question of the largest size, escaped as JSON.
const maxBody = 64 << 20

// Bodies of requests.
type (
	answerBody struct {
		Ask  string `json:"ask,omitempty"`
		Text string `json:"text"`
	}
	steerBody struct {
		Text string `json:"text"`
	}
	forkBody struct {
		At string `json:"at"`
		dossier.ForkOptions
	}
	versionBody struct {
		Version string `json:"version"`
		Events  int    `json:"events"`
	}
)

type api struct {
	runs    Engine
	version string
	// closing ends the streams when the server does.
	closing context.Context
}

// handler serves the runs API to those who know the token.
func (a *api) handler(token string) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				writeProblem(w, err)
			}
		})
	}
	handle("GET /api/version", func(w http.ResponseWriter, _ *http.Request) error {
		return reply(w, http.StatusOK, versionBody{Version: a.version, Events: event.Version})
	})
	handle("POST /api/runs", a.start)
	handle("GET /api/runs", a.list)
	handle("GET /api/runs/{id}", a.show)
	handle("DELETE /api/runs/{id}", func(w http.ResponseWriter, r *http.Request) error {
		return done(w, a.runs.Delete(r.Context(), r.PathValue("id")))
	})
	handle("GET /api/runs/{id}/events", a.events)
	handle("GET /api/runs/{id}/bundle", func(w http.ResponseWriter, r *http.Request) error {
		b, err := a.runs.Export(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, b)
	})
	handle("GET /api/runs/{id}/report.json", func(w http.ResponseWriter, r *http.Request) error {
		rep, err := a.runs.Report(r.Context(), r.PathValue("id"))
		return give(w, rep, err)
	})
	handle("GET /api/runs/{id}/snapshots", func(w http.ResponseWriter, r *http.Request) error {
		texts, err := a.runs.Snapshots(r.Context(), r.PathValue("id"))
		return give(w, texts, err)
	})
	a.library(handle)
	outside := a2a.Handler(callable{a.runs}, a2a.Options{})
	mux.Handle(a2a.Root, outside)
	mux.Handle("GET /.well-known/agent-card.json", outside)
	a.agents(handle)
	for verb, do := range map[string]func(context.Context, string) error{
		"wake": a.runs.Wake, "pause": a.runs.Pause, "finish": a.runs.Finish, "cancel": a.runs.Cancel,
	} {
		handle("POST /api/runs/{id}/"+verb, func(w http.ResponseWriter, r *http.Request) error {
			return done(w, do(r.Context(), r.PathValue("id")))
		})
	}
	handle("POST /api/runs/{id}/resume", func(w http.ResponseWriter, r *http.Request) error {
		var o dossier.ResumeOptions
		if r.ContentLength != 0 {
			if err := read(w, r, &o); err != nil {
				return err
			}
		}
		return done(w, a.runs.Resume(r.Context(), r.PathValue("id"), o))
	})
	handle("POST /api/runs/{id}/answer", func(w http.ResponseWriter, r *http.Request) error {
		var b answerBody
		if err := read(w, r, &b); err != nil {
			return err
		}
		return done(w, a.runs.Answer(r.Context(), r.PathValue("id"), b.Ask, b.Text))
	})
	handle("POST /api/runs/{id}/steer", func(w http.ResponseWriter, r *http.Request) error {
		var b steerBody
		if err := read(w, r, &b); err != nil {
			return err
		}
		return done(w, a.runs.Steer(r.Context(), r.PathValue("id"), b.Text))
	})
	handle("POST /api/runs/{id}/fork", func(w http.ResponseWriter, r *http.Request) error {
		var b forkBody
		if err := read(w, r, &b); err != nil {
			return err
		}
		rec, err := a.runs.Fork(r.Context(), r.PathValue("id"), b.At, b.ForkOptions)
		if err != nil {
			return err
		}
		return reply(w, http.StatusCreated, rec)
	})
	handle("POST /api/runs/{id}/replay", func(w http.ResponseWriter, r *http.Request) error {
		events, err := a.runs.Replay(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, nonNil(events))
	})
	handle("/", func(_ http.ResponseWriter, r *http.Request) error {
		return &Problem{Code: "no_route", Message: fmt.Sprintf("there is nothing at %s %s", r.Method, r.URL.Path)}
	})
	return authorised(token, mux)
}

// authorised lets requests with the token through.
func authorised(token string, next http.Handler) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			writeProblem(w, &Problem{Code: "forbidden", Message: "the token of the data directory is missing or wrong"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *api) start(w http.ResponseWriter, r *http.Request) error {
	var req dossier.Request
	if err := read(w, r, &req); err != nil {
		return err
	}
	rec, err := a.runs.Start(r.Context(), req)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, rec)
}

func (a *api) list(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f := dossier.Filter{Session: q.Get("session"), Agent: q.Get("agent"), Status: run.Status(q.Get("status")), Before: q.Get("before")}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return &dossier.UsageError{Message: fmt.Sprintf("limit %q is not a number", text)}
		}
		f.Limit = n
	}
	list, err := a.runs.List(r.Context(), f)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, nonNil(list))
}

// show serves a run with its journal and questions; with view=record only its
// record, for which the id may be a part of one.
func (a *api) show(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if r.URL.Query().Get("view") == "record" {
		rec, err := a.runs.Get(r.Context(), id)
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, rec)
	}
	d, err := a.runs.Show(r.Context(), id)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, d)
}

// after is the sequence from which a reader goes on.
func after(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &dossier.UsageError{Message: fmt.Sprintf("%q is not the sequence of an event", text)}
	}
	return n, nil
}

// events serves the log as a stream, or what is stored of it as an array when
// JSON is asked for.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	n, err := after(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		log, err := a.runs.Log(r.Context(), id, n)
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, nonNil(log))
	}
	return a.stream(w, r, id, n)
}

// nonNil makes an empty list an empty array in JSON, not null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func read(w http.ResponseWriter, r *http.Request, into any) error {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &dossier.UsageError{Message: fmt.Sprintf("the request has more than %d bytes", tooLarge.Limit), Hint: "put the material into a file and ask about it"}
	case err != nil:
		return &dossier.UsageError{Message: "the request is not the JSON that is expected here: " + err.Error()}
	}
	return nil
}

func reply(w http.ResponseWriter, status int, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding the reply: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that left doesn't need it
	return nil
}

func done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
