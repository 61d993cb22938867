package llm_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"dossier/llm"
)

func TestPricer(t *testing.T) {
	p := llm.Pricer{Override: map[string]llm.Price{"gpt-4o-mini": {Input: 1, Output: 2}, "local": {}}}
	cases := []struct {
		model string
		usage llm.Usage
		cost  float64
		known bool
	}{
		{"gpt-4o", llm.Usage{Input: 1e6, Output: 1e6}, 12.5, true},
		{"gpt-4o-2024-11-20", llm.Usage{Input: 1e6, CachedInput: 5e5}, 1.875, true},
		{"gpt-4o-mini", llm.Usage{Input: 1e6, CachedInput: 1e6, Output: 1e6}, 3, true},
		{"local-7b", llm.Usage{Input: 1e6}, 0, true},
		{"nobody-knows", llm.Usage{Input: 1e6}, 0, false},
	}
	for _, c := range cases {
		cost, known := p.Cost(c.model, c.usage)
		if math.Abs(cost-c.cost) > 1e-9 || known != c.known {
			t.Errorf("%s: %v, %v; want %v, %v", c.model, cost, known, c.cost, c.known)
		}
	}
	if u := p.Fill("gpt-4o", llm.Usage{Input: 1e6, Cost: 7}); u.Cost != 7 {
		t.Errorf("the provider's own cost was replaced by %v", u.Cost)
	}
}

func TestModelsResolve(t *testing.T) {
	var got *llm.Request
	record := modelFunc(func(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		got = req
		return &llm.Response{Message: llm.Message{Content: `{"n":2}`}, Usage: llm.Usage{Input: 1e6}}, nil
	})
	cold, warm := 0.0, 0.9
	models := &llm.Models{
		Roles: map[llm.RoleName]llm.Setting{
			llm.ForDefault: {Model: record, Name: "gpt-4o", Endpoint: "host", MaxTokens: 100, Temperature: &cold, Extra: map[string]any{"seed": 1, "top_p": 0.5}},
			llm.ForWriter:  {MaxTokens: 900},
			llm.ForChat:    {Model: record, Name: "other"},
		},
		Probes: new(llm.MemoryProbes),
	}
	resp, err := models.For(llm.ForWriter).Stream(t.Context(), &llm.Request{Extra: map[string]any{"seed": 2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Model != "gpt-4o" || got.MaxTokens != 900 || *got.Temperature != 0 || got.Extra["seed"] != 2 || got.Extra["top_p"] != 0.5 {
		t.Errorf("writer: %+v", got)
	}
	if resp.Usage.Cost != 2.5 {
		t.Errorf("cost %v", resp.Usage.Cost)
	}
	models.For(llm.ForChat).Stream(t.Context(), &llm.Request{}, nil)
	if got.Model != "other" || got.MaxTokens != 0 || got.Temperature != nil || got.Extra != nil {
		t.Errorf("a role with a model of its own takes nothing from the default: %+v", got)
	}
	models.For(llm.ForResearcher).Stream(t.Context(), &llm.Request{Model: "m", MaxTokens: 5, Temperature: &warm}, nil)
	if got.Model != "m" || got.MaxTokens != 5 || *got.Temperature != warm {
		t.Errorf("the request's own settings win: %+v", got)
	}

	out, info, err := llm.Object[picky](t.Context(), models.For(llm.ForWriter), &llm.Request{Messages: ask("q").Messages}, llm.ObjectOptions{})
	if err != nil || out.N != 2 || got.MaxTokens != 900 || info.Usage.Cost != 2.5 {
		t.Errorf("%+v, %+v, %v", out, info, err)
	}
	if way, ok := models.Probes.Way("host", "gpt-4o"); !ok || way != llm.WaySchema {
		t.Errorf("way %q, %v", way, ok)
	}
}

func TestModelsNotConfigured(t *testing.T) {
	var none *llm.Models
	embedder := embedFunc(func(context.Context, string, []string) (*llm.Embeddings, error) { return &llm.Embeddings{}, nil })
	onlyEmbeddings := &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForEmbeddings: {Embedder: embedder}}}
	for _, m := range []*llm.Models{none, {}, onlyEmbeddings} {
		if m.For(llm.ForChat).Configured() {
			t.Errorf("%+v is configured", m)
		}
		if _, err := m.For(llm.ForChat).Stream(t.Context(), &llm.Request{}, nil); !errors.Is(err, llm.ErrNotConfigured) {
			t.Errorf("error %v", err)
		}
		if _, _, err := llm.Object[picky](t.Context(), m.For(llm.ForChat), &llm.Request{}, llm.ObjectOptions{}); !errors.Is(err, llm.ErrNotConfigured) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := none.For(llm.ForEmbeddings).Embed(t.Context(), "", nil); !errors.Is(err, llm.ErrNotConfigured) {
		t.Errorf("error %v", err)
	}
	if _, err := onlyEmbeddings.For(llm.ForEmbeddings).Embed(t.Context(), "", nil); err != nil {
		t.Error(err)
	}
}
