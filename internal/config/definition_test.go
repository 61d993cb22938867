package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/agent"

	"pgregory.net/rapid"
)

// TestDefinitions holds the definitions of files in each shape to what they
// were; -update rewrites them.
func TestDefinitions(t *testing.T) {
	for _, shape := range []string{"v05", "v07", "mixed", "builtin"} {
		t.Run(shape, func(t *testing.T) {
			dir := filepath.Join("testdata", "agents", shape)
			src := Sources{Dir: dir, File: "config.yaml", Env: []string{"LLM_KEY=hush-a", "SEARCH_KEY=hush-b"}}
			if shape == "v05" {
				src.AgentsFile = "agents.yaml"
			}
			if shape == "builtin" {
				src = Sources{File: NoFile}
			}
			c, err := Load(src)
			if err != nil {
				t.Fatal(err)
			}
			all := []agent.Definition{}
			for _, name := range c.Definitions() {
				d, err := c.Definition(name)
				if err != nil {
					t.Fatal(err)
				}
				if shape == "builtin" || c.st().agents[name] != nil {
					all = append(all, d)
				}
			}
			got, err := json.MarshalIndent(all, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if bytes.Contains(got, []byte("hush")) {
				t.Error("a definition holds a key")
			}
			golden(t, dir+".json", got)
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it was:\n%s", file, got)
	}
}

func TestBuiltIn(t *testing.T) {
	c := mustLoad(t, Sources{}, nil)
	for _, name := range []string{
		"sgr_agent", "tool_calling_agent", "sgr_tool_calling_agent", "sgr_auto_tool_calling_agent", "iron_agent", "dialog_agent", "react_agent", "rule_based_agent",
		"research_sgr_agent", "research_tool_calling_agent", "research_sgr_tool_calling_agent", "research_iron_agent", "research_dialog_agent", "research_react_agent", "kb_agent",
	} {
		d, err := c.Definition(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e := builtIn()[name]
		// A section of theirs would lie above what the user says for all.
		if len(e.sections) > 0 {
			t.Errorf("%s has sections", name)
		}
		if !strings.HasSuffix(d.Description, ".") || len(d.Capabilities) == 0 || d.Research != strings.HasPrefix(name, "research_") || d.Model != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if n := len(builtIn()); n != 15 {
		t.Errorf("%d built-in agents", n)
	}
	mine := mustLoad(t, Sources{}, yamlFile("agents: {kb_agent: {base_class: SGRAgent}}"))
	if d, err := mine.Definition("kb_agent"); err != nil || d.Decider != agent.SGR || d.Description != "" || len(d.Capabilities) > 0 || d.Tools[0].Name != "web_search_tool" {
		t.Errorf("a built-in agent shows through: %+v, %v", d, err)
	}
}

// definitions.txt holds blocks of "== name", a file or, after "-- template", a
// document over it, "-- errors" and the error of agent or template a.
func TestDefinitionErrors(t *testing.T) {
	const file = "testdata/definitions.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(string(data), "== ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		input, want, _ := strings.Cut(rest, "-- errors\n")
		text, document, isTemplate := strings.Cut(input, "-- template\n")
		t.Run(name, func(t *testing.T) {
			c, err := load(t, Sources{Env: []string{"SECRET=sk-hidden"}}, map[string]string{"c.yaml": text + " ", "long.txt": strings.Repeat("x", maxPrompt+1), "bin.txt": "\x00", "sub/x": "y"})
			if err == nil && isTemplate {
				_, _, err = c.TemplateDefinition("a", []byte(document))
			} else if err == nil {
				_, err = c.Definition("a")
			}
			got := "no error\n"
			if err != nil {
				got = strings.ReplaceAll(err.Error(), dirOf(c), "") + "\n"
			}
			fmt.Fprintf(&out, "== %s\n%s-- errors\n%s", name, input, got)
			if got != want && !*update {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if strings.Contains(got, "sk-hidden") {
				t.Errorf("a secret is shown: %s", got)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// dirOf is the directory of the file, so that a golden can leave it out.
func dirOf(c *Config) string {
	if c == nil {
		return "\x00"
	}
	for _, s := range c.st().settings {
		if s.leaf.path == "log.file" && s.value != nil {
			return filepath.Dir(s.value.(string)) + "/"
		}
	}
	return "\x00"
}

// TestPrecedenceOfSections: whichever layers say one key of a section, the
// highest of them counts, in the definition and in the explanation.
func TestPrecedenceOfSections(t *testing.T) {
	sections := []struct {
		path string
		yaml string // with %d for the value
		env  string
		got  func(agent.Definition) int
	}{
		{"execution.max_iterations", "execution: {max_iterations: %d}", "SGR__EXECUTION__MAX_ITERATIONS", func(d agent.Definition) int { return d.Limits.Iterations }},
		{"search.max_searches", "search: {max_searches: %d}", "SGR__SEARCH__MAX_SEARCHES", func(d agent.Definition) int { return d.Limits.Searches }},
		{"prompts.system_prompt_str", "prompts: {system_prompt_str: '%d'}", "SGR__PROMPTS__SYSTEM_PROMPT_STR", func(d agent.Definition) int { return number(d.Prompts.System) }},
		{"models.default.model", "llm: {model: '%d'}", "SGR__LLM__MODEL", func(d agent.Definition) int { return number(d.Model) }},
		{"models.default.max_tokens", "models: {default: {max_tokens: %d}}", "SGR__LLM__MAX_TOKENS", nil},
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(sections).Draw(rt, "section")
		says := make([]bool, layerFlag+1)
		for ly := layerEnv; ly <= layerFlag; ly++ {
			says[ly] = rapid.Bool().Draw(rt, ly.String())
		}
		text := func(ly layer) string {
			if !says[ly] {
				return "{}"
			}
			return "{" + fmt.Sprintf(s.yaml, 100+int(ly)) + "}"
		}
		top := func(ly layer) string { return strings.TrimSuffix(strings.TrimPrefix(text(ly), "{"), "}") + "\n" }
		files := map[string]string{
			"c.yaml": "lang: ru\n" + top(layerFile),
			"d.yaml": "agents: {a: " + text(layerTemplate) + "}\n" + top(layerDefinitions), // replaced wholly
			"a.yaml": "agents: {a: " + text(layerAgent) + "}\n" + top(layerAgents),
		}
		src := Sources{Definitions: []string{"d.yaml"}, AgentsFile: "a.yaml", Flags: map[string]string{}}
		if says[layerEnv] {
			src.Env = []string{fmt.Sprintf("%s=%d", s.env, 100+int(layerEnv))}
		}
		if says[layerFlag] {
			src.Flags[s.path] = fmt.Sprint(100 + int(layerFlag))
		}
		c := mustLoad(t, src, files)
		a, err := c.Agent("a")
		if err != nil {
			rt.Fatal(err)
		}
		d, own, err := a.TemplateDefinition("t", []byte(text(layerTemplate)))
		if err != nil {
			rt.Fatal(err)
		}
		best := layerDefault
		for ly := layerFlag; ly > layerDefault; ly-- {
			if says[ly] {
				best = ly
				break
			}
		}
		if best == layerDefault {
			return
		}
		v := value(t, own, s.path)
		if v.Value != fmt.Sprint(100+int(best)) || v.Layer != best.String() {
			rt.Fatalf("%s = %s of layer %s, want that of %s", s.path, v.Value, v.Layer, best)
		}
		// The name of a model is in the definition only where the agent has its own.
		if s.got != nil && (s.path != "models.default.model" || best >= layerAgent) && s.got(d) != 100+int(best) {
			rt.Fatalf("definition of %s: %d, want that of %s", s.path, s.got(d), best)
		}
	})
}

func number(text string) (n int) {
	if _, err := fmt.Sscan(text, &n); err != nil {
		return -1
	}
	return n
}

// TestPrecedenceOfTrees is the same for the sections that are free.
func TestPrecedenceOfTrees(t *testing.T) {
	files := map[string]string{
		"c.yaml": "mcp: {mcpServers: {file: {url: 'http://h/'}}}\ntools: {x: {n: 1, m: 1}}\n",
		"d.yaml": "mcp: {mcpServers: {definitions: {url: 'http://h/'}}}\ntools: {x: {n: 2, m: 2}}\nagents: {}\n",
		"a.yaml": "mcp: {mcpServers: {agents: {url: 'http://h/'}}}\ntools: {x: {n: 3, m: 3}}\nagents: {own: {mcp: {mcpServers: {two: {url: 'http://h/'}, one: {url: 'http://h/'}}}, tools: [{X: {N: 4}}]}, plain: {tools: [x]}, all: {tools: [x], tool_search: {on_demand: true}}}\n",
	}
	for _, tt := range []struct {
		src             Sources
		agent, template string
		want, kwargs    string
	}{
		{src: Sources{}, template: "tools: [x]", want: "x mcp:file", kwargs: `{"m":1,"n":1}`},
		{src: Sources{Definitions: []string{"d.yaml"}}, template: "tools: [x]", want: "x mcp:definitions", kwargs: `{"m":2,"n":2}`},
		{src: Sources{Definitions: []string{"d.yaml"}, AgentsFile: "a.yaml"}, agent: "plain", want: "x mcp:agents", kwargs: `{"m":3,"n":3}`},
		{src: Sources{AgentsFile: "a.yaml"}, agent: "own", want: "X mcp:two mcp:one", kwargs: `{"N":4,"m":3}`},
		{src: Sources{AgentsFile: "a.yaml"}, agent: "own", template: "tools: [final_answer_tool, {x: {m: 5}}]", want: "final_answer_tool x mcp:two mcp:one", kwargs: `{"m":5,"n":3}`},
		{src: Sources{AgentsFile: "a.yaml"}, agent: "all", want: "x", kwargs: `{"m":3,"n":3}`},
	} {
		c := mustLoad(t, tt.src, files)
		var d agent.Definition
		var err error
		if tt.agent != "" {
			d, err = c.Definition(tt.agent)
			if err == nil && tt.template != "" {
				if c, err = c.Agent(tt.agent); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err == nil && tt.template != "" {
			d, _, err = c.TemplateDefinition("t", []byte(tt.template))
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		kwargs := ""
		for _, ref := range d.Tools {
			names = append(names, ref.Name)
			if strings.EqualFold(ref.Name, "x") {
				kwargs = string(ref.Config)
			}
		}
		if strings.Join(names, " ") != tt.want || kwargs != tt.kwargs {
			t.Errorf("%+v: %v %s", tt, names, kwargs)
		}
	}
}

func TestTemplateDefinition(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{"SECRET=hush"}}, yamlFile("execution: {max_iterations: 7}\nllm: {model: base}\nagents: {a: {description: of a, base_class: IronAgent, tools: [x]}}\n"))
	document := "{\"base_class\":\"agents.ResearchReActAgent\",\n\t\"llm\":{\"model\":\"m\\/1\",\"top_p\":0.5},\"description\":\"\\ud83d\\ude00 \\u0416 \\ud800 \\\\ud83d\",\n\t\"prompts\":{\"system_prompt_str\":\"cost ${SECRET} $${x}\"},\"execution\":{\"logs_dir\":\"logs/t\"},\"tools\":[\"x\",{\"y\":{\"n\":1}}]}"
	d, own, err := c.TemplateDefinition("t", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Definition{
		Name: "t", Description: "😀 Ж \ufffd \\ud83d", Decider: agent.ReAct, Research: true, Model: "m/1",
		Limits:  agent.Limits{Iterations: 7, Clarifications: 3, Searches: 4, MCPContext: 15000, Depth: 3},
		Prompts: agent.Prompts{System: "cost ${SECRET} $${x}"},
		Tools:   []agent.ToolRef{{Name: "x"}, {Name: "y", Config: json.RawMessage(`{"n":1}`)}},
		Search:  agent.ToolSearch{K: 10}, LogsDir: "logs/t", ReportsDir: "reports", Generator: "openai",
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got:  %+v\nwant: %+v", d, want)
	}
	if own.Model(RoleDefault).Model != "m/1" || own.Model(RoleDefault).Extra["top_p"] != 0.5 || c.Models.Default.Model != "base" {
		t.Errorf("the template's configuration: %+v", own.Models.Default)
	}
	for path, from := range map[string]string{
		"agents.t.base_class": "template t:1", "agents.t.tools.x": "template t:3", "execution.logs_dir": "template t:3", "execution.max_iterations": "c.yaml:1",
	} {
		if v := value(t, own, path); v.Origin != from {
			t.Errorf("%s from %q, want %q", path, v.Origin, from)
		}
	}
	// Over an agent, a template leaves what it does not speak of.
	a, err := c.Agent("a")
	if err != nil {
		t.Fatal(err)
	}
	over, _, err := a.TemplateDefinition("t", []byte("tools: [y]"))
	if err != nil || over.Decider != agent.Iron || over.Description != "of a" || len(over.Tools) != 1 || over.Tools[0].Name != "y" {
		t.Errorf("over an agent: %+v, %v", over, err)
	}
	if _, _, err := c.TemplateDefinition("../t", []byte("{}")); err == nil || !strings.Contains(err.Error(), "name") {
		t.Errorf("a name that is a path: %v", err)
	}
	if d, _, err := c.TemplateDefinition("t", nil); err != nil || d.Decider != agent.Hybrid || len(d.Tools) != 7 {
		t.Errorf("an empty template: %+v, %v", d, err)
	}
}

// TestDefinitionsAtOnce: a configuration may be asked by many, and asking
// changes nothing in it.
func TestDefinitionsAtOnce(t *testing.T) {
	c, err := Load(Sources{Dir: "testdata/agents/v07", File: "config.yaml", Env: []string{"LLM_KEY=k", "SEARCH_KEY=k"}})
	if err != nil {
		t.Fatal(err)
	}
	before := c.Explain()
	names := c.Definitions()
	want := map[string]string{}
	for _, n := range names {
		d, err := c.Definition(n)
		if err != nil {
			t.Fatal(err)
		}
		want[n] = inline(d)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 20 {
				n := names[(i+j)%len(names)]
				d, err := c.Definition(n)
				if err != nil || inline(d) != want[n] {
					t.Errorf("%s: %s, %v", n, inline(d), err)
				}
				if _, _, err := c.TemplateDefinition("t", []byte("tools: [web_search_tool: {max_searches: 1}]")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if !reflect.DeepEqual(before, c.Explain()) {
		t.Error("asking for definitions changed the configuration")
	}
}

func TestExplainAgent(t *testing.T) {
	c, err := Load(Sources{Dir: "testdata/agents/v07", File: "config.yaml", Env: []string{"LLM_KEY=k", "SEARCH_KEY=k"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, name := range []string{"brave", "without_class", "kb_agent"} {
		a, err := c.Agent(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "-- %s\n", name)
		if err := a.RenderAgent(&out); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"base_class", "tools", "search.max_searches"} {
			fmt.Fprintf(&out, "-- %s %s\n", name, key)
			if err := a.RenderKey(&out, key); err != nil {
				t.Fatal(err)
			}
		}
	}
	out.WriteString("-- agents\n")
	if err := c.RenderKey(&out, "agents"); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte("hush")) {
		t.Error("a key is shown")
	}
	golden(t, "testdata/explain_agent.txt", out.Bytes())
}

func TestServersInOrder(t *testing.T) {
	c := mustLoad(t, Sources{}, yamlFile(`
mcp: {MCPSERVERS: {z: {url: "http://h/"}, a: {command: x}, m: {url: "http://h/"}}}
a2a: {agents: {far: {url: "https://far.example/", headers: {Authorization: hush}}, bad: {url: nowhere}, odd: {url: [1]}, empty: null}}
`))
	if names, err := c.MCPServers(); err != nil || !slices.Equal(names, []string{"z", "a", "m"}) {
		t.Errorf("%v, %v", names, err)
	}
	if names, err := c.RemoteAgents(); err != nil || !slices.Equal(names, []string{"far", "bad", "odd", "empty"}) {
		t.Errorf("%v, %v", names, err)
	}
	if a, err := c.RemoteAgent("far"); err != nil || a.URL != "https://far.example/" || a.Headers["Authorization"] != "hush" {
		t.Errorf("%+v, %v", a, err)
	}
	for name, want := range map[string]string{"none": "those there are: far, bad, odd, empty", "bad": "needs a url", "odd": "wrong kind", "empty": "needs a url"} {
		if _, err := c.RemoteAgent(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, err := mustLoad(t, Sources{}, nil).MCPServers(); err != nil || len(names) > 0 {
		t.Errorf("none: %v, %v", names, err)
	}
	if _, err := mustLoad(t, Sources{}, yamlFile("mcp: {mcpServers: [a]}")).MCPServers(); err == nil {
		t.Error("a list of servers is accepted")
	}
}

func FuzzTemplate(f *testing.F) {
	data, err := os.ReadFile("testdata/definitions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "== ")[1:] {
		_, rest, _ := strings.Cut(block, "\n")
		input, _, _ := strings.Cut(rest, "-- errors\n")
		_, document, _ := strings.Cut(input, "-- template\n")
		f.Add([]byte(document))
		f.Add([]byte(strings.TrimPrefix(input, "agents:\n  a:\n")))
	}
	f.Add([]byte(`{"description":"\ud83d\ude00\/","tools":[{"x":{"n":1e400}}]}`))
	c, err := Load(Sources{File: NoFile, Env: []string{"SECRET=hush-hush"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		d, own, err := c.TemplateDefinition("t", document)
		if err != nil {
			if _, ok := errors.AsType[Errors](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "hush-hush") {
			t.Fatal("a template reads variables")
		}
		again, _, err := c.TemplateDefinition("t", document)
		if err != nil || inline(again) != inline(d) {
			t.Fatalf("not the same twice: %v", err)
		}
		for _, v := range own.Explain() {
			if v.Path == "" || v.Origin == "" {
				t.Fatalf("unexplained: %+v", v)
			}
		}
	})
}

func BenchmarkDefinition(b *testing.B) {
	c, err := Load(Sources{Dir: "testdata/agents/v07", File: "config.yaml", Env: []string{"LLM_KEY=k", "SEARCH_KEY=k"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("configured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Definition("brave"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("template", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := c.TemplateDefinition("t", []byte("tools: [web_search_tool: {max_searches: 1}]")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestWorkspacePath finds the folder for commands beside the file that names it.
func TestWorkspacePath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte("tools: {RunCommandTool: {workspace_path: ./ws}, other: {workspace_path: ./ws}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{Dir: dir, File: "c.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"RunCommandTool": filepath.Join(dir, "ws"), "other": "./ws"} {
		if got := c.Tools[name].(map[string]any)["workspace_path"]; got != want {
			t.Errorf("%s: %v instead of %s", name, got, want)
		}
	}
}
