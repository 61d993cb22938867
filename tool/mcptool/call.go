package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/base/mcpconn"
	"dossier/run"
	"dossier/tool"
)

// Call implements tool.Tool. A call whose connection turns out to be lost is
// made once more if the tool only reads or is idempotent, or if the server can't
// have seen it; of any other the error says that its outcome is unknown.
func (t *remote) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	s := t.server
	// A little before the tool's own limit, so that what is known can be said.
	limit := t.spec.Timeout - t.spec.Timeout/20
	calling, stop := context.WithTimeoutCause(ctx, limit, errSilent)
	defer stop()
	for again := false; ; again = true {
		session, _, err := s.conn.Session(calling)
		if err != nil {
			if ctx.Err() != nil {
				return tool.Result{}, context.Cause(ctx)
			}
			trouble := s.unconnected(err)
			return tool.Result{}, fmt.Errorf("%w; %s was not called. Do without it, or try again later", &trouble, t.spec.Name)
		}
		watched, report := mcpconn.Watch(calling)
		result, err := session.CallTool(watched, &mcp.CallToolParams{Name: t.name, Arguments: c.Args})
		if err == nil {
			s.conn.Works()
			return t.result(result)
		}
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		f := s.judge(calling, session, report.Seen(), err)
		if f.lost {
			s.conn.Lost(session)
		}
		if f.silent {
			s.probe(session)
		}
		if f.lost && !f.settled && !again && calling.Err() == nil && (t.spec.Effect != run.Effectful || !f.arrived) {
			continue
		}
		return tool.Result{}, t.fault(f)
	}
}

var errSilent = errors.New("the server gave no answer in time")

// fault is what a model is told of a failure.
func (t *remote) fault(f failure) error {
	if f.refused != "" {
		return fmt.Errorf("%s refused the call: %s", t.spec.Name, f.refused)
	}
	if f.arrived && t.spec.Effect == run.Effectful {
		return fmt.Errorf("%w. Whether %s did what it was called for is unknown: find out before you call it again", &f.trouble, t.spec.Name)
	}
	return fmt.Errorf("%w. Call %s again later or differently, or do without it", &f.trouble, t.spec.Name)
}

// probe finds out whether a server that did not answer still lives.
func (s *server) probe(session *mcpconn.Session[*known]) {
	s.client.later(func() {
		ctx, stop := context.WithTimeout(s.client.life, pingTime)
		defer stop()
		_ = session.Ping(ctx, nil)
		if ctx.Err() != nil && s.client.life.Err() == nil {
			s.client.options.Log.Warn("an MCP server is silent and is started anew", "server", s.Name)
			s.conn.Lost(session)
			session.Kill()
		}
	})
}

// Trouble is a server that can't be used, and what to do about it.
type Trouble struct {
	Server  string `json:"server"`
	Problem string `json:"problem"`
	Hint    string `json:"hint"` // for the operator
}

func (t *Trouble) Error() string { return fmt.Sprintf("MCP server %s: %s", t.Server, t.Problem) }

// failure is why a call came to nothing.
type failure struct {
	trouble Trouble
	lost    bool   // the session is of no use any more
	arrived bool   // the server may have carried out the call
	silent  bool   // it gave no answer in time
	settled bool   // the same call would come to the same
	refused string // what the server itself said about the call
}

// judge says what an error of a session means. It keeps the SDK's words to
// itself: they may hold addresses, and addresses keys.
func (s *server) judge(ctx context.Context, session *mcpconn.Session[*known], seen mcpconn.Seen, err error) failure {
	f := failure{trouble: Trouble{Server: s.Name}, arrived: true}
	said, told := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ctx.Err() != nil:
		f.silent = true
		f.trouble.Problem = "it gave no answer in " + short(s.client.options.Timeout)
		f.trouble.Hint = "Look at what the server does, or allow calls more time."
	case errors.Is(seen.Err, mcpconn.ErrTooLong), session.TooLong():
		f.lost, f.settled = true, true
		f.trouble.Problem = fmt.Sprintf("its reply is longer than %d MB. Ask for less", mcpconn.MostReply>>20)
		f.trouble.Hint = "The tool returns more than can be taken in."
	case seen.Response != nil && !told:
		f.trouble.Problem, f.trouble.Hint = s.refusal(seen.Response)
		code := seen.Response.StatusCode
		f.lost = code/100 != 5 && code != http.StatusTooManyRequests
		f.arrived = code/100 == 5 || code/100 == 2
	case told:
		f.refused = s.words.Line(said.Message, 1000)
		f.trouble.Problem = "it refused: " + f.refused
		f.trouble.Hint = "Look at what the server expects."
	case seen.Err != nil:
		f.lost = true
		var dial *net.OpError
		f.arrived = !errors.As(seen.Err, &dial) || dial.Op != "dial"
		f.trouble.Problem = "the connection broke: " + s.network(seen.Err)
		f.trouble.Hint = fmt.Sprintf("See whether the server runs and mcp.mcpServers.%s.url is right.", s.Name)
	default:
		f.lost = true
		f.trouble.Problem = "it ended in the middle of the call" + s.lastWords(session.Stderr())
		if s.Command == "" {
			f.trouble.Problem = "its reply is not what the protocol says, or it broke off"
		}
		f.trouble.Hint = "Look at the server's own log."
	}
	return f
}

// unconnected says why there is no session.
func (s *server) unconnected(err error) Trouble {
	t := Trouble{Server: s.Name}
	at := "mcp.mcpServers." + s.Name
	if resting, ok := errors.AsType[*mcpconn.Resting](err); ok {
		t.Problem, t.Hint = resting.Error(), "Look at the server's own log."
		if resting.Err != nil {
			last := s.unconnected(resting.Err)
			t.Problem, t.Hint = last.Problem+" ("+resting.Error()+")", last.Hint
		}
		return t
	}
	f, ok := errors.AsType[*mcpconn.Failure](err)
	if !ok {
		t.Problem, t.Hint = "the connection was closed", "The program is ending."
		if errors.Is(err, errSilent) {
			t.Problem, t.Hint = "it is still starting", "Allow it more time."
		}
		return t
	}
	said, told := errors.AsType[*jsonrpc.Error](f.Err)
	_, missing := errors.AsType[*exec.Error](f.Err)
	switch {
	case missing, errors.Is(f.Err, fs.ErrNotExist):
		t.Problem = fmt.Sprintf("its program %q was not found", s.words.Line(s.Command, 200))
		t.Hint = fmt.Sprintf("Install it, or correct %s.command.", at)
	case errors.Is(f.Err, fs.ErrPermission):
		t.Problem = fmt.Sprintf("its program %q may not be started", s.words.Line(s.Command, 200))
		t.Hint = fmt.Sprintf("Make it executable, or correct %s.command.", at)
	case errors.Is(f.Err, context.DeadlineExceeded):
		t.Problem = "it did not answer the handshake in " + short(s.client.options.Connect) + s.lastWords(f.Stderr)
		t.Hint = "Start it by hand to see what it waits for."
	case f.Seen.Response != nil:
		t.Problem, t.Hint = s.refusal(f.Seen.Response)
	case f.Seen.Err != nil:
		t.Problem = "it can't be reached: " + s.network(f.Seen.Err)
		t.Hint = fmt.Sprintf("See whether it runs and %s.url is right.", at)
	case told:
		t.Problem = "it refused the handshake: " + s.words.Line(said.Message, 400)
		t.Hint = "The server may be of a version that is not compatible."
	case s.Command != "":
		t.Problem = "it ended during the handshake" + s.lastWords(f.Stderr)
		t.Hint = fmt.Sprintf("Start it by hand, and see %s.args and %s.env.", at, at)
	default:
		t.Problem = "its answer to the handshake is not what the protocol says"
		t.Hint = fmt.Sprintf("See whether %s.url is the address of an MCP server.", at)
	}
	return t
}

// refusal says what an answer without success means.
func (s *server) refusal(r *http.Response) (problem, hint string) {
	at := "mcp.mcpServers." + s.Name
	switch r.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("it does not let us in (HTTP %d)", r.StatusCode), fmt.Sprintf("Put a valid key into %s.headers.", at)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Sprintf("there is no MCP server at its address, or it forgot us (HTTP %d)", r.StatusCode), fmt.Sprintf("Correct %s.url.", at)
	case http.StatusTooManyRequests:
		return "it has had too many requests (HTTP 429)", "Ask it less often."
	}
	if r.StatusCode/100 == 2 {
		return "a web page answered instead of an MCP server", fmt.Sprintf("Correct %s.url.", at)
	}
	return fmt.Sprintf("it answered with HTTP %d", r.StatusCode), "Look at the server's own log."
}

// network is an error without the address, which may hold a key.
func (s *server) network(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return s.words.Line(err.Error(), 300)
}

func (s *server) lastWords(stderr string) string {
	if said := s.words.Line(stderr, 600); said != "" {
		return "; its last words: " + said
	}
	return ""
}
