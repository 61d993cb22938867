package main

import (
	"context"
	"fmt"

	"dossier/agent"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm"
	kernel "dossier/run"
	"dossier/tool"
)

// babbler is a model that says one thing for ever: as text, as the arguments of
// a call, and as the name of a tool.
type babbler struct{ text string }

func (b babbler) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	said := llm.Message{Role: llm.RoleAssistant, Content: b.text}
	if len(req.Tools) > 0 {
		said.ToolCalls = []llm.ToolCall{{ID: "c", Name: req.Tools[0].Name, Arguments: b.text}}
	}
	return &llm.Response{Model: "babbler", Message: said, Finish: llm.FinishStop}, nil
}

type lookup struct {
	Query string   `json:"query"`
	Limit int      `json:"limit" default:"5"`
	Tags  []string `json:"tags,omitempty"`
}

type closing struct {
	Answer string `json:"answer" min:"1"`
}

// persistent has agents, one with each decider, work with a model whose every
// reply is one broken piece of JSON. It says how many of them ended with words
// for the user.
func persistent(ctx context.Context, broken string) (ended, all int, err error) {
	tools, err := tool.NewSet(
		tool.New(tool.Spec{Name: "look", Description: "Look something up."}, func(_ context.Context, _ *tool.Call, in lookup) (tool.Result, error) {
			return tool.Result{Text: "nothing about " + in.Query}, nil
		}),
		tool.New(tool.Spec{Name: "finish", Kind: tool.Final, Description: "Answer."}, func(_ context.Context, _ *tool.Call, in closing) (tool.Result, error) {
			return tool.Result{Text: in.Answer, Change: tool.Change{Answer: &tool.Answer{Text: in.Answer, Status: tool.Completed}}}, nil
		}),
	)
	if err != nil {
		return 0, 0, err
	}
	for _, decider := range agent.Deciders {
		all++
		a := &agent.Agent{
			Definition: agent.Definition{Name: "a", Decider: decider}, Tools: tools, Role: llm.ForResearcher,
			Models: &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: babbler{broken}, Name: "babbler", Endpoint: "none"}}},
		}
		said, err := answerOf(ctx, a)
		if err != nil {
			return ended, all, fmt.Errorf("%s: %w", decider, err)
		}
		if said != "" {
			ended++
		}
	}
	return ended, all, nil
}

// answerOf has an agent work in a run of its own.
func answerOf(ctx context.Context, a *agent.Agent) (string, error) {
	store := memory.New(memory.Options{})
	var done agent.Done
	x := kernel.NewExecutor(kernel.ExecutorConfig{Journal: store, Owner: "eval", Program: func(kernel.Record) (kernel.Func, kernel.Limits, error) {
		return func(ctx context.Context, s *kernel.Scope) (err error) {
			done, err = a.Run(ctx, s, agent.Task{Text: "What is it?", Lang: lang.English, NoInput: true})
			return err
		}, kernel.Limits{}, nil
	}})
	defer x.Close()
	if err := store.Create(ctx, kernel.Record{ID: "r", Session: "r", Mode: "agent"}, nil, nil); err != nil {
		return "", err
	}
	status, err := x.Execute(ctx, "r")
	if err == nil && status != kernel.Done {
		return "", nil
	}
	return done.Answer.Text, err
}
