package agent

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"dossier/llm"
	"dossier/tool"
)

// ReasoningTool is what reasoning is called where it is a tool.
const ReasoningTool = "reasoningtool"

// thoughtID ends the ids of thoughts that are told as calls.
const thoughtID = "-reasoning"

// thinking is the tool by which an agent that has none of its own thinks. It is
// made when it is needed: most commands have no agent.
var thinking = sync.OnceValue(func() tool.Tool {
	return tool.New(tool.Spec{
		Name: ReasoningTool, Kind: tool.Reasoning, System: true,
		Description: "Think before you act: what is known, how far the plan is, and what to do next.",
	}, func(context.Context, *tool.Call, Reasoning) (tool.Result, error) { return tool.Result{}, nil })
})

// reasoningSpec is the tool that reasons among the tools, or the built-in one.
func reasoningSpec(tools []tool.Tool) *tool.Spec {
	for _, t := range tools {
		if t.Spec().Kind == tool.Reasoning {
			return t.Spec()
		}
	}
	return thinking().Spec()
}

// readThought reads what should be a Reasoning. What is not is a thought all
// the same: a model that can't keep to the form still thinks.
func readThought(text string, r reply) Thought {
	t := Thought{Message: r.Message, At: r.At}
	schema, err := llm.SchemaOf[reasons]()
	if err != nil {
		panic(err) // it is a type of this package
	}
	var read reasons
	raw, err := schema.Read(text)
	if err == nil {
		err = json.Unmarshal(raw, &read)
	}
	if err != nil {
		t.Text = strings.TrimSpace(tool.Cut(text, 2000))
	}
	t.Reasoning = Reasoning(read)
	return t
}

// recordThought is a thought as a call of the tool that reasons.
func recordThought(w *Work, tools []tool.Tool, t Thought) []llm.Message {
	if t.Text != "" {
		return []llm.Message{{Role: llm.RoleAssistant, Content: t.Text}}
	}
	if t.Message.Role == "" {
		return nil
	}
	args, err := json.Marshal(t.Reasoning)
	if err != nil {
		return nil
	}
	id := strconv.Itoa(w.State.Iteration) + thoughtID
	name := reasoningSpec(tools).Name
	said := t.Message
	said.Role, said.Content = llm.RoleAssistant, ""
	said.ToolCalls = []llm.ToolCall{{ID: id, Name: name, Arguments: string(args)}}
	return []llm.Message{said, {Role: llm.RoleTool, ToolCallID: id, Name: name, Content: "{}"}}
}
