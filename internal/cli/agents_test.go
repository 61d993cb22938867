package cli_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"dossier/llm/llmtest"
)

// withModel connects a scripted model.
func (d *desk) withModel(t *testing.T, rules ...llmtest.Rule) {
	t.Helper()
	srv := llmtest.New(llmtest.Script{Rules: rules})
	h := httptest.NewServer(srv)
	t.Cleanup(h.Close)
	t.Cleanup(srv.Close)
	d.env = append(d.env, "OPENAI_BASE_URL="+h.URL+"/v1", "OPENAI_API_KEY=x")
}

func ends(answer string) *llmtest.Reply {
	return llmtest.CallTool("final_answer_tool", map[string]any{
		"reasoning": "r", "completed_steps": []string{"done"}, "answer": answer, "status": "completed",
	})
}

func TestAnAgentAsksInPlace(t *testing.T) {
	d := newDesk(t)
	d.stdin = strings.NewReader("the river\n")
	d.withModel(t,
		llmtest.Rule{Contains: "the river", Reply: ends("on the left")},
		llmtest.Rule{Reply: llmtest.CallTool("clarification_tool", map[string]any{
			"reasoning": "r", "unclear_terms": []string{"bank"}, "assumptions": []string{"river", "money"}, "questions": []string{"which \x1b[1mbank?"},
		})},
	)
	if code := d.run(t, "agents", "run", "tool_calling_agent", "where is the bank?"); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.err)
	}
	if got := d.out.String(); got != "on the left\n" {
		t.Errorf("answered %q", got)
	}
	for _, want := range []string{"which bank?\n> ", "tool calls"} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("%q is missing in %q", want, d.err)
		}
	}
}

func TestInterruptingAnAgent(t *testing.T) {
	d := newDesk(t)
	d.terminal = false
	called, hold := make(chan struct{}, 16), make(chan struct{})
	d.withModel(t, llmtest.Rule{Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
		called <- struct{}{}
		<-hold
		return ends("too late")
	})})
	t.Cleanup(func() { close(hold) })       // before the model's server closes
	d.err.want = "agent tool_calling_agent" // the run is followed
	go func() {
		<-d.err.seen
		<-called
		d.interrupts <- os.Interrupt
	}()
	if code := d.run(t, "agents", "run", "tool_calling_agent", "hello"); code != 4 {
		t.Errorf("exit code %d\n%s", code, d.err)
	}
	if got := d.out.String(); !strings.Contains(got, "could not find an answer") || strings.Contains(got, "too late") {
		t.Errorf("shown %q", got)
	}
}
