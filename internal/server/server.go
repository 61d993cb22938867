// Package server is the HTTP side of Dossier: one API over one engine, in two
// places.
//
// The control socket is private: each process that works in a data directory
// serves it to the other processes of the same user, which find it through a file
// in that directory. They see the deltas of its runs, and have it look at signals
// at once.
//
// The port of `dossier serve` is for everybody else. In front of it is a gate
// that knows callers by their tokens, and behind the gate each caller has a view
// of the engine in which only their own things are. Protocols are sets of routes
// behind that gate; the API of this package is one of them.
//
// Leaving a stream is not cancelling: a run ends by itself or by POST
// /api/runs/{id}/cancel.
package server

import (
	"context"
	"iter"
	"log/slog"
	"net/http"

	"dossier"
	"dossier/event"
	"dossier/internal/a2a"
	"dossier/internal/access"
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
	// Stay is Events that goes on when the run is over.
	Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error]
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
	EditReport(ctx context.Context, id string, c dossier.ReportChange) (*report.Report, error)
	CheckReport(ctx context.Context, id string) (*report.Report, error)
	UndoEdit(ctx context.Context, id string) (*report.Report, error)
	// Compare says what the report of after has that the one of before had not.
	Compare(ctx context.Context, before, after string) (dossier.Comparison, error)
	Tag(ctx context.Context, id string, tags []string) ([]string, error)
	Tags(ctx context.Context, user string) ([]dossier.TagCount, error)
	Import(ctx context.Context, bundle []byte, user string) (run.Record, error)
}

// Conversations is what can be done with sessions; their runs are those that List
// finds.
type Conversations interface {
	Sessions(ctx context.Context, f dossier.SessionFilter) ([]dossier.Session, error)
	Session(ctx context.Context, id string) (dossier.Session, error)
	RenameSession(ctx context.Context, id, title string) error
	DeleteSession(ctx context.Context, id string) error
}

// Library is what can be done with collections, and the health of all.
type Library interface {
	Collections(ctx context.Context) (dossier.CollectionList, error)
	Collection(ctx context.Context, name string) (dossier.CollectionDetail, error)
	SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error)
	DeleteCollection(ctx context.Context, name string) error
	UseCollection(ctx context.Context, name string) (kb.Collection, error)
	Diagnose(ctx context.Context, c dossier.Checkup) ([]dossier.Finding, error)
	Abilities(ctx context.Context) (dossier.Abilities, error)
	Connections(ctx context.Context) ([]dossier.Connection, error)
	TryConnection(ctx context.Context, kind, name string) (dossier.Finding, error)
}

// Keyring is what can be done with tokens.
type Keyring interface {
	Tokens(ctx context.Context) ([]dossier.Token, error)
	CreateToken(ctx context.Context, t dossier.Token) (dossier.CreatedToken, error)
	RevokeToken(ctx context.Context, id string) error
}

// Engine is all that is served.
type Engine interface {
	Runs
	Conversations
	Library
	Documents
	Fleet
	Keyring
	Schedules
	Webhooks
}

var (
	_ Engine = (*dossier.Engine)(nil)
	_ Engine = (*Client)(nil)
)

// versionBody says what is on the other side.
type versionBody struct {
	Version string `json:"version"`
	Events  int    `json:"events"`
}

// api is what a server serves, in whichever place.
type api struct {
	engine  Engine
	version string
	// closing ends the streams when the server does.
	closing context.Context
	log     *slog.Logger
	// strict refuses bodies with fields that there are not.
	strict  bool
	maxBody int64
	streams streams
	trials  trials
}

// ownAPI is the protocol of Dossier itself.
const ownAPI = "dossier"

// routes are those of the API of Dossier itself.
func (a *api) routes() Protocol {
	p := Protocol{Name: ownAPI, Routes: []Route{
		{
			Pattern: "GET /api/version", Scope: access.Read,
			Doc: &Doc{Summary: "The version of the program and of its events", Reply: versionBody{}},
			Serve: func(w http.ResponseWriter, _ *http.Request) error {
				return reply(w, http.StatusOK, versionBody{Version: a.version, Events: event.Version})
			},
		},
	}}
	for _, more := range [][]Route{
		runRoutes(), finishedRoutes(), a.eventRoutes(), reportRoutes(), sessionRoutes(), documentRoutes(), libraryRoutes(), a.connectionRoutes(), agentRoutes(), templateRoutes(), instanceRoutes(), scheduleRoutes(), webhookRoutes(), tokenRoutes(),
	} {
		p.Routes = append(p.Routes, more...)
	}
	return p
}

// others are the agents for those who speak A2A.
func others() Protocol {
	outside := a2a.Handler(callable{}, a2a.Options{})
	serve := func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := withEnd(r.Context(), callOf(r.Context()).api.closing)
		defer cancel()
		outside.ServeHTTP(w, r.WithContext(ctx))
		return nil
	}
	return Protocol{Name: "a2a", Routes: []Route{
		{Pattern: a2a.Root, Scope: access.Run, Serve: serve},
		{Pattern: "GET /.well-known/agent-card.json", Scope: access.Read, Serve: serve},
	}}
}

// private serves everything to those who know the token of the data directory:
// whoever can read that is the operator.
func (a *api) private(token string) http.Handler {
	mux := http.NewServeMux()
	owner := &call{caller: access.Operator(), engine: a.engine, api: a}
	for _, p := range []Protocol{a.routes(), others()} {
		for _, route := range p.Routes {
			mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) {
				r = r.WithContext(owner.in(r.Context()))
				if err := route.Serve(w, r); err != nil {
					writeProblem(w, err)
				}
			})
		}
	}
	mux.HandleFunc("/", nowhere)
	return authorised(token, mux)
}

// nowhere answers what no route is for.
func nowhere(w http.ResponseWriter, r *http.Request) {
	writeProblem(w, noRoute(r))
}

func noRoute(r *http.Request) *Problem {
	return &Problem{Code: "no_route", Message: "there is nothing at " + r.Method + " " + r.URL.Path, Hint: "GET /docs lists what there is"}
}
