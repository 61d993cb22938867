package config

import (
	"regexp"
	"strings"
	"testing"
)

func TestModel(t *testing.T) {
	const openai, local = "https://api.openai.com/v1", "http://127.0.0.1:11434/v1"
	tests := []struct {
		name  string
		env   []string
		yaml  string
		flags map[string]string
		role  Role
		// provider, address, model, key, and what is missing
		want [5]string
	}{
		{name: "nothing", role: RoleChat, want: [5]string{"openai", openai, "gpt-4o-mini", "", "OPENAI_API_KEY"}},
		{name: "openai by key", env: []string{"OPENAI_API_KEY=k"}, role: RoleChat, want: [5]string{"openai", openai, "gpt-4o-mini", "k", ""}},
		{name: "sgr", yaml: "llm: {api_key: k, base_url: 'https://h.example/v1', model: m}", role: RoleWriter, want: [5]string{"openai-compatible", "https://h.example/v1", "m", "k", ""}},
		{name: "sgr key only", yaml: "llm: {api_key: k}", role: RoleDefault, want: [5]string{"openai", openai, "gpt-4o-mini", "k", ""}},
		{name: "key by name", env: []string{"MY_KEY=k"}, yaml: "llm: {api_key: MY_KEY}", role: RoleDefault, want: [5]string{"openai", openai, "gpt-4o-mini", "k", ""}},
		{name: "key by an unset name", env: []string{"OPENAI_API_KEY=k"}, yaml: "llm: {api_key: MY_KEY}", role: RoleChat, want: [5]string{"openai", openai, "gpt-4o-mini", "", "set MY_KEY"}},
		{name: "gigachat by credentials", env: []string{"GIGACHAT_CREDENTIALS=k"}, role: RoleChat, want: [5]string{"gigachat", "https://gigachat.devices.sberbank.ru/api/v1", "GigaChat-2-Max", "k", ""}},
		{name: "gigachat embeddings", env: []string{"GIGACHAT_CREDENTIALS=k", "GIGACHAT_MODEL=GigaChat-2", "DOSSIER_MODELS_EMBEDDINGS_PROVIDER=gigachat"}, role: RoleEmbeddings, want: [5]string{"gigachat", "https://gigachat.devices.sberbank.ru/api/v1", "Embeddings", "k", ""}},
		{name: "a key alone gives no embedder", env: []string{"GIGACHAT_CREDENTIALS=k"}, role: RoleEmbeddings, want: [5]string{"gigachat", "https://gigachat.devices.sberbank.ru/api/v1", "", "k", "models.embeddings.model"}},
		{name: "gigachat by model", env: []string{"OPENAI_API_KEY=o", "GIGACHAT_CREDENTIALS=k", "DEFAULT_MODEL=GigaChat-2-Max"}, role: RoleChat, want: [5]string{"gigachat", "https://gigachat.devices.sberbank.ru/api/v1", "GigaChat-2-Max", "k", ""}},
		{name: "aliyun alias", env: []string{"DASHSCOPE_API_KEY=k"}, yaml: "llm: {provider: DashScope}", role: RoleChat, want: [5]string{"aliyun", "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-max", "k", ""}},
		{name: "ollama needs no key", yaml: "llm: {provider: ollama, model: q}", role: RoleChat, want: [5]string{"ollama", local, "q", "", ""}},
		{name: "ollama far away", env: []string{"OLLAMA_HOST=gpu.example:1"}, role: RoleChat, want: [5]string{"ollama", "http://gpu.example:1/v1", "llama3.2", "", ""}},
		{name: "loopback needs no key", yaml: "llm: {base_url: 'http://localhost:9999/v1', model: q}", role: RoleChat, want: [5]string{"openai-compatible", "http://localhost:9999/v1", "q", "", ""}},
		{name: "known port", yaml: "llm: {base_url: 'http://localhost:11434/v1'}", role: RoleChat, want: [5]string{"ollama", "http://localhost:11434/v1", "llama3.2", "", ""}},
		{name: "private network needs no key", yaml: "llm: {base_url: 'http://10.0.0.5/v1', model: q}", role: RoleChat, want: [5]string{"openai-compatible", "http://10.0.0.5/v1", "q", "", ""}},
		{name: "unknown host needs one", env: []string{"OPENAI_API_KEY=k"}, yaml: "llm: {base_url: 'https://h.example/v1', model: q}", role: RoleChat, want: [5]string{"openai-compatible", "https://h.example/v1", "q", "", "models.chat.api_key"}},
		{name: "vllm needs a model", yaml: "llm: {provider: vllm}", role: RoleChat, want: [5]string{"vllm", "http://127.0.0.1:8000/v1", "", "", "models.chat.model"}},
		{name: "compatible needs an address", yaml: "llm: {provider: openai-compatible, api_key: k}", role: RoleDefault, want: [5]string{"openai-compatible", "", "", "k", "models.default.base_url"}},
		{name: "test server", yaml: "llm: {provider: test}", role: RoleChat, want: [5]string{"test", "http://127.0.0.1:8089/v1", "test", "", ""}},
		{name: "role's own model", env: []string{"OPENAI_API_KEY=k", "CHAT_MODEL=m"}, role: RoleChat, want: [5]string{"openai", openai, "m", "k", ""}},
		{name: "another provider takes nothing along", env: []string{"ANTHROPIC_API_KEY=a"}, yaml: "llm: {api_key: k, model: m, provider: openai}\nmodels: {writer: {provider: anthropic}}", role: RoleWriter, want: [5]string{"anthropic", "https://api.anthropic.com", "claude-sonnet-4-5", "a", ""}},
		{name: "a key stays with its host", yaml: "llm: {api_key: k, base_url: 'https://a.example/v1', model: m}\nmodels: {chat: {base_url: 'https://b.example/v1'}}", role: RoleChat, want: [5]string{"openai-compatible", "https://b.example/v1", "", "", "models.chat.api_key"}},
		{name: "same host, another path", yaml: "llm: {api_key: k, base_url: 'https://a.example/v1', model: m}\nmodels: {chat: {base_url: 'https://a.example/v2'}}", role: RoleChat, want: [5]string{"openai-compatible", "https://a.example/v2", "m", "k", ""}},
		{name: "embeddings keep off the model", env: []string{"OPENAI_API_KEY=k", "DEFAULT_MODEL=m"}, role: RoleEmbeddings, want: [5]string{"openai", openai, "", "k", "models.embeddings.model"}},
		{name: "--model beats a role's model", env: []string{"OPENAI_API_KEY=k", "CHAT_MODEL=m"}, flags: map[string]string{"model": "f"}, role: RoleChat, want: [5]string{"openai", openai, "f", "k", ""}},
		{name: "--provider drops another's model", env: []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=a", "CHAT_MODEL=m"}, flags: map[string]string{"provider": "anthropic"}, role: RoleChat, want: [5]string{"anthropic", "https://api.anthropic.com", "claude-sonnet-4-5", "a", ""}},
		{name: "--provider that is in force keeps it", env: []string{"OPENAI_API_KEY=k", "CHAT_MODEL=m"}, flags: map[string]string{"provider": "openai"}, role: RoleChat, want: [5]string{"openai", openai, "m", "k", ""}},
		{name: "--provider with --model", env: []string{"OPENAI_API_KEY=k"}, yaml: "llm: {base_url: 'https://h.example/v1', api_key: x}", flags: map[string]string{"provider": "ollama", "model": "f"}, role: RoleChat, want: [5]string{"ollama", local, "f", "", ""}},
		{name: "unknown role", env: []string{"OPENAI_API_KEY=k"}, role: "nobody", want: [5]string{"openai", openai, "gpt-4o-mini", "k", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustLoad(t, Sources{Env: tt.env, Flags: tt.flags}, yamlFile(tt.yaml))
			m := c.Model(tt.role)
			got := [4]string{string(m.Provider), string(m.BaseURL), m.Model, m.APIKey.Reveal()}
			if got != [4]string(tt.want[:4]) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if missing := m.Missing(); (missing == "") != (tt.want[4] == "") || !strings.Contains(missing, tt.want[4]) || m.Configured() != (missing == "") {
				t.Errorf("missing %q, want %q", missing, tt.want[4])
			}
		})
	}
}

func TestModelNumbers(t *testing.T) {
	tests := []struct {
		yaml  string
		flags map[string]string
		role  Role
		max   int
		temp  float64
	}{
		{"", nil, RoleDefault, 8000, 0.4},
		{"", nil, RoleChat, 16384, 0.4},
		{"", nil, RoleWriter, 8000, 0.4},
		{"llm: {max_tokens: 100, temperature: 0}", nil, RoleChat, 100, 0},
		{"llm: {max_tokens: 100}\nchat_model_max_tokens: 200", nil, RoleChat, 200, 0.4},
		{"models: {chat: {temperature: 1}}", nil, RoleChat, 16384, 1},
		{"models: {chat: {provider: ollama, temperature: 1}, default: {temperature: 0.1, max_tokens: 5}}", nil, RoleChat, 5, 1},
		{"models: {chat: {temperature: 1}}", map[string]string{"llm.temperature": "0.2"}, RoleChat, 16384, 0.2},
	}
	for _, tt := range tests {
		m := mustLoad(t, Sources{Flags: tt.flags}, yamlFile(tt.yaml)).Model(tt.role)
		if m.MaxTokens != tt.max || m.Temperature == nil || *m.Temperature != tt.temp {
			t.Errorf("%s %s: %d %v", tt.yaml, tt.role, m.MaxTokens, *m.Temperature)
		}
	}
	m := mustLoad(t, Sources{}, yamlFile("llm: {price_input: 1, context_window: 9, model: a}\nmodels: {chat: {model: b}}"))
	if a, b := m.Model(RoleWriter), m.Model(RoleChat); a.PriceInput != 1 || a.ContextWindow != 9 || b.PriceInput != 0 || b.ContextWindow != 0 {
		t.Errorf("prices belong to a model: %+v %+v", a, b)
	}
	x := mustLoad(t, Sources{}, yamlFile("llm: {top_p: 1, seed: 2}\nmodels: {chat: {extra: {seed: 3}}}"))
	if got := x.Model(RoleChat).Extra.String() + x.Model(RoleWriter).Extra.String(); got != `{"seed":3,"top_p":1}{"seed":2,"top_p":1}` {
		t.Errorf("extra parameters: %s", got)
	}
	if e := m.Model(RoleEmbeddings); e.MaxTokens != 0 || e.Temperature != nil {
		t.Errorf("embeddings: %+v", e)
	}
}

func TestRolesAreTheKeysOfModels(t *testing.T) {
	keys := schema().root.byKey["models"].children
	roles := Roles()
	if len(keys) != len(roles) {
		t.Fatalf("%d keys, %d roles", len(keys), len(roles))
	}
	for i, k := range keys {
		if Role(k.key) != roles[i] {
			t.Errorf("%s != %s", k.key, roles[i])
		}
	}
}

func TestOllamaURL(t *testing.T) {
	for in, want := range map[string]string{
		"gpu": "http://gpu:11434/v1", "gpu:1": "http://gpu:1/v1", "https://gpu/": "https://gpu:11434/v1",
		"http://gpu/api/v1": "http://gpu:11434/api/v1", "0.0.0.0:1": "http://127.0.0.1:1/v1", "[::]:1": "http://127.0.0.1:1/v1", "[::1]": "http://[::1]:11434/v1", "://": "http://127.0.0.1:11434/v1",
	} {
		if got := ollamaURL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// The help of the setting names every provider.
func TestHelpNamesProviders(t *testing.T) {
	help := schema().byPath["models.default.provider"].help
	for _, p := range providers {
		if !regexp.MustCompile(`\b` + string(p.name) + `\b`).MatchString(help) {
			t.Errorf("%s is missing: %s", p.name, help)
		}
	}
}
