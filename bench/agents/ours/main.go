//go:build harness

// Command ours is our agent behind the harness of the yardsticks: the loop of
// package agent, in a run of the kernel, wired as the engine does it. It is
// built by bench/agents, which knows where the harness is.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"perf/harness"

	"dossier/agent"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/store/sqlite"
	"dossier/llm"
	"dossier/llm/openai"
	"dossier/run"
	"dossier/tool"
)

var where = flag.String("store", "memory", "memory or sqlite")

func main() {
	w := new(worker)
	harness.Main("ours", w.open)
	w.close()
}

// worker carries out the runs of all agents.
type worker struct {
	models *llm.Models
	store  store.Store
	keeps  bool // what the store has is out of the way, on the disk
	exec   *run.Executor
	dir    string

	jobs sync.Map // *job by run
}

// job is a run under way: whose it is, and what came of it.
type job struct {
	agent  *agent.Agent
	answer string
}

func (w *worker) open(e harness.Env) (harness.Factory, error) {
	client, err := openai.New(openai.Config{BaseURL: e.BaseURL, Key: "sk-mock", HTTP: e.HC})
	if err != nil {
		return nil, err
	}
	model := llm.NewGovernor(llm.GovernorConfig{Endpoint: "mock"}).Wrap(client)
	model = new(llm.Windows).Wrap(model, e.Model, llm.FitOptions{})
	if !e.Stream {
		model = whole{model}
	}
	w.models = &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: model, Name: e.Model, Endpoint: "mock"}}}
	if err := w.openStore(); err != nil {
		return nil, err
	}
	w.exec = run.NewExecutor(run.ExecutorConfig{Journal: w.store, Owner: "bench", Program: w.program})
	return w.hire, nil
}

// whole is a model whose replies come in one piece, whoever listens.
type whole struct{ llm.Model }

func (m whole) Stream(ctx context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	return m.Model.Stream(ctx, req, nil)
}

func (w *worker) openStore() (err error) {
	switch *where {
	case "memory":
		w.store = memory.New(memory.Options{})
		return nil
	case "sqlite":
	default:
		return fmt.Errorf("there is no store %q: use memory or sqlite", *where)
	}
	w.keeps = true
	if w.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	w.store, err = sqlite.Open(filepath.Join(w.dir, "dossier.db"), sqlite.Options{})
	return err
}

func (w *worker) close() {
	if w.exec != nil {
		w.exec.Close()
	}
	if w.store != nil {
		_ = w.store.Close()
	}
	_ = os.RemoveAll(w.dir)
}

type addends struct {
	A int `json:"a"`
	B int `json:"b"`
}

// hire makes one more agent.
func (w *worker) hire() (harness.Agent, error) {
	add := tool.New(tool.Spec{Name: "add", Description: "Add two integers.", Effect: run.Pure}, func(_ context.Context, _ *tool.Call, in addends) (tool.Result, error) {
		return tool.Result{Text: `{"sum":` + strconv.Itoa(in.A+in.B) + `}`}, nil
	})
	tools, err := tool.NewSet(add)
	if err != nil {
		return nil, err
	}
	a := &agent.Agent{
		Definition: agent.Definition{
			Name: "bench", Decider: agent.Native, Limits: agent.Limits{Iterations: 64},
			Prompts: agent.Prompts{System: harness.System, Initial: "{task}"},
		},
		Tools: tools, Models: w.models, Role: llm.ForResearcher,
	}
	return func(ctx context.Context, session, prompt string) (string, error) {
		return w.session(ctx, a, session, prompt)
	}, nil
}

// session carries out one run from its creation to its answer.
func (w *worker) session(ctx context.Context, a *agent.Agent, id, prompt string) (string, error) {
	j := &job{agent: a}
	w.jobs.Store(id, j)
	defer w.jobs.Delete(id)
	if err := w.create(ctx, id, prompt); err != nil {
		return "", err
	}
	status, err := w.exec.Execute(ctx, id)
	if err == nil && status != run.Done {
		err = fmt.Errorf("run %s ended as %s", id, status)
	}
	if err == nil && !w.keeps {
		err = w.store.Delete(ctx, id)
	}
	return j.answer, err
}

// create is a function of its own because a run's record is large, and what is
// in the frame of session is on the stack of every run.
//
//go:noinline
func (w *worker) create(ctx context.Context, id, prompt string) error {
	return w.store.Create(ctx, run.Record{ID: id, Session: id, Mode: "agent", Title: prompt}, nil, nil)
}

// program is the code of a run: its agent at work.
func (w *worker) program(rec run.Record) (run.Func, run.Limits, error) {
	found, ok := w.jobs.Load(rec.ID)
	if !ok {
		return nil, run.Limits{}, fmt.Errorf("nobody has asked for run %s", rec.ID)
	}
	j := found.(*job)
	return func(ctx context.Context, s *run.Scope) error {
		done, err := j.agent.Run(ctx, s, agent.Task{Text: s.Record().Title})
		if err == nil && done.Extractive {
			err = fmt.Errorf("the answer came without the model: %s", done.Why)
		}
		j.answer = done.Answer.Text
		return err
	}, run.Limits{}, nil
}
