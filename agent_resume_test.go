package dossier

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/run"
)

// TestAgentsSurviveAPowerCut cuts the power after each commit of a piece of
// research, with each decider. Another engine goes on, and what the run tells is
// the same as of one that nobody disturbed.
func TestAgentsSurviveAPowerCut(t *testing.T) {
	for _, c := range agentLogs {
		if c.decider == agent.ByRules {
			continue
		}
		t.Run(string(c.decider), func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			flags := onWeb(t, w, connected(llmtest.Start(t, agenttest.Script(c.decider))), map[string]string{
				"execution.reports_dir": t.TempDir(), "execution.logs_dir": t.TempDir(), // of all engines
			})
			calm := engine(t, memory.New(memory.Options{}), flags)
			id, _ := converse(t, calm, byAgent(c.agent, agenttest.Task), agenttest.Reply)
			want := toldByAgent(t, calm, w, id)
			cuts := 0
			for n := int64(1); ; n++ {
				disk := memory.New(memory.Options{})
				cut := &cutStore{Store: disk}
				cut.left.Store(n)
				first := engine(t, cut, flags)
				rec, err := first.Start(t.Context(), byAgent(c.agent, agenttest.Task))
				if err != nil {
					t.Fatal(err)
				}
				answering(t, first, rec.ID)
				_ = first.Close()
				got, err := disk.Run(t.Context(), rec.ID)
				if err != nil {
					t.Fatal(err)
				}
				if got.Status == run.Done {
					break
				}
				cuts++
				if err := evictAll(t.Context(), disk); err != nil {
					t.Fatal(err)
				}
				second := engine(t, disk, flags)
				if err := second.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
					t.Fatal(err)
				}
				answering(t, second, rec.ID)
				settled(t, second, rec.ID)
				said, wanted := strings.Split(toldByAgent(t, second, w, rec.ID), "\n"), strings.Split(want, "\n")
				for i := range min(len(said), len(wanted)) {
					if said[i] != wanted[i] {
						t.Fatalf("cut after %d commits, the run says\n%s\ninstead of\n%s", n, said[i], wanted[i])
					}
				}
				if len(said) != len(wanted) {
					t.Fatalf("cut after %d commits, the run tells %d things, not %d", n, len(said), len(wanted))
				}
				_ = second.Close()
			}
			if cuts < agenttest.Moves() {
				t.Fatalf("a run of %d commits is no test", cuts)
			}
			t.Logf("%d cuts", cuts)
		})
	}
}

// answering follows a run to its end, or to that of the power, and answers its
// questions.
func answering(t *testing.T, e *Engine, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ev, err := range e.Events(ctx, id, 0) {
		if err != nil {
			return
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(run.Waiting) {
			if err := e.Answer(ctx, id, "", agenttest.Reply); err != nil && !errors.Is(err, store.ErrNotWaiting) && !errors.Is(err, store.ErrAnswered) {
				t.Fatal(err)
			}
		}
	}
}

// toldByAgent is what a run tells, as it would be on any day.
func toldByAgent(t *testing.T, e *Engine, w *webtest.Web, id string) string {
	t.Helper()
	text := callID.ReplaceAllString(sameOnEachStart(t, w, told(t, e, id)), "CALL")
	return sameReport.ReplaceAllString(timestamp.ReplaceAllString(text, "TIME"), "$1.md")
}

// sameReport is the name of a report, which is numbered where there is one of
// the same second already.
var sameReport = regexp.MustCompile(`(TIMEThe newts of the Aune)[^"\\]*\.md`)
