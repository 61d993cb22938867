package server_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/internal/store"
	"dossier/lang"
	"dossier/mode"
	"dossier/reader"
	"dossier/run"
)

var update = flag.Bool("update", false, "rewrite the transcript")

// TestMain makes the test binary the worker that parses documents.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// What a flood is: more than connections hold.
const (
	floodNotes = 400
	floodNote  = 48 << 10
)

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
		case "flood":
			words[i], err = run.Step(ctx, s, fmt.Sprint("flood-", i), func(context.Context, *run.Scope) (string, error) {
				for range floodNotes {
					if err := s.Emit(event.NoteAdded{Text: strings.Repeat("x", floodNote)}); err != nil {
						return "", err
					}
				}
				return "flooded", nil
			})
		case "fail":
			_, err = run.Step(ctx, s, "broken", func(context.Context, *run.Scope) (string, error) {
				return "", errors.New("it broke")
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
	return mode.Answer{Text: strings.Join(words, " "), Model: req.Model}, nil
}

// bench is a way to reach an engine.
type bench struct {
	t *testing.T
	server.Engine
	dir     string
	release chan struct{}
	engine  *dossier.Engine
	serving *server.Server
}

// open opens an engine, with settings as variables of the environment.
func open(t *testing.T, dir string, settings ...string) *bench {
	t.Helper()
	release := make(chan struct{})
	env := append([]string{"HOME=" + t.TempDir(), "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}, settings...)
	e, err := dossier.Open(t.Context(), dossier.Options{DataDir: dir, Env: env, Modes: []mode.Mode{scripted{release}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return &bench{t: t, Engine: e, dir: dir, release: release, engine: e}
}

// direct works with the engine itself.
func direct(t *testing.T) *bench { return open(t, t.TempDir()) }

// remote works through the socket of the engine's directory.
func remote(t *testing.T) *bench { return remoteIn(t, t.TempDir()) }

func remoteIn(t *testing.T, dir string) *bench {
	t.Helper()
	b := open(t, dir)
	s, err := server.Serve(dir, b.engine.Owner(), b.engine, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := server.Dial(t.Context(), dir, b.engine.Owner())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	b.Engine, b.serving = c, s
	return b
}

func (b *bench) start(question string) run.Record {
	b.t.Helper()
	rec, err := b.Start(b.t.Context(), dossier.Request{Mode: "scripted", Request: mode.Request{Question: question}})
	if err != nil {
		b.t.Fatal(err)
	}
	return rec
}

// until follows a run until it has the status.
func (b *bench) until(id string, want run.Status) {
	b.t.Helper()
	for ev, err := range b.Events(b.t.Context(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(want) {
			return
		}
	}
	b.t.Fatalf("the run ended and never was %s", want)
}

func describe(err error) string {
	if err == nil {
		return "ok"
	}
	p := server.Describe(err)
	return fmt.Sprintf("error %s: %s (%s)", p.Code, p.Message, p.Hint)
}

// operation returns what it saw, with ids taken out.
type operation struct {
	name string
	do   func(b *bench) []string
}

// operations are done in order on one engine.
var operations = []operation{
	{"a run from start to end", func(b *bench) []string {
		rec := b.start("hello world")
		out := []string{string(rec.Status), rec.Mode, rec.Title}
		for ev, err := range b.Events(b.t.Context(), rec.ID, 0) {
			if err != nil {
				return append(out, describe(err))
			}
			if !ev.Transient() { // deltas may be missed
				raw, _ := event.EncodeData(ev.Data)
				out = append(out, fmt.Sprintf("%d %s %s", ev.Seq, ev.Kind(), raw))
			}
		}
		return out
	}},
	{"the log, whole and after a sequence", func(b *bench) []string {
		log, err := b.Log(b.t.Context(), b.last(), 0)
		part, err2 := b.Log(b.t.Context(), b.last(), 2)
		return []string{fmt.Sprint(len(log), " ", len(part)), describe(err), describe(err2)}
	}},
	{"events after the last one", func(b *bench) []string {
		out := []string{}
		for ev, err := range b.Events(b.t.Context(), b.last(), 1_000) {
			out = append(out, string(ev.Kind()), describe(err))
		}
		return out
	}},
	{"show", func(b *bench) []string {
		d, err := b.Show(b.t.Context(), "last")
		out := []string{describe(err), string(d.Record.Status), string(d.Record.Request)}
		for _, s := range d.Steps {
			out = append(out, fmt.Sprintf("%d %s %s %s", s.Ord, s.Kind, s.Key, s.Value))
		}
		return append(out, fmt.Sprint(len(d.Asks)))
	}},
	{"a run that asks", func(b *bench) []string {
		rec := b.start("ask")
		b.until(rec.ID, run.Waiting)
		d, err := b.Show(b.t.Context(), rec.ID)
		out := []string{describe(err)}
		for _, a := range d.Asks {
			out = append(out, fmt.Sprint(a.ID, a.Questions, a.Options))
		}
		out = append(out, describe(b.Answer(b.t.Context(), rec.ID, "nonsense", "x")))
		out = append(out, describe(b.Answer(b.t.Context(), rec.ID, "", "second")))
		b.until(rec.ID, run.Done)
		log, err := b.Log(b.t.Context(), rec.ID, 0)
		out = append(out, describe(err), log[len(log)-2].Data.(event.Message).Text)
		return append(out, describe(b.Answer(b.t.Context(), rec.ID, "", "third")))
	}},
	{"two answers at once", func(b *bench) []string {
		rec := b.start("ask")
		b.until(rec.ID, run.Waiting)
		errs := make(chan error, 2)
		for _, text := range []string{"first", "second"} {
			go func() { errs <- b.Answer(b.t.Context(), rec.ID, "", text) }()
		}
		accepted, refused := 0, 0
		for range cap(errs) {
			switch err := <-errs; {
			case err == nil:
				accepted++
			case errors.Is(err, store.ErrAnswered), errors.Is(err, store.ErrNotWaiting):
				refused++
			}
		}
		b.until(rec.ID, run.Done)
		return []string{fmt.Sprint(accepted, " accepted, ", refused, " refused")}
	}},
	{"a run that fails, and again", func(b *bench) []string {
		rec := b.start("fail")
		b.until(rec.ID, run.Failed)
		rec, err := b.Get(b.t.Context(), rec.ID)
		out := []string{describe(err), fmt.Sprintf("%+v", *rec.Failure)}
		out = append(out, describe(b.Resume(b.t.Context(), rec.ID, dossier.ResumeOptions{})))
		for _, err := range b.Events(b.t.Context(), rec.ID, rec.LastSeq) {
			if err != nil {
				out = append(out, describe(err))
			}
		}
		return out
	}},
	{"pause and resume", func(b *bench) []string {
		rec := b.start("wait more")
		b.until(rec.ID, run.Running)
		out := []string{describe(b.Pause(b.t.Context(), rec.ID))}
		b.release <- struct{}{}
		b.until(rec.ID, run.Paused)
		out = append(out, describe(b.Pause(b.t.Context(), rec.ID)), describe(b.Resume(b.t.Context(), rec.ID, dossier.ResumeOptions{})))
		b.until(rec.ID, run.Done)
		return out
	}},
	{"steer and finish", func(b *bench) []string {
		rec := b.start("ask")
		b.until(rec.ID, run.Waiting)
		out := []string{describe(b.Steer(b.t.Context(), rec.ID, "left")), describe(b.Finish(b.t.Context(), rec.ID))}
		b.until(rec.ID, run.Done)
		return out
	}},
	{"cancel and delete", func(b *bench) []string {
		rec := b.start("wait")
		b.until(rec.ID, run.Running)
		out := []string{describe(b.Cancel(b.t.Context(), rec.ID))}
		b.until(rec.ID, run.Cancelled)
		out = append(out, describe(b.Delete(b.t.Context(), rec.ID)))
		_, err := b.Get(b.t.Context(), rec.ID)
		return append(out, fmt.Sprint(errors.Is(err, run.ErrUnknownRun)))
	}},
	{"fork, replay, export", func(b *bench) []string {
		rec := b.start("one two")
		b.until(rec.ID, run.Done)
		fork, err := b.Fork(b.t.Context(), rec.ID, "word-1", dossier.ForkOptions{Question: "one three", Model: "other"})
		out := []string{describe(err), fmt.Sprint(fork.ForkOf == rec.ID), fork.ForkAt, fork.Title}
		b.until(fork.ID, run.Done)
		events, err := b.Replay(b.t.Context(), fork.ID)
		out = append(out, describe(err), fmt.Sprint(len(events)))
		bundle, err := b.Export(b.t.Context(), fork.ID)
		out = append(out, describe(err), fmt.Sprint(bundle.Version, len(bundle.Entries), len(bundle.Events)))
		for _, p := range bundle.Events {
			out = append(out, p.Place+" "+string(p.Kind()))
		}
		_, err = b.Fork(b.t.Context(), rec.ID, "nowhere", dossier.ForkOptions{})
		return append(out, describe(err))
	}},
	{"list", func(b *bench) []string {
		var out []string
		for _, f := range []dossier.Filter{{}, {Status: run.Failed}, {Limit: 2}, {Session: "none"}} {
			list, err := b.List(b.t.Context(), f)
			out = append(out, describe(err))
			for _, rec := range list {
				out = append(out, "  "+rec.Title+" "+string(rec.Status))
			}
		}
		return out
	}},
	{"short names of modes", func(b *bench) []string {
		var out []string
		for _, name := range []string{"search", "web", "deep"} {
			rec, err := b.Start(b.t.Context(), dossier.Request{Mode: name, Request: mode.Request{Question: "where?"}})
			out = append(out, describe(err), rec.Mode)
			b.until(rec.ID, run.Failed)
			rec, err = b.Get(b.t.Context(), rec.ID)
			out = append(out, describe(err), rec.Failure.Code, describe(b.Delete(b.t.Context(), rec.ID)))
		}
		return out
	}},
	{"the doctor", func(b *bench) []string {
		var out []string
		for _, how := range []dossier.Checkup{{Offline: true}, {}, {Offline: true, Lang: lang.Russian}} {
			found, err := b.Diagnose(b.t.Context(), how)
			out = append(out, fmt.Sprint("offline ", how.Offline), describe(err))
			for _, f := range found {
				if slices.Contains([]string{"database", "web search", "model", "модель"}, f.What) {
					out = append(out, fmt.Sprintf("%s %t %s (%s) %t %t", f.What, f.OK, f.Detail, f.Hint, f.Optional, f.Unset))
				}
			}
		}
		return out
	}},
	{"mistakes", func(b *bench) []string {
		ctx := b.t.Context()
		start := func(mode_, question string) error {
			_, err := b.Start(ctx, dossier.Request{Mode: mode_, Request: mode.Request{Question: question}})
			return err
		}
		_, get := b.Get(ctx, "0000000000000000")
		_, show := b.Show(ctx, "a/b?c#d")
		_, replay := b.Replay(ctx, "nothing")
		_, export := b.Export(ctx, "nothing")
		_, texts := b.Snapshots(ctx, "nothing")
		_, none := b.Snapshots(ctx, b.last())
		var events error
		for _, err := range b.Events(ctx, "nothing", 0) {
			events = err
		}
		var out []string
		for _, err := range []error{
			start("scripted", " \n"), start("nonsense", "x"), start("scripted", strings.Repeat("x", 9<<20)),
			get, show, replay, export, texts, none,
			b.Answer(ctx, "nothing", "", "x"), b.Pause(ctx, "nothing"), b.Resume(ctx, "nothing", dossier.ResumeOptions{}), b.Cancel(ctx, "nothing"),
			b.Finish(ctx, "nothing"), b.Steer(ctx, "nothing", "x"), b.Delete(ctx, "nothing"), b.Resume(ctx, b.last(), dossier.ResumeOptions{}),
		} {
			out = append(out, describe(err))
		}
		return append(out, fmt.Sprint(errors.Is(events, run.ErrUnknownRun)))
	}},
}

func (b *bench) last() string {
	b.t.Helper()
	rec, err := b.Get(b.t.Context(), "last")
	if err != nil {
		b.t.Fatal(err)
	}
	return rec.ID
}

// TestConformance holds a Client to what an Engine does.
func TestConformance(t *testing.T) {
	transcript := func(b *bench) string {
		var out strings.Builder
		for _, op := range slices.Concat(operations, fleetOperations) {
			fmt.Fprintf(&out, "# %s\n%s\n\n", op.name, strings.Join(op.do(b), "\n"))
		}
		list, err := b.List(t.Context(), dossier.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for i, rec := range list {
			text = strings.ReplaceAll(text, rec.ID, fmt.Sprintf("RUN%d", len(list)-i))
		}
		return text
	}
	golden := filepath.Join("testdata", "conformance.txt")
	got := map[string]string{"engine": transcript(direct(t)), "client": transcript(remote(t))}
	if *update {
		if err := os.WriteFile(golden, []byte(got["engine"]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range got {
		if text != string(want) {
			t.Errorf("%s (-update rewrites %s):\n%s", name, golden, difference(string(want), text))
		}
	}
}

// difference is the first place where two texts part.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines wanted, %d got", len(w), len(g))
}
