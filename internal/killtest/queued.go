package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/llm/llmtest"
	"dossier/run"
)

// queueDone is how many runs are done when the child is killed.
const queueDone = 60

// queued kills a child that has so many runs queued on instances when a few are
// done, and has another go on with them, with nobody's help.
func (t *test) queued(ctx context.Context) (bool, error) {
	dir := filepath.Join(t.dir, "queued")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	first := newClerks(min(queueDone, t.queue/4))
	defer first.http.Close()
	cmd, said, err := t.start(ctx, order{Dir: dir, Queued: &queueing{Runs: t.queue, Set: first.set()}})
	if err != nil {
		return false, err
	}
	for line := range said {
		if line == sayQueued {
			break
		}
	}
	close(first.begin)
	select {
	case <-first.enough:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if err := kill(cmd); err != nil {
		return false, err
	}
	killed := time.Now()
	close(first.dead)
	before, err := inQueue(ctx, dir)
	if err != nil {
		return false, err
	}
	if len(before) != t.queue {
		return false, fmt.Errorf("%d runs are there, %d were started", len(before), t.queue)
	}
	then := newClerks(0)
	defer then.http.Close()
	close(then.begin)
	if err := t.finish(ctx, order{Dir: dir, Queued: &queueing{Set: then.set()}}); err != nil {
		return false, err
	}
	after, err := inQueue(ctx, dir)
	if err != nil {
		return false, err
	}
	v := &queueVerdict{}
	v.judge(before, after, first.calls, then.calls)
	for _, of := range [][]span{spans(after, time.Time{}, killed), spans(after, killed, time.Time{})} {
		v.judgeOrder(of)
	}
	for _, line := range v.trouble {
		fmt.Fprintln(t.out, line)
	}
	fmt.Fprintf(t.out, "%d runs in %d sessions of %d instances: %d were done when the worker was killed, %d under way\n",
		t.queue, min(t.queue, allQueueSessions), queueInstances, v.doneBefore, v.underWay)
	fmt.Fprintf(t.out, "done=%d lost=%d repeated_calls=%d cut_off=%d out_of_order=%d most_at_once=%d\n",
		v.done, v.lost, v.repeated, v.cutOff, v.outOfOrder, v.most)
	return v.done == t.queue && v.lost == 0 && v.repeated == 0 && v.cutOff <= v.underWay && v.outOfOrder == 0 && v.most <= queueSlots && v.underWay > 0, nil
}

// clerks is the model of the agents: each takes a note and answers.
type clerks struct {
	http   *httptest.Server
	begin  chan struct{} // closed when it may answer
	enough chan struct{} // closed when so many runs have had their answers
	dead   chan struct{} // closed when who asked is dead

	mu    sync.Mutex
	calls map[string]int // by job and what was asked for
	ended int
}

var job = regexp.MustCompile(`job-\d+`)

// newClerks is a model that answers no more once so many runs have got their
// answers; 0 is any number.
func newClerks(most int) *clerks {
	c := &clerks{begin: make(chan struct{}), enough: make(chan struct{}), dead: make(chan struct{}), calls: make(map[string]int)}
	model := llmtest.New(llmtest.Script{Latency: time.Millisecond, Rules: []llmtest.Rule{{Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
		found := job.FindAllString(q.Question(), -1)
		if len(found) == 0 {
			return llmtest.Say("no job")
		}
		which := found[len(found)-1]
		last := q.ToolResults() > 0
		c.mu.Lock()
		c.calls[fmt.Sprint(which, " ", last)]++
		c.mu.Unlock()
		<-c.begin
		c.mu.Lock()
		hold := most > 0 && c.ended >= most
		if last {
			if c.ended++; c.ended == most {
				close(c.enough)
			}
		}
		c.mu.Unlock()
		if hold {
			<-c.dead
		}
		if !last {
			return llmtest.CallTool("add_note_tool", map[string]any{"text": "it is noted"})
		}
		return llmtest.CallTool("finalanswertool", map[string]any{
			"reasoning": "done", "completed_steps": []string{"noted"}, "answer": "done: " + which, "status": "completed",
		})
	})}}})
	c.http = httptest.NewServer(model)
	return c
}

func (c *clerks) set() map[string]string {
	return map[string]string{"models.default.base_url": c.http.URL + "/v1", "models.default.model": "scripted"}
}

// queuedRun is a run and what its journal and log have.
type queuedRun struct {
	rec      run.Record
	number   int
	recorded int // model calls
	answer   string
	events   []run.PlacedEvent
}

// inQueue reads the runs in the order of their creation.
func inQueue(ctx context.Context, dir string) ([]queuedRun, error) {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	out := make([]queuedRun, len(all))
	for i, rec := range all {
		h, err := s.History(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		q := queuedRun{rec: rec}
		if _, err := fmt.Sscanf(rec.Title, "job-%d", &q.number); err != nil {
			return nil, err
		}
		for _, e := range h.Entries {
			if e.Kind == run.EntryStep && decision.MatchString(filepath.Base(e.Key)) {
				q.recorded++
			}
		}
		if q.events, err = s.Events(ctx, rec.ID, 0, 0); err != nil {
			return nil, err
		}
		for n, p := range q.events {
			if p.Seq != int64(n+1) {
				return nil, fmt.Errorf("%s: event %d has the sequence %d", rec.ID, n+1, p.Seq)
			}
			if m, ok := p.Data.(event.Message); ok && m.Role == "assistant" {
				if q.answer != "" {
					return nil, fmt.Errorf("%s answers twice", rec.ID)
				}
				q.answer = m.Text
			}
		}
		out[i] = q
	}
	return out, nil
}

// span is when a worker was on a run.
type span struct {
	number   int
	from, to time.Time
}

// spans are when a worker was on runs, of two moments of which one may be none.
func spans(runs []queuedRun, after, before time.Time) (out []span) {
	for _, q := range runs {
		s := span{number: q.number, to: before}
		for _, p := range q.events {
			told, ok := p.Data.(event.RunStatus)
			if !ok || !after.IsZero() && p.Time.Before(after) || !before.IsZero() && p.Time.After(before) {
				continue
			}
			if told.Status == string(run.Running) {
				s.from = p.Time
			} else {
				s.to = p.Time
			}
		}
		if !s.from.IsZero() {
			out = append(out, s)
		}
	}
	return out
}

// queueVerdict is what became of runs in queues.
type queueVerdict struct {
	trouble                    []string
	doneBefore, underWay, done int
	lost, repeated, cutOff     int
	outOfOrder, most           int
}

func (v *queueVerdict) sayf(count *int, format string, a ...any) {
	*count++
	if len(v.trouble) < 20 {
		v.trouble = append(v.trouble, fmt.Sprintf(format, a...))
	}
}

// judge holds the runs as they were at the kill against how they ended, and what
// the models were asked.
func (v *queueVerdict) judge(before, after []queuedRun, first, then map[string]int) {
	for i, was := range before {
		is := after[i]
		name := fmt.Sprintf("job-%04d", was.number)
		switch {
		case was.rec.Status == run.Done:
			v.doneBefore++
		case was.rec.Epoch > 0 && first[name+" false"] > 0:
			v.underWay++
		}
		if is.rec.Status != run.Done || !strings.HasSuffix(is.answer, name) {
			v.sayf(&v.lost, "%s is %s and answers %q", name, is.rec.Status, is.answer)
		} else {
			v.done++
		}
		calls, again := 0, 0
		for _, stage := range []string{" false", " true"} {
			calls += then[name+stage]
			if n := first[name+stage] + then[name+stage]; n > 1 {
				again += n - 1
			}
		}
		if calls != is.recorded-was.recorded || again > 1 || again > 0 && was.rec.Status == run.Done {
			v.sayf(&v.repeated, "%s, %s with %d calls recorded at the kill: %d calls afterwards, %d of them again", name, was.rec.Status, was.recorded, calls, again)
		}
		v.cutOff += again
	}
}

// judgeOrder looks at when the runs of one process were begun: those of a
// session in the order of their creation, and never more of an instance at once
// than it has slots.
func (v *queueVerdict) judgeOrder(of []span) {
	slices.SortFunc(of, func(a, b span) int { return a.from.Compare(b.from) })
	latest := make(map[string]span)
	atWork := make(map[string][]span)
	for _, s := range of {
		session, instance := sessionName(s.number), instanceName(s.number)
		// Of two that got both slots at once either may be the first to tell.
		if prev, ok := latest[session]; ok && prev.number > s.number && !(prev.number == s.number+allQueueSessions && s.from.Before(prev.to)) {
			v.sayf(&v.outOfOrder, "job-%04d was begun after job-%04d of its session", s.number, prev.number)
		}
		latest[session] = s
		busy := slices.DeleteFunc(atWork[instance], func(other span) bool { return !other.to.After(s.from) })
		atWork[instance] = append(busy, s)
		v.most = max(v.most, len(atWork[instance]))
	}
}
