package socketio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/clienttest"
	"dossier/internal/server"
	"dossier/internal/server/socketio"
	"dossier/mode"
	"dossier/reader"
	"dossier/run"
)

// TestMain makes the test binary the worker that parses documents.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// scripted is a mode whose question says what happens.
type scripted struct {
	release chan struct{}
	told    chan struct{} // gets something when a run says tell
}

func (scripted) Name() string  { return "scripted" }
func (scripted) Settings() any { return nil }

func (m scripted) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	words := strings.Fields(req.Question)
	for i, word := range words {
		var err error
		switch word {
		case "ask":
			var a run.Answer
			a, err = s.Ask(ctx, run.Question{Questions: []string{"which one?"}, Options: []string{"first", "second"}})
			words[i] = "answered:" + a.Text
		case "tell":
			words[i], err = run.Step(ctx, s, "tell", func(context.Context, *run.Scope) (string, error) {
				m.told <- struct{}{}
				return "told", nil
			})
		case "wait":
			words[i], err = run.Step(ctx, s, fmt.Sprint("wait-", i), func(ctx context.Context, _ *run.Scope) (string, error) {
				select {
				case <-m.release:
					return "waited", nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			})
		case "research":
			words[i], err = run.Step(ctx, s, fmt.Sprint("research-", i), func(_ context.Context, s *run.Scope) (string, error) {
				for _, d := range []event.Data{
					event.PlanUpdated{Steps: []event.PlanStep{{Title: "look"}}}, event.TodoUpdated{ID: "t1", Title: "look", State: "active"},
					event.SearchStarted{Query: "q"}, event.SourceFound{Number: 1, URL: "https://example.org/\u2028"},
					event.NoteAdded{ID: "n1", Text: "найдено 找到", Sources: []int{1}}, event.FindingCompressed{Before: 2, After: 1},
				} {
					if err := s.Emit(d); err != nil {
						return "", err
					}
				}
				return "researched", nil
			})
		default:
			words[i], err = run.Step(ctx, s, fmt.Sprint("word-", i), func(context.Context, *run.Scope) (string, error) {
				_ = s.Emit(event.AnswerDelta{Text: word + " "})
				return strings.ToUpper(word), nil
			})
		}
		if err != nil {
			return mode.Answer{}, err
		}
	}
	return mode.Answer{Text: strings.Join(words, " ")}, nil
}

// site is a server with tokens of two users.
type site struct {
	t        *testing.T
	engine   *dossier.Engine
	public   *server.Public
	release  chan struct{}
	told     chan struct{}
	ann, bob string
}

func serve(t *testing.T, change func(*server.Options)) *site {
	t.Helper()
	release, told := make(chan struct{}), make(chan struct{})
	env := []string{"HOME=" + t.TempDir(), "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}
	e, err := dossier.Open(t.Context(), dossier.Options{DataDir: t.TempDir(), Env: env, Modes: []mode.Mode{scripted{release, told}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s := &site{t: t, engine: e, release: release, told: told}
	for user, into := range map[string]*string{"ann": &s.ann, "bob": &s.bob} {
		made, err := e.CreateToken(t.Context(), dossier.Token{User: user, Scopes: access.Usual})
		if err != nil {
			t.Fatal(err)
		}
		*into = made.Text
	}
	o := server.Options{
		Engine: e, Version: "test", Host: "127.0.0.1", Access: server.Access{Required: true, Token: "operator-secret"},
		Protocols: []server.Protocol{socketio.Protocol()},
	}
	if change != nil {
		change(&o)
	}
	if s.public, err = server.Listen(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.public.Close() })
	return s
}

// client runs a scenario of the official client.
func (s *site) client(token, scenario string, given, into any) {
	s.t.Helper()
	raw, err := json.Marshal(given)
	if err != nil {
		s.t.Fatal(err)
	}
	out := clienttest.Node(s.t, "socket.mjs", s.public.URL(), token, scenario, string(raw))
	if err := json.Unmarshal([]byte(out), into); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

type object = map[string]any

func scriptedRequest(question string) object { return object{"mode": "scripted", "question": question} }

// heard is an event as a client heard it.
type heard struct {
	name string
	raw  json.RawMessage
}

func (h *heard) UnmarshalJSON(b []byte) error {
	pair := []any{&h.name, &h.raw}
	return json.Unmarshal(b, &pair)
}

func (h heard) event(t *testing.T) event.Event {
	t.Helper()
	var e event.Event
	if err := json.Unmarshal(h.raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// durable are the events that are in the log, as JSON.
func durable(t *testing.T, all []heard) []string {
	t.Helper()
	var out []string
	for _, h := range all {
		if e := h.event(t); e.Seq != 0 {
			out = append(out, encoded(t, e))
		}
	}
	return out
}

func encoded(t *testing.T, e event.Event) string {
	t.Helper()
	raw, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// log is the log of a run as JSON.
func (s *site) log(id string) []string {
	s.t.Helper()
	events, err := s.engine.Log(s.t.Context(), id, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		out = append(out, encoded(s.t, e))
	}
	return out
}

func TestEventsAsTheyHappenOverEachTransport(t *testing.T) {
	s := serve(t, nil)
	for _, transport := range []string{"polling", "websocket"} {
		var got struct {
			Run, Transport string
			Seen           []heard
		}
		s.client(s.ann, "start", object{"transports": []string{transport}, "request": scriptedRequest("one research two")}, &got)
		if got.Transport != transport {
			t.Errorf("asked for %s, got %s", transport, got.Transport)
		}
		if log := s.log(got.Run); !slices.Equal(durable(t, got.Seen), log) {
			t.Errorf("over %s came\n%s\nand the log is\n%s", transport, strings.Join(durable(t, got.Seen), "\n"), strings.Join(log, "\n"))
		}
		var names []string
		for _, h := range got.Seen {
			names = append(names, h.name)
		}
		for _, name := range []string{"status", "chunk", "plan", "todo", "search", "source", "note", "finding", "message"} {
			if !slices.Contains(names, name) {
				t.Errorf("over %s nothing came as %s: %v", transport, name, names)
			}
		}
	}
}

// A connection that begins by polling goes on over a WebSocket, and nothing of a
// run that is told meanwhile is lost or comes twice.
func TestUpgrade(t *testing.T) {
	s := serve(t, nil)
	var got struct {
		Before, After string
		Seen          []heard
	}
	s.client(s.ann, "upgrade", object{"request": scriptedRequest("")}, &got)
	if got.Before != "polling" || got.After != "websocket" {
		t.Errorf("from %s to %s", got.Before, got.After)
	}
	if log := s.log(got.Seen[0].event(t).Run); !slices.Equal(durable(t, got.Seen), log) {
		t.Errorf("came\n%s\nand the log is\n%s", strings.Join(durable(t, got.Seen), "\n"), strings.Join(log, "\n"))
	}
}

func TestAnswerAndCancel(t *testing.T) {
	s := serve(t, nil)
	for _, transport := range []string{"polling", "websocket"} {
		var got struct{ Seen []heard }
		s.client(s.ann, "answer", object{"transports": []string{transport}, "request": scriptedRequest("ask")}, &got)
		if all := strings.Join(durable(t, got.Seen), "\n"); !strings.Contains(all, `"answered:second"`) {
			t.Errorf("over %s: %s", transport, all)
		}
		got.Seen = nil
		s.client(s.ann, "cancel", object{"transports": []string{transport}, "request": scriptedRequest("wait")}, &got)
		if all := durable(t, got.Seen); !strings.Contains(all[len(all)-1], `"cancelled"`) {
			t.Errorf("over %s: %s", transport, strings.Join(all, "\n"))
		}
	}
}

// A client that comes back after any event of a run hears the rest, and nothing
// twice.
func TestReconnectAtEverySequence(t *testing.T) {
	s := serve(t, nil)
	rec := s.run("ann", "one research two")
	log := s.log(rec.ID)
	for _, transport := range []string{"polling", "websocket"} {
		var got struct {
			Whole []heard
			Rests [][]heard
		}
		s.client(s.ann, "every", object{"transports": []string{transport}, "run": rec.ID}, &got)
		if whole := durable(t, got.Whole); !slices.Equal(whole, log) {
			t.Errorf("over %s the whole is\n%s", transport, strings.Join(whole, "\n"))
		}
		if len(got.Rests) != len(log) {
			t.Fatalf("%d returns of %d", len(got.Rests), len(log))
		}
		for i, rest := range got.Rests {
			if joined := slices.Concat(log[:i+1], durable(t, rest)); !slices.Equal(joined, log) {
				t.Errorf("over %s, after %d: %s", transport, i+1, strings.Join(joined, "\n"))
			}
		}
	}
}

// A client that loses its connection comes back by itself and goes on.
func TestClientComesBackByItself(t *testing.T) {
	s := serve(t, nil)
	for _, transports := range [][]string{{"polling"}, {"websocket"}, {"polling", "websocket"}} {
		var got struct {
			Run         string
			Seen        []event.Event
			Connections int
		}
		s.client(s.ann, "reconnect", object{"transports": transports, "request": scriptedRequest("one ask two")}, &got)
		if got.Connections != 2 {
			t.Errorf("over %v it connected %d times", transports, got.Connections)
		}
		var seen []string
		for _, e := range got.Seen {
			seen = append(seen, encoded(t, e))
		}
		if log := s.log(got.Run); !slices.Equal(seen, log) || !strings.Contains(strings.Join(log, ""), "answered:back") {
			t.Errorf("over %v came\n%s\nand the log is\n%s", transports, strings.Join(seen, "\n"), strings.Join(log, "\n"))
		}
	}
}

func TestLeavingIsNotCancelling(t *testing.T) {
	s := serve(t, nil)
	for _, transport := range []string{"polling", "websocket"} {
		var got struct{ Run run.Record }
		s.client(s.ann, "leave", object{"transports": []string{transport}, "request": scriptedRequest("wait")}, &got)
		s.release <- struct{}{} // the client has gone, and the run waits for this
		s.until(got.Run.ID, run.Done)
	}
}

// said is what a client was told.
type said struct {
	Run   *run.Record
	Error *server.Problem
}

func (r said) String() string {
	if r.Error != nil {
		return r.Error.Code
	}
	return "ok"
}

// What is another user's is not there, and what is asked for in a wrong way is
// refused with a reason; the connection goes on.
func TestWhatIsRefused(t *testing.T) {
	s := serve(t, nil)
	rec := s.run("ann", "hello")
	asks := []struct {
		ask  []any
		want string
	}{
		{[]any{"subscribe", object{"run": rec.ID}}, "unknown_run"},
		{[]any{"subscribe", object{"run": rec.ID, "after": 1}}, "unknown_run"},
		{[]any{"answer", object{"run": rec.ID, "text": "x"}}, "unknown_run"},
		{[]any{"steer", object{"run": rec.ID, "text": "x"}}, "unknown_run"},
		{[]any{"pause", object{"run": rec.ID}}, "unknown_run"},
		{[]any{"finish", object{"run": rec.ID}}, "unknown_run"},
		{[]any{"cancel", object{"run": rec.ID}}, "unknown_run"},
		{[]any{"start", object{"mode": "scripted", "question": "x", "session": rec.Session}}, "not_found"},
		{[]any{"unsubscribe", object{"run": rec.ID}}, "ok"},
		{[]any{"subscribe", object{"run": rec.ID, "after": -1}}, "usage"},
		{[]any{"subscribe", object{"run": 7}}, "usage"},
		{[]any{"subscribe", object{"rum": rec.ID}}, "usage"},
		{[]any{"subscribe"}, "usage"},
		{[]any{"start", object{"mode": "nonsense", "question": "x"}}, "usage"},
		{[]any{"start", "a question"}, "usage"},
		{[]any{"dance", object{}}, "usage"},
		{[]any{"start", scriptedRequest("after all this")}, "ok"},
	}
	var given [][]any
	for _, a := range asks {
		given = append(given, a.ask)
	}
	var got struct{ Said []said }
	s.client(s.bob, "ask", object{"asks": given}, &got)
	if len(got.Said) != len(asks) {
		t.Fatalf("%d replies to %d", len(got.Said), len(asks))
	}
	for i, a := range asks {
		if got.Said[i].String() != a.want {
			t.Errorf("%v: %s, want %s: %+v", a.ask, got.Said[i], a.want, got.Said[i].Error)
		}
	}
	if after, err := s.engine.Get(t.Context(), rec.ID); err != nil || after.LastSeq != rec.LastSeq {
		t.Errorf("ann's run was touched: %+v %v", after, err)
	}
}

// The gate holds: tokens in the handshake or the header, scopes, origins, and how
// many streams one may have.
func TestWhoMayComeIn(t *testing.T) {
	s := serve(t, func(o *server.Options) { o.Streams = 1 })
	reader, err := s.engine.CreateToken(t.Context(), dossier.Token{User: "ann", Scopes: []access.Scope{access.Read}})
	if err != nil {
		t.Fatal(err)
	}
	type refusal struct {
		Message string
		Data    struct{ Code string }
	}
	foreign := object{"Origin": "https://evil.example"}
	for _, c := range []struct {
		name, token string
		options     object
		want        string // code of the refusal
		refused     bool
	}{
		{"nobody", "", object{}, "unauthorized", true},
		{"a wrong token", s.ann + "x", object{}, "unauthorized", true},
		{"another program's key", "sk-x", object{}, "unauthorized", true},
		{"a user", s.ann, object{}, "", false},
		{"the operator", "operator-secret", object{}, "", false},
		{"a token in the header", "", object{"extraHeaders": object{"Authorization": "Bearer " + s.ann}}, "", false},
		{"a foreign page that polls", s.ann, object{"transports": []string{"polling"}, "extraHeaders": foreign, "reconnection": false}, "", true},
		{"a foreign page with a WebSocket", s.ann, object{"transports": []string{"websocket"}, "extraHeaders": foreign, "reconnection": false}, "", true},
	} {
		var got refusal
		s.client(c.token, "refused", object{"options": c.options}, &got)
		if got.Data.Code != c.want || (got.Message != "") != c.refused {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	var got struct{ Said []said }
	s.client(reader.Text, "ask", object{"asks": [][]any{{"start", scriptedRequest("x")}}}, &got)
	if len(got.Said) != 1 || got.Said[0].String() != "forbidden" {
		t.Errorf("a reader starts: %+v", got.Said)
	}
	got.Said = nil // whose errors would stay
	first, second := s.start("ann", "wait"), s.start("ann", "wait")
	s.client(s.ann, "ask", object{"asks": [][]any{{"subscribe", object{"run": first.ID}}, {"subscribe", object{"run": second.ID}}, {"subscribe", object{"run": first.ID}}}}, &got)
	if fmt.Sprint(got.Said) != "[ok too_many_streams ok]" {
		t.Errorf("two streams where one may be: %v", got.Said)
	}
}

// A token that is revoked while its client is connected does nothing more.
func TestRevokedMeanwhile(t *testing.T) {
	s := serve(t, nil)
	tokens, err := s.engine.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tokens, func(tok dossier.Token) bool { return tok.User == "ann" })
	revoked := make(chan error, 1)
	go func() {
		<-s.told
		revoked <- s.engine.RevokeToken(context.Background(), tokens[at].ID)
		s.release <- struct{}{}
	}()
	var got struct{ Later said }
	s.client(s.ann, "later", object{"request": scriptedRequest("tell wait")}, &got)
	if err := <-revoked; err != nil {
		t.Fatal(err)
	}
	if got.Later.String() != "unauthorized" {
		t.Errorf("after the token was revoked: %s", got.Later)
	}
}

func (s *site) start(user, question string) run.Record {
	s.t.Helper()
	rec, err := s.engine.Start(s.t.Context(), dossier.Request{Mode: "scripted", User: user, Request: mode.Request{Question: question}})
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// run carries a run out.
func (s *site) run(user, question string) run.Record {
	s.t.Helper()
	rec := s.start(user, question)
	s.until(rec.ID, run.Done)
	rec, err := s.engine.Get(s.t.Context(), rec.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

func (s *site) until(id string, want run.Status) {
	s.t.Helper()
	for ev, err := range s.engine.Events(s.t.Context(), id, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if st, ok := ev.Data.(event.RunStatus); ok && st.Status == string(want) {
			return
		}
	}
	s.t.Fatalf("the run ended and never was %s", want)
}
