// Package wire puts the product together from its configuration: it connects
// models and search engines, and makes the modes and the agents out of them.
// What there is to put together stands in list.go.
package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"

	"dossier/event"
	"dossier/internal/base/logs"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/internal/webhook"
	"dossier/kb"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/websearch"
	"dossier/reader"
	"dossier/search"
	"dossier/sources"
	"dossier/tool"
)

// Site is where a product is put together.
type Site struct {
	// Dir is the data directory.
	Dir   string
	Store store.Store
	// Active names the collection that is asked where none is named, "" if there
	// is none.
	Active func(ctx context.Context) (string, error)
	Log    *slog.Logger
	Extras
}

// Extras are what a program brings along beside what is configured, as
// dossier.Options say.
type Extras struct {
	Modes   []mode.Mode
	Tools   []tool.Tool
	Engines []search.Engine
	Models  map[llm.RoleName]llm.Setting
}

// check says what of the extras can't be used.
func (x Extras) check() error {
	for role, m := range x.Models {
		switch {
		case !slices.Contains(config.Roles(), config.Role(role)):
			return &usage.Error{Message: fmt.Sprintf("there is no role %q for a model", role), Hint: fmt.Sprintf("the roles are %v", config.Roles())}
		case m.Name == "" || m.Model == nil && m.Embedder == nil:
			return &usage.Error{Message: fmt.Sprintf("the model of role %s has no name, or nothing to call", role), Hint: "set Name, and Model or Embedder"}
		}
	}
	for _, t := range x.Tools {
		if s := t.Spec(); s.Origin != tool.Builtin {
			return &usage.Error{Message: fmt.Sprintf("tool %s is of %q", s.Name, s.Origin), Hint: "a program's own tools are made with tool.New, without an origin"}
		}
	}
	return nil
}

// Product is what the engine works with.
type Product struct {
	Modes   []mode.Mode
	Library *kb.Library
	Reader  *reader.Reader
	Web     *sources.Web
	Agency  *Agency
	Models  *llm.Models
	// Hasty are the models for those who wait only so long for a reply.
	Hasty *llm.Models
	// Hooks are told when runs end, by the client Told.
	Hooks []webhook.Hook
	Told  *http.Client

	*outside
}

// New puts the product together. Nobody is asked for anything yet: whatever is
// reached over a network is reached when it is needed.
func New(cfg *config.Config, s Site) (*Product, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	connector := newConnector(cfg, s.Models, &storedProbes{settings: s.Store})
	if cfg.Log.Verbose && s.Log != nil {
		connector.payloads = logs.WithStep(s.Log, "model")
	}
	hooks, told, err := webhooks(cfg)
	if err != nil {
		return nil, err
	}
	models, err := connector.models(cfg)
	if err != nil {
		return nil, err
	}
	hasty, err := connector.hasty(cfg.Console.Timeout).models(cfg)
	if err != nil {
		return nil, err
	}
	language := lang.Code("")
	if cfg.Lang != "auto" {
		language = lang.Code(cfg.Lang)
	}
	p := &Product{Models: models, Hasty: hasty, Hooks: hooks, Told: told, Reader: reader.New(reader.Config{CacheDir: filepath.Join(s.Dir, "cache"), MaxInput: cfg.KB.MaxFileMB << 20})}
	words := terms.New(Dictionaries(cfg, s.Dir).Tables)
	p.Library = kb.New(s.Store, p.Reader, embedder(models), kb.Options{
		TopBM25: cfg.KB.TopBM25, TopDense: cfg.KB.TopDense, K: cfg.KB.K, ChunkSize: cfg.KB.ChunkSize, MaxFile: int64(cfg.KB.MaxFileMB) << 20,
		Terms: words, Shared: cfg.Server.Collections, Uploads: filepath.Join(s.Dir, "uploads"), MaxUploads: int64(cfg.KB.MaxUploadsMB) << 20,
	})
	if p.outside, err = reach(cfg, s, p.Reader, models, words); err != nil {
		p.Reader.Close()
		return nil, err
	}
	p.Web = p.web
	if p.Agency, err = newAgency(cfg, s.Dir, language, connector, models, tools(p, s), s.Store); err != nil {
		p.Reader.Close()
		return nil, errors.Join(err, p.outside.close())
	}
	local := &sources.Local{Library: p.Library, Active: s.Active}
	p.Modes = modes(cfg, language, p, s, websearch.Parts{
		Models: models, Holdings: &sources.Holdings{Documents: local, Web: p.Web}, Blobs: s.Store, History: historyIn(s.Store), Rerankers: p.rerankers,
	}, local)
	p.Modes = append(p.Modes, s.Modes...)
	return p, nil
}

// Dictionaries are those that a user added to a data directory, and those that
// are installed on the machine.
func Dictionaries(cfg *config.Config, dir string) terms.Shelf {
	return terms.Shelf{Dir: filepath.Join(dir, "dictionaries"), Installed: cfg.KB.Dictd}
}

// Close ends what the product has under way, while the store is still open.
func (p *Product) Close() error {
	err := errors.Join(p.Agency.Close(), p.outside.close())
	p.Reader.Close()
	return err
}

// historyIn returns what was said in a session before a run. For a fork that is
// what was said before the run that it was forked from.
func historyIn(s store.Store) mode.History {
	return func(ctx context.Context, session, id string, limit int) ([]event.Message, error) {
		before, err := original(ctx, s, id)
		if err != nil {
			return nil, err
		}
		return s.Messages(ctx, session, before, limit)
	}
}

// searchSettings are those of one of the searching modes: how much it does, how
// often it searches at least, and how long its answers are.
func searchSettings(cfg *config.Config, d config.Depth, language lang.Code, rerank string, least, minWords, maxWords int) websearch.Settings {
	return websearch.Settings{
		Tuning: sources.Tuning{
			Queries: d.Queries, MinIterations: min(least, d.MaxIterations), Iterations: d.MaxIterations,
			MaxResults: d.MaxResults, TopK: d.RerankTopK, ReadTop: d.ScrapeTopN, Rerank: rerank,
		},
		MinWords: minWords, MaxWords: maxWords, HistoryLimit: cfg.Chat.HistoryLimit, Lang: language, ContextTokens: d.ContextTokens,
		Time: d.Time,
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
