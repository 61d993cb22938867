package wire

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dossier/internal/base/usage"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/search"
	"dossier/tool"
)

type mute struct{}

func (mute) Stream(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
	return nil, errors.New("mute")
}

type empty struct{ name string }

func (e empty) Info() search.Info { return search.Info{Name: e.name} }

func (empty) Search(context.Context, search.Query) ([]search.Hit, error) { return nil, nil }

func plainTool(name, text string) tool.Tool {
	return tool.New(tool.Spec{Name: name, Description: text}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: text}, nil
	})
}

// A model that the program brings along is called in its role, one for default in
// the roles that have none of their own, and an agent with a model of its own
// keeps that. What is configured for a role beside its model holds for it too.
func TestModelsOfTheProgram(t *testing.T) {
	const file = `models:
  default: {base_url: "http://127.0.0.1:1/v1", model: m, api_key: k, temperature: 0.3, price_input: 2, price_output: 4}
  writer: {base_url: "http://127.0.0.1:2/v1", model: w, api_key: k}
agents:
  own: {base_class: ToolCallingAgent, tools: [final_answer_tool], llm: {base_url: "http://127.0.0.1:3/v1", model: o, api_key: k}}
  warm: {base_class: ToolCallingAgent, tools: [final_answer_tool], llm: {max_tokens: 99}}
`
	given := Extras{Models: map[llm.RoleName]llm.Setting{
		llm.ForDefault: {Name: "mine", Model: mute{}}, llm.ForVerifier: {Name: "judge", Model: mute{}},
	}}
	p := put(t, file, given)
	models := p.Agency.base
	for role, want := range map[llm.RoleName]string{llm.ForChat: "mine", llm.ForVerifier: "judge", llm.ForWriter: "w"} {
		if got := models.Setting(role).Name; got != want {
			t.Errorf("%s is %q, not %q", role, got, want)
		}
	}
	if s := models.Setting(llm.ForChat); s.Temperature == nil || *s.Temperature != 0.3 || s.Model == (mute{}) {
		t.Errorf("%+v", s)
	}
	if price := models.Pricer.Override["mine"]; price.Input != 2 || price.Output != 4 {
		t.Errorf("it costs %+v", price)
	}
	m, err := p.Agency.Member(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	if name := p.Agency.modelsOf(t.Context(), m).Setting(llm.ForResearcher).Name; name != "o" {
		t.Errorf("the agent has %q", name)
	}
	// Without anything configured there are the program's.
	bare := put(t, "agents: {warm: {base_class: ToolCallingAgent, tools: [final_answer_tool], llm: {max_tokens: 99}}}\n", given)
	if m, err = bare.Agency.Member(t.Context(), "warm"); err != nil {
		t.Fatal(err)
	}
	if s := bare.Agency.modelsOf(t.Context(), m).Setting(llm.ForResearcher); s.Name != "mine" || s.MaxTokens != 99 {
		t.Errorf("%+v", s)
	}
}

// What a run may depend on of the program's own things is frozen as it is for
// what is configured.
func TestCircumstancesKnowExtras(t *testing.T) {
	p := put(t, "search: {engines: [wikipedia]}\n", Extras{
		Engines: []search.Engine{empty{"archive"}, empty{"wikipedia"}},
		Models:  map[llm.RoleName]llm.Setting{llm.ForDefault: {Name: "mine", Model: mute{}}},
	})
	at := slices.IndexFunc(p.Modes, func(m mode.Mode) bool { return m.Name() == "web_search" })
	c := p.Modes[at].(mode.Situated).Circumstances(t.Context(), &mode.Request{Question: "why?"})
	var engines []string
	for _, e := range c.Engines {
		engines = append(engines, e.Name)
	}
	if got := strings.Join(engines, " "); got != "archive wikipedia" {
		t.Errorf("engines %s", got)
	}
	if c.Models[string(llm.ForWriter)] != "mine" {
		t.Errorf("models %v", c.Models)
	}
}

// A tool of the program is one of its built-in tools, and replaces the one of its
// name.
func TestToolsOfTheProgram(t *testing.T) {
	p := put(t, "agents: {sailor: {base_class: ToolCallingAgent, tools: [tide_tool, final_answer_tool]}}\n", Extras{
		Tools: []tool.Tool{plainTool("tide_tool", "Tells the tides."), plainTool("web_search_tool", "Looks elsewhere.")},
	})
	m, err := p.Agency.Member(t.Context(), "sailor")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := p.Agency.builtinOf(agents.Member{Agent: m.Agent})
	if err != nil || tools[0].Spec().Name != "tide_tool" {
		t.Errorf("%v, %v", tools, err)
	}
	replaced, err := p.Agency.tool(t.Context(), "web_search_tool")
	if err != nil || replaced.Spec().Description != "Looks elsewhere." {
		t.Errorf("%v, %v", replaced, err)
	}
}

// What can't be used is refused when the product is put together, and not when it
// is needed.
func TestExtrasThatCantBeUsed(t *testing.T) {
	for what, x := range map[string]Extras{
		"no role":   {Models: map[llm.RoleName]llm.Setting{"poet": {Name: "m", Model: mute{}}}},
		"no name":   {Models: map[llm.RoleName]llm.Setting{llm.ForChat: {Model: mute{}}}},
		"no model":  {Models: map[llm.RoleName]llm.Setting{llm.ForChat: {Name: "m"}}},
		"elsewhere": {Tools: []tool.Tool{tool.New(tool.Spec{Name: "t", Origin: "mcp:x"}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) { return tool.Result{}, nil })}},
	} {
		if _, err := putErr(t, "", x); !errors.As(err, new(*usage.Error)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
