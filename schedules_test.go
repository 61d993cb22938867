package dossier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/schedule"
	"dossier/internal/store/memory"
	"dossier/internal/webhook"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// travel is a folder with a document about travelling, as it says.
func travel(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "handbook")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	putPage(t, dir, "travel.md", text)
	return dir
}

func putPage(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// What is as large as before is known to have changed by its time.
	soon := time.Now().Add(time.Second)
	if err := os.Chtimes(path, soon, soon); err != nil {
		t.Fatal(err)
	}
}

const (
	travelBefore = "# Travel\n\nTravel abroad is approved by the head of department. The allowance is 40 euros a day.\n"
	travelAfter  = "# Travel\n\nTravel abroad is approved by the head of department and the controller. The allowance is 40 euros a day.\n"
)

// fired carries a schedule out by hand and returns its run when that is over.
func fired(t *testing.T, e *Engine, id string) run.Record {
	t.Helper()
	f, err := e.FireSchedule(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, e, f.Run)
}

// over returns a run when it is over.
func over(t *testing.T, e *Engine, id string) run.Record {
	t.Helper()
	for _, err := range e.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := e.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// Each report of a schedule tells what changed since the one before it, without a
// model, and a replay of it tells the same.
func TestScheduledResearchTellsWhatChanged(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	dir := travel(t, travelBefore)
	s, err := e.CreateSchedule(t.Context(), Schedule{Name: " daily  travel ", Cron: "@daily", Zone: "UTC", Request: research("who approves travel abroad?", dir)})
	if err != nil || s.Name != "daily travel" || s.Next.IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	if list, err := e.ScheduleChanges(t.Context(), s.ID, 10); err != nil || len(list) != 0 {
		t.Fatalf("before any report: %+v, %v", list, err)
	}
	first := fired(t, e, s.ID)
	second := fired(t, e, s.ID)
	putPage(t, dir, "travel.md", travelAfter)
	putPage(t, dir, "abroad.md", "# Abroad\n\nTravel abroad has to be approved by the works council as well.\n")
	third := fired(t, e, s.ID)
	list, err := e.ScheduleChanges(t.Context(), s.ID, 10)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[2].Run != first.ID || list[2].Changes != nil || list[1].Run != second.ID || list[1].Changes == nil || !list[1].Changes.None() {
		t.Errorf("%+v, %+v", list[2], list[1])
	}
	got := list[0].Changes
	if got == nil || got.Run != second.ID || got.Count() != (report.ChangeCount{NewSources: 1, ChangedSources: 1, New: 1, Changed: 1}) {
		t.Fatalf("%+v", got)
	}
	if c := got.Changed[0]; !strings.HasSuffix(c.Before, "head of department.") || !strings.HasSuffix(c.After, "and the controller.") {
		t.Errorf("%+v", c)
	}
	var said string
	log, err := e.Replay(t.Context(), third.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range log {
		if m, ok := ev.Data.(event.Message); ok && m.Role == "assistant" {
			said = m.Text
		}
	}
	if !strings.Contains(said, "## What changed since the last report") || !strings.Contains(said, "and the controller.” ") && !strings.Contains(said, "and the controller.”") {
		t.Errorf("the message is %s", said)
	}
	runs, err := e.ScheduleRuns(t.Context(), s.ID)
	if err != nil || len(runs) != 3 || runs[0].Run != third.ID || runs[0].Status != run.Done || !runs[0].ByHand {
		t.Errorf("%+v, %v", runs, err)
	}
	// What it was compared with may go: the next is compared with what there is.
	for _, id := range []string{second.ID, third.ID} {
		if err := e.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	fourth := fired(t, e, s.ID)
	var req mode.Request
	if err := json.Unmarshal(fourth.Request, &req); err != nil || req.CompareWith != first.ID || req.Schedule != s.ID || !req.NoInput || fourth.Session != fourth.ID {
		t.Errorf("%+v, %v", req, err)
	}
	if err := e.RemoveSchedule(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Get(t.Context(), fourth.ID); err != nil {
		t.Errorf("a run went with its schedule: %v", err)
	}
}

// A run that is to be compared with one that is gone is compared with nothing.
func TestComparedWithNothing(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	req := research("who approves travel abroad?", travel(t, travelBefore))
	req.CompareWith = "none"
	rec, err := e.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if rec = over(t, e, rec.ID); rec.Status != run.Done {
		t.Fatalf("%+v", rec)
	}
	if r := reportOf(t, e); r.Changes != nil {
		t.Errorf("%+v", r.Changes)
	}
}

// What would be asked of a user is assumed: nobody is there.
func TestScheduledRunsNeverAsk(t *testing.T) {
	for _, c := range unsure(2) {
		w := startWeb(t, webtest.Options{})
		flags := onWeb(t, w, map[string]string{"deep_research.engine": c.name}, connected(llmtest.Start(t, llmtest.Script{Rules: c.rules})))
		e := engine(t, memory.New(memory.Options{}), flags)
		req := onTheWeb("deep_research", c.question)
		req.NoInput = false
		s, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", Request: req})
		if err != nil {
			t.Fatal(err)
		}
		rec := fired(t, e, s.ID)
		log, err := e.Log(t.Context(), rec.ID, 0)
		if err != nil || rec.Status != run.Done {
			t.Errorf("%s: %+v, %v", c.name, rec, err)
		}
		for _, ev := range log {
			if ask, ok := ev.Data.(event.ClarifyAsked); ok {
				t.Errorf("%s asked %+v", c.name, ask)
			}
		}
	}
}

// What a run can't help asking, because it was cut short in the middle of something
// that it must not do twice, is skipped.
func TestScheduledRunsDontWait(t *testing.T) {
	e := askingEngine(t, memory.New(memory.Options{}))
	s, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", Request: ask("x")})
	if err != nil {
		t.Fatal(err)
	}
	if rec := fired(t, e, s.ID); rec.Status != run.Done {
		t.Errorf("%+v", rec)
	}
	rec, err := e.Start(t.Context(), ask("x")) // one that is not scheduled waits
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, e, rec.ID, run.Waiting)
}

// A run that was claimed and not begun is begun, once, under its id, by whoever
// looks next.
func TestClaimedRunsBeginOnce(t *testing.T) {
	disk := memory.New(memory.Options{})
	e, other := engine(t, disk, nil), engine(t, disk.Handle(), nil)
	s, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", Request: research("who approves travel abroad?", travel(t, travelBefore))})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := disk.Schedule(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	const id = "06f3claimed00000"
	if err := disk.Fire(t.Context(), kept, schedule.Firing{Schedule: s.ID, Run: id, Due: s.Next, At: s.Next, State: schedule.Claimed}); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Engine{e, other, e} {
		if _, err := one.clock.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	over(t, e, id)
	if list, err := e.List(t.Context(), Filter{}); err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("%+v, %v", list, err)
	}
	if open, err := disk.OpenFirings(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("%+v, %v", open, err)
	}
}

func TestWhatCannotBeScheduled(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	fine := research("who approves travel abroad?", travel(t, travelBefore))
	with := func(change func(r *Request)) Schedule {
		r := fine
		change(&r)
		return Schedule{Cron: "@daily", Request: r}
	}
	for name, s := range map[string]Schedule{
		"no expression": {Request: fine},
		"no question":   with(func(r *Request) { r.Question = " " }),
		"no mode":       with(func(r *Request) { r.Mode = "none" }),
		"a session":     with(func(r *Request) { r.Session = "s" }),
		"a dialog":      with(func(r *Request) { r.Question, r.Messages = "", []mode.Turn{{Role: "user"}} }),
		"an agent's id": with(func(r *Request) { r.AgentID = "a_1" }),
	} {
		if _, err := e.CreateSchedule(t.Context(), s); err == nil {
			t.Errorf("%s: it was kept", name)
		} else if _, ok := errors.AsType[*UsageError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	made, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", User: "ann", Request: fine})
	if err != nil {
		t.Fatal(err)
	}
	bad := "every day"
	if _, err := e.ChangeSchedule(t.Context(), made.ID, ScheduleChange{Cron: &bad}); err == nil {
		t.Error("it was changed to no expression")
	}
	for i := 1; i < mostSchedules; i++ {
		if _, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", User: "ann", Request: fine}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", User: "ann", Request: fine}); err == nil {
		t.Error("one more than a user may have")
	}
}

// What the operator does not permit any more is not carried out, and is said.
func TestSchedulesThatAreNotPermitted(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	s, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", User: "ann", Request: research("who approves travel abroad?", travel(t, travelBefore))})
	if err != nil {
		t.Fatal(err)
	}
	permit := func(_ context.Context, req *Request) error {
		if req.User != "ann" {
			t.Errorf("it is for %q", req.User)
		}
		return errors.New("that folder is closed")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e.Attend(ended, AttendOptions{Permit: permit})
	f, err := e.FireSchedule(t.Context(), s.ID)
	if err == nil || f.State != schedule.Failed || f.Error != "that folder is closed" {
		t.Errorf("%+v, %v", f, err)
	}
}

// The days of a request are those before each run.
func TestDaysBeforeARun(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	req := ask("what is new?")
	req.Mode, req.In.Web = "web_search", &sources.WebScope{Days: 7}
	rec, err := e.record(t.Context(), req, "")
	if err != nil {
		t.Fatal(err)
	}
	var kept mode.Request
	if err := json.Unmarshal(rec.Request, &kept); err != nil || !kept.In.Web.Since.Equal(rec.Created.AddDate(0, 0, -7)) || !req.In.Web.Since.IsZero() {
		t.Errorf("%+v, %v", kept.In.Web, err)
	}
}

// hooked is a receiver of what is told, and an engine that tells it.
func hooked(t *testing.T, log io.Writer) (e *Engine, got <-chan *http.Request) {
	t.Helper()
	taken := make(chan *http.Request, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		taken <- r
	}))
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "config.yaml")
	document := "webhooks:\n  ops:\n    url: " + srv.URL + "/x?key=canary-in-address\n    secret: ${HOOK}\n    events: [run.done, run.waiting]\n"
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir(), "DOSSIER_SEARCH_ENGINES=none", "HOOK=" + canarySecret}, File: file})
	if err != nil {
		t.Fatal(err)
	}
	e, err = assemble(cfg, site{dir: t.TempDir(), log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, memory.New(memory.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); e.Attend(ctx, AttendOptions{}) }()
	t.Cleanup(func() { cancel(); <-done; _ = e.Close() })
	return e, taken
}

const canarySecret = "whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"

// lines are a log that is read while it is written.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// A run that ends is told, signed, with what its report brought; and nobody is told
// a secret.
func TestWebhooksAreTold(t *testing.T) {
	log := &lines{}
	e, got := hooked(t, log)
	s, err := e.CreateSchedule(t.Context(), Schedule{Cron: "@daily", Request: research("who approves travel abroad?", travel(t, travelBefore))})
	if err != nil {
		t.Fatal(err)
	}
	first := fired(t, e, s.ID)
	<-got
	second := fired(t, e, s.ID)
	r := <-got
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	key, err := webhook.ParseSecret(canarySecret)
	if err != nil {
		t.Fatal(err)
	}
	stamp, err := strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil || r.Header.Get("webhook-signature") != webhook.Sign(key, r.Header.Get("webhook-id"), time.Unix(stamp, 0), body) {
		t.Errorf("%v: %v", err, r.Header)
	}
	var told struct {
		Type string
		Data runNews
	}
	if err := json.Unmarshal(body, &told); err != nil {
		t.Fatal(err)
	}
	d := told.Data
	if told.Type != "run.done" || d.ID != second.ID || d.Status != run.Done || d.Mode != "web_search" || d.Question != "who approves travel abroad?" || d.Outcome != report.Answered ||
		d.Schedule != s.ID || d.Changes == nil || *d.Changes != (report.ChangeCount{}) || d.Links["report"] != "/api/runs/"+second.ID+"/report.md" {
		t.Errorf("%s", body)
	}
	hooks, err := e.Webhooks(t.Context())
	if err != nil || len(hooks) != 1 || hooks[0].Name != "ops" {
		t.Errorf("%+v, %v", hooks, err)
	}
	deliveries, err := e.Deliveries(t.Context(), DeliveryFilter{Run: first.ID})
	if err != nil || len(deliveries) != 1 || deliveries[0].ID == r.Header.Get("webhook-id") {
		t.Errorf("%+v, %v", deliveries, err)
	}
	events, err := e.Log(t.Context(), second.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{hooks, deliveries, events, second, string(body)})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(all), log.String()} {
		if strings.Contains(text, "canary") || strings.Contains(text, "Y2FuYXJ5") {
			t.Errorf("a secret is told: %s", text)
		}
	}
}

// What is wrong with a webhook is said when the program starts, without its secret.
func TestWebhooksThatAreNot(t *testing.T) {
	const url = "url: https://ops.example/hook"
	for name, entry := range map[string]string{
		"no address":   "{secret: " + canarySecret + "}",
		"no secret":    "{" + url + "}",
		"no base64":    "{" + url + ", secret: canary}",
		"another key":  "{" + url + ", secret: " + canarySecret + ", event: [run.done]}",
		"no event":     "{" + url + ", secret: " + canarySecret + ", events: [run.begun]}",
		"a proxy":      "{url: socks5://ops.example, secret: " + canarySecret + "}",
		"not a table":  "https://ops.example/hook",
		"wrong events": "{" + url + ", secret: " + canarySecret + ", events: run.done}",
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte("webhooks: {ops: "+entry+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir()}, File: file})
		if err == nil {
			var e *Engine
			if e, err = assemble(cfg, site{dir: t.TempDir()}, memory.New(memory.Options{})); err == nil {
				_ = e.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), "webhooks.ops") || strings.Contains(err.Error(), "canary") && name != "no base64" || strings.Contains(err.Error(), "Y2FuYXJ5") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
