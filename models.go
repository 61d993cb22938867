package dossier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dossier/internal/config"
	"dossier/internal/wire"
	"dossier/llm"
)

// Trial is how a model answered one small call.
type Trial struct {
	Role  string
	Model string
	// Reply is what the model said; empty for an embedding.
	Reply string
	Took  time.Duration
	Usage llm.Usage
}

// TryModel makes one small call with the model of a role. It needs no data
// directory.
func TryModel(ctx context.Context, o Options, role string) (Trial, error) {
	cfg, err := o.configuration()
	if err != nil {
		return Trial{}, err
	}
	models, err := wire.Models(cfg, o.extras())
	if err != nil {
		return Trial{}, err
	}
	return try(ctx, models, role)
}

// try has the model of a role say something, or embed a word.
func try(ctx context.Context, models *llm.Models, role string) (Trial, error) {
	client := models.For(llm.RoleName(role))
	t := Trial{Role: role, Model: client.Setting().Name}
	began := time.Now()
	if llm.RoleName(role) == llm.ForEmbeddings {
		made, err := client.Embed(ctx, "", []string{"hello"})
		if err != nil {
			return t, err
		}
		t.Took, t.Usage = time.Since(began), made.Usage
		return t, nil
	}
	made, err := client.Stream(ctx, &llm.Request{
		Messages:  []llm.Message{{Role: llm.RoleUser, Content: "Reply with one short sentence."}},
		MaxTokens: 64,
	}, func(llm.Chunk) {})
	if err != nil {
		return t, err
	}
	t.Took, t.Reply, t.Usage = time.Since(began), made.Message.Content, made.Usage
	return t, nil
}

// Embed turns texts into vectors with the configured embedder. It fails with
// llm.ErrNotConfigured where there is none.
func (e *Engine) Embed(ctx context.Context, texts []string) (*llm.Embeddings, error) {
	if e.models == nil {
		return nil, llm.ErrNotConfigured
	}
	return e.models.For(llm.ForEmbeddings).Embed(ctx, "", texts)
}

// ListModels asks the endpoint of a role which models it serves.
func ListModels(ctx context.Context, o Options, role string) ([]string, error) {
	cfg, err := o.configuration()
	if err != nil {
		return nil, err
	}
	m := cfg.Model(config.Role(role))
	if missing := m.Missing(); missing != "" && m.Model != "" { // the name of a model is what is asked for here
		return nil, fmt.Errorf("role %s: %w: %s", role, llm.ErrNotConfigured, missing)
	}
	model, err := wire.Provider(cfg, m)
	if err != nil {
		return nil, err
	}
	lister, ok := model.(interface {
		Models(ctx context.Context) ([]string, error)
	})
	if !ok {
		return nil, fmt.Errorf("provider %s can't list its models", m.Provider)
	}
	names, err := lister.Models(ctx)
	slices.Sort(names)
	return names, err
}
