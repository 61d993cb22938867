package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/kb"
	"dossier/llm"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

// Problem is an error as every client sees it: a code for programs, a sentence
// and what to do about it.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Run is the run that stopped, in a stream.
	Run string `json:"run,omitempty"`
}

func (p *Problem) Error() string { return p.Message }

// Is lets errors.Is find the error that a Problem was made of on the other
// side of the wire.
func (p *Problem) Is(target error) bool {
	for _, k := range known {
		if k.code == p.Code {
			return k.err == target
		}
	}
	return false
}

// known are the errors that keep their identity over the wire.
var known = []struct {
	err    error
	code   string
	status int
	hint   string
}{
	{run.ErrUnknownRun, "unknown_run", http.StatusNotFound, "`dossier runs list` shows the runs"},
	{store.ErrNotFound, "not_found", http.StatusNotFound, ""},
	{store.ErrNotWaiting, "not_waiting", http.StatusConflict, "`dossier runs show ID` tells what the run is doing; `dossier runs steer ID TEXT` tells it something"},
	{store.ErrAnswered, "answered", http.StatusConflict, "the first answer counts; `dossier runs steer ID TEXT` tells the run something more"},
	{store.ErrBusy, "busy", http.StatusConflict, "wait for it, or stop it with `dossier runs cancel ID`"},
	{store.ErrExists, "exists", http.StatusConflict, ""},
	{store.ErrCorrupt, "corrupt", http.StatusInternalServerError, "keep the file as it is, restore the data directory from a backup or choose another one with --data DIR"},
	{store.ErrDiskFull, "disk_full", http.StatusInsufficientStorage, "free some space; nothing that was recorded is lost"},
	{store.ErrReadOnly, "read_only", http.StatusInternalServerError, "make the data directory writable or choose another one with --data DIR"},
	{dossier.ErrNoReport, "no_report", http.StatusNotFound, "`dossier runs show ID` tells how far it is; only runs that search have a report"},
	{kb.ErrNoCollection, "no_collection", http.StatusNotFound, "`dossier kb list` shows the collections; `dossier kb add DIR` makes one"},
	{kb.ErrNoDocument, "no_document", http.StatusNotFound, "`dossier kb docs NAME` lists the documents of a collection"},
	{kb.ErrExists, "collection_exists", http.StatusConflict, "choose another name"},
	{dossier.ErrNoSchedule, "no_schedule", http.StatusNotFound, "`dossier schedules` lists the schedules"},
	{dossier.ErrNoDelivery, "no_delivery", http.StatusNotFound, "`dossier webhooks deliveries` lists what was sent"},
	{access.ErrNoToken, "no_token", http.StatusNotFound, "`dossier tokens list` shows the tokens"},
	{dossier.ErrUnknownAgent, "unknown_agent", http.StatusNotFound, ""},
	{fleet.ErrNoTemplate, "no_template", http.StatusNotFound, "`dossier templates list` shows what there is"},
	{fleet.ErrNoVersion, "no_version", http.StatusNotFound, "`dossier templates list` shows what there is"},
	{fleet.ErrNoInstance, "no_instance", http.StatusNotFound, "`dossier instances list` shows what there is"},
	{fleet.ErrExists, "name_taken", http.StatusConflict, "`dossier instances list` shows the names that are taken"},
	{fleet.ErrInUse, "in_use", http.StatusConflict, ""},
	{run.ErrLeased, "leased", http.StatusConflict, "wait for it, or stop it with `dossier runs cancel ID`"},
	{run.ErrFenced, "fenced", http.StatusConflict, ""},
	{run.ErrEnded, "ended", http.StatusConflict, "`dossier runs fork ID --at STEP` does a part of it anew"},
	{run.ErrLive, "not_replayable", http.StatusConflict, "the journal of this run is not whole, or the program has changed since"},
	{run.ErrShutdown, "shutdown", http.StatusServiceUnavailable, "nothing is lost: `dossier runs resume ID` goes on"},
	{run.ErrCancelled, "cancelled", http.StatusConflict, ""},
	{llm.ErrNotConfigured, "not_configured", http.StatusServiceUnavailable, "`dossier models` shows what is missing"},
	{ErrGone, "gone", http.StatusServiceUnavailable, "run the command again"},
	{context.Canceled, "interrupted", http.StatusServiceUnavailable, ""},
	{context.DeadlineExceeded, "timeout", http.StatusGatewayTimeout, ""},
}

// statusOf are the HTTP statuses of problems that are not in the table above.
var statusOf = map[string]int{
	"usage": http.StatusBadRequest, "config": http.StatusBadRequest, "queue_full": http.StatusTooManyRequests, "uploads_full": http.StatusRequestEntityTooLarge,
	"instance_state": http.StatusConflict, "foreign_session": http.StatusConflict, "no_route": http.StatusNotFound, "forbidden": http.StatusForbidden,
	"unauthorized": http.StatusUnauthorized, "rate_limit": http.StatusTooManyRequests, "too_many_streams": http.StatusTooManyRequests,
	"slow_body": http.StatusRequestTimeout, "too_large": http.StatusRequestEntityTooLarge, "wrong_host": http.StatusMisdirectedRequest, "foreign_origin": http.StatusForbidden,
	"not_done": http.StatusConflict, "not_research": http.StatusConflict, "method": http.StatusMethodNotAllowed, "closing": http.StatusServiceUnavailable,
	"no_model_configured": http.StatusServiceUnavailable, "search_unavailable": http.StatusServiceUnavailable,
}

// Describe says what an error is: as a code, in a sentence, and what to do.
func Describe(err error) *Problem {
	var (
		problem *Problem
		usage   *dossier.UsageError
		place   *sources.TargetError
		stopped *dossier.StoppedError
		call    *llm.Error
		budget  *run.BudgetError
		several config.Errors
		setting *config.Error
		args    *tool.ArgumentError
	)
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &usage):
		return &Problem{Code: usageCode(usage), Message: err.Error(), Hint: usage.Hint}
	case errors.As(err, &several):
		return &Problem{Code: "config", Message: several.Error(), Hint: "`dossier config explain KEY` describes a setting"}
	case errors.As(err, &setting):
		return &Problem{Code: "config", Message: setting.Error(), Hint: "`dossier config` lists the settings"}
	case errors.As(err, &args):
		return &Problem{Code: "usage", Message: fmt.Sprintf("the arguments of %s don't fit: %v", args.Tool, args.Err), Hint: "`dossier tools show " + args.Tool + "` shows what it takes"}
	case errors.As(err, &place):
		return &Problem{Code: "usage", Message: place.Message, Hint: place.Hint}
	case errors.As(err, &stopped):
		f := stopped.Failure
		return &Problem{Code: f.Code, Message: f.Message, Hint: f.Hint, Run: stopped.Run}
	case errors.As(err, &budget):
		_, hint := budget.Fault()
		return &Problem{Code: "budget", Message: err.Error(), Hint: hint}
	case errors.As(err, &call):
		return &Problem{Code: string(call.Kind), Message: err.Error()}
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return &Problem{Code: k.code, Message: err.Error(), Hint: k.hint}
		}
	}
	return &Problem{Code: "failed", Message: err.Error()}
}

// usageCode tells what a usage error is about.
func usageCode(usage *dossier.UsageError) string {
	var (
		full    *fleet.QueueFullError
		stored  *kb.FullError
		state   *fleet.StateError
		session *fleet.SessionError
	)
	switch err := usage.Err; {
	case errors.As(err, &full):
		return "queue_full"
	case errors.As(err, &stored):
		return "uploads_full"
	case errors.As(err, &state):
		return "instance_state"
	case errors.As(err, &session):
		return "foreign_session"
	}
	for _, k := range known {
		if errors.Is(usage.Err, k.err) {
			return k.code
		}
	}
	return "usage"
}

// restore is the inverse of Describe, as far as callers tell errors apart.
func (p *Problem) restore() error {
	switch {
	case p.Code == "usage":
		return &dossier.UsageError{Message: p.Message, Hint: p.Hint}
	case p.Run != "":
		return &dossier.StoppedError{Run: p.Run, Failure: run.Failure{Code: p.Code, Message: p.Message, Hint: p.Hint}}
	}
	return p
}

// statusFor is the HTTP status of a problem.
func statusFor(p *Problem) int {
	if status, ok := statusOf[p.Code]; ok {
		return status
	}
	for _, k := range known {
		if k.code == p.Code {
			return k.status
		}
	}
	return http.StatusInternalServerError
}

func writeProblem(w http.ResponseWriter, err error) {
	p := Describe(err)
	// A Problem always encodes, and whoever left doesn't need it.
	_ = reply(w, statusFor(p), p)
}
