package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dossier/internal/config"
)

type configCmd struct {
	Show    configShow    `cmd:"" default:"withargs" help:"List the settings and where each value comes from."`
	Explain configExplain `cmd:"" help:"Describe one setting, or each of a section."`
	Init    configInit    `cmd:"" help:"Write a configuration file that lists every setting."`
	Path    configPath    `cmd:"" help:"Print which file and which data directory are used."`
}

func (configCmd) Help() string {
	return `A later layer wins: defaults, environment, configuration file, agents.yaml, an
agent's own sections, flags. Keys are never shown.

` + examples("dossier config", "dossier config explain models.chat.model", "dossier config init")
}

type configShow struct {
	All   bool   `help:"Also what is empty, only inherited, or a built-in agent."`
	Agent string `placeholder:"NAME" help:"The settings as this agent gets them."`
}

func (configShow) Help() string { return examples("dossier config show", "dossier config show --all") }

func (c configShow) Run(a *app) error {
	settings, err := a.settingsOf(c.Agent)
	if err != nil {
		return err
	}
	if a.JSON {
		for _, v := range settings.Explain() {
			printJSON(a.proc.Stdout, v)
		}
		return nil
	}
	return settings.Render(a.proc.Stdout, c.All)
}

// settingsOf are the settings as an agent gets them; all, without a name.
func (a *app) settingsOf(agent string) (*config.Config, error) {
	settings, err := a.settings()
	if err != nil || agent == "" {
		return settings, err
	}
	return settings.Agent(agent)
}

type configExplain struct {
	Key   string `arg:"" optional:"" help:"A setting or section, such as chat.history_limit, CHAT_MODEL, limits or agents."`
	Agent string `placeholder:"NAME" help:"The settings as this agent gets them; without a key, all that it has."`
}

func (configExplain) Help() string {
	return examples("dossier config explain limits", "dossier config explain CHAT_MODEL", "dossier config explain agents", "dossier config explain --agent sgr_agent")
}

func (c configExplain) Run(a *app) error {
	if c.Key == "" && c.Agent == "" {
		return &failure{code: exitUsage, message: "there is nothing to explain", hint: "name a setting, such as limits, or an agent: dossier config explain --agent sgr_agent"}
	}
	settings, err := a.settingsOf(c.Agent)
	if err != nil {
		return err
	}
	if c.Agent != "" {
		// What is wrong with the agent is told before what it gets.
		if _, err := settings.Definition(c.Agent); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		values := settings.Explain()
		if c.Key != "" {
			values, err = settings.ExplainKey(c.Key)
		}
		for _, v := range values {
			printJSON(a.proc.Stdout, v)
		}
		return err
	case c.Key == "":
		return settings.RenderAgent(a.proc.Stdout)
	}
	return settings.RenderKey(a.proc.Stdout, c.Key)
}

type configInit struct {
	File string `arg:"" optional:"" help:"Where to write it (default: config.yaml in the user's configuration directory)."`
}

func (configInit) Help() string {
	return examples("dossier config init", "dossier config init dossier.yaml")
}

// Run writes the example and never replaces a file.
func (c configInit) Run(a *app) error {
	path := c.File
	if path == "" {
		path = a.userFile()
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(a.proc.Dir, path)
	}
	if path == "" {
		return &failure{code: exitUsage, message: "there is no home directory to write to", hint: "name a file: dossier config init dossier.yaml"}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &failure{code: exitUsage, message: path + " exists already", hint: "edit it, or name another file"}
	}
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	_, err = io.WriteString(f, config.Template())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	_, err = fmt.Fprintln(a.proc.Stdout, path)
	return err
}

// userFile is the configuration file in the user's own directory.
func (a *app) userFile() string {
	base := getenv(a.proc.Env, "XDG_CONFIG_HOME")
	if home := getenv(a.proc.Env, "HOME"); base == "" && home != "" {
		base = filepath.Join(home, ".config")
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "dossier", "config.yaml")
}

type configPath struct{}

func (configPath) Help() string { return examples("dossier config path") }

func (configPath) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	file := settings.File()
	if a.JSON {
		printJSON(a.proc.Stdout, map[string]string{"config": file, "data": settings.DataDir, "log": a.logPath()})
		return nil
	}
	if file == "" {
		file = "none"
	}
	_, err = fmt.Fprintf(a.proc.Stdout, "config  %s\ndata    %s\nlog     %s\n", file, settings.DataDir, a.logPath())
	return err
}
