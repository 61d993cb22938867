package wire

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/llm"
	"dossier/mode/agents"
)

// modelsOf returns the models of an agent: those of the configuration, or its
// own where its definition says so. Where they can't be had their calls fail,
// and not the run, which may need none of them.
func (a *Agency) modelsOf(ctx context.Context, m agents.Member) *llm.Models {
	var v fleet.Version
	who := m.Agent.Name
	if m.Template != "" {
		var err error
		if v, err = a.Fleet.Version(ctx, m.Template, m.Version); err != nil {
			return a.base // what it was made from is gone: it goes on with what there is
		}
		// The same name and number may be those of another template one day.
		who = fmt.Sprintf("%s@%x", v.Template, sha256.Sum256([]byte(v.Document)))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if models, ok := a.byAgent[who]; ok {
		return models
	}
	models := a.base
	if own, err := a.configOf(m, v); err == nil {
		if models, err = a.modelsIn(own); err != nil {
			return unconnected(own, err)
		}
	}
	const most = 1024
	if len(a.byAgent) >= most {
		clear(a.byAgent)
	}
	a.byAgent[who] = models
	return models
}

// configOf is the configuration under which an agent works.
func (a *Agency) configOf(m agents.Member, v fleet.Version) (*config.Config, error) {
	if m.Template == "" {
		return a.cfg.Agent(m.Agent.Name)
	}
	_, own, err := a.cfg.TemplateDefinition(v.Template, []byte(v.Document))
	return own, err
}

// modelsIn are the models of a configuration; those that are the same are one.
// a.mu is held.
func (a *Agency) modelsIn(own *config.Config) (*llm.Models, error) {
	key, same := a.fingerprint(own)
	if same {
		return a.base, nil
	}
	if models, ok := a.models[key]; ok {
		return models, nil
	}
	models, err := a.connector.models(own)
	if err != nil {
		return nil, err
	}
	const most = 256
	if len(a.models) >= most {
		clear(a.models)
	}
	a.models[key] = models
	return models, nil
}

// unconnected are models whose calls say why they can't be made.
func unconnected(cfg *config.Config, why error) *llm.Models {
	models := &llm.Models{Roles: make(map[llm.RoleName]llm.Setting)}
	for _, role := range config.Roles() {
		if m := cfg.Model(role); m.Configured() {
			models.Roles[llm.RoleName(role)] = llm.Setting{Name: m.Model, Model: outOfReach{why}}
		}
	}
	return models
}

type outOfReach struct{ why error }

func (m outOfReach) Stream(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
	return nil, m.why
}

// fingerprint tells configurations of models apart, and whether one is that of
// the engine.
func (a *Agency) fingerprint(own *config.Config) (key [sha256.Size]byte, same bool) {
	h := sha256.New()
	same = true
	for _, role := range config.Roles() {
		theirs, ours := modelKey(own.Model(role)), modelKey(a.cfg.Model(role))
		same = same && theirs == ours
		h.Write([]byte(theirs))
		h.Write([]byte{0})
	}
	return [sha256.Size]byte(h.Sum(nil)), same
}

func modelKey(m config.Model) string {
	extra, err := json.Marshal(map[string]any(m.Extra))
	if err != nil {
		extra = fmt.Append(nil, map[string]any(m.Extra))
	}
	temperature := ""
	if m.Temperature != nil {
		temperature = strconv.FormatFloat(*m.Temperature, 'g', -1, 64)
	}
	return strings.Join([]string{
		string(m.Provider), string(m.BaseURL), m.APIKey.Reveal(), m.Model, temperature, strconv.Itoa(m.MaxTokens), string(m.Proxy), m.CAFile,
		m.Scope, string(m.AuthURL), strconv.Itoa(m.ContextWindow), fmt.Sprint(m.PriceInput, m.PriceOutput), string(extra),
	}, "\x00")
}
