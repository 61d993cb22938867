package agent_test

import (
	"context"
	"strconv"
	"testing"

	"dossier/agent"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// BenchmarkLoop is a run of ten calls of the model, nine of which call a tool,
// with a model that answers at once: what is left is the loop and the kernel.
func BenchmarkLoop(b *testing.B) {
	const steps = 10
	m := adder{steps}
	a := &agent.Agent{
		Definition: agent.Definition{Name: "bench", Decider: agent.Native, Limits: agent.Limits{Iterations: 2 * steps}},
		Tools:      set(b, plainAdd), Models: m.models(), Role: llm.ForResearcher,
	}
	store := memory.New(memory.Options{})
	x := run.NewExecutor(run.ExecutorConfig{Journal: store, Owner: "bench", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, s *run.Scope) error {
			_, err := a.Run(ctx, s, agent.Task{Text: "Add one to each number."})
			return err
		}, run.Limits{}, nil
	}})
	b.Cleanup(x.Close)
	ctx := b.Context()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		id := strconv.Itoa(n)
		if err := store.Create(ctx, run.Record{ID: id, Session: id, Mode: "agent"}, nil, nil); err != nil {
			b.Fatal(err)
		}
		if status, err := x.Execute(ctx, id); err != nil || status != run.Done {
			b.Fatal(status, err)
		}
		if err := store.Delete(ctx, id); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
}

var plainAdd = tool.New(tool.Spec{Name: "add", Description: "Add two integers."}, func(_ context.Context, _ *tool.Call, in addArgs) (tool.Result, error) {
	return tool.Result{Text: `{"sum":` + strconv.Itoa(in.A+in.B) + `}`}, nil
})

// adder is a model that calls add until it has called it often enough.
type adder struct{ steps int }

func (m adder) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	turn := len(req.Messages)/2 - 1
	said := llm.Message{Role: llm.RoleAssistant, Content: "the answer is forty two"}
	if turn < m.steps-1 {
		n := strconv.Itoa(turn)
		said = llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_" + n, Name: "add", Arguments: `{"a":` + n + `,"b":1}`}}}
	}
	return &llm.Response{Model: "scripted", Message: said, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5}}, nil
}

func (m adder) models() *llm.Models {
	return &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: m, Name: "scripted", Endpoint: "test"}}}
}
