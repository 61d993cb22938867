package agui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/clienttest"
	"dossier/internal/server"
	"dossier/internal/server/agui"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/run"
)

type object = map[string]any

// stream is what the official client got of one request.
type stream struct {
	Events  []agui.Event
	Outcome string
	Failed  string // what the client found wrong with the stream
	Error   *agui.Event
	Result  struct{ Run, Answer string }
}

func (s stream) types() (all []string) {
	for _, e := range s.Events {
		all = append(all, e.Type)
	}
	return all
}

// talked is what became of a conversation of the official client.
type talked struct {
	Streams  []stream
	Messages []struct {
		ID, Role string
		Content  any // text, or parts
	}
	State agui.State
}

func talk(t *testing.T, url, token string, given object) (got talked) {
	t.Helper()
	raw, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	out := clienttest.Node(t, "agui.mjs", url, token, string(raw))
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, s := range got.Streams {
		if s.Failed != "" {
			t.Errorf("the client fails in stream %d: %s", i+1, s.Failed)
		}
	}
	return got
}

// tape is an engine with one run, which was recorded and goes on when it is
// answered.
type tape struct {
	server.PublicEngine
	log []event.Event

	mu      sync.Mutex
	told    int // events that have happened
	answers []string
}

func (p *tape) Get(_ context.Context, id string) (run.Record, error) {
	return run.Record{ID: p.log[0].Run, Session: p.log[0].Session, Status: run.Running, Created: p.log[0].Time}, nil
}

func (p *tape) Start(ctx context.Context, _ dossier.Request) (run.Record, error) {
	return p.Get(ctx, "")
}

func (p *tape) Session(context.Context, string) (dossier.Session, error) {
	return dossier.Session{}, store.ErrNotFound
}

func (p *tape) Answer(_ context.Context, _, ask, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = append(p.answers, ask+"="+text)
	return nil
}

func (p *tape) Log(_ context.Context, _ string, after int64) (log []event.Event, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.log[:p.told] {
		if e.Seq > after {
			log = append(log, e)
		}
	}
	return log, nil
}

func (p *tape) Events(_ context.Context, _ string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		begin := slices.IndexFunc(p.log, func(e event.Event) bool { return e.Seq > after })
		for begin > 0 && p.log[begin-1].Seq == 0 {
			begin-- // what is transient before it
		}
		for i, e := range p.log[begin:] {
			p.mu.Lock()
			p.told = max(p.told, begin+i+1)
			p.mu.Unlock()
			if !yield(e, nil) {
				return
			}
		}
	}
}

func recorded(t *testing.T, name string) *tape {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := &tape{}
	for line := range bytes.Lines(raw) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		p.log = append(p.log, e)
	}
	return p
}

// The official client takes the streams of recorded runs, answers what they ask,
// and has the answer and the state in the end.
func TestOfficialClientAndRecordedRuns(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any
		asked   string
		types   []string
	}{
		"agent":   {[]any{object{"answer": "the species"}}, "[?1=the species]", []string{agui.ToolCallStart, agui.ToolCallResult, agui.ReasoningTextContent, agui.StepFinished}},
		"team":    {nil, "[]", []string{agui.SubagentStarted, agui.SubagentFinished, agui.MessagesSnapshot, agui.StateDelta, agui.Custom}},
		"clarify": {[]any{"the town", nil}, "[clarify/round-1?1=the town clarify/round-2?1=skip]", []string{agui.StateDelta, agui.TextContent}},
	} {
		t.Run(name, func(t *testing.T) {
			engine := recorded(t, name)
			handler, closing := server.NewHandler(server.Options{Engine: engine, Protocols: []server.Protocol{agui.Protocol()}})
			defer closing()
			srv := httptest.NewServer(handler)
			defer srv.Close()
			got := talk(t, srv.URL, "", object{"path": "/agui/deep_research", "answers": c.answers})
			if len(got.Streams) != len(c.answers)+1 || fmt.Sprint(engine.answers) != c.asked {
				t.Fatalf("%d streams, and the answers are %v", len(got.Streams), engine.answers)
			}
			for i, s := range got.Streams {
				want := "interrupt"
				if i == len(got.Streams)-1 {
					want = "success"
				}
				if s.Outcome != want {
					t.Errorf("stream %d ends with %q: %+v", i+1, s.Outcome, s.Error)
				}
			}
			var want event.Message
			sources, notes := map[int]bool{}, 0
			for _, e := range engine.log {
				switch d := e.Data.(type) {
				case event.Message:
					want = d
				case event.SourceFound:
					sources[d.Number] = true
				case event.NoteAdded:
					notes++
				}
			}
			last := got.Streams[len(got.Streams)-1]
			if last.Result.Answer != want.Said() || last.Result.Run != engine.log[0].Run {
				t.Errorf("the result is %+v", last.Result)
			}
			var said []string
			for _, m := range got.Messages {
				if text, _ := m.Content.(string); m.Role == "assistant" && text != "" {
					said = append(said, strings.TrimSpace(text))
				}
			}
			if len(said) != 1 || said[0] != strings.TrimSpace(want.Said()) {
				t.Errorf("the client has %d answers: %q", len(said), said)
			}
			if s := got.State; s.Status != "done" || len(s.Sources) != len(sources) || len(s.Notes) != notes || s.Plan == nil {
				t.Errorf("the state has %d of %d sources, %d of %d notes, and is %s", len(s.Sources), len(sources), len(s.Notes), notes, s.Status)
			}
			all := []string{}
			for _, s := range got.Streams {
				all = append(all, s.types()...)
			}
			for _, typ := range c.types {
				if !slices.Contains(all, typ) {
					t.Errorf("no %s came", typ)
				}
			}
		})
	}
}

// scripted is a mode whose question says what happens.
type scripted struct{}

func (scripted) Name() string  { return "scripted" }
func (scripted) Settings() any { return nil }

func (scripted) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	words := []string{fmt.Sprintf("%d before:", len(req.History))}
	for i, word := range strings.Fields(req.Question) {
		text, err := run.Step(ctx, s, fmt.Sprint("word-", i), func(ctx context.Context, _ *run.Scope) (string, error) {
			switch word {
			case "fail":
				return "", fmt.Errorf("it broke")
			case "wait":
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return strings.ToUpper(word), nil
		})
		if word == "ask" {
			var a run.Answer
			a, err = s.Ask(ctx, run.Question{Questions: []string{"which one?"}, Options: []string{"first", "second"}})
			text = "answered:" + a.Text
		}
		if err != nil {
			return mode.Answer{}, err
		}
		words = append(words, text)
	}
	return mode.Answer{Text: strings.Join(words, " ")}, nil
}

// site is a server with tokens of two users.
type site struct {
	t        *testing.T
	engine   *dossier.Engine
	url      string
	ann, bob string
}

func serve(t *testing.T) *site {
	t.Helper()
	env := []string{"HOME=" + t.TempDir(), "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}
	e, err := dossier.Open(t.Context(), dossier.Options{DataDir: t.TempDir(), Env: env, Modes: []mode.Mode{scripted{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s := &site{t: t, engine: e}
	for user, into := range map[string]*string{"ann": &s.ann, "bob": &s.bob} {
		made, err := e.CreateToken(t.Context(), dossier.Token{User: user, Scopes: access.Usual})
		if err != nil {
			t.Fatal(err)
		}
		*into = made.Text
	}
	p, err := server.Listen(server.Options{
		Engine: e, Version: "test", Host: "127.0.0.1", Access: server.Access{Required: true}, Protocols: []server.Protocol{agui.Protocol()}, MaxBody: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	s.url = p.URL()
	return s
}

func TestConversations(t *testing.T) {
	s := serve(t)
	got := talk(t, s.url, s.ann, object{"path": "/agui/scripted", "question": "one ask two", "answers": []any{object{"answer": "second"}}})
	if len(got.Streams) != 2 || got.Streams[1].Result.Answer != "0 before: ONE answered:second TWO" {
		t.Fatalf("%+v", got.Streams)
	}
	id := got.Streams[1].Result.Run
	again := talk(t, s.url, s.ann, object{"path": "/agui", "props": object{"run": id}})
	if r := again.Streams[0]; r.Outcome != "success" || r.Result != got.Streams[1].Result {
		t.Errorf("followed again: %+v", r)
	}
	// A thread of the client's own brings its history; one of ours has it.
	history := []object{{"id": "1", "role": "developer", "content": "be brief"}, {"id": "2", "role": "user", "content": "hello"}, {"id": "3", "role": "assistant", "content": "yes?"}, {"id": "4", "role": "user", "content": []object{{"type": "text", "text": "three"}}}}
	got = talk(t, s.url, s.ann, object{"path": "/agui", "messages": history, "props": object{"mode": "scripted"}})
	if a := got.Streams[0].Result.Answer; a != "3 before: THREE" {
		t.Errorf("with a history: %q", a)
	}
	rec, err := s.engine.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got = talk(t, s.url, s.ann, object{"path": "/agui/scripted", "thread": rec.Session, "messages": history})
	next, err := s.engine.Get(t.Context(), got.Streams[0].Result.Run)
	if err != nil || next.Session != rec.Session || got.Streams[0].Result.Answer != "0 before: THREE" {
		t.Errorf("in a session: %+v, %+v, %v", next, got.Streams[0].Result, err)
	}
	got = talk(t, s.url, s.ann, object{"path": "/agui/scripted", "question": "one fail"})
	if e := got.Streams[0].Error; e == nil || !strings.Contains(e.Message, "it broke") {
		t.Errorf("a run that fails: %+v", got.Streams[0])
	}
}

// post asks without the client.
func (s *site) post(token, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestWhatIsRefused(t *testing.T) {
	s := serve(t)
	rec, err := s.engine.Start(t.Context(), dossier.Request{Mode: "scripted", User: "ann", Request: mode.Request{Question: "ask"}})
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range s.engine.Events(t.Context(), rec.ID, 0) {
		if st, ok := ev.Data.(event.RunStatus); err != nil || ok && st.Status == string(run.Waiting) {
			break
		}
	}
	const hello = `"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"hello"}]`
	resume := func(id, rest string) string {
		return `{` + hello + `,"resume":[{"interruptId":"` + id + `"` + rest + `}]}`
	}
	for name, c := range map[string]struct {
		token, path, body string
		want              int
	}{
		"nobody":                     {"", "/agui", `{` + hello + `}`, http.StatusUnauthorized},
		"nothing":                    {s.bob, "/agui", ``, http.StatusBadRequest},
		"no JSON":                    {s.bob, "/agui", `{`, http.StatusBadRequest},
		"a list":                     {s.bob, "/agui", `[]`, http.StatusBadRequest},
		"no ids":                     {s.bob, "/agui", `{"messages":[]}`, http.StatusBadRequest},
		"no messages":                {s.bob, "/agui", `{"threadId":"t","runId":"r"}`, http.StatusBadRequest},
		"a picture":                  {s.bob, "/agui", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":[{"type":"image"}]}]}`, http.StatusBadRequest},
		"an odd message":             {s.bob, "/agui", `{"threadId":"t","runId":"r","messages":[7]}`, http.StatusBadRequest},
		"no such mode":               {s.bob, "/agui/nonsense", `{` + hello + `}`, http.StatusBadRequest},
		"no such agent":              {s.bob, "/agui/agents/nobody", `{` + hello + `}`, http.StatusNotFound},
		"odd properties":             {s.bob, "/agui", `{` + hello + `,"forwardedProps":{"mode":7}}`, http.StatusBadRequest},
		"large":                      {s.bob, "/agui", `{"threadId":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"deep":                       {s.bob, "/agui", `{` + hello + `,"forwardedProps":` + strings.Repeat("[", 20_000) + `}`, http.StatusBadRequest},
		"another's run":              {s.bob, "/agui", `{` + hello + `,"forwardedProps":{"run":"` + rec.ID + `"}}`, http.StatusNotFound},
		"another's question":         {s.bob, "/agui", resume(rec.ID+"/?1", `,"status":"resolved","payload":"x"`), http.StatusNotFound},
		"another's session":          {s.bob, "/agui/scripted", `{` + hello + `,"forwardedProps":{"session":"` + rec.Session + `"}}`, http.StatusNotFound},
		"no question":                {s.ann, "/agui", resume("x", `,"status":"resolved","payload":"x"`), http.StatusBadRequest},
		"no status":                  {s.ann, "/agui", resume(rec.ID+"/?1", `,"payload":"x"`), http.StatusBadRequest},
		"no answer":                  {s.ann, "/agui", resume(rec.ID+"/?1", `,"status":"resolved","payload":{"x":1}`), http.StatusBadRequest},
		"a question that is not one": {s.ann, "/agui", resume(rec.ID+"/?9", `,"status":"resolved","payload":"x"`), http.StatusConflict},
	} {
		if got, said := s.post(c.token, c.path, c.body); got != c.want || !json.Valid([]byte(said)) {
			t.Errorf("%s: %d, want %d: %s", name, got, c.want, said)
		}
	}
	if got, err := s.engine.Get(t.Context(), rec.ID); err != nil || got.Status != run.Waiting {
		t.Errorf("ann's run is %s, %v", got.Status, err)
	}
}

func TestLeavingIsNotCancelling(t *testing.T) {
	s := serve(t)
	ctx, leave := context.WithCancel(t.Context())
	body := `{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"wait"}]}`
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/agui/scripted", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.ann)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	id := resp.Header.Get("X-Run-ID")
	leave()
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if rec, err := s.engine.Get(t.Context(), id); err != nil || rec.Status.Ended() {
		t.Errorf("the run is %s, %v", rec.Status, err)
	}
	got := make(chan talked, 1)
	go func() { got <- talk(t, s.url, s.ann, object{"path": "/agui", "props": object{"run": id}}) }()
	for ev, err := range s.engine.Events(t.Context(), id, 0) {
		if st, ok := ev.Data.(event.RunStatus); err == nil && ok && st.Status == string(run.Running) {
			if err := s.engine.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again := <-got; again.Streams[0].Outcome != "cancelled" {
		t.Errorf("after it was cancelled: %+v", again.Streams[0])
	}
}
