package wire

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"dossier/egress"
	"dossier/internal/base/trace"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/llm"
)

// connector makes the models of all roles out of a configuration. Models that
// share an address and a key share a governor, whoever uses them, and those
// with the same way out share an HTTP client.
type connector struct {
	cfg       *config.Config // of the product; agents may have others
	given     map[llm.RoleName]llm.Setting
	probes    llm.Probes
	governors *llm.Governors
	payloads  *slog.Logger  // gets requests and replies; nil for nobody
	limit     time.Duration // of one reply, where it is not that of the provider

	mu      sync.Mutex
	clients map[egress.PlainConfig]*http.Client
}

func newConnector(cfg *config.Config, given map[llm.RoleName]llm.Setting, probes llm.Probes) *connector {
	return &connector{
		cfg: cfg, given: given, probes: probes,
		governors: &llm.Governors{Config: llm.GovernorConfig{
			MaxConcurrency: cfg.Governor.MaxConcurrency, MaxRetries: never(cfg.Governor.Retries),
			MaxTime: cfg.Governor.CallTimeout,
		}},
		clients: make(map[egress.PlainConfig]*http.Client),
	}
}

// hasty makes the models again for who waits only so long for a reply, and logs
// payloads itself. Their governors are those of the others.
func (c *connector) hasty(limit time.Duration) *connector {
	return &connector{cfg: c.cfg, given: c.given, probes: c.probes, governors: c.governors, limit: limit, clients: make(map[egress.PlainConfig]*http.Client)}
}

// Models are those of a configuration and a program, for whoever has no store.
func Models(cfg *config.Config, x Extras) (*llm.Models, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	return newConnector(cfg, x.Models, &llm.MemoryProbes{}).models(cfg)
}

// Provider is the client of a model's API by itself, with nothing around it.
func Provider(cfg *config.Config, m config.Model) (llm.Model, error) {
	model, _, err := newConnector(cfg, nil, nil).provider(cfg, m)
	return model, err
}

// models returns the models that are configured. A role that is not is left
// out: what it would decide falls to its fallback.
func (c *connector) models(cfg *config.Config) (*llm.Models, error) {
	windows := &llm.Windows{Override: make(map[string]int)}
	models := &llm.Models{
		Roles: make(map[llm.RoleName]llm.Setting), Probes: c.probes,
		Pricer: llm.Pricer{Override: make(map[string]llm.Price)}, MaxObjectRetries: never(cfg.Structured.MaxRetries),
	}
	for _, role := range config.Roles() {
		m := cfg.Model(role)
		given, brought := c.brought(cfg, role)
		if !brought && !m.Configured() {
			continue
		}
		name := m.Model
		if brought {
			name = given.Name
		}
		if m.ContextWindow > 0 {
			windows.Override[name] = m.ContextWindow
		}
		if m.PriceInput > 0 || m.PriceOutput > 0 {
			models.Pricer.Override[name] = llm.Price{Input: m.PriceInput, Output: m.PriceOutput}
		}
		if brought {
			models.Roles[llm.RoleName(role)] = c.wrap(given, m, windows)
			continue
		}
		setting, err := c.role(cfg, m, windows)
		if err != nil {
			return nil, fmt.Errorf("model of role %s: %w", role, err)
		}
		models.Roles[llm.RoleName(role)] = setting
	}
	return models, nil
}

// brought is the model that the program brings along for a role. Where it brings
// one for default, that serves the roles for which none but default's is
// configured. An agent that has been given a model of its own keeps it.
func (c *connector) brought(cfg *config.Config, role config.Role) (llm.Setting, bool) {
	m := cfg.Model(role)
	if m.Configured() && !sameModel(m, c.cfg.Model(role)) {
		return llm.Setting{}, false
	}
	if s, ok := c.given[llm.RoleName(role)]; ok {
		return s, true
	}
	s, ok := c.given[llm.ForDefault]
	return s, ok && (!m.Configured() || sameModel(m, c.cfg.Model(config.RoleDefault)))
}

// sameModel says whether two roles call the same model, however each calls it.
func sameModel(a, b config.Model) bool {
	return a.Provider == b.Provider && a.BaseURL == b.BaseURL && a.Model == b.Model && a.APIKey.Reveal() == b.APIKey.Reveal()
}

// wrap puts around a model that the program brings along what is around those of
// the configuration, and gives it what the role's settings say beside the model.
func (c *connector) wrap(s llm.Setting, m config.Model, windows *llm.Windows) llm.Setting {
	gov := c.governors.For(cmp.Or(s.Endpoint, s.Name), "")
	at := trace.Endpoint{Provider: s.Provider, Host: s.Endpoint}
	s.MaxTokens, s.Temperature = cmp.Or(s.MaxTokens, m.MaxTokens), cmp.Or(s.Temperature, m.Temperature)
	if s.Model != nil {
		if c.payloads != nil {
			s.Model = llm.Logged(s.Model, c.payloads, s.Endpoint)
		}
		s.Model = llm.Traced(windows.Wrap(gov.Wrap(c.limited(s.Model, s.Endpoint)), s.Name, llm.FitOptions{}), at)
	}
	if s.Embedder != nil {
		s.Embedder = llm.TracedEmbedder(gov.WrapEmbedder(c.limitedEmbedder(s.Embedder, s.Endpoint)), at)
	}
	return s
}

func (c *connector) limited(m llm.Model, endpoint string) llm.Model {
	if c.limit <= 0 {
		return m
	}
	return llm.Limited(m, c.limit, endpoint)
}

func (c *connector) limitedEmbedder(e llm.Embedder, endpoint string) llm.Embedder {
	if c.limit <= 0 {
		return e
	}
	return llm.LimitedEmbedder(e, c.limit, endpoint)
}

func (c *connector) role(cfg *config.Config, m config.Model, windows *llm.Windows) (llm.Setting, error) {
	model, embedder, err := c.provider(cfg, m)
	if err != nil {
		return llm.Setting{}, err
	}
	endpoint := host(string(m.BaseURL))
	if c.payloads != nil {
		model = llm.Logged(model, c.payloads, endpoint)
	}
	gov := c.governors.For(endpoint, m.APIKey.Reveal())
	at := trace.Endpoint{Provider: string(m.Provider), Host: endpoint}
	s := llm.Setting{
		Name: m.Model, Endpoint: endpoint, Provider: at.Provider, MaxTokens: m.MaxTokens, Temperature: m.Temperature, Extra: m.Extra,
		Model: llm.Traced(windows.Wrap(gov.Wrap(c.limited(model, endpoint)), m.Model, llm.FitOptions{}), at),
	}
	if embedder != nil {
		s.Embedder = llm.TracedEmbedder(gov.WrapEmbedder(c.limitedEmbedder(embedder, endpoint)), at)
	}
	return s, nil
}

// provider makes the client of a model's API.
func (c *connector) provider(cfg *config.Config, m config.Model) (llm.Model, llm.Embedder, error) {
	client, err := c.http(m)
	if err != nil {
		return nil, nil, err
	}
	return provider(m, client, cfg.Governor)
}

func (c *connector) http(m config.Model) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := egress.PlainConfig{Proxy: string(m.Proxy), CAFile: m.CAFile}
	if client, ok := c.clients[key]; ok {
		return client, nil
	}
	client, err := egress.Plain(key)
	if err == nil {
		c.clients[key] = client
	}
	return client, err
}

// never turns a configured 0 into the "never" of packages whose 0 means their
// default.
func never(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// host of an address, without what may be secret in it.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// storedProbes remembers what endpoints are capable of beyond the process.
type storedProbes struct {
	settings store.Settings
	cache    llm.MemoryProbes
	missing  sync.Map // looked up in the store without a result
}

const probeBucket = "structured-output"

// Way implements llm.Probes.
func (p *storedProbes) Way(endpoint, model string) (llm.Way, bool) {
	if way, ok := p.cache.Way(endpoint, model); ok {
		return way, true
	}
	key := endpoint + " " + model
	if _, ok := p.missing.Load(key); ok {
		return "", false
	}
	raw, err := p.settings.Setting(context.Background(), probeBucket, key)
	if err != nil {
		p.missing.Store(key, true)
		return "", false
	}
	p.cache.SetWay(endpoint, model, llm.Way(raw))
	return llm.Way(raw), true
}

// SetWay implements llm.Probes. A way that can't be stored is found again by
// the next process.
func (p *storedProbes) SetWay(endpoint, model string, way llm.Way) {
	p.cache.SetWay(endpoint, model, way)
	_ = p.settings.SetSetting(context.Background(), probeBucket, endpoint+" "+model, []byte(way))
}
