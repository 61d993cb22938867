package run_test

import (
	"context"
	"strconv"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/run"
)

// BenchmarkStep is what the kernel itself costs: a step with a small result
// and one event, recorded in memory. An iteration is a run of ten.
func BenchmarkStep(b *testing.B) {
	const steps = 10
	type result struct {
		Text string `json:"text"`
	}
	names := make([]string, steps)
	for i := range names {
		names[i] = "step-" + strconv.Itoa(i)
	}
	program := func(ctx context.Context, s *run.Scope) error {
		for _, name := range names {
			_, err := run.Step(ctx, s, name, func(_ context.Context, s *run.Scope) (result, error) {
				s.Charge(run.Spent{Calls: 1, InputTokens: 100})
				return result{"done"}, s.Emit(event.Usage{Model: "m", Input: 100})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	s := memory.New(memory.Options{})
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: s, Owner: "w",
		Program: func(run.Record) (run.Func, run.Limits, error) { return program, run.Limits{}, nil },
	})
	defer x.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := strconv.Itoa(i)
		if err := s.Create(b.Context(), run.Record{ID: id}, nil, nil); err != nil {
			b.Fatal(err)
		}
		if status, err := x.Execute(b.Context(), id); err != nil || status != run.Done {
			b.Fatal(status, err)
		}
		if err := s.Delete(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
}
