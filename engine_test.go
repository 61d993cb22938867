package dossier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/prompt"
	"dossier/run"
)

var update = flag.Bool("update", false, "rewrite golden files")

// engine opens an Engine on a store that outlives it.
func engine(t *testing.T, s store.Store, flags map[string]string) *Engine {
	t.Helper()
	// Nothing here reaches the network, unless a test brings a web of its own.
	env := []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none"}
	cfg, err := config.Load(config.Sources{Env: env, File: config.NoFile, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble(cfg, site{dir: t.TempDir()}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func connected(srv *llmtest.Server) map[string]string {
	return map[string]string{"models.default.base_url": srv.URL() + "/v1", "models.default.model": "scripted"}
}

func ask(question string) Request { return Request{Request: mode.Request{Question: question}} }

// follow collects the events of a run to its end.
func follow(t *testing.T, e *Engine, req Request) []event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var events []event.Event
	for ev, err := range e.Run(ctx, req) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// answerOf returns the assistant's last message and the streamed text.
func answerOf(events []event.Event) (message event.Message, streamed string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.Message:
			if d.Role == "assistant" {
				message = d
			}
		case event.AnswerDelta:
			if d.Reset {
				streamed = ""
			}
			streamed += d.Text
		}
	}
	return message, streamed
}

func TestChatAnswersAndStreams(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{
		"reasoning": "Known since Rayleigh.", "answer": "Because short waves scatter more.", "key_points": []string{"Rayleigh scattering"},
	})}}})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	events := follow(t, e, ask("why is the sky blue?"))
	m, streamed := answerOf(events)
	if m.Text != "Because short waves scatter more." || m.Model == "" || len(m.KeyPoints) != 1 {
		t.Errorf("message %+v", m)
	}
	if streamed != m.Text {
		t.Errorf("streamed %q", streamed)
	}
	if last := events[len(events)-1]; last.Data != (event.RunStatus{Status: "done"}) {
		t.Errorf("last event %+v", last.Data)
	}
}

func TestChatEventLog(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.JSON(map[string]any{
		"reasoning": "r", "answer": "Hello to you.", "key_points": []string{},
	})}}})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	first := follow(t, e, ask("hello"))
	second := ask("and again?")
	second.Session = first[0].Session
	follow(t, e, second)
	runs, err := e.List(t.Context(), Filter{})
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var out bytes.Buffer
	for _, rec := range []run.Record{runs[1], runs[0]} {
		log, err := e.Log(t.Context(), rec.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range log {
			data, err := event.EncodeData(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%d %s %s\n", ev.Seq, ev.Kind(), data)
		}
		d, err := e.Show(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range d.Steps {
			fmt.Fprintf(&out, "  %s %s %s\n", entry.Kind, entry.Key, entry.Value)
		}
	}
	golden(t, "chat.golden", out.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}

func TestNoModelFailsHonestlyAndResumesLater(t *testing.T) {
	s := &kept{Store: memory.New(memory.Options{})}
	e := engine(t, s, nil)
	events := follow(t, e, ask("привет"))
	id := events[0].Run
	rec, err := e.Get(t.Context(), id)
	if err != nil || rec.Status != run.Failed || rec.Failure.Code != prompt.CodeNoModel || rec.Failure.Hint == "" {
		t.Fatalf("record %+v, %v", rec, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	srv := llmtest.Start(t, llmtest.Script{})
	e = engine(t, s, connected(srv))
	if err := e.Resume(t.Context(), id, ResumeOptions{}); err != nil {
		t.Fatal(err)
	}
	var after []event.Event
	for ev, err := range e.Events(t.Context(), id, rec.LastSeq) {
		if err != nil {
			t.Fatal(err)
		}
		after = append(after, ev)
	}
	if m, _ := answerOf(after); m.Text == "" {
		t.Errorf("no answer after a model was connected: %v", after)
	}
}

// kept is a store that survives the engine's Close.
type kept struct{ store.Store }

func (*kept) Close() error { return nil }

func TestFailureOfTheEndpointIsTheRunsFailure(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), map[string]string{
		"models.default.base_url": "http://127.0.0.1:1/v1", "models.default.model": "m", "governor.retries": "0",
	})
	events := follow(t, e, ask("hello"))
	rec, err := e.Get(t.Context(), events[0].Run)
	if err != nil || rec.Status != run.Failed || rec.Failure.Code != "unreachable" || !strings.Contains(rec.Failure.Hint, "127.0.0.1:1") {
		t.Errorf("failure %+v, %v", rec.Failure, err)
	}
}

func TestReplayWithTheModelDown(t *testing.T) {
	s := &kept{Store: memory.New(memory.Options{})}
	srv := llmtest.Start(t, llmtest.Script{})
	e := engine(t, s, connected(srv))
	id := follow(t, e, ask("你好吗？"))[0].Run
	want, err := e.Log(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	e = engine(t, s, map[string]string{"models.default.base_url": "http://127.0.0.1:1/v1", "models.default.model": "gone"})
	got, err := e.Replay(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the replayed log differs")
	}
}

func TestForkWithAnotherModelRunsOnlyWhatFollows(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	first := follow(t, e, ask("hello"))
	second := ask("and again?")
	second.Session = first[0].Session
	id := follow(t, e, second)[0].Run
	before := len(srv.Calls())
	rec, err := e.Fork(t.Context(), id, "answer", ForkOptions{Model: "larger"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range e.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	calls := srv.Calls()[before:]
	if len(calls) != 1 || calls[0].Model != "larger" {
		t.Errorf("calls of the fork: %+v", calls)
	}
	d, err := e.Show(t.Context(), rec.ID)
	if err != nil || len(d.Steps) != 2 || d.Steps[0].Key != "history" || d.Record.ForkOf != id || d.Record.Status != run.Done {
		t.Errorf("fork %+v, %v", d, err)
	}
}

// A fork does not see what it is an alternative to.
func TestForkDoesNotSeeTheOriginalAnswer(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	original := follow(t, e, ask("what is a lease?"))[0].Run
	for range 2 { // a fork, and a fork of the fork
		rec, err := e.Fork(t.Context(), original, "answer", ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range e.Events(t.Context(), rec.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		calls := srv.Calls()
		if n := len(calls[len(calls)-1].Request.Messages); n != 2 {
			t.Errorf("the fork's model saw %d messages", n)
		}
		original = rec.ID
	}
}

func TestBadRequests(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	for name, req := range map[string]Request{
		"empty":        ask(" \n\t"),
		"unknown mode": {Mode: "telepathy", Request: mode.Request{Question: "x"}},
		"huge":         ask(strings.Repeat("a", maxQuestion+1)),
	} {
		var usage *UsageError
		if _, err := e.Start(t.Context(), req); !errors.As(err, &usage) || usage.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Get(t.Context(), "nosuchrun"); !errors.Is(err, run.ErrUnknownRun) {
		t.Errorf("unknown run: %v", err)
	}
	if err := e.Answer(t.Context(), "nosuchrun", "", "x"); !errors.Is(err, run.ErrUnknownRun) {
		t.Errorf("answer to an unknown run: %v", err)
	}
}

func TestInvalidUTF8AndLargeQuestion(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	for _, q := range []string{"caf\xe9 \xff?", strings.Repeat("очень длинный вопрос ", 1<<20/40)} {
		events := follow(t, e, ask(q))
		if m, _ := answerOf(events); m.Text == "" {
			rec, _ := e.Get(t.Context(), events[0].Run)
			t.Errorf("no answer to a question of %d bytes: %+v", len(q), rec.Failure)
		}
		if _, err := json.Marshal(events); err != nil {
			t.Error(err)
		}
	}
}

func TestHistoryReachesTheModel(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	session := follow(t, e, ask("my name is Ada"))[0].Session
	req := ask("what is my name?")
	req.Session = session
	follow(t, e, req)
	calls := srv.Calls()
	last := calls[len(calls)-1].Request
	if got := fmt.Sprint(last.Messages); !strings.Contains(got, "my name is Ada") {
		t.Errorf("the model saw %s", got)
	}
}

func TestFollowersOfARunSeeTheSame(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{ChunkDelay: time.Millisecond})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	rec, err := e.Start(t.Context(), ask("hello"))
	if err != nil {
		t.Fatal(err)
	}
	const followers = 8
	logs := make(chan []int64, followers)
	for range followers {
		go func() {
			var seqs []int64
			for ev, err := range e.Events(t.Context(), rec.ID, 0) {
				if err != nil {
					t.Error(err)
				}
				if ev.Seq > 0 {
					seqs = append(seqs, ev.Seq)
				}
			}
			logs <- seqs
		}()
	}
	first := <-logs
	for i, s := range first {
		if s != int64(i+1) {
			t.Fatalf("sequences %v", first)
		}
	}
	for range followers - 1 {
		if other := <-logs; !reflect.DeepEqual(first, other) {
			t.Errorf("%v and %v", first, other)
		}
	}
}

// A run that failed and was resumed is followed to its new end, also by who
// comes before its worker has said a word.
func TestFollowAResumedRun(t *testing.T) {
	s := &kept{Store: memory.New(memory.Options{})}
	e := engine(t, s, nil)
	id := follow(t, e, ask("hello"))[0].Run
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := s.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Reopen(h, run.ReopenOptions{})
	if err == nil {
		err = s.Reopen(t.Context(), id, again)
	}
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.Start(t, llmtest.Script{})
	e = engine(t, s, connected(srv))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var last event.Event
	for ev, err := range e.Events(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if last = ev; ended(ev) && ev.Data.(event.RunStatus).Status == "failed" {
			// Nobody works on it yet: what the log ends with is not the end.
			go func() { _, _ = e.Sweep(t.Context()) }()
		}
	}
	if last.Data != (event.RunStatus{Status: "done"}) {
		t.Errorf("the log was followed to %+v", last.Data)
	}
}

// ended says whether an event is the last one of a run.
func ended(ev event.Event) bool {
	s, ok := ev.Data.(event.RunStatus)
	return ok && run.Status(s.Status).Ended()
}
