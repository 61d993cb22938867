package dossier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// crew is an engine with an instance "w" of one slot whose model works when the
// gate lets it.
type crew struct {
	*testing.T
	*Engine

	gate *gate
	ctx  context.Context
	srv  *llmtest.Server
	disk store.Store
}

func newCrew(t *testing.T, more map[string]string) *crew {
	c := &crew{T: t, gate: &gate{open: make(chan struct{}), in: make(chan string, 100)}, disk: &kept{memory.New(memory.Options{})}}
	c.srv = llmtest.Start(t, c.gate.script())
	t.Cleanup(c.gate.unlock)
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c.boot(more)
	save(t, c.Engine, "worker", parrotTemplate)
	if _, err := c.RegisterInstance(c.ctx, fleet.Instance{Template: "worker", Name: "w", Slots: 1, Queue: 3}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *crew) boot(more map[string]string) {
	c.Helper()
	flags := connected(c.srv)
	maps.Copy(flags, more)
	c.Engine = engine(c.T, c.disk, flags)
}

// job is a request to the instance, in a session of its own.
func job(question string) Request {
	return Request{Mode: "agent", Session: "session-" + question, Request: mode.Request{Question: question, Instance: "w"}}
}

func (c *crew) start(question string) string {
	c.Helper()
	rec, err := c.Start(c.ctx, job(question))
	if err != nil {
		c.Fatal(err)
	}
	return rec.ID
}

// must fails the test for an error.
func (c *crew) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// load says how many runs have a slot and how many wait.
func (c *crew) load(running, queued int) {
	c.Helper()
	s, err := c.Instance(c.ctx, "w")
	if err != nil || s.Running != running || s.Queued != queued {
		c.Fatalf("%d at work and %d wait, %v; not %d and %d", s.Running, s.Queued, err, running, queued)
	}
}

// empty checks that nothing is left of runs that are over.
func (c *crew) empty() {
	c.Helper()
	ready(c.T, c.Engine, "w")
	for len(c.Engine.work.Busy()) > 0 {
		if c.ctx.Err() != nil {
			c.Fatalf("runs that are over are kept: %v", c.Engine.work.Busy())
		}
	}
	c.Engine.delivered.Range(func(id, _ any) bool {
		c.Errorf("the answer of %v is kept", id)
		return true
	})
}

func (c *crew) done(id, question string) {
	c.Helper()
	if said, err := finished(c.ctx, c.Engine, id); err != nil || said != "done: "+question {
		c.Errorf("%s: %q, %v", question, said, err)
	}
}

// Runs that wait for a slot are cancelled, paused and deleted at once, whoever
// has the slot, and each leaves nothing of itself.
func TestRunsLeaveTheQueueOfAnInstance(t *testing.T) {
	c := newCrew(t, nil)
	first := c.start("first")
	<-c.gate.in
	cancelled, paused, deleted := c.start("cancelled"), c.start("paused"), c.start("deleted")
	c.load(1, 3)
	c.must(c.Cancel(c.ctx, cancelled))
	if _, err := finished(c.ctx, c.Engine, cancelled); err != nil {
		t.Fatal(err)
	}
	waitFor(t, c.Engine, cancelled, run.Cancelled)
	c.must(c.Pause(c.ctx, paused))
	waitFor(t, c.Engine, paused, run.Paused)
	c.must(c.Engine.Delete(c.ctx, deleted))
	c.load(1, 0)
	second := c.start("second") // there is room again
	for _, err := range c.Events(c.ctx, deleted, 0) {
		if !errors.Is(err, run.ErrUnknownRun) {
			t.Errorf("the deleted run: %v", err)
		}
	}
	for c.Resume(c.ctx, paused, ResumeOptions{}) != nil && c.ctx.Err() == nil { // its worker is just leaving
	}
	close(c.gate.open)
	c.done(first, "first")
	c.done(second, "second")
	c.done(paused, "paused")
	c.empty()
	stats, err := c.TemplateStats(c.ctx, "worker")
	if err != nil || len(stats) != 1 || stats[0].Runs != 4 || stats[0].Done != 3 || stats[0].Cancelled != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// A run that waits for a worker does not wait to be cancelled.
func TestCancelDoesNotWaitForAWorker(t *testing.T) {
	c := newCrew(t, map[string]string{"workers": "1"})
	first := c.start("first")
	<-c.gate.in
	other, err := c.Start(c.ctx, byAgent("worker", "other"))
	c.must(err)
	c.must(c.Cancel(c.ctx, other.ID))
	waitFor(t, c.Engine, other.ID, run.Cancelled)
	close(c.gate.open)
	c.done(first, "first")
	c.done(c.start("second"), "second")
	c.empty()
}

// Forks and runs that are followed from the start take slots as others do.
func TestEveryRunOfAnInstanceTakesASlot(t *testing.T) {
	c := newCrew(t, nil)
	first := c.start("first")
	<-c.gate.in
	c.gate.open <- struct{}{}
	c.done(first, "first")
	second := c.start("second")
	<-c.gate.in
	steps, err := c.Show(c.ctx, first)
	c.must(err)
	fork, err := c.Fork(c.ctx, first, steps.Steps[0].Key, ForkOptions{Question: "fork"})
	c.must(err)
	c.load(1, 1)
	var followed sync.WaitGroup
	followed.Go(func() {
		for _, err := range c.Engine.Run(c.ctx, job("followed")) {
			if err != nil {
				t.Error(err)
			}
		}
	})
	for {
		if s, err := c.Instance(c.ctx, "w"); err != nil || s.Queued == 2 {
			break
		}
	}
	third := c.start("third")
	var full *fleet.QueueFullError
	for _, err := range c.Engine.Run(c.ctx, job("one too many")) {
		if !errors.As(err, &full) {
			t.Errorf("the queue is full: %v", err)
		}
	}
	before, err := c.List(c.ctx, Filter{})
	c.must(err)
	if _, err := c.Fork(c.ctx, first, steps.Steps[0].Key, ForkOptions{}); !errors.As(err, &full) {
		t.Errorf("the queue is full: %v", err)
	}
	after, err := c.List(c.ctx, Filter{})
	if err != nil || len(after) != len(before) {
		t.Errorf("%d runs are left of %d, %v", len(after), len(before), err)
	}
	close(c.gate.open)
	c.done(second, "second")
	c.done(fork.ID, "fork")
	c.done(third, "third")
	followed.Wait()
	c.empty()
}

// Stopping an instance pauses all that it has; started again it goes on with it.
func TestStoppedInstanceGoesOn(t *testing.T) {
	c := newCrew(t, nil)
	ids := []string{c.start("first"), c.start("second"), c.start("third")}
	<-c.gate.in
	c.must(c.StopInstance(c.ctx, "w"))
	close(c.gate.open)
	var paused []string
	for _, id := range ids {
		rec, err := c.Get(c.ctx, id)
		for err == nil && rec.Status != run.Paused && rec.Status != run.Done && c.ctx.Err() == nil {
			rec, err = c.Get(c.ctx, id)
		}
		if rec.Status == run.Paused {
			paused = append(paused, id)
		}
	}
	if len(paused) < 2 {
		t.Fatalf("%d runs are paused", len(paused))
	}
	c.empty()
	var state *fleet.StateError
	if err := c.Resume(c.ctx, paused[1], ResumeOptions{}); !errors.As(err, &state) {
		t.Fatalf("a stopped instance: %v", err)
	}
	if rec, err := c.Get(c.ctx, paused[1]); err != nil || rec.Status != run.Paused {
		t.Errorf("it is %s, %v", rec.Status, err)
	}
	c.must(c.StartInstance(c.ctx, "w"))
	for _, id := range paused {
		c.must(c.Resume(c.ctx, id, ResumeOptions{}))
	}
	for i, id := range ids {
		c.done(id, []string{"first", "second", "third"}[i])
	}
	c.empty()
}

// Taking up what was left behind is done once, however often it is asked for;
// what belongs to a stopped instance is paused, and what belongs to none is done.
func TestOrphansOfInstances(t *testing.T) {
	c := newCrew(t, nil)
	_, err := c.RegisterInstance(c.ctx, fleet.Instance{Template: "worker", Name: "gone", Slots: 1})
	c.must(err)
	_, err = c.RegisterInstance(c.ctx, fleet.Instance{Template: "worker", Name: "stopped", Slots: 1})
	c.must(err)
	// A process that dies leaves these behind.
	left := map[string]string{}
	for _, instance := range []string{"w", "gone", "stopped"} {
		for _, n := range []string{"1", "2"} {
			req := job(instance + n)
			req.Instance = instance
			rec, err := c.record(c.ctx, req, "")
			c.must(err)
			c.must(c.disk.Create(c.ctx, rec, nil, nil))
			left[instance+n] = rec.ID
		}
	}
	c.must(c.disk.SetInstanceState(c.ctx, idOf(c, "stopped"), fleet.Stopped))
	c.must(c.disk.RemoveInstance(c.ctx, idOf(c, "gone")))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5 {
				if _, err := c.Sweep(c.ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	close(c.gate.open)
	for _, question := range []string{"w1", "w2", "gone1", "gone2"} {
		c.done(left[question], question)
	}
	waitFor(t, c.Engine, left["stopped1"], run.Paused)
	waitFor(t, c.Engine, left["stopped2"], run.Paused)
	c.empty()
	c.must(c.StartInstance(c.ctx, "stopped"))
	c.must(c.Resume(c.ctx, left["stopped1"], ResumeOptions{}))
	c.done(left["stopped1"], "stopped1")
	if calls := len(c.gate.in); calls != 5 {
		t.Errorf("the model was called %d times for 5 runs", calls)
	}
}

func idOf(c *crew, name string) string {
	c.Helper()
	s, err := c.Instance(c.ctx, name)
	c.must(err)
	return s.ID
}

// An answer that a stopped instance was given counts when it is started, and an
// engine that is told everything at once loses nothing.
func TestAnswersToInstances(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		if slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return strings.Contains(m.Content, "the blue one") }) {
			return finalReply("it is the blue one")
		}
		return llmtest.CallTool("clarificationtool", map[string]any{
			"reasoning": "unclear", "unclear_terms": []string{"it"}, "assumptions": []string{"a", "b"}, "questions": []string{"Which one?"},
		})
	})}}})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	save(t, e, "asker", "base_class: ToolCallingAgent\ntools: [clarification_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n")
	if _, err := e.RegisterInstance(t.Context(), fleet.Instance{Template: "asker", Name: "w", Slots: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ids []string
	for i := range 8 {
		rec, err := e.Start(ctx, job(fmt.Sprint("which ", i)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID)
	}
	for _, id := range ids {
		waitFor(t, e, id, run.Waiting)
	}
	ready(t, e, "w")
	if err := e.StopInstance(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	var state *fleet.StateError
	if err := e.Answer(ctx, ids[0], "", "the blue one"); !errors.As(err, &state) {
		t.Errorf("an answer to a stopped instance: %v", err)
	}
	if err := e.StartInstance(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, id := range ids[1:] {
		all.Go(func() { _ = e.Answer(ctx, id, "", "the blue one") })
		all.Go(func() { _ = e.Steer(ctx, id, "be quick") })
		all.Go(func() { _, _ = e.Sweep(ctx) })
	}
	all.Wait()
	for _, id := range ids {
		if said, err := finished(ctx, e, id); err != nil || said != "it is the blue one" {
			t.Errorf("%s: %q, %v", id, said, err)
		}
	}
	(&crew{T: t, Engine: e, ctx: ctx}).empty()
	if left := e.work.Busy(); slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(left, id) }) {
		t.Errorf("%v", left)
	}
}

// A replay is no run: nothing is left of it.
func TestReplayOfAnAgentLeavesNothing(t *testing.T) {
	c := newCrew(t, nil)
	close(c.gate.open)
	id := c.start("first")
	c.done(id, "first")
	c.empty()
	if _, err := c.Replay(c.ctx, id); err != nil {
		t.Fatal(err)
	}
	c.empty()
}

// dying is a store of a process that dies before it has recorded an outcome.
type dying struct{ *kept }

func (dying) PutOutcome(context.Context, fleet.Outcome) error { return errors.New("the process died") }

// A run that ended in the moment in which its process died is counted by the
// next one, once, with how good its answer was.
func TestOutcomesSurviveTheProcess(t *testing.T) {
	c := newCrew(t, nil)
	close(c.gate.open)
	c.done(c.start("first"), "first")
	c.empty()
	disk := c.disk.(*kept)
	_ = c.Engine.Close()
	c.disk = dying{disk}
	c.boot(nil)
	c.done(c.start("second"), "second")
	c.empty()
	_ = c.Engine.Close()
	c.disk = disk
	for range 2 {
		c.boot(nil)
		if _, err := c.Sweep(c.ctx); err != nil {
			t.Fatal(err)
		}
		stats, err := c.TemplateStats(c.ctx, "worker")
		if err != nil || len(stats) != 1 || stats[0].Runs != 2 || stats[0].Done != 2 {
			t.Errorf("%+v, %v", stats, err)
		}
		if s := ready(t, c.Engine, "w"); s.Served != 2 {
			t.Errorf("%+v", s)
		}
		_ = c.Engine.Close()
	}
}

// Runs of two processes share the slots of an instance: one that waits in one of
// them goes on when the other has given its slot free.
func TestProcessesShareSlots(t *testing.T) {
	g := &gate{open: make(chan struct{}), in: make(chan string, 100)}
	srv := llmtest.Start(t, g.script())
	disk := memory.New(memory.Options{})
	here, there := engine(t, disk, connected(srv)), engine(t, disk.Handle(), connected(srv))
	save(t, here, "worker", parrotTemplate)
	if _, err := here.RegisterInstance(t.Context(), fleet.Instance{Template: "worker", Name: "w", Slots: 1, Queue: 3}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, err := here.Start(ctx, job("first"))
	if err != nil {
		t.Fatal(err)
	}
	<-g.in
	second, err := there.Start(ctx, job("second"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Engine{here, there} {
		if s, err := e.Instance(ctx, "w"); err != nil || s.Running != 1 || s.Queued != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	g.open <- struct{}{} // the first one ends
	if said, err := finished(ctx, here, first.ID); err != nil || said != "done: first" {
		t.Errorf("%q, %v", said, err)
	}
	if question := <-g.in; !strings.HasSuffix(question, "second") {
		t.Errorf("%q goes on", question)
	}
	g.open <- struct{}{}
	if said, err := finished(ctx, there, second.ID); err != nil || said != "done: second" {
		t.Errorf("%q, %v", said, err)
	}
	ready(t, here, "w")
}
