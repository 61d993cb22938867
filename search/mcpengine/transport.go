package mcpengine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/search"
)

const (
	mostReply = 8 << 20
	// endTime is how long a program may take to end before it is told more
	// plainly.
	endTime = 2 * time.Second
)

// inherited are the variables without which programs don't run. Everything else
// of our environment, keys among it, is not for a server to see.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"SystemRoot", "SystemDrive", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ProgramFiles",
}

func program(c Config) mcp.Transport {
	command := exec.Command(c.Command, c.Args...)
	command.Env = []string{}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	for name, value := range c.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	return &mcp.CommandTransport{Command: command, TerminateDuration: endTime}
}

// report is what was seen of the HTTP below one call, since the SDK's errors
// don't tell.
type report struct {
	mu       sync.Mutex
	fault    error // an *search.Error, or what broke the connection
	answered bool  // with a success
}

type reportKey struct{}

func reporting(ctx context.Context, r *report) context.Context {
	return context.WithValue(ctx, reportKey{}, r)
}

func (r *report) set(fault error, answered bool) {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fault, r.answered = fault, answered
	}
}

func (r *report) get() (answered bool, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered, r.fault
}

// watcher adds the configured headers to requests, to the configured host only,
// reports what comes back, and breaks off what is under way when life ends: the
// SDK tells servers of what was cancelled without anybody waiting for it.
type watcher struct {
	life    context.Context
	next    http.RoundTripper
	engine  string
	host    string
	headers map[string]string
}

func watch(life context.Context, client *http.Client, c Config) *http.Client {
	own := *client
	w := &watcher{life: life, next: cmp.Or[http.RoundTripper](client.Transport, http.DefaultTransport), engine: c.Name, headers: c.Headers}
	if u, err := url.Parse(c.URL); err == nil {
		w.host = u.Host
	}
	own.Transport = w
	return &own
}

func (w *watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(w.life, cancel)
	over := func() {
		stop()
		cancel()
	}
	req = req.Clone(ctx)
	if req.URL.Host == w.host {
		for name, value := range w.headers {
			req.Header.Set(name, value)
		}
	}
	seen, _ := ctx.Value(reportKey{}).(*report)
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		over()
		seen.set(err, false)
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode/100 == 2 && !strings.HasPrefix(kind, "text/html") {
		seen.set(nil, true)
		resp.Body = &watched{ReadCloser: resp.Body, over: over, seen: seen, left: mostReply}
		return resp, nil
	}
	defer over()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostReply))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case err != nil:
		seen.set(err, false)
	case resp.StatusCode/100 == 2:
		seen.set(search.Unexpected(w.engine, body, nil), false)
	default:
		seen.set(search.Refusal(w.engine, resp, body), false)
	}
	return resp, nil
}

// watched is the body of a reply.
type watched struct {
	io.ReadCloser

	over func()
	seen *report
	left int
}

func (w *watched) Close() error {
	defer w.over()
	return w.ReadCloser.Close()
}

var errTooLong = errors.New("the reply is too long")

func (w *watched) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooLong
	}
	n, err := w.ReadCloser.Read(p[:min(len(p), w.left)])
	w.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		w.seen.set(err, false)
	}
	return n, err
}

// fault says what kept a call from being answered, and whether the connection
// is lost by it. It keeps the SDK's errors to itself: they may hold addresses,
// and addresses keys.
func (e *Engine) fault(ctx context.Context, seen *report, err error) (lost bool, fault error) {
	name := e.conf.Name
	if ctx.Err() != nil {
		return false, search.Broken(ctx, name, context.Cause(ctx))
	}
	answered, reported := seen.get()
	if known, ok := errors.AsType[*search.Error](reported); ok {
		return known.Reason != search.RateLimited && known.Reason != search.Unavailable, known
	}
	if reported != nil {
		return true, search.Broken(ctx, name, reported)
	}
	if said, ok := errors.AsType[*jsonrpc.Error](err); ok {
		reason := search.Unavailable
		if said.Code == jsonrpc.CodeInvalidParams || said.Code == jsonrpc.CodeMethodNotFound || said.Code == jsonrpc.CodeInvalidRequest {
			reason = search.Rejected // perhaps the tool is another by now
		}
		return reason == search.Rejected, e.complaint(reason, said.Message)
	}
	if answered {
		return true, &search.Error{Engine: name, Reason: search.Malformed, Detail: "the reply is not what the protocol says"}
	}
	detail := "the connection to the server was lost"
	if _, ok := errors.AsType[*exec.Error](err); ok || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		detail = "the program could not be started"
	}
	return true, &search.Error{Engine: name, Reason: search.Unreachable, Detail: detail}
}
