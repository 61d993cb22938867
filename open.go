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

	"dossier/event"
	"dossier/internal/base/datadir"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/mode/chat"
	"dossier/mode/ingest"
	"dossier/mode/toolcall"
	"dossier/mode/websearch"
	"dossier/reader"
	"dossier/run"
	"dossier/sources"
	"dossier/toolkit"
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
	// Env replaces the process's environment.
	Env []string
	// Log gets what a developer wants to know; nil means nothing.
	Log *slog.Logger
	// Version of the program, for whoever finds the directory owned.
	Version string
	// Resume takes up runs that processes which are gone left behind, now and
	// whenever one goes: for a process that stays.
	Resume bool
	// Modes are added to the built-in ones, or replace those of their name.
	Modes []mode.Mode
}

// Open returns an Engine on the data directory. Any number of processes may
// have one: each executes its own runs.
func Open(ctx context.Context, o Options) (*Engine, error) {
	cfg, err := config.Load(config.Sources{Env: o.Env, File: o.ConfigFile, Flags: o.Set})
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
	h := site{dir: dir, owner: newOwner(), ttl: localTTL, adopt: o.Resume, log: o.Log}
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
	for _, m := range o.Modes {
		e.modes[m.Name()] = m
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

// historyIn returns what was said in a session before a run. For a fork that is
// what was said before the run that it was forked from.
func historyIn(s store.Store) mode.History {
	return func(ctx context.Context, session, id string, limit int) ([]event.Message, error) {
		for {
			rec, err := s.Run(ctx, id)
			if errors.Is(err, run.ErrUnknownRun) || err == nil && rec.ForkOf == "" {
				return s.Messages(ctx, session, id, limit)
			}
			if err != nil {
				return nil, err
			}
			id = rec.ForkOf
		}
	}
}

// assemble is the wiring of the product: everything that exists is named here.
func assemble(cfg *config.Config, h site, s store.Store) (*Engine, error) {
	dir, log := h.dir, h.log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	connector := newConnector(cfg, &storedProbes{settings: s})
	models, err := connector.models(cfg)
	if err != nil {
		return nil, err
	}
	language := lang.Code("")
	if cfg.Lang != "auto" {
		language = lang.Code(cfg.Lang)
	}
	files := reader.New(reader.Config{CacheDir: filepath.Join(dir, "cache"), MaxInput: cfg.KB.MaxFileMB << 20})
	library := kb.New(s, files, embedder(models), kb.Options{
		TopBM25: cfg.KB.TopBM25, TopDense: cfg.KB.TopDense, K: cfg.KB.K, ChunkSize: cfg.KB.ChunkSize, MaxFile: int64(cfg.KB.MaxFileMB) << 20,
	})
	local := &sources.Local{Library: library, Active: func(ctx context.Context) (string, error) { return activeCollection(ctx, s) }}
	history := historyIn(s)
	out, err := reach(cfg, dir, files, models, log)
	if err != nil {
		files.Close()
		return nil, err
	}
	found := websearch.Parts{
		Models: models, Holdings: &sources.Holdings{Documents: local, Web: out.web}, Blobs: s, History: history, Rerankers: out.rerankers,
	}
	kit := toolkit.New(toolkit.Parts{Web: out.web, Library: library, Active: local.Active, Reranker: out.rerankers[out.rerank], Blobs: s})
	staff, err := newAgency(cfg, dir, language, connector, models, kit, s)
	if err != nil {
		files.Close()
		return nil, errors.Join(err, out.close())
	}
	return newEngine(parts{
		store: s, log: log, workers: cfg.Workers, library: library, reader: files, web: out.web, agency: staff,
		limits: run.Limits{
			Tokens: int(cfg.Limits.Tokens), Cost: cfg.Limits.Cost, Time: cfg.Limits.Time,
			Searches: cfg.Limits.Searches, Pages: cfg.Limits.Pages,
		},
		owner: cmp.Or(h.owner, newOwner()), ttl: h.ttl, alive: h.alive, adopt: h.adopt,
		closers: []func() error{out.close, func() error { files.Close(); return nil }},
		modes: []mode.Mode{
			chat.New(models, history, chat.Settings{HistoryLimit: cfg.Chat.HistoryLimit, Lang: language}),
			websearch.New("web_search", found, searchSettings(cfg, language, out.rerank, cfg.WebSearch.SpeedIterations, cfg.WebSearch.ScrapeTopN, 400, 600)),
			websearch.New("deep_search", found, searchSettings(cfg, language, out.rerank, cfg.WebSearch.BalancedIterations, cfg.WebSearch.DeepScrapeTopN, 800, 1200)),
			websearch.New("quality", found, searchSettings(cfg, language, out.rerank, cfg.WebSearch.QualityIterations, cfg.WebSearch.DeepScrapeTopN, 800, 1200)),
			ingest.New(local),
			agents.New(agents.Parts{Resolve: staff.resolve, Builtin: staff.builtinOf, Tools: staff.tools, Models: staff.modelsOf, Finder: staff.shelf, Used: staff.used, Blobs: s, History: history}),
			toolcall.New(staff.tool),
		},
	}), nil
}

// searchSettings are those of one of the searching modes.
func searchSettings(cfg *config.Config, language lang.Code, rerank string, iterations, read, minWords, maxWords int) websearch.Settings {
	w := cfg.WebSearch
	return websearch.Settings{
		Tuning:   sources.Tuning{Queries: w.Queries, Iterations: iterations, MaxResults: w.MaxResults, TopK: w.RerankTopK, ReadTop: read, Rerank: rerank},
		MinWords: minWords, MaxWords: maxWords, HistoryLimit: cfg.Chat.HistoryLimit, Lang: language, ContextTokens: w.ContextTokens,
	}
}

// embedder is the configured one, nil without.
func embedder(models *llm.Models) kb.Embedder {
	s := models.Setting(llm.ForEmbeddings)
	if s.Embedder == nil || s.Name == "" {
		return nil
	}
	return kb.EmbedWith(s.Embedder, s.Name)
}
