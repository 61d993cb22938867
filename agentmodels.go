package dossier

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
// own where its definition says so.
func (a *agency) modelsOf(ctx context.Context, m agents.Member) (*llm.Models, error) {
	var own *config.Config
	var err error
	if m.Template != "" {
		var v fleet.Version
		if v, err = a.fleet.Version(ctx, m.Template, m.Version); err == nil {
			_, own, err = a.cfg.TemplateDefinition(v.Template, []byte(v.Document))
		}
	} else {
		own, err = a.cfg.Agent(m.Agent.Name)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return a.base, nil // what it was made from is gone: it goes on with what there is
	}
	key, same := a.fingerprint(own)
	if same {
		return a.base, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
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

// fingerprint tells configurations of models apart, and whether one is that of
// the engine.
func (a *agency) fingerprint(own *config.Config) (key [sha256.Size]byte, same bool) {
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
