package mcpengine

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"dossier/internal/base/mcpconn"
	"dossier/search"
)

// fault says what kept a call from being answered, and whether the connection
// is lost by it. It keeps the SDK's errors to itself: they may hold addresses,
// and addresses keys.
func (e *Engine) fault(ctx context.Context, seen mcpconn.Seen, err error) (lost bool, fault error) {
	name := e.conf.Name
	switch {
	case ctx.Err() != nil:
		return false, search.Broken(ctx, name, context.Cause(ctx))
	case errors.Is(seen.Err, mcpconn.ErrTooLong):
		return true, &search.Error{Engine: name, Reason: search.Malformed, Detail: mcpconn.ErrTooLong.Error()}
	case seen.Err != nil:
		return true, search.Broken(ctx, name, seen.Err)
	case seen.Response != nil && seen.Response.StatusCode/100 == 2:
		return true, search.Unexpected(name, seen.Body, nil)
	case seen.Response != nil:
		refusal := search.Refusal(name, seen.Response, seen.Body)
		return refusal.Reason != search.RateLimited && refusal.Reason != search.Unavailable, refusal
	case errors.Is(err, context.DeadlineExceeded):
		return true, search.Broken(ctx, name, err)
	}
	if said, ok := errors.AsType[*jsonrpc.Error](err); ok {
		reason := search.Unavailable
		if said.Code == jsonrpc.CodeInvalidParams || said.Code == jsonrpc.CodeMethodNotFound || said.Code == jsonrpc.CodeInvalidRequest {
			reason = search.Rejected // perhaps the tool is another by now
		}
		return reason == search.Rejected, e.complaint(reason, said.Message)
	}
	if seen.Answered {
		return true, &search.Error{Engine: name, Reason: search.Malformed, Detail: "the reply is not what the protocol says"}
	}
	detail := "the connection to the server was lost"
	if _, ok := errors.AsType[*exec.Error](err); ok || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		detail = "the program could not be started"
	}
	return true, &search.Error{Engine: name, Reason: search.Unreachable, Detail: detail}
}
