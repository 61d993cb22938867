package dossier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dossier/internal/base/datadir"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/internal/webhook"
	"dossier/internal/wire"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
	"dossier/search"
	"dossier/tool"
)

// Options say how to open an Engine. The zero value opens the user's own data
// directory with the user's own configuration.
type Options struct {
	// DataDir holds everything that is kept; empty means the configured one.
	DataDir string
	// ConfigFile replaces the configuration file that is looked for.
	ConfigFile string
	// Set overrides single settings by their path ("models.chat.model").
	Set map[string]string
	// Env replaces the process's environment and the .env files of the working
	// directory and beside the configuration file; nil is these.
	Env []string
	// Log gets what a developer wants to know: what went wrong in the runs that
	// this process works on among it, failed calls as warnings. Nil means nothing.
	Log *slog.Logger
	// Version of the program, for whoever finds the directory owned.
	Version string
	// Resume takes up runs that processes which are gone left behind, now and
	// whenever one goes: for a process that stays.
	Resume bool

	// What follows adds to what the program has and what is configured, or
	// replaces what is of the same name. A run that needs one of these goes on
	// only in a program that brings it along.

	// Modes are further ways to carry out a run.
	Modes []mode.Mode
	// Tools can be given to agents by their names, are found by those that look
	// for tools, and can be called by themselves in the mode tool. They are
	// made with tool.New.
	Tools []tool.Tool
	// Engines are asked before those of the configuration, with its time limit
	// and its cache, also where search.engines names others or none.
	Engines []search.Engine
	// Models are called in these roles in place of those of the configuration;
	// one for llm.ForDefault also in the roles that have none of their own. Each
	// has a name, and is waited for, cut to its window and priced like the
	// others; what its Setting leaves open is as models.ROLE says.
	Models map[llm.RoleName]llm.Setting
}

// extras are what the program brings along.
func (o *Options) extras() wire.Extras {
	return wire.Extras{Modes: o.Modes, Tools: o.Tools, Engines: o.Engines, Models: o.Models}
}

// configuration is what the options lead to.
func (o *Options) configuration() (*config.Config, error) {
	src := config.Sources{Env: o.Env, File: o.ConfigFile, Flags: o.Set}
	if o.Env == nil {
		src.Env, src.DotEnv = os.Environ(), true
	}
	return config.Load(src)
}

// Open returns an Engine on the data directory. Any number of processes may
// have one: each executes its own runs.
func Open(ctx context.Context, o Options) (*Engine, error) {
	cfg, err := o.configuration()
	if err != nil {
		return nil, err
	}
	dir := o.DataDir
	if dir == "" {
		dir = cfg.DataDir
	}
	// What runs record of it has to mean the same from any working directory.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := datadir.Make(dir); err != nil {
		return nil, err
	}
	h := site{dir: dir, owner: newOwner(), ttl: localTTL, adopt: o.Resume, log: o.Log, version: o.Version, extras: o.extras()}
	present, err := datadir.Join(dir, h.owner, datadir.Info{PID: os.Getpid(), Version: o.Version})
	if err != nil {
		return nil, err
	}
	h.alive = func(owner string) (bool, error) { return datadir.Alive(dir, owner) }
	e, err := openStore(cfg, h)
	if err != nil {
		return nil, errors.Join(err, present.Leave())
	}
	e.closers = append(e.closers, present.Leave)
	e.home = machine{dir, o.Env}
	if o.Env == nil {
		e.home.env = os.Environ()
	}
	tidy := e.work.Evict
	if o.Resume {
		tidy = func(ctx context.Context) error { _, err := e.Sweep(ctx); return err }
	}
	if err := tidy(ctx); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// localTTL is that of leases in a data directory. A process that dies is found
// out at once there, and one that is only slow, because hundreds write, is not
// to lose its runs.
const localTTL = 5 * time.Minute

// site is what an engine is told of where it is.
type site struct {
	dir   string
	owner string
	// ttl, alive and adopt are as in dispatch.Options.
	ttl   time.Duration
	alive func(owner string) (bool, error)
	adopt bool
	log   *slog.Logger // nil for none
	// version of the program.
	version string
	extras  wire.Extras
}

// newOwner names a worker of this process.
func newOwner() string { return "pid-" + strconv.Itoa(os.Getpid()) + "-" + newID(time.Now()) }

// openStore opens the database of a directory.
func openStore(cfg *config.Config, h site) (*Engine, error) {
	s, err := sqlite.Open(filepath.Join(h.dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	e, err := assemble(cfg, h, s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return e, nil
}

// assemble makes an engine of what the wiring puts together over a store.
func assemble(cfg *config.Config, h site, s store.Store) (*Engine, error) {
	log := h.log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	made, err := wire.New(cfg, wire.Site{
		Dir: h.dir, Store: s, Log: log, Extras: h.extras,
		Active: func(ctx context.Context) (string, error) { return activeCollection(ctx, s) },
	})
	if err != nil {
		return nil, err
	}
	tracer, err := wire.Tracer(cfg, h.version, log)
	if err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return newEngine(parts{
		store: s, hooks: webhook.Options{Hooks: made.Hooks, Client: made.Told}, log: log, workers: cfg.Workers, product: made, tracer: tracer,
		limits: run.Limits{
			Tokens: int(cfg.Limits.Tokens), Cost: cfg.Limits.Cost, Time: cfg.Limits.Time,
			Searches: cfg.Limits.Searches, Pages: cfg.Limits.Pages,
		},
		owner: cmp.Or(h.owner, newOwner()), ttl: h.ttl, alive: h.alive, adopt: h.adopt,
	}), nil
}

// EngineNames are the names by which search engines can be asked for, beside
// those of MCP servers: engines, what several of them have in common, and
// topics.
func EngineNames() []string { return wire.EngineNames() }
