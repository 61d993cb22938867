// Package agent is the loop in which a model chooses: prepare the context,
// prepare the tools, reason, select, act, record, until there is an answer.
// What varies is the decider, which turns a model's reply into the next call.
package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dossier/tool"
)

// DeciderName names a way in which a model's reply becomes the next call.
type DeciderName string

// The deciders.
const (
	// SGR asks for one structured reply that reasons and holds the call.
	SGR DeciderName = "sgr"
	// Native is the provider's function calling, and a call is required.
	Native DeciderName = "tool_calling"
	// Hybrid has a reasoning tool called first, then any other.
	Hybrid DeciderName = "sgr_tool_calling"
	// Iron needs nothing of the provider: the tool is named in text.
	Iron DeciderName = "iron"
	// ReAct is Thought, Action, Observation and FinalAnswer in text.
	ReAct DeciderName = "react"
	// Dialog is Hybrid that talks with the user between its steps.
	Dialog DeciderName = "dialog"
	// KB is ReAct over the user's documents, with a fixed beginning and checks of
	// what was found and of the answer: see mode/kbqa.
	KB DeciderName = "kb"
	// ByRules needs no model: search, read, answer.
	ByRules DeciderName = "rules"
)

// Deciders are all names.
var Deciders = []DeciderName{SGR, Native, Hybrid, Iron, ReAct, Dialog, KB, ByRules}

// Definition is an agent as data: what a configuration file, a template or a
// request says about it. It is frozen into each run, so it holds no keys.
type Definition struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Decider     DeciderName `json:"decider"`
	// Research agents know the limits of searching and the report.
	Research bool `json:"research,omitempty"`
	// Model replaces the configured one; empty leaves it.
	Model   string  `json:"model,omitempty"`
	Limits  Limits  `json:"limits,omitzero"`
	Prompts Prompts `json:"prompts,omitzero"`
	// Tools by name, in the order in which the model sees them. A name is that
	// of a built-in tool, "mcp:SERVER" for all tools of a server, or
	// "mcp:SERVER/TOOL" for one.
	Tools []ToolRef   `json:"tools,omitempty"`
	Rules []tool.Rule `json:"rules,omitempty"`
	// Search says which of the catalog's other tools the agent may find.
	Search ToolSearch `json:"tool_search,omitzero"`
	// Agents that it may call as tools.
	Agents []string `json:"agents,omitempty"`
	// Capabilities are words by which others find the agent.
	Capabilities []string `json:"capabilities,omitempty"`
	// LogsDir gets a JSON log of each run and ReportsDir the reports; empty
	// writes none.
	LogsDir    string `json:"logs_dir,omitempty"`
	ReportsDir string `json:"reports_dir,omitempty"`
	// Generator is the form of the OpenAI stream: openai or open_webui.
	Generator string `json:"streaming_generator,omitempty"`
}

// Limits of an agent's work. Zero is the default of each.
type Limits struct {
	Iterations     int `json:"max_iterations,omitempty"`     // 10
	Clarifications int `json:"max_clarifications,omitempty"` // 3; negative is none
	Searches       int `json:"max_searches,omitempty"`       // 4; negative is none
	// MCPContext bounds the text of an MCP tool's result, in characters.
	MCPContext int `json:"mcp_context_limit,omitempty"` // 15000
	// Depth is how deep agents may call agents.
	Depth int `json:"max_depth,omitempty"` // 3
}

// Prompts replace the built-in ones; empty leaves them. {available_tools} and
// {current_date} are filled in.
type Prompts struct {
	System        string `json:"system_prompt,omitempty"`
	Initial       string `json:"initial_user_request,omitempty"`
	Clarification string `json:"clarification_response,omitempty"`
}

// ToolRef names a tool and gives it settings.
type ToolRef struct {
	Name string `json:"name"`
	// Of names the tool that it is, where Name is a second name for it with
	// settings of its own; empty is Name.
	Of     string          `json:"of,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

// ToolSearch is the policy for tools that an agent does not list.
type ToolSearch struct {
	// Always are put before the model whatever is asked.
	Always []string `json:"always,omitempty"`
	// Never are not found.
	Never []string `json:"never,omitempty"`
	// OnDemand lets the agent find tools of the catalog: the best K for its
	// task are put before the model, and it may search for more itself.
	OnDemand bool `json:"on_demand,omitempty"`
	K        int  `json:"k,omitempty"` // 10
}

// Validate says what is wrong with a definition, for whoever wrote it.
func (d *Definition) Validate() error {
	if strings.TrimSpace(d.Name) == "" {
		return fmt.Errorf("an agent needs a name")
	}
	if !slices.Contains(Deciders, d.Decider) {
		return fmt.Errorf("agent %s: there is no decider %q; those there are: %v", d.Name, d.Decider, Deciders)
	}
	for _, r := range d.Rules {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("agent %s: %w", d.Name, err)
		}
	}
	return nil
}

// ParseClass reads the name of an agent's class as clients of older systems
// write it (SGRToolCallingAgent, agents.ResearchIronAgent, a module path before
// it) or a decider's own name.
func ParseClass(class string) (decider DeciderName, research bool, err error) {
	name := class[strings.LastIndex(class, ".")+1:]
	plain := tool.PlainName(name)
	plain, research = strings.CutPrefix(plain, "research")
	plain = strings.TrimSuffix(plain, "agent")
	switch plain {
	case "sgr":
		return SGR, research, nil
	case "toolcalling", "native":
		return Native, research, nil
	case "sgrtoolcalling", "sgrautotoolcalling", "hybrid":
		return Hybrid, research, nil
	case "iron":
		return Iron, research, nil
	case "react":
		return ReAct, research, nil
	case "dialog":
		return Dialog, research, nil
	case "kb", "knowledgebase":
		return KB, research, nil
	case "rules", "rulebased":
		return ByRules, research, nil
	}
	return "", false, fmt.Errorf("there is no agent class %q: use SGRAgent, ToolCallingAgent, SGRToolCallingAgent, IronAgent, DialogAgent, ReActAgent, KBAgent or RuleBasedAgent, or one of these with Research before it", class)
}
