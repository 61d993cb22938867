package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"dossier"
	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/internal/server"
	"dossier/internal/server/agui"
	"dossier/internal/server/kbqa"
	"dossier/internal/server/mcp"
	"dossier/internal/server/openai"
	"dossier/internal/server/page"
	"dossier/internal/server/responses"
	"dossier/internal/server/services"
	"dossier/internal/server/sgr"
	"dossier/internal/server/socketio"
	"dossier/internal/wire"
	"dossier/lang"
	"dossier/mode/console"
	"dossier/run"
)

type serveCmd struct {
	Host        string `placeholder:"HOST" help:"Address to listen on (default: server.host, else $HOST, else 127.0.0.1)."`
	Port        *int   `short:"p" placeholder:"PORT" help:"Port to listen on, 0 for any that is free (default: server.port, else $PORT, else 8010)."`
	ConfigFile  string `short:"c" placeholder:"FILE" help:"Configuration file, as --config."`
	AgentsFile  string `short:"a" placeholder:"FILE" help:"File of agent definitions (default: $AGENTS_FILE)."`
	LoggingFile string `short:"l" placeholder:"FILE" help:"YAML file that says level, file and format of the log (default: $LOGGING_FILE)."`
}

func (serveCmd) Help() string {
	return `Serves runs, documents and agents over HTTP until it is stopped. Ctrl-C stops it;
runs under way are kept and go on when it is started again.

On this machine no token is needed. Whoever is to reach it from another one needs
a token, and the server refuses to listen there while there is none.

` + examples("dossier serve", "dossier serve --port 9000", "dossier tokens create ann && dossier serve --host 0.0.0.0")
}

// What is listened on where nothing is said.
const (
	defaultHost = "127.0.0.1"
	defaultPort = 8010
)

func (c serveCmd) Run(a *app) error { return c.serve(a, func(string) {}) }

// serve serves until it is stopped; listening hears where as soon as that is known.
func (c serveCmd) serve(a *app, listening func(url string)) error {
	cfg, host, port, err := c.address(a)
	if err != nil {
		return err
	}
	policy, err := policyOf(cfg)
	if err != nil {
		return err
	}
	o := a.options()
	o.DataDir, o.Version, o.Modes, o.Resume = cfg.DataDir, version(), a.proc.Modes, true
	engine, err := dossier.Open(a.ctx, o)
	if err != nil {
		return err
	}
	closing := []func() error{engine.Close}
	defer func() {
		for _, end := range slices.Backward(closing) {
			if err := end(); err != nil {
				a.log.Error("closing", "error", err)
			}
		}
	}()
	if srv, err := server.Serve(cfg.DataDir, engine.Owner(), engine, version()); err == nil {
		closing = append(closing, srv.Close)
	} else {
		a.log.Warn("other commands can't reach this one", "error", err)
	}
	required, err := needsToken(a.ctx, cfg, engine, host)
	if err != nil {
		return err
	}
	public, err := server.Listen(server.Options{
		Engine: engine, Version: version(), Host: host, Port: port, Streams: cfg.Server.Streams, MaxBody: int64(cfg.Server.MaxBodyMB) << 20, Log: a.log,
		Access: server.Access{
			Token: cfg.Server.Token.Reveal(), Required: required, Hosts: cfg.Server.Hosts, Origins: cfg.Server.Origins, Rate: cfg.Server.Rate,
			// Where a token is needed a foreign name is of no use to anybody.
			AnyHost: required && !server.Loopback(host) && len(cfg.Server.Hosts) == 0,
		},
		Policy:    policy,
		Protocols: a.protocols(cfg, engine),
		Tracer:    engine.Tracer(),
	})
	if err != nil {
		return err
	}
	closing = append(closing, public.Close, attend(a.ctx, engine, &policy))
	listening(public.URL())
	if err := a.announce(cfg, engine, public, required); err != nil {
		return err
	}
	a.log.Info("listening", "url", public.URL(), "token_required", required, "version", version())
	<-a.ctx.Done()
	a.notef("%s", lang.Text(a.locale(), "serve.stopping"))
	a.log.Info("stopping")
	return nil
}

// attend has schedules carried out and webhooks told until the end.
func attend(ctx context.Context, engine *dossier.Engine, policy *server.Policy) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		engine.Attend(ctx, dossier.AttendOptions{Permit: server.PermitSchedules(engine, policy)})
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}

// address is where the flags and the configuration say to listen.
func (c serveCmd) address(a *app) (cfg *config.Config, host string, port int, err error) {
	if err := c.take(a); err != nil {
		return nil, "", 0, err
	}
	if cfg, err = a.settings(); err != nil {
		return nil, "", 0, err
	}
	host, port, err = listenOn(cfg, a.proc.Env)
	return cfg, host, port, err
}

// protocols are those that are served beside the API of Dossier itself.
func (a *app) protocols(cfg *config.Config, engine *dossier.Engine) []server.Protocol {
	generator := cfg.Execution.StreamingGenerator
	return []server.Protocol{
		openai.Protocol(openai.Options{Modes: engine.Modes(), Default: "sgr_tool_calling_agent", Generator: generator, Embed: engine.Embed}),
		responses.Protocol(engine.Modes()),
		sgr.Protocol(sgr.Options{Generator: generator}),
		mcp.Protocol(mcp.Options{Version: version(), Log: a.log}),
		socketio.Protocol(),
		agui.Protocol(),
		services.Protocol(services.Options{
			Passages: engine.Passages, Write: console.WriteBy(engine.Completions(), cfg.Log.Verbose), Lang: wire.ConsoleSettings(cfg).Lang, TopK: cfg.Console.TopK, IntN: rand.IntN,
		}),
		kbqa.Protocol(),
		page.Protocol(),
	}
}

// policyOf is what the operator allows those who come over a protocol.
func policyOf(cfg *config.Config) (server.Policy, error) {
	folders, err := server.NewFolders(cfg.Server.Folders)
	return server.Policy{Folders: folders, Shared: cfg.Server.Collections, Limits: run.Limits{
		Tokens: int(cfg.Limits.Tokens), Cost: cfg.Limits.Cost, Time: cfg.Limits.Time, Searches: cfg.Limits.Searches, Pages: cfg.Limits.Pages,
	}}, err
}

// take lets the flags of the command count as those of every command do.
func (c serveCmd) take(a *app) error {
	if a.Set == nil {
		a.Set = map[string]string{}
	}
	if c.ConfigFile != "" {
		a.Config = c.ConfigFile
	}
	if c.AgentsFile != "" {
		file, err := a.path(c.AgentsFile)
		if err != nil {
			return err
		}
		a.proc.Env = append(slices.Clone(a.proc.Env), "DOSSIER_AGENTS="+file)
	}
	if c.Host != "" {
		a.Set["server.host"] = c.Host
	}
	if c.Port != nil {
		if *c.Port < 0 || *c.Port > 65535 {
			return &failure{code: exitUsage, message: fmt.Sprintf("--port can't be %d", *c.Port), hint: "a port is a number up to 65535; 0 takes any that is free"}
		}
		a.Set["server.port"] = strconv.Itoa(*c.Port)
	}
	logging := c.LoggingFile
	if logging == "" {
		logging = getenv(a.environ(), "LOGGING_FILE")
	}
	if logging == "" {
		return nil
	}
	file, err := a.path(logging)
	if err != nil {
		return err
	}
	said, err := readLogging(file)
	if err != nil {
		return &failure{code: exitUsage, message: fmt.Sprintf("the logging file %s: %v", term.Line(logging), pathError(err)), hint: "it has the keys level, file and format, or is one of Python's logging"}
	}
	for key, value := range said {
		if _, given := a.Set[key]; !given && value != "" {
			a.Set[key] = value
		}
	}
	return nil
}

// environ is the environment with what .env adds to it. What is wrong with the
// configuration is told where that is needed.
func (a *app) environ() []string {
	c, err := config.Load(config.Sources{Env: a.proc.Env, DotEnv: true, Dir: a.proc.Dir, File: a.Config, Flags: a.flags()})
	if err != nil {
		return a.proc.Env
	}
	return c.Environ()
}

// readLogging takes level and file out of a YAML file: our own two keys, or what
// a configuration of Python's logging says of its root and its first file.
func readLogging(path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type handler struct {
		Filename string `yaml:"filename"`
	}
	var doc struct {
		Level  string `yaml:"level"`
		File   string `yaml:"file"`
		Format string `yaml:"format"`
		Root   struct {
			Level    string   `yaml:"level"`
			Handlers []string `yaml:"handlers"`
		} `yaml:"root"`
		Handlers map[string]handler `yaml:"handlers"`
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Level == "" {
		doc.Level = doc.Root.Level
	}
	for _, name := range doc.Root.Handlers {
		if doc.File == "" {
			doc.File = doc.Handlers[name].Filename
		}
	}
	level := strings.ToLower(doc.Level)
	if level == "warning" { // Python's word for it
		level = "warn"
	}
	return map[string]string{"log.level": level, "log.file": doc.File, "log.format": doc.Format}, nil
}

// listenOn is where to listen: what is configured, else what the variables say
// that servers have in common.
func listenOn(cfg *config.Config, env []string) (host string, port int, err error) {
	host, port = cfg.Server.Host, defaultPort
	if host == "" {
		host = getenv(env, "HOST")
	}
	if host == "" {
		host = defaultHost
	}
	if cfg.Server.Port != nil {
		return host, *cfg.Server.Port, nil
	}
	if text := getenv(env, "PORT"); text != "" {
		if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
			return "", 0, &failure{code: exitUsage, message: fmt.Sprintf("PORT is %s, and that is no port", term.Line(text)), hint: "set it to a number up to 65535, or say --port"}
		}
	}
	return host, port, nil
}

// needsToken says whether every request needs a token. A server that others reach
// asks for one as soon as there is any.
func needsToken(ctx context.Context, cfg *config.Config, engine *dossier.Engine, host string) (bool, error) {
	if cfg.Server.RequireToken || !cfg.Server.Token.IsZero() {
		return true, nil
	}
	if server.Loopback(host) {
		return false, nil
	}
	tokens, err := engine.Tokens(ctx)
	return len(tokens) > 0, err
}

// announce says where the server listens and what it works with, without keys.
func (a *app) announce(cfg *config.Config, engine *dossier.Engine, public *server.Public, required bool) error {
	collections, err := engine.Collections(a.ctx)
	if err != nil {
		return err
	}
	schedules, err := engine.Schedules(a.ctx, "")
	if err != nil {
		return err
	}
	told, err := engine.Webhooks(a.ctx)
	if err != nil {
		return err
	}
	hooks := make([]string, len(told))
	for i, h := range told {
		hooks[i] = h.Name
	}
	var models []string
	for _, role := range config.Roles() {
		if m := cfg.Model(role); m.Configured() && !slices.Contains(models, m.Model) {
			models = append(models, m.Model)
		}
	}
	traces, err := cfg.Tracing()
	if err != nil {
		return err
	}
	to := config.URL(traces.Endpoint).String() // without what is secret in it
	if a.JSON {
		printJSON(a.proc.Stdout, map[string]any{
			"url": public.URL(), "token_required": required, "models": models, "collections": len(collections.Collections), "schedules": len(schedules), "webhooks": hooks, "data": cfg.DataDir, "log": a.logPath(), "traces": to,
		})
		return nil
	}
	code := a.locale()
	none := lang.Text(code, "serve.none")
	names := func(list []string) string {
		if len(list) == 0 {
			return none
		}
		return strings.Join(list, ", ")
	}
	listening := "serve.listening"
	if public.Everywhere() {
		listening = "serve.listening-everywhere"
	}
	token := "serve.token-free"
	if required {
		token = "serve.token-needed"
	}
	lines := []string{
		lang.Text(code, listening, "url", public.URL()),
		lang.Text(code, token),
		lang.Text(code, "serve.models", "names", names(models)),
		lang.Text(code, "serve.engines", "names", names(engine.SearchEngines())),
		lang.Text(code, "serve.collections", "n", len(collections.Collections)),
		lang.Text(code, "serve.schedules", "n", len(schedules)),
		lang.Text(code, "serve.webhooks", "names", names(hooks)),
		lang.Text(code, "serve.data", "dir", cfg.DataDir),
		lang.Text(code, "serve.log", "file", a.logPath()),
	}
	if to != "" {
		lines = append(lines, lang.Text(code, "serve.traces", "url", to))
	}
	lines = append(lines, lang.Text(code, "serve.stop"))
	_, err = io.WriteString(a.proc.Stdout, term.Clean(strings.Join(lines, "\n"))+"\n")
	return err
}
