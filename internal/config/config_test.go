package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// load writes files into a directory of its own and loads from there; the
// entry "config" is named as the file, the others lie beside it.
func load(t testing.TB, src Sources, files map[string]string) (*Config, error) {
	t.Helper()
	src.Dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(src.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if src.File == "" && files["c.yaml"] != "" {
		src.File = "c.yaml"
	}
	return Load(src)
}

func mustLoad(t testing.TB, src Sources, files map[string]string) *Config {
	t.Helper()
	c, err := load(t, src, files)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return c
}

func yamlFile(text string) map[string]string { return map[string]string{"c.yaml": text} }

// value finds a setting in the explanation.
func value(t testing.TB, c *Config, path string) Value {
	t.Helper()
	for _, v := range c.Explain() {
		if v.Path == path {
			return v
		}
	}
	t.Fatalf("no setting %s", path)
	return Value{}
}

func TestDefaults(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{"HOME=/home/u"}}, nil)
	if c.Chat.HistoryLimit != 20 || c.Structured.MaxRetries != 3 || c.Governor.FirstByteTimeout != 30*time.Second ||
		c.Governor.IdleTimeout != time.Minute || c.Governor.Retries != 3 || c.Server.Rate != 20 || c.Lang != "auto" {
		t.Errorf("defaults: %+v", c)
	}
	if c.DataDir != "/home/u/.local/share/dossier" {
		t.Errorf("data_dir = %q", c.DataDir)
	}
	if c.Models.Default.MaxTokens != 8000 || *c.Models.Default.Temperature != 0.4 || c.Models.Chat.MaxTokens != 16384 {
		t.Errorf("models: %+v", c.Models)
	}
	if c.Search.MaxSearches != 4 || c.Execution.MaxIterations != 10 || c.Execution.MCPContextLimit != 15000 {
		t.Errorf("sgr sections: %+v %+v", c.Search, c.Execution)
	}
	if m := c.Model(RoleDefault); m.Configured() || !strings.Contains(m.Missing(), "OPENAI_API_KEY") {
		t.Errorf("no key: configured=%v missing=%q", m.Configured(), m.Missing())
	}
}

func TestPrecedence(t *testing.T) {
	const key = "execution.max_iterations"
	definitions := "agents: {a: {base_class: SGRAgent}}\nexecution: {max_iterations: 4}\n"
	agents := "agents: {a: {base_class: SGRAgent, execution: {max_iterations: 6}}}\nexecution: {max_iterations: 5}\n"
	files := map[string]string{"c.yaml": "execution:\n  max_iterations: 3\n", "d.yaml": definitions, "agents.yaml": agents}
	env := []string{"SGR__EXECUTION__MAX_ITERATIONS=2"}
	steps := []struct {
		name   string
		src    Sources
		files  map[string]string
		agent  bool
		tmpl   string
		value  string
		origin string
	}{
		{name: "default", value: "10", origin: "default"},
		{name: "env", src: Sources{Env: env}, value: "2", origin: "env SGR__EXECUTION__MAX_ITERATIONS"},
		{name: "file", src: Sources{Env: env}, files: files, value: "3", origin: "c.yaml:2"},
		{name: "definitions", src: Sources{Env: env, Definitions: []string{"d.yaml"}}, files: files, value: "4", origin: "d.yaml:2"},
		{name: "agents.yaml", src: Sources{Env: env, Definitions: []string{"d.yaml"}, AgentsFile: "agents.yaml"}, files: files, value: "5", origin: "agents.yaml:2"},
		{name: "agent", src: Sources{Env: env, Definitions: []string{"d.yaml"}, AgentsFile: "agents.yaml"}, files: files, agent: true, value: "6", origin: "agents.yaml:1"},
		{name: "template", src: Sources{Env: env, AgentsFile: "agents.yaml"}, files: files, agent: true, tmpl: `{"execution":{"max_iterations":7}}`, value: "7", origin: "template t:1"},
		{name: "flag", src: Sources{Env: env, AgentsFile: "agents.yaml", Flags: map[string]string{key: "8"}}, files: files, agent: true, tmpl: "execution: {max_iterations: 7}", value: "8", origin: "flag --set " + key},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			c := mustLoad(t, s.src, s.files)
			var err error
			if s.agent {
				if c, err = c.Agent("a"); err != nil {
					t.Fatal(err)
				}
			}
			if s.tmpl != "" {
				if c, err = c.WithTemplate("t", []byte(s.tmpl)); err != nil {
					t.Fatal(err)
				}
			}
			v := value(t, c, key)
			if v.Value != s.value || v.Origin != s.origin || show(reflect.ValueOf(c).Elem().FieldByIndex(schema().byPath[key].index)) != s.value {
				t.Errorf("%s = %s from %q, want %s from %q", key, v.Value, v.Origin, s.value, s.origin)
			}
		})
	}
}

func TestLayersAreValues(t *testing.T) {
	c := mustLoad(t, Sources{}, yamlFile("agents: {a: {llm: {model: m}, tools: [x], mcp: {other: 1}, extra: 1}}\nmcp: {mcpServers: {s: {url: http://h/}}}\n"))
	a, err := c.Agent("a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.WithTemplate("t", []byte("llm: {model: n, top_p: 0.5}\ntools: [y]"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Models.Default.Model != "" || a.Models.Default.Model != "m" || b.Models.Default.Model != "n" {
		t.Errorf("models: %q %q %q", c.Models.Default.Model, a.Models.Default.Model, b.Models.Default.Model)
	}
	if len(c.MCP) != 1 || len(b.MCP) != 2 || c.Models.Default.Extra != nil || b.Model(RoleChat).Extra["top_p"] != 0.5 {
		t.Errorf("trees leak between configurations: %v %v", c, b)
	}
	if _, err := c.Agent("b"); err == nil || !strings.Contains(err.Error(), "did you mean a?") {
		t.Errorf("unknown agent: %v", err)
	}
}

func TestVariables(t *testing.T) {
	tests := []struct {
		env  []string
		path string
		want string
		from string
	}{
		{[]string{"CHAT_MODEL=m"}, "models.chat.model", "m", "env CHAT_MODEL"},
		{[]string{"DOSSIER_CHAT_MODEL=m", "CHAT_MODEL=n"}, "models.chat.model", "m", "env DOSSIER_CHAT_MODEL"},
		{[]string{"DOSSIER_MODELS_CHAT_MODEL=m"}, "models.chat.model", "m", "env DOSSIER_MODELS_CHAT_MODEL"},
		{[]string{"CHAT_MODEL_MAX_TOKENS=99"}, "models.chat.max_tokens", "99", "env CHAT_MODEL_MAX_TOKENS"},
		{[]string{"CHAT_HISTORY_LIMIT=7"}, "chat.history_limit", "7", "env CHAT_HISTORY_LIMIT"},
		{[]string{"CHAT_HISTORY_LIMIT="}, "chat.history_limit", "20", "default"},
		{[]string{"MAX_STRUCTURED_OUTPUT_RETRIES=5"}, "structured.max_retries", "5", "env MAX_STRUCTURED_OUTPUT_RETRIES"},
		{[]string{"max_structured_output_retries=5"}, "structured.max_retries", "5", "env max_structured_output_retries"},
		{[]string{"SEARCH_SUMMARIZATION_MODEL=s"}, "models.summarizer.model", "s", "env SEARCH_SUMMARIZATION_MODEL"},
		{[]string{"DEFAULT_MODEL=GigaChat-2-Max"}, "models.default.model", "GigaChat-2-Max", "env DEFAULT_MODEL"},
		{[]string{"DEFAULT_MODEL=d", "SGR__LLM__MODEL=s"}, "models.default.model", "s", "env SGR__LLM__MODEL"},
		{[]string{"DEFAULT_EMBEDDING_MODEL=Embeddings"}, "models.embeddings.model", "Embeddings", "env DEFAULT_EMBEDDING_MODEL"},
		{[]string{"SGR__LLM__API_KEY=sk"}, "models.default.api_key", "***", "env SGR__LLM__API_KEY"},
		{[]string{"SGR__LLM__BASE_URL=http://h/v1"}, "models.default.base_url", "http://h/v1", "env SGR__LLM__BASE_URL"},
		{[]string{"SGR__LLM__MAX_TOKENS=5"}, "models.default.max_tokens", "5", "env SGR__LLM__MAX_TOKENS"},
		{[]string{"sgr__llm__temperature=0"}, "models.default.temperature", "0", "env sgr__llm__temperature"},
		{[]string{"SGR__LLM__PROXY=http://u:p@h:1"}, "models.default.proxy", "http://***@h:1", "env SGR__LLM__PROXY"},
		{[]string{"SGR__LLM__TOP_P=0.5"}, "models.default.extra", `{"top_p":0.5}`, "env SGR__LLM__TOP_P"},
		{[]string{"SGR__SEARCH__TAVILY_API_KEY=k"}, "search.tavily_api_key", "***", "env SGR__SEARCH__TAVILY_API_KEY"},
		{[]string{"SGR__EXECUTION__MAX_STEPS=9"}, "execution.max_iterations", "9", "env SGR__EXECUTION__MAX_STEPS"},
		{[]string{"SGR__EXECUTION__MAX_SEARCHES=9"}, "search.max_searches", "9", "env SGR__EXECUTION__MAX_SEARCHES"},
		{[]string{"SGR__PROMPTS__SYSTEM_PROMPT_STR=hi"}, "prompts.system_prompt_str", "hi", "env SGR__PROMPTS__SYSTEM_PROMPT_STR"},
		{[]string{"DOSSIER_LANG=RU", "LANG=C"}, "lang", "ru", "env DOSSIER_LANG"},
		{[]string{"DOSSIER_SERVER_TOKEN=k"}, "server.token", "***", "env DOSSIER_SERVER_TOKEN"},
		{[]string{"DOSSIER_LIMITS_TIME=90"}, "limits.time", "1m30s", "env DOSSIER_LIMITS_TIME"},
		{[]string{"OPENAI_API_KEY=k"}, "models.default.api_key", "***", "env OPENAI_API_KEY"},
		{[]string{"OPENAI_BASE_URL=http://h/v1"}, "models.writer.base_url", "http://h/v1", "models.default, env OPENAI_BASE_URL"},
		{[]string{"GIGACHAT_CREDENTIALS=k", "GIGACHAT_SCOPE=GIGACHAT_API_CORP"}, "models.default.scope", "GIGACHAT_API_CORP", "env GIGACHAT_SCOPE"},
		{[]string{"DASHSCOPE_API_KEY=k"}, "models.default.model", "qwen-max", "default of aliyun"},
		{[]string{"OLLAMA_HOST=0.0.0.0"}, "models.default.base_url", "http://127.0.0.1:11434/v1", "env OLLAMA_HOST"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			c := mustLoad(t, Sources{Env: tt.env}, nil)
			if v := value(t, c, tt.path); v.Value != tt.want || v.Origin != tt.from {
				t.Errorf("%s = %q from %q, want %q from %q", tt.path, v.Value, v.Origin, tt.want, tt.from)
			}
			if n := c.Notes(); len(n) > 0 {
				t.Errorf("notes: %q", n)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{"DOSSIER_CHAT_HISTROY_LIMIT=1", "SGR__NOTHING=1", "DOSSIER_AGENTS="}}, yamlFile("llm: {api_key: SOME_UNSET_KEY}"))
	want := []string{
		"env DOSSIER_CHAT_HISTROY_LIMIT: no such setting; did you mean DOSSIER_CHAT_HISTORY_LIMIT?",
		"env SGR__NOTHING: no such setting",
		"c.yaml:1: models.default.api_key names the variable SOME_UNSET_KEY, which is not set",
	}
	if got := c.Notes(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes:\n%s", strings.Join(got, "\n"))
	}
}

// Paths that no file says are those of the working directory, and what lies in
// the data directory stays relative to it.
func TestPathsAreAbsolute(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(Sources{Dir: dir, File: NoFile, Env: []string{"DOSSIER_LOG_FILE=a.log", "HOME=/home/ann"}, Flags: map[string]string{
		"data-dir": "kept", "execution.reports_dir": "papers", "models.default.ca_file": "~/ca.pem",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"data_dir": filepath.Join(dir, "kept"), "log.file": filepath.Join(dir, "a.log"), "models.default.ca_file": "/home/ann/ca.pem",
		"execution.reports_dir": "papers", "execution.logs_dir": "logs", "prompts.system_prompt_file": "",
	} {
		if got := value(t, c, path).Value; got != want {
			t.Errorf("%s is %q, not %q", path, got, want)
		}
	}
	// Without a home, too.
	c, err = Load(Sources{Dir: dir, File: NoFile})
	if want := filepath.Join(dir, ".local", "share", "dossier"); err != nil || c.DataDir != want {
		t.Errorf("%v, data_dir is not %q", err, want)
	}
}

// What went is told and stops nobody who has it in a file, a variable or a
// stored template; who names it on the command line reads that it is gone.
func TestSettingsThatWent(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{"DOSSIER_MODELS_PLANNER_MODEL=m", "SGR__SEARCH__MAX_PAGES=2"}},
		yamlFile("search:\n  max_pages: 3\n  max_results: 7\nmodels: {planner: {model: m, api_key: [what, ever]}}\nmodels_planner_base_url: http://x\n"))
	pages := "search.max_pages is gone, nothing ever read it; web_search.scrape_top_n and limits.pages say how much is read"
	planner := "models.planner is gone, nothing ever read it; plans are made by models.summarizer"
	want := []string{"env DOSSIER_MODELS_PLANNER_MODEL: " + planner, "env SGR__SEARCH__MAX_PAGES: " + pages, "c.yaml:2: " + pages, "c.yaml:4: " + planner, "c.yaml:5: " + planner}
	if got := c.Notes(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes:\n%s", strings.Join(got, "\n"))
	}
	if c.Search.MaxResults != 7 {
		t.Error("its neighbour was lost")
	}
	if _, err := c.WithTemplate("old", []byte("search: {max_pages: 3}")); err != nil {
		t.Error(err)
	}
	if _, err := load(t, Sources{Flags: map[string]string{"search.max_pages": "3"}}, nil); err == nil || !strings.Contains(err.Error(), pages) {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for _, text := range []string{
		"chat: {history_limit: 5}", "chat_history_limit: 5", "CHAT_HISTORY_LIMIT: '5'", "Chat:\n  History_Limit: 5",
		"x-a: &a {history_limit: 5}\nchat: *a", "x-a: &a {history_limit: 5}\nchat: {<<: *a}", "x-a: &a {history_limit: 9}\nchat: {<<: [*a], history_limit: 5}",
		"chat: {history_limit: '${N}'}", "chat:\n  history_limit: ${N:-9}", "chat_history_limit: ${UNSET:-5}", "\ufeffchat_history_limit: 5\n",
	} {
		if c := mustLoad(t, Sources{Env: []string{"N=5"}}, yamlFile(text)); c.Chat.HistoryLimit != 5 {
			t.Errorf("%s: %d", text, c.Chat.HistoryLimit)
		}
	}
	c := mustLoad(t, Sources{}, yamlFile(`
chat: {model: a, max_tokens: 1_000}
search: {summarization_model: b}
max_structured_output_retries: 0
llm: {model: c, api_key: "", proxy: null, temperature: null, top_p: 0.9, stop: [x, 'y']}
execution: {logs_dir: null}
tools: {Web_Search_Tool: {engine: brave, n: 3, ok: yes, at: 2020-01-01}}
limits: {time: 5m, cost: 1.5}
prompts: {system_prompt_str: "cost $${x}"}
`))
	if c.Models.Chat.Model != "a" || c.Models.Chat.MaxTokens != 1000 || c.Models.Summarizer.Model != "b" || c.Structured.MaxRetries != 0 ||
		c.Models.Default.Model != "c" || *c.Models.Default.Temperature != 0.4 || c.Models.Default.Extra["top_p"] != 0.9 ||
		c.Execution.LogsDir != "" || c.Limits.Time != 5*time.Minute || c.Prompts.SystemPromptStr != "cost ${x}" {
		t.Errorf("%+v", c)
	}
	tool, _ := c.Tools["Web_Search_Tool"].(map[string]any)
	if tool["n"] != int64(3) || tool["ok"] != "yes" || tool["at"] != "2020-01-01" {
		t.Errorf("free values: %#v", tool)
	}
}

func TestFileSearch(t *testing.T) {
	ours := "llm: {model: here}\n"
	foreign := "llm: [a, b]\nmodels: 3\nserver: {port: 80}\n"
	tests := []struct {
		name  string
		file  string
		env   []string
		files map[string]string
		want  string
	}{
		{name: "nothing"},
		{name: "dossier.yaml first", files: map[string]string{"dossier.yaml": ours, "config.yaml": ours}, want: "dossier.yaml"},
		{name: "sgr's config.yaml", files: map[string]string{"config.yaml": ours}, want: "config.yaml"},
		{name: "agents", files: map[string]string{"config.yaml": "agents: {a: {base_class: SGRAgent}}"}, want: "config.yaml"},
		{name: "models", files: map[string]string{"config.yaml": "Models: {Chat: {model: x}}"}, want: "config.yaml"},
		{name: "another program's", files: map[string]string{"config.yaml": foreign}},
		{name: "broken", files: map[string]string{"config.yaml": "a: ["}},
		{name: "variable", env: []string{"DOSSIER_CONFIG=v.yaml"}, files: map[string]string{"dossier.yaml": ours, "v.yaml": ours}, want: "v.yaml"},
		{name: "flag", file: "f.yaml", env: []string{"DOSSIER_CONFIG=v.yaml"}, files: map[string]string{"f.yaml": ours}, want: "f.yaml"},
		{name: "none", file: NoFile, files: map[string]string{"dossier.yaml": ours}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustLoad(t, Sources{File: tt.file, Env: tt.env}, tt.files)
			if c.File() != tt.want {
				t.Errorf("read %q, want %q", c.File(), tt.want)
			}
		})
	}
	home := t.TempDir()
	path := filepath.Join(home, "dossier", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("lang: ru\ndata_dir: d\nlog: {file: ~/x.log}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, Sources{Env: []string{"XDG_CONFIG_HOME=" + home, "HOME=/h"}}, map[string]string{"config.yaml": foreign})
	if c.File() != path || c.Lang != "ru" || c.DataDir != filepath.Join(home, "dossier", "d") || c.Log.File != "/h/x.log" {
		t.Errorf("user's file: %q %+v", c.File(), c)
	}
}
