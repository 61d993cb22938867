package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"dossier"
	"dossier/internal/base/logs"
	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/lang"
	"dossier/llm"
)

type modelsCmd struct {
	Show modelsShow `cmd:"" default:"withargs" help:"Show which model each role uses."`
	List modelsList `cmd:"" help:"Ask the endpoint which models it serves."`
	Test modelsTest `cmd:"" help:"Make one small call for each configured model."`
}

func (modelsCmd) Help() string {
	return `A model is connected by environment variables or by the configuration file:

  export OPENAI_API_KEY=…                              # OpenAI
  export OPENAI_BASE_URL=http://localhost:11434/v1     # Ollama on this computer
  dossier config init                                  # a file with every setting

` + examples("dossier models", "dossier models list", "dossier models test --role chat")
}

type modelsShow struct{}

func (modelsShow) Help() string { return examples("dossier models", "dossier models show --json") }

// roleModel is what a role uses, without its key.
type roleModel struct {
	Role     string `json:"role"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	BaseURL  string `json:"base_url"`
	Key      bool   `json:"key"`
	Ready    bool   `json:"ready"`
	Missing  string `json:"missing,omitempty"`
}

func (modelsShow) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	var b strings.Builder
	ready := false
	for _, role := range config.Roles() {
		m := settings.Model(role)
		r := roleModel{
			Role: string(role), Provider: string(m.Provider), Model: m.Model, BaseURL: m.BaseURL.String(),
			Key: !m.APIKey.IsZero(), Ready: m.Configured(), Missing: m.Missing(),
		}
		ready = ready || r.Ready && role != config.RoleEmbeddings
		if a.JSON {
			printJSON(a.proc.Stdout, r)
			continue
		}
		state := "no key"
		if r.Key {
			state = "key set"
		}
		if !r.Ready {
			state = "not configured: " + r.Missing
		}
		fmt.Fprintf(&b, "%-11s %-18s %-24s %s (%s)\n", r.Role, r.Provider, term.Line(r.Model), term.Line(r.BaseURL), state)
	}
	_, err = io.WriteString(a.proc.Stdout, b.String())
	if !ready {
		a.notef("\n%s\n%s", lang.Text(a.locale(), "no-model.title"), lang.Text(a.locale(), "no-model.connect"))
	}
	return err
}

// options are those with which the engine's package reads the configuration.
func (a *app) options() dossier.Options {
	_, _ = a.settings() // .env is read with them; what is wrong with them is told again
	return dossier.Options{ConfigFile: a.Config, Set: a.flags(), Env: a.proc.Env, Log: logs.WithStep(a.log, "engine")}
}

type modelsList struct {
	Role string `default:"default" placeholder:"ROLE" help:"Whose endpoint to ask (default: default)."`
}

func (modelsList) Help() string {
	return examples("dossier models list", "dossier models list --role embeddings")
}

func (c modelsList) Run(a *app) error {
	if err := a.knownRole(c.Role); err != nil {
		return err
	}
	names, err := dossier.ListModels(a.ctx, a.options(), c.Role)
	if err != nil {
		return err
	}
	for _, name := range names {
		if a.JSON {
			printJSON(a.proc.Stdout, map[string]string{"model": name})
		} else {
			fmt.Fprintln(a.proc.Stdout, term.Line(name))
		}
	}
	return nil
}

// knownRole checks the name of a role.
func (a *app) knownRole(name string) error {
	if _, err := a.settings(); err != nil {
		return err
	}
	var names []string
	for _, r := range config.Roles() {
		if string(r) == name {
			return nil
		}
		names = append(names, string(r))
	}
	return &failure{code: exitUsage, message: fmt.Sprintf("there is no role %q", name), hint: "the roles are " + strings.Join(names, ", ")}
}

type modelsTest struct {
	Role string `placeholder:"ROLE" help:"Only this role (default: each model once)."`
}

func (modelsTest) Help() string {
	return examples("dossier models test", "dossier models test --role chat")
}

// Run tries each model that is configured, once for all roles that share it.
func (c modelsTest) Run(a *app) error {
	roles := config.Roles()
	if c.Role != "" {
		if err := a.knownRole(c.Role); err != nil {
			return err
		}
		roles = []config.Role{config.Role(c.Role)}
	}
	settings, err := a.settings()
	if err != nil {
		return err
	}
	tried := make(map[string]bool)
	var worst error
	for _, role := range roles {
		m := settings.Model(role)
		id := fmt.Sprint(m.BaseURL, m.Model, role == config.RoleEmbeddings)
		if !m.Configured() && c.Role == "" || tried[id] {
			continue
		}
		tried[id] = true
		trial, err := dossier.TryModel(a.ctx, a.options(), string(role))
		switch {
		case err != nil:
			fmt.Fprintf(a.proc.Stdout, "%-11s %-24s failed\n", role, term.Line(m.Model))
			if worst == nil {
				worst = fmt.Errorf("role %s: %w", role, err)
			}
		case a.JSON:
			printJSON(a.proc.Stdout, map[string]any{"role": role, "model": trial.Model, "ms": trial.Took.Milliseconds(), "reply": trial.Reply})
		default:
			fmt.Fprintf(a.proc.Stdout, "%-11s %-24s ok, %s  %s\n", role, term.Line(trial.Model), trial.Took.Round(time.Millisecond), term.Fit(term.Line(trial.Reply), 50))
		}
	}
	if len(tried) == 0 {
		worst = llm.ErrNotConfigured
	}
	if errors.Is(worst, llm.ErrNotConfigured) {
		a.notef("%s\n", lang.Text(a.locale(), "no-model.connect"))
	}
	return worst
}
