package a2atool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"dossier/internal/a2a"
	"dossier/run"
	"dossier/tool"
)

// fake is an agent of ours: "ask" asks, "fail" fails, "wait" waits to be
// cancelled, and anything else is answered.
type fake struct {
	mu    sync.Mutex
	tasks []a2a.Progress
	moved chan struct{} // closed at each change
}

func newFake() *fake { return &fake{moved: make(chan struct{})} }

func (f *fake) Cards(context.Context) ([]a2a.Card, error) {
	return []a2a.Card{{Name: "researcher", Title: "The Researcher", Description: "Finds\x1b[31m things out.", Skills: []a2a.Skill{
		{ID: "web", Name: "Web search", Description: "Reads the web.", Tags: []string{"web", "news"}, Examples: []string{"What is new?"}},
	}}}, nil
}

func (f *fake) set(id string, change func(*a2a.Progress)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var n int
	_, _ = fmt.Sscanf(id, "t%d", &n)
	change(&f.tasks[n])
	close(f.moved)
	f.moved = make(chan struct{})
}

func (f *fake) Start(_ context.Context, agent, _, text string) (string, error) {
	f.mu.Lock()
	id := fmt.Sprintf("t%d", len(f.tasks))
	f.tasks = append(f.tasks, a2a.Progress{Agent: agent, Session: "s", State: a2a.Working})
	f.mu.Unlock()
	switch text {
	case "ask":
		f.set(id, func(p *a2a.Progress) { p.State, p.Question = a2a.Asking, "Which city?" })
	case "fail":
		f.set(id, func(p *a2a.Progress) { p.State, p.Text = a2a.Failed, "no sources" })
	case "wait":
	default:
		go func() {
			f.set(id, func(p *a2a.Progress) { p.Text = "reading" })
			f.set(id, func(p *a2a.Progress) { p.State, p.Text = a2a.Done, "answer to "+text })
		}()
	}
	return id, nil
}

func (f *fake) Follow(ctx context.Context, id string) iter.Seq2[a2a.Progress, error] {
	return func(yield func(a2a.Progress, error) bool) {
		for {
			f.mu.Lock()
			var n int
			if _, err := fmt.Sscanf(id, "t%d", &n); err != nil || n >= len(f.tasks) {
				f.mu.Unlock()
				yield(a2a.Progress{}, a2a.ErrUnknown)
				return
			}
			p, moved := f.tasks[n], f.moved
			f.mu.Unlock()
			if !yield(p, nil) || p.State != a2a.Working {
				return
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (f *fake) Answer(_ context.Context, id, text string) error {
	f.set(id, func(p *a2a.Progress) { p.State, p.Text = a2a.Done, "so it is "+text })
	return nil
}

func (f *fake) Cancel(_ context.Context, id string) error {
	f.set(id, func(p *a2a.Progress) { p.State = a2a.Cancelled })
	return nil
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// meet returns the tool of one agent.
func meet(t *testing.T, o Options, a Agent) tool.Tool {
	t.Helper()
	tools, troubles := all(t.Context(), New([]Agent{a}, o))
	if len(tools) != 1 {
		t.Fatalf("%+v", troubles)
	}
	return tools[0]
}

func call(ctx context.Context, one tool.Tool, in message) (tool.Result, error) {
	args, _ := json.Marshal(in)
	return one.Call(ctx, &tool.Call{Args: args})
}

func TestSpec(t *testing.T) {
	s := serve(t, a2a.Handler(newFake(), a2a.Options{}))
	spec := meet(t, Options{}, Agent{URL: s.URL}).Spec()
	if spec.Name != "agent_The_Researcher" || spec.Origin != "a2a:The_Researcher" || spec.Effect != run.Effectful || strings.Join(spec.Tags, " ") != "web news" || spec.Examples[0] != "What is new?" {
		t.Errorf("%+v", spec)
	}
	if want := "Asks another agent, The Researcher, and waits for its answer. Finds things out.\n- Web search: Reads the web."; spec.Description != want {
		t.Errorf("%q", spec.Description)
	}
	if _, err := spec.Schema.Read(`{"message":"x"}`); err != nil {
		t.Error(err)
	}
	if _, err := spec.Schema.Read(`{}`); err == nil {
		t.Error("a call without a message fits")
	}
	both := New([]Agent{{Name: "r", URL: s.URL}, {Name: "R", URL: s.URL + "/a2a/researcher/"}}, Options{})
	tools, _ := all(t.Context(), both)
	for i, name := range []string{"r", "R"} {
		if one, trouble := both.Tool(t.Context(), name); trouble != nil || one.Spec().Name != tools[i].Spec().Name {
			t.Errorf("%+v, %v", one, trouble)
		}
	}
	if _, trouble := both.Tool(t.Context(), "x"); trouble == nil {
		t.Error("there is an agent x")
	}
	if len(tools) != 2 || tools[0].Spec().Name != "agent_r" || tools[1].Spec().Name != "agent_R_2" || tools[1].Spec().Origin != "a2a:R" {
		t.Error(tools)
	}
	if _, err := tool.NewSet(tools...); err != nil {
		t.Error(err)
	}
}

// variants are ways in which the same agent can be reached.
var variants = map[string]func(http.Handler) http.Handler{
	"streams": func(h http.Handler) http.Handler { return h },
	"polls": func(h http.Handler) http.Handler {
		return edited(h, func(card []byte) []byte {
			return bytes.Replace(card, []byte(`"streaming":true`), []byte(`"streaming":false`), 1)
		})
	},
	"HTTP+JSON": func(h http.Handler) http.Handler {
		return edited(h, func(card []byte) []byte { return bytes.Replace(card, []byte(`"JSONRPC"`), []byte(`"none"`), 1) })
	},
	"a stream that breaks": func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(&breaking{ResponseWriter: w}, r)
		})
	},
}

// edited changes the card.
func edited(h http.Handler, change func([]byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "agent-card.json") {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		w.WriteHeader(rec.Code)
		_, _ = w.Write(change(rec.Body.Bytes()))
	})
}

// breaking breaks a stream off after its first event.
type breaking struct {
	http.ResponseWriter

	events int
}

func (b *breaking) Write(p []byte) (int, error) {
	if strings.HasPrefix(b.Header().Get("Content-Type"), "text/event-stream") && bytes.HasPrefix(p, []byte("data:")) {
		if b.events++; b.events > 1 {
			panic(http.ErrAbortHandler)
		}
	}
	return b.ResponseWriter.Write(p)
}

func (b *breaking) Flush() { b.ResponseWriter.(http.Flusher).Flush() }

func TestTasks(t *testing.T) {
	for name, variant := range variants {
		t.Run(name, func(t *testing.T) {
			s := serve(t, variant(a2a.Handler(newFake(), a2a.Options{})))
			one := meet(t, Options{}, Agent{Name: "r", URL: s.URL})
			r, err := call(t.Context(), one, message{Message: "hello"})
			var data outcome
			if err != nil || r.Text != "answer to hello" || json.Unmarshal(r.Data, &data) != nil || data.Task != "t0" || data.State != wire.TaskStateCompleted {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := call(t.Context(), one, message{Message: "fail"}); err == nil || err.Error() != "agent_r failed: no sources" {
				t.Error(err)
			}
			r, err = call(t.Context(), one, message{Message: "ask"})
			if err != nil || !strings.HasPrefix(r.Text, "The agent asks: Which city?\n") || !strings.Contains(r.Text, `task "t2"`) {
				t.Errorf("%+v, %v", r, err)
			}
			r, err = call(t.Context(), one, message{Message: "Paris", Task: "t2"})
			if err != nil || r.Text != "so it is Paris" {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := call(t.Context(), one, message{Message: "Rome", Task: "t2"}); err == nil || !strings.Contains(err.Error(), "refused the message: the task does not ask") {
				t.Error(err)
			}
			if _, err := call(t.Context(), one, message{Message: "Rome", Task: "t99"}); err == nil || !strings.Contains(err.Error(), "knows no such task") {
				t.Error(err)
			}
			if _, err := call(t.Context(), one, message{Message: " "}); err == nil || !strings.Contains(err.Error(), "message is empty") {
				t.Error(err)
			}
		})
	}
}

// onceKnown does something when a client knows the id of its task: it asks for it,
// or for what follows the first event of a stream.
type onceKnown struct {
	task string
	do   func()
}

func (k onceKnown) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if r.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte(`"`+k.task+`"`)) {
			k.do()
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &heard{ReadCloser: resp.Body, onceKnown: k}
	}
	return resp, err
}

type heard struct {
	io.ReadCloser
	onceKnown

	said []byte
}

func (h *heard) Read(b []byte) (int, error) {
	if bytes.Contains(h.said, []byte(`"`+h.task+`"`)) && bytes.HasSuffix(h.said, []byte("\n\n")) {
		h.do()
	}
	n, err := h.ReadCloser.Read(b)
	h.said = append(h.said, b[:n]...)
	return n, err
}

// When nobody waits any more, the agent is told to stop.
func TestCancels(t *testing.T) {
	for name, variant := range variants {
		if name == "a stream that breaks" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := newFake()
			s := serve(t, variant(a2a.Handler(f, a2a.Options{})))
			why := errors.New("the run was stopped")
			ctx, cancel := context.WithCancelCause(t.Context())
			leaves := onceKnown{task: "t0", do: func() { cancel(why) }}
			one := meet(t, Options{HTTP: &http.Client{Transport: leaves}}, Agent{Name: "r", URL: s.URL})
			if _, err := call(ctx, one, message{Message: "wait"}); !errors.Is(err, why) {
				t.Error(err)
			}
			for p := range f.Follow(t.Context(), "t0") {
				if p.State == a2a.Cancelled {
					return
				}
			}
			t.Error("it was not told")
		})
	}
	f := newFake()
	s := serve(t, a2a.Handler(f, a2a.Options{}))
	one := meet(t, Options{Timeout: 100 * time.Millisecond}, Agent{Name: "r", URL: s.URL})
	if _, err := call(t.Context(), one, message{Message: "wait"}); err == nil || !strings.Contains(err.Error(), "was not done after 100ms and was told to stop") {
		t.Error(err)
	}
}

// executor is an agent made with the library's own server.
type executor func(c *a2asrv.ExecutorContext, yield func(wire.Event, error) bool)

func (e executor) Execute(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) { e(c, yield) }
}

func (e executor) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		yield(wire.NewStatusUpdateEvent(c, wire.TaskStateCanceled, nil), nil)
	}
}

// library serves an agent with the library's own server.
func library(t *testing.T, e executor) Agent {
	mux := http.NewServeMux()
	s := serve(t, mux)
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&wire.AgentCard{
		Name: "Lib", Capabilities: wire.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*wire.AgentInterface{wire.NewAgentInterface(s.URL+"/rpc", wire.TransportProtocolJSONRPC)},
	}))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(e)))
	return Agent{Name: "lib", URL: s.URL}
}

func TestLibraryServer(t *testing.T) {
	direct := library(t, func(_ *a2asrv.ExecutorContext, yield func(wire.Event, error) bool) {
		yield(wire.NewMessage(wire.MessageRoleAgent, wire.NewTextPart("straight"), wire.NewDataPart(map[string]any{"n": 1})), nil)
	})
	if r, err := call(t.Context(), meet(t, Options{}, direct), message{Message: "x"}); err != nil || r.Text != "straight\n\n{\"n\":1}" {
		t.Errorf("%+v, %v", r, err)
	}
	pieces := library(t, func(c *a2asrv.ExecutorContext, yield func(wire.Event, error) bool) {
		yield(wire.NewSubmittedTask(c, c.Message), nil)
		first := wire.NewArtifactEvent(c, wire.NewTextPart("one "))
		first.Artifact.Name = "report"
		yield(first, nil)
		yield(wire.NewArtifactUpdateEvent(c, first.Artifact.ID, wire.NewTextPart("two")), nil)
		second := wire.NewArtifactEvent(c, wire.NewRawPart([]byte("zip")), wire.NewFileURLPart("https://a.example/f", "text/plain"))
		second.Artifact.Name = "files"
		yield(second, nil)
		yield(wire.NewStatusUpdateEvent(c, wire.TaskStateCompleted, nil), nil)
	})
	if r, err := call(t.Context(), meet(t, Options{}, pieces), message{Message: "x"}); err != nil || r.Text != "report:\none two\n\nfiles:\n[a file, , 3 bytes]\n\n[a file at https://a.example/f]" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if r, err := call(t.Context(), meet(t, Options{ContextLimit: 10}, pieces), message{Message: "x"}); err != nil || r.Text != "report:\none"[:10]+"\n[cut: 66 more characters]" {
		t.Errorf("%q, %v", r.Text, err)
	}
	for state, want := range map[wire.TaskState]string{
		wire.TaskStateRejected:     "agent_lib refused the task: not mine",
		wire.TaskStateAuthRequired: "agent_lib wants somebody to log in first, which only the operator can do: not mine. Do without it",
		wire.TaskStateCanceled:     "agent_lib cancelled the task: not mine",
	} {
		one := library(t, func(c *a2asrv.ExecutorContext, yield func(wire.Event, error) bool) {
			yield(wire.NewSubmittedTask(c, c.Message), nil)
			yield(wire.NewStatusUpdateEvent(c, state, wire.NewMessage(wire.MessageRoleAgent, wire.NewTextPart("not \x07mine"))), nil)
		})
		if _, err := call(t.Context(), meet(t, Options{}, one), message{Message: "x"}); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

func TestTroubles(t *testing.T) {
	var told []string
	elsewhere := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = append(told, r.Header.Get("X-Key")) }))
	inner := a2a.Handler(newFake(), a2a.Options{})
	locked := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k3y-of-the-service" {
			http.Error(w, r.Header.Get("X-Key"), http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	lured := serve(t, a2a.Handler(newFake(), a2a.Options{URL: elsewhere.URL}))
	redirects := serve(t, http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	page := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }))
	old := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":"old","protocolVersion":"0.3.0","url":"http://old.example/","skills":[]}`)
	}))
	endless := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := bytes.Repeat([]byte(" "), 1<<20)
		for range 20 {
			_, _ = w.Write(piece)
		}
	}))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	key := map[string]string{"X-Key": "k3y-of-the-service"}
	agents := []Agent{
		{Name: "good", URL: locked.URL, Headers: key},
		{Name: "locked", URL: locked.URL, Headers: map[string]string{"X-Key": "wr0ng-key"}},
		{Name: "lured", URL: lured.URL, Headers: key},
		{Name: "redirects", URL: redirects.URL, Headers: key},
		{Name: "page", URL: page.URL},
		{Name: "old", URL: old.URL},
		{Name: "endless", URL: endless.URL},
		{Name: "gone", URL: gone.URL + "/?key=s3cret-in-the-address"},
		{Name: "nowhere", URL: "ftp://a.example"},
	}
	tools, troubles := all(t.Context(), New(agents, Options{}))
	if len(tools) != 1 || tools[0].Spec().Origin != "a2a:good" {
		t.Error(tools)
	}
	if r, err := call(t.Context(), tools[0], message{Message: "hello"}); err != nil || r.Text != "answer to hello" {
		t.Error(r, err)
	}
	want := []string{"does not let us in (HTTP 401)", "sends us to another host", "sent us to another host", "is not one of A2A", "before 1.0", "too long", "can't be reached", "no URL"}
	if len(troubles) != len(want) {
		t.Fatalf("%+v", troubles)
	}
	for i, tr := range troubles {
		if !strings.Contains(tr.Problem, want[i]) || tr.Agent != agents[i+1].Name || tr.Hint == "" || strings.Contains(tr.Error(), "s3cret") || strings.Contains(tr.Error(), "wr0ng") {
			t.Errorf("%+v", tr)
		}
	}
	if len(told) > 0 {
		t.Errorf("the other host was asked: %q", told)
	}
}

// An agent that can't be reached after its card was read.
func TestDiesLater(t *testing.T) {
	s := httptest.NewServer(a2a.Handler(newFake(), a2a.Options{}))
	one := meet(t, Options{}, Agent{Name: "r", URL: s.URL})
	at, _ := url.Parse(s.URL)
	s.Close()
	if _, err := call(t.Context(), one, message{Message: "x"}); err == nil || !strings.Contains(err.Error(), "agent_r can't be reached") || strings.Contains(err.Error(), "http://"+at.Host) {
		t.Error(err)
	}
}
