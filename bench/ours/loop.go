package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/store/sqlite"
	"dossier/llm"
	"dossier/llm/openai"
	kernel "dossier/run"
)

// What the yardsticks' loop says and expects.
const (
	final  = "the answer is forty two"
	system = "You are a careful research assistant. Use the tools when needed and answer briefly."
	prompt = "Add one to each number in turn and tell me the answer."
)

var tools = []llm.Tool{{
	Name: "add", Description: "Add two integers.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`),
}}

// bench is a worker with its store and its model, wired as the engine does it.
type bench struct {
	store store.Store
	exec  *kernel.Executor
	model llm.Client
	close func()

	stream  bool
	steps   []string // names
	answers sync.Map // by run
}

// open wires a bench whose runs execute program, or the tool loop when it is
// nil.
func open(o options, program kernel.Func) (*bench, error) {
	b := &bench{stream: o.stream, close: func() {}}
	for i := range o.steps {
		b.steps = append(b.steps, "step-"+strconv.Itoa(i+1))
	}
	if err := b.openStore(o); err != nil {
		return nil, err
	}
	client, err := openai.New(openai.Config{BaseURL: o.url, Key: "sk-mock"})
	if err != nil {
		return nil, err
	}
	model := llm.Model(client)
	if o.governor {
		model = llm.NewGovernor(llm.GovernorConfig{Endpoint: "mock"}).Wrap(model)
	}
	name := fmt.Sprintf("mock;turns=%d;tokens=%d", o.steps-1, o.tokens)
	if o.mode == "conc" || o.mode == "active" {
		name += ";lat=" + o.latency.String()
	}
	models := &llm.Models{Roles: map[llm.RoleName]llm.Setting{
		llm.ForDefault: {Model: new(llm.Windows).Wrap(model, name, llm.FitOptions{}), Name: name, Endpoint: "mock"},
	}}
	b.model = models.For(llm.ForResearcher)
	if program == nil {
		program = b.loop
	}
	b.exec = kernel.NewExecutor(kernel.ExecutorConfig{
		Journal: b.store, Owner: "bench",
		Program: func(kernel.Record) (kernel.Func, kernel.Limits, error) { return program, kernel.Limits{}, nil },
	})
	return b, nil
}

func (b *bench) openStore(o options) (err error) {
	switch o.store {
	case "memory":
		b.store = memory.New(memory.Options{})
		return nil
	case "sqlite":
	default:
		return fmt.Errorf("there is no store %q: use memory or sqlite", o.store)
	}
	dir := o.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bench"); err != nil {
			return err
		}
		b.close = func() { _ = os.RemoveAll(dir) }
	}
	b.store, err = sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	return err
}

// shut ends the worker and closes the store.
func (b *bench) shut() error {
	b.exec.Close()
	defer b.close()
	return b.store.Close()
}

// session carries out one run from its creation to its answer.
func (b *bench) session(ctx context.Context, id string) error {
	if err := b.store.Create(ctx, kernel.Record{ID: id, Session: id, Mode: "bench", Title: prompt}, nil, nil); err != nil {
		return err
	}
	status, err := b.exec.Execute(ctx, id)
	if err != nil {
		return err
	}
	if status != kernel.Done {
		return fmt.Errorf("run %s ended as %s", id, status)
	}
	answer, _ := b.answers.LoadAndDelete(id)
	if text, _ := answer.(string); !strings.HasPrefix(text, final) {
		return fmt.Errorf("run %s: wrong answer %q", id, text)
	}
	return nil
}

// forget removes a run, so that the memory store does not grow with the
// length of the measurement.
func (b *bench) forget(ctx context.Context, id string) error { return b.store.Delete(ctx, id) }

// loop is the code of a run: each call of the model is a step, and what the
// model wants done is done between them.
func (b *bench) loop(ctx context.Context, s *kernel.Scope) error {
	if err := s.Emit(event.Message{Role: "user", Text: prompt}); err != nil {
		return err
	}
	messages := make([]llm.Message, 0, 2+2*len(b.steps))
	messages = append(messages, llm.Message{Role: llm.RoleSystem, Content: system}, llm.Message{Role: llm.RoleUser, Content: prompt})
	for _, name := range b.steps {
		reply, err := kernel.Step(ctx, s, name, func(ctx context.Context, s *kernel.Scope) (llm.Message, error) {
			return b.call(ctx, s, messages)
		})
		if err != nil {
			return err
		}
		if len(reply.ToolCalls) == 0 {
			b.answers.Store(s.Record().ID, reply.Content)
			return s.Emit(event.Message{Role: "assistant", Text: reply.Content})
		}
		call := reply.ToolCalls[0]
		sum, err := add(call)
		if err != nil {
			return err
		}
		messages = append(messages, reply, llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Content: sum})
	}
	return errors.New("too many steps")
}

// call makes one call of the model and charges for it.
func (b *bench) call(ctx context.Context, s *kernel.Scope, messages []llm.Message) (llm.Message, error) {
	if err := s.Budget().Check(); err != nil {
		return llm.Message{}, err
	}
	var sink func(llm.Chunk)
	if b.stream {
		sink = func(c llm.Chunk) {
			if c.Text != "" {
				_ = s.Emit(event.AnswerDelta{Text: c.Text})
			}
		}
	}
	resp, err := b.model.Stream(ctx, &llm.Request{Messages: messages, Tools: tools}, sink)
	if err != nil {
		return llm.Message{}, err
	}
	u := resp.Usage
	s.Charge(kernel.Spent{Calls: 1, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
	return resp.Message, s.Emit(event.Usage{Role: "researcher", Model: resp.Model, Input: u.Input, Output: u.Output})
}

// add is the tool.
func add(call llm.ToolCall) (string, error) {
	if call.Name != "add" {
		return "", fmt.Errorf("there is no tool %q", call.Name)
	}
	var in struct{ A, B int }
	if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil {
		return "", fmt.Errorf("arguments of %s: %w", call.Name, err)
	}
	return `{"sum":` + strconv.Itoa(in.A+in.B) + `}`, nil
}
