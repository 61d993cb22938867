package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/internal/server"
	"dossier/prompt"
)

// Exit codes of the program.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitProvider  = 3   // a provider or search engine is not configured or can't be reached
	exitNotEnough = 4   // finished, but with too little; or left waiting for an answer
	exitBudget    = 5   // a budget was hit; the answer is made of what there was
	exitCancelled = 130 // as a shell reports Ctrl-C
)

// exitCodes maps the codes of errors and failed runs to exit codes; what is
// not listed is exitFailure.
var exitCodes = map[string]int{
	"usage":              exitUsage,
	"config":             exitUsage,
	"not_configured":     exitProvider,
	"search_unavailable": exitProvider,
	prompt.CodeNoModel:   exitProvider,
	"unreachable":        exitProvider,
	"timeout":            exitProvider,
	"rate_limited":       exitProvider,
	"server":             exitProvider,
	"auth":               exitProvider,
	"no_model":           exitProvider,
	"llm_error":          exitProvider,
	"quota":              exitProvider,
	"nothing_found":      exitNotEnough,
	"budget":             exitBudget,
	"cancelled":          exitCancelled,
	"interrupted":        exitCancelled,
}

// hints for failures that come without one.
var hints = map[string]string{
	"unreachable":  "is the address right and the server running? `dossier models` shows what is configured",
	"timeout":      "the endpoint is slow or stuck; `dossier runs resume ID` tries again",
	"rate_limited": "the provider refuses more calls now; `dossier runs resume ID` tries again later",
	"auth":         "the key is missing, wrong or lacks a permission; `dossier models` shows which one is used",
	"no_model":     "`dossier models list` asks the endpoint which models it serves",
	"quota":        "the provider's account is out of money",
}

// failure is an error with everything that the user needs. With an empty
// message nothing is printed: it has been said.
type failure struct {
	code          int
	message, hint string
}

func (f *failure) Error() string { return f.message }

// exitWith ends a command with an exit code when everything is said.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &failure{code: code}
}

// explain finds the exit code, sentence and hint for an error.
func explain(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	p := server.Describe(err)
	out := &failure{code: exitFailure, message: p.Message, hint: p.Hint}
	if code, ok := exitCodes[p.Code]; ok {
		out.code = code
	}
	if out.hint == "" {
		out.hint = hints[p.Code]
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled) {
		out.code, out.message = exitCancelled, "interrupted"
	}
	return out
}

// fail shows an error and returns its exit code.
func (a *app) fail(err error) int {
	f := explain(err)
	a.log.Error("command failed", "exit", f.code, "error", f.message)
	if f.message != "" {
		message := f.message
		if _, ok := errors.AsType[config.Errors](err); !ok {
			// Those of the configuration hold no secrets, and name settings such
			// as api_key, after which any word is taken for one.
			message = a.redact.Redact(message)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(term.Clean(message)), "\n") {
			fmt.Fprintf(a.proc.Stderr, "dossier: %s\n", line)
		}
		if f.hint != "" {
			fmt.Fprintf(a.proc.Stderr, "hint: %s\n", term.Line(f.hint))
		}
	}
	return f.code
}
