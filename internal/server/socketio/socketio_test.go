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
type scripted struct{ release chan struct{} }

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
	ann, bob string
}

func serve(t *testing.T, change func(*server.Options)) *site {
	t.Helper()
	release := make(chan struct{})
	env := []string{"HOME=" + t.TempDir(), "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}
	e, err := dossier.Open(t.Context(), dossier.Options{DataDir: t.TempDir(), Env: env, Modes: []mode.Mode{scripted{release}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s := &site{t: t, engine: e, release: release}
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
