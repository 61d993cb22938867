package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Provider is the canonical name of a provider; empty finds it out.
type Provider string

// The providers. Each but Anthropic and GigaChat speaks OpenAI's protocol.
const (
	OpenAI           Provider = "openai"
	OpenAICompatible Provider = "openai-compatible"
	Anthropic        Provider = "anthropic"
	GigaChat         Provider = "gigachat"
	Aliyun           Provider = "aliyun"
	OpenRouter       Provider = "openrouter"
	DeepSeek         Provider = "deepseek"
	Ollama           Provider = "ollama"
	LMStudio         Provider = "lmstudio"
	VLLM             Provider = "vllm"
	Test             Provider = "test"
)

// providerInfo is what is known about a provider without asking the user.
type providerInfo struct {
	name    Provider
	aliases []string
	baseURL string
	model   string
	embed   string
	scope   string
	authURL string
	keyless bool
	prefix  string // how its models' names begin, in lower case
	keys    []string
	vars    []providerVar
}

// providerVar is a variable of the provider's own for a key of Endpoint.
type providerVar struct{ key, name string }

// providers in the order in which they are tried when none is named.
var providers = [...]providerInfo{
	{
		name: OpenAI, baseURL: "https://api.openai.com/v1", model: "gpt-4o-mini", embed: "text-embedding-3-small", prefix: "gpt",
		keys: []string{"OPENAI_API_KEY"},
		vars: []providerVar{{"base_url", "OPENAI_BASE_URL"}, {"base_url", "OPENAI_API_BASE"}},
	},
	{
		name: Anthropic, aliases: []string{"claude"}, baseURL: "https://api.anthropic.com", model: "claude-sonnet-4-5", prefix: "claude",
		keys: []string{"ANTHROPIC_API_KEY"},
		vars: []providerVar{{"base_url", "ANTHROPIC_BASE_URL"}},
	},
	{
		name: GigaChat, aliases: []string{"sber"}, baseURL: "https://gigachat.devices.sberbank.ru/api/v1", model: "GigaChat-2-Max", embed: "Embeddings", prefix: "gigachat",
		scope: "GIGACHAT_API_PERS", authURL: "https://ngw.devices.sberbank.ru:9443/api/v2/oauth",
		keys: []string{"GIGACHAT_CREDENTIALS"},
		vars: []providerVar{{"base_url", "GIGACHAT_BASE_URL"}, {"model", "GIGACHAT_MODEL"}, {"scope", "GIGACHAT_SCOPE"}, {"auth_url", "GIGACHAT_AUTH_URL"}, {"ca_file", "GIGACHAT_CA_BUNDLE_FILE"}},
	},
	{
		name: Aliyun, aliases: []string{"dashscope", "qwen"}, baseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", model: "qwen-max", embed: "text-embedding-v3", prefix: "qwen",
		keys: []string{"DASHSCOPE_API_KEY"},
		vars: []providerVar{{"base_url", "DASHSCOPE_BASE_URL"}},
	},
	{name: OpenRouter, baseURL: "https://openrouter.ai/api/v1", model: "openai/gpt-4o-mini", keys: []string{"OPENROUTER_API_KEY"}},
	{name: DeepSeek, baseURL: "https://api.deepseek.com/v1", model: "deepseek-chat", prefix: "deepseek", keys: []string{"DEEPSEEK_API_KEY"}},
	{
		name: Ollama, baseURL: "http://127.0.0.1:11434/v1", model: "llama3.2", embed: "nomic-embed-text", keyless: true,
		vars: []providerVar{{"base_url", "OLLAMA_HOST"}},
	},
	{name: LMStudio, aliases: []string{"lm-studio", "lm_studio"}, baseURL: "http://127.0.0.1:1234/v1", model: "local-model", keyless: true},
	{name: VLLM, baseURL: "http://127.0.0.1:8000/v1", keyless: true},
	{name: Test, aliases: []string{"llmtest"}, baseURL: "http://127.0.0.1:8089/v1", model: "test", embed: "test-embeddings", keyless: true},
	{name: OpenAICompatible, aliases: []string{"openai_compatible", "compatible", "custom"}},
}

// info of a canonical name; an unknown one is treated as OpenAI-compatible.
func (p Provider) info() *providerInfo {
	for i := range providers {
		if providers[i].name == p {
			return &providers[i]
		}
	}
	return &providers[len(providers)-1]
}

// UnmarshalText accepts names and aliases in any case; auto is empty.
func (p *Provider) UnmarshalText(text []byte) error {
	name := strings.ToLower(strings.TrimSpace(string(text)))
	if name == "" || name == "auto" {
		*p = ""
		return nil
	}
	var names, canonical []string
	for i := range providers {
		info := &providers[i]
		canonical = append(canonical, string(info.name))
		for _, n := range append([]string{string(info.name)}, info.aliases...) {
			if n == name {
				*p = info.name
				return nil
			}
			names = append(names, n)
		}
	}
	if near := nearest(name, names); near != "" {
		return errors.New("expected a provider, perhaps " + near)
	}
	return errors.New("expected a provider (" + strings.Join(canonical, ", ") + " or auto)")
}

// variable looks a provider's own variable for a key up.
func (info *providerInfo) variable(env environ, key string) (value, name string) {
	for _, v := range info.vars {
		if v.key != key {
			continue
		}
		if value, _ := env.get(v.name); value != "" {
			if v.name == "OLLAMA_HOST" {
				value = ollamaURL(value)
			}
			return value, v.name
		}
	}
	return "", ""
}

// ollamaURL completes what OLLAMA_HOST may leave out: scheme, port, path. The
// address to listen on (0.0.0.0) is not one to connect to.
func ollamaURL(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" {
		return "http://127.0.0.1:11434/v1"
	}
	name, port := u.Hostname(), u.Port()
	if a, err := netip.ParseAddr(name); err == nil && a.IsUnspecified() {
		name = "127.0.0.1"
	}
	if port == "" {
		port = "11434"
	}
	u.Host = net.JoinHostPort(name, port)
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1"
	}
	return u.String()
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// providerAt tells the provider from an address.
func providerAt(address string) Provider {
	host := hostOf(address)
	for i := range providers {
		if h := hostOf(providers[i].baseURL); h != "" && h == strings.Replace(host, "localhost:", "127.0.0.1:", 1) {
			return providers[i].name
		}
	}
	return OpenAICompatible
}

// providerOf tells the provider from the name of a model; "" when it says
// nothing.
func providerOf(model string) Provider {
	model = strings.ToLower(model)
	for i := range providers {
		if p := providers[i].prefix; p != "" && strings.HasPrefix(model, p) {
			return providers[i].name
		}
	}
	return ""
}

// isNear says whether an address is this machine or a private network, where
// model servers usually ask for no key.
func isNear(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".local") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && (a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast())
}
