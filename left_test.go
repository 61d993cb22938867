package dossier

import (
	"context"
	"iter"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/a2a"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// staying is an agent elsewhere that works on a task until it is cancelled.
type staying struct {
	mu        sync.Mutex
	started   int
	begun     chan struct{} // gets something for each task
	cancelled chan struct{} // closed when a task is
}

func (s *staying) Cards(context.Context) ([]a2a.Card, error) {
	return []a2a.Card{{Name: "slow", Title: "Slow", Description: "Takes its time."}}, nil
}

func (s *staying) Start(context.Context, string, string, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	s.begun <- struct{}{}
	return "t1", nil
}

func (s *staying) Follow(ctx context.Context, _ string) iter.Seq2[a2a.Progress, error] {
	return func(yield func(a2a.Progress, error) bool) {
		if !yield(a2a.Progress{Agent: "slow", Session: "s", State: a2a.Working}, nil) {
			return
		}
		select {
		case <-s.cancelled:
			yield(a2a.Progress{Agent: "slow", Session: "s", State: a2a.Cancelled}, nil)
		case <-ctx.Done():
		}
	}
}

func (s *staying) Answer(context.Context, string, string) error { return nil }

func (s *staying) Cancel(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.cancelled:
	default:
		close(s.cancelled)
	}
	return nil
}

// An agent elsewhere that stays working is left when the run's time is up or it
// is told to finish, long before the time that the agent would have. It is told
// to stop, what it did is said to be unknown, and a resumed run asks before it
// sends the message again.
func TestAgentElsewhereIsLeft(t *testing.T) {
	calling := llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.CallTool("agent_slow", map[string]any{"message": "build it"})}}}
	byTool := Request{Mode: "tool", Request: mode.Request{Agent: "agent_slow", Question: `{"message":"build it"}`}}
	byModel := byAgent("boss", "Have it built")
	for name, c := range map[string]struct {
		req   Request
		limit time.Duration
	}{
		"tool, out of time":     {byTool, 10 * time.Second},
		"tool, told to finish":  {byTool, 0},
		"agent, out of time":    {byModel, 10 * time.Second},
		"agent, told to finish": {byModel, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slow := &staying{begun: make(chan struct{}, 8), cancelled: make(chan struct{})}
			srv := httptest.NewServer(a2a.Handler(slow, a2a.Options{}))
			t.Cleanup(srv.Close)
			t.Cleanup(srv.CloseClientConnections)
			e := configured(t, memory.New(memory.Options{}), "models: {default: {base_url: "+llmtest.Start(t, calling).URL()+"/v1, model: m}}\n"+
				"a2a: {agents: {slow: {url: "+srv.URL+"}}}\n"+
				"agents: {boss: {base_class: ToolCallingAgent, tools: [final_answer_tool, \"a2a:slow\"], execution: {logs_dir: \"\"}}}\n")
			req := c.req
			req.Limits.Time = c.limit
			rec, err := e.Start(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the agent's own limit is ten
			defer cancel()
			select {
			case <-slow.begun:
			case <-ctx.Done():
				t.Fatal("the agent was not called")
			}
			if c.limit == 0 {
				if err := e.Finish(t.Context(), rec.ID); err != nil {
					t.Fatal(err)
				}
			}
			told := false
			for ev, err := range e.Events(ctx, rec.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
				d, ok := ev.Data.(event.RunError)
				told = told || ok && d.Code == run.CodeUnknownEffect && strings.Contains(d.Message, "unknown whether it took effect") && d.Hint != ""
			}
			if c.limit > 0 { // it has said by then which task it is
				select {
				case <-slow.cancelled:
				case <-ctx.Done():
					t.Error("the agent was not told to stop")
				}
			}
			settled(t, e, rec.ID)
			if rec, err = e.Get(t.Context(), rec.ID); err != nil {
				t.Fatal(err)
			}
			want := run.Done
			if req.Mode == "tool" {
				want = run.Failed
			}
			if !told || rec.Status != want || want == run.Failed && (rec.Failure.Code != run.CodeUnknownEffect || rec.Failure.Step != "call") {
				t.Errorf("told %v, the run is %s: %+v", told, rec.Status, rec.Failure)
			}
			if _, err := e.Replay(t.Context(), rec.ID); err != nil {
				t.Error(err)
			}
			var o ResumeOptions
			if c.limit > 0 {
				o.Limits.Time = time.Hour
			}
			if err := e.Resume(t.Context(), rec.ID, o); err != nil {
				t.Fatal(err)
			}
			settled(t, e, rec.ID)
			d, err := e.Show(t.Context(), rec.ID)
			if err != nil || len(d.Asks) != 1 || d.Asks[0].Reason != run.CodeUnknownEffect {
				t.Errorf("resumed, the run is %s and asks %+v, %v", d.Record.Status, d.Asks, err)
			}
			slow.mu.Lock()
			defer slow.mu.Unlock()
			if slow.started != 1 {
				t.Errorf("the message was sent %d times", slow.started)
			}
		})
	}
}
