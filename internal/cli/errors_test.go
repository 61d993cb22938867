package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/config"
	"dossier/internal/server"
	"dossier/internal/store"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

func TestExitCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
		hint bool
	}{
		{run.ErrUnknownRun, exitFailure, true},
		{store.ErrNotWaiting, exitFailure, true},
		{store.ErrAnswered, exitFailure, true},
		{store.ErrBusy, exitFailure, true},
		{store.ErrCorrupt, exitFailure, true},
		{store.ErrDiskFull, exitFailure, true},
		{store.ErrReadOnly, exitFailure, true},
		{run.ErrEnded, exitFailure, true},
		{run.ErrLive, exitFailure, true},
		{server.ErrGone, exitFailure, true},
		{errors.New("anything"), exitFailure, false},
		{&dossier.UsageError{Message: "wrong", Hint: "do it so"}, exitUsage, true},
		{config.Errors{{Key: "x", Problem: "no such setting"}}, exitUsage, true},
		{&config.Error{Key: "x", Problem: "no such setting"}, exitUsage, true},
		{&llm.Error{Kind: llm.ErrUnreachable}, exitProvider, true},
		{&llm.Error{Kind: llm.ErrTimeout}, exitProvider, true},
		{&llm.Error{Kind: llm.ErrAuth}, exitProvider, true},
		{&llm.Error{Kind: llm.ErrNoModel}, exitProvider, true},
		{&llm.Error{Kind: llm.ErrQuota}, exitProvider, true},
		{&llm.Error{Kind: llm.ErrRateLimited}, exitProvider, true},
		{llm.ErrNotConfigured, exitProvider, true},
		{prompt.ErrNoModel, exitProvider, true},
		{&run.BudgetError{What: "tokens", Limit: 1, Spent: 2}, exitBudget, true},
		{&dossier.StoppedError{Failure: run.Failure{Code: "storage", Message: "no", Hint: "yes"}}, exitFailure, true},
		{&dossier.StoppedError{Failure: run.Failure{Code: "search_unavailable", Message: "no", Hint: "yes"}}, exitProvider, true},
		{&dossier.StoppedError{Failure: run.Failure{Code: "not_configured", Message: "no", Hint: "yes"}}, exitProvider, true},
		{run.ErrCancelled, exitCancelled, false},
		{errInterrupted, exitCancelled, false},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("step x: %w", tc.err)} {
			f := explain(err)
			if f.code != tc.want || (f.hint != "") != tc.hint || f.message == "" {
				t.Errorf("%T %v: exit code %d, hint %q, message %q", tc.err, tc.err, f.code, f.hint, f.message)
			}
		}
	}
}

// A request is kept as JSON, which would turn such a path into another one.
func TestPathsThatAreNotUTF8AreRefused(t *testing.T) {
	a := &app{proc: Process{Dir: t.TempDir()}}
	_, err := a.place("d\xff")
	if f := explain(err); f.code != exitUsage || f.hint == "" || !strings.Contains(f.message, `d\xff`) {
		t.Errorf("%+v", f)
	}
}
