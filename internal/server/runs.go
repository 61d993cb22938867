package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/run"
)

// Bodies of requests.
type (
	answerBody struct {
		// Ask is the id of the question; empty is the oldest that waits.
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
)

const aRun = "/api/runs/{id}"

// runRoutes are about runs, their events and reports aside.
func runRoutes() []Route {
	routes := []Route{
		{Pattern: "POST /api/runs", Scope: access.Run, Serve: start, Doc: &Doc{
			Summary: "Start a run", Body: dossier.Request{}, Reply: run.Record{}, Status: http.StatusCreated,
		}},
		{Pattern: "GET /api/runs", Scope: access.Read, Serve: list, Doc: &Doc{
			Summary: "List runs, the newest first; the next page is before the last one's id", Reply: []run.Record{}, Query: []Param{
				{"session", "string", "only runs of this session"},
				{"agent", "string", "only runs of the agent with this id"},
				{"status", "string", "queued, running, waiting, paused, done, failed or cancelled"},
				{"mode", "string", "only runs of this mode"},
				{"tag", "string", "only runs that have this tag"},
				{"since", "string", "created at this time or later, as 2026-03-01 or 2026-03-01T12:00:00Z"},
				{"until", "string", "created at this time or earlier"},
				{"q", "string", "words that are all said in the question, the answer, the report or notes"},
				{"user", "string", "whose runs; for the operator"},
				{"before", "string", "only runs older than the one with this id"},
				{"limit", "integer", "how many, 100 by default and 1000 at most"},
			},
		}},
		{Pattern: "GET " + aRun, Scope: access.Read, Serve: show, Doc: &Doc{
			Summary: "Show a run with its journal and open questions", Reply: dossier.Detail{},
			Query: []Param{{"view", "string", "record shows only its record"}},
		}},
		{Pattern: "DELETE " + aRun, Scope: access.Run, Serve: told(Engine.Delete), Doc: &Doc{Summary: "Delete a run that nobody works on"}},
		{Pattern: "POST " + aRun + "/wake", Scope: access.Admin, Serve: told(Engine.Wake)},
		{Pattern: "POST " + aRun + "/pause", Scope: access.Run, Serve: told(Engine.Pause), Doc: &Doc{Summary: "Let a run finish its step and rest"}},
		{Pattern: "POST " + aRun + "/finish", Scope: access.Run, Serve: told(Engine.Finish), Doc: &Doc{Summary: "End a run now with what there is"}},
		{Pattern: "POST " + aRun + "/cancel", Scope: access.Run, Serve: told(Engine.Cancel), Doc: &Doc{Summary: "End a run at once"}},
		{Pattern: "POST " + aRun + "/resume", Scope: access.Run, Serve: resume, Doc: &Doc{
			Summary: "Go on with a run that was paused, interrupted, cancelled or failed, or whose limits are raised", Body: dossier.ResumeOptions{}, Optional: true,
		}},
		{Pattern: "POST " + aRun + "/answer", Scope: access.Run, Serve: answer, Doc: &Doc{Summary: "Answer what a run asks", Body: answerBody{}}},
		{Pattern: "POST " + aRun + "/steer", Scope: access.Run, Serve: steer, Doc: &Doc{Summary: "Tell a run something to consider", Body: steerBody{}}},
		{Pattern: "POST " + aRun + "/fork", Scope: access.Run, Serve: fork, Doc: &Doc{
			Summary: "Do a run anew from one of its steps on", Body: forkBody{}, Reply: run.Record{}, Status: http.StatusCreated,
		}},
		{Pattern: "POST " + aRun + "/replay", Scope: access.Run, Serve: replay, Doc: &Doc{
			Summary: "Carry a run out again from its journal alone: the events that come out, which are the recorded ones", Reply: []event.Event{},
		}},
	}
	return routes
}

// told does something with the run that the path names.
func told(do func(Engine, context.Context, string) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return done(w, do(EngineOf(r.Context()), r.Context(), r.PathValue("id")))
	}
}

func start(w http.ResponseWriter, r *http.Request) error {
	var req dossier.Request
	if err := read(w, r, &req); err != nil {
		return err
	}
	rec, err := EngineOf(r.Context()).Start(r.Context(), req)
	if err != nil {
		return err
	}
	w.Header().Set("Location", path(rec.ID))
	return reply(w, http.StatusCreated, rec)
}

// statuses are those that a run can have.
var statuses = []run.Status{run.Queued, run.Running, run.Waiting, run.Paused, run.Done, run.Failed, run.Cancelled}

// mostListed is the longest page of a list.
const mostListed = 1000

func list(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f := dossier.Filter{
		Session: q.Get("session"), Agent: q.Get("agent"), User: q.Get("user"), Status: run.Status(q.Get("status")), Mode: q.Get("mode"), Tag: q.Get("tag"), Text: q.Get("q"), Before: q.Get("before"),
	}
	if f.Mode != "" {
		f.Mode = dossier.ModeName(f.Mode)
	}
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		return &dossier.UsageError{Message: fmt.Sprintf("there is no status %q", f.Status), Hint: "a run is queued, running, waiting, paused, done, failed or cancelled"}
	}
	var err error
	if f.Limit, err = number("limit", q.Get("limit")); err != nil {
		return err
	}
	f.Limit = min(f.Limit, mostListed)
	if f.Since, err = moment("since", q.Get("since")); err != nil {
		return err
	}
	if f.Until, err = moment("until", q.Get("until")); err != nil {
		return err
	}
	if len(q.Get("until")) == len(time.DateOnly) {
		f.Until = f.Until.AddDate(0, 0, 1).Add(-time.Nanosecond) // the whole day
	}
	found, err := EngineOf(r.Context()).List(r.Context(), f)
	return give(w, recordsFor(r, found), err)
}

// listPath is the path of a list.
func listPath(f dossier.Filter) string {
	q := url.Values{}
	for key, value := range map[string]string{
		"session": f.Session, "agent": f.Agent, "user": f.User, "status": string(f.Status), "mode": f.Mode, "tag": f.Tag, "q": f.Text, "before": f.Before,
	} {
		if value != "" {
			q.Set(key, value)
		}
	}
	for key, t := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !t.IsZero() {
			q.Set(key, t.Format(time.RFC3339Nano))
		}
	}
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return "/api/runs?" + q.Encode()
}

// show serves a run with its journal and questions; with view=record only its
// record, for which the operator may shorten the id.
func show(w http.ResponseWriter, r *http.Request) error {
	e, id := EngineOf(r.Context()), r.PathValue("id")
	if r.URL.Query().Get("view") == "record" {
		rec, err := e.Get(r.Context(), id)
		return give(w, recordFor(r, rec), err)
	}
	d, err := e.Show(r.Context(), id)
	d.Record = recordFor(r, d.Record)
	return give(w, d, err)
}

func resume(w http.ResponseWriter, r *http.Request) error {
	var o dossier.ResumeOptions
	if err := readIf(w, r, &o); err != nil {
		return err
	}
	return done(w, EngineOf(r.Context()).Resume(r.Context(), r.PathValue("id"), o))
}

func answer(w http.ResponseWriter, r *http.Request) error {
	var b answerBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	return done(w, EngineOf(r.Context()).Answer(r.Context(), r.PathValue("id"), b.Ask, b.Text))
}

func steer(w http.ResponseWriter, r *http.Request) error {
	var b steerBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	return done(w, EngineOf(r.Context()).Steer(r.Context(), r.PathValue("id"), b.Text))
}

func fork(w http.ResponseWriter, r *http.Request) error {
	var b forkBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	rec, err := EngineOf(r.Context()).Fork(r.Context(), r.PathValue("id"), b.At, b.ForkOptions)
	if err != nil {
		return err
	}
	w.Header().Set("Location", path(rec.ID))
	return reply(w, http.StatusCreated, rec)
}

func replay(w http.ResponseWriter, r *http.Request) error {
	events, err := EngineOf(r.Context()).Replay(r.Context(), r.PathValue("id"))
	return give(w, nonNil(events), err)
}
