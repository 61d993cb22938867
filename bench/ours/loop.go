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
	model *llm.Client
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
		cfg := llm.GovernorConfig{Endpoint: "mock"}
		if o.mode == "active" {
			cfg.StartConcurrency = o.sessions // all of them are to wait for the model, none for its turn
		}
		model = llm.NewGovernor(cfg).Wrap(model)
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
	if err := b.create(ctx, id); err != nil {
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

// create is a function of its own because a run's record is large, and what is
// in the frame of session is on the stack of every run.
//
//go:noinline
func (b *bench) create(ctx context.Context, id string) error {
	return b.store.Create(ctx, kernel.Record{ID: id, Session: id, Mode: "bench", Title: prompt}, nil, nil)
}

// forget removes a run, so that the memory store does not grow with the
// length of the measurement.
func (b *bench) forget(ctx context.Context, id string) error { return b.store.Delete(ctx, id) }

// loop is the code of a run: each call of the model is a step, and what the
// model wants done is done between them.
func (b *bench) loop(ctx context.Context, s *kernel.Scope) error {
	if err := say(s, "user", prompt); err != nil {
		return err
	}
	messages := opening(len(b.steps))
	for _, name := range b.steps {
		reply, err := kernel.Step(ctx, s, name, func(ctx context.Context, s *kernel.Scope) (llm.Message, error) {
			return b.call(ctx, s, messages)
		})
		if err != nil {
			return err
		}
		if len(reply.ToolCalls) == 0 {
			return b.answer(s, reply.Content)
		}
		sum, err := add(&reply.ToolCalls[0])
		if err != nil {
			return err
		}
		messages = append(messages, reply, sum)
	}
	return errors.New("too many steps")
}

// opening is the conversation before its first step, with room for the others.
func opening(steps int) []llm.Message {
	messages := make([]llm.Message, 2, 2+2*steps)
	messages[0].Role, messages[0].Content = llm.RoleSystem, system
	messages[1].Role, messages[1].Content = llm.RoleUser, prompt
	return messages
}

// call makes one call of the model and charges for it.
func (b *bench) call(ctx context.Context, s *kernel.Scope, messages []llm.Message) (reply llm.Message, err error) {
	if err := s.Budget().Check(); err != nil {
		return reply, err
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
		return reply, err
	}
	return resp.Message, charge(s, resp)
}

func charge(s *kernel.Scope, resp *llm.Response) error {
	u := &resp.Usage
	s.Charge(kernel.Spent{Calls: 1, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
	return s.Emit(event.Usage{Role: "researcher", Model: resp.Model, Input: u.Input, Output: u.Output})
}

func say(s *kernel.Scope, role, text string) error {
	return s.Emit(event.Message{Role: role, Text: text})
}

func (b *bench) answer(s *kernel.Scope, text string) error {
	b.answers.Store(s.Record().ID, text)
	return say(s, "assistant", text)
}

// add is the tool.
func add(call *llm.ToolCall) (llm.Message, error) {
	if call.Name != "add" {
		return llm.Message{}, fmt.Errorf("there is no tool %q", call.Name)
	}
	var in struct{ A, B int }
	if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil {
		return llm.Message{}, fmt.Errorf("arguments of %s: %w", call.Name, err)
	}
	return llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Content: `{"sum":` + strconv.Itoa(in.A+in.B) + `}`}, nil
}
