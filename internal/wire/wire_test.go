package wire

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"dossier/internal/config"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/mode/agents"
)

// put puts together what a configuration file says.
func put(t *testing.T, file string, extras Extras) *Product {
	t.Helper()
	p, err := putErr(t, file, extras)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func putErr(t *testing.T, file string, extras Extras) (*Product, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir()}, File: path})
	if err != nil {
		t.Fatal(err)
	}
	return New(cfg, Site{
		Dir: t.TempDir(), Store: memory.New(memory.Options{}), Log: slog.New(slog.DiscardHandler), Extras: extras,
		Active: func(context.Context) (string, error) { return "", nil },
	})
}

// Agents share what they have in common: models that are the same are one, and
// those of an address and a key have one governor.
func TestAgentsShareModels(t *testing.T) {
	a := put(t, `models: {default: {base_url: "http://127.0.0.1:1/v1", model: m, api_key: k}}
agents:
  same: {llm: {model: m}}
  warm: {llm: {temperature: 0.9}}
  warm2: {llm: {temperature: 0.9}}
  away: {llm: {base_url: "http://127.0.0.1:2/v1"}}
`, Extras{}).Agency
	of := func(name string) *llm.Models {
		t.Helper()
		m, err := a.Member(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return a.modelsOf(t.Context(), m)
	}
	if of("same") != a.base {
		t.Error("an agent with the usual model has models of its own")
	}
	if of("warm") == a.base || of("warm") != of("warm2") || of("away") == of("warm") {
		t.Error("models are mixed up")
	}
	if a.modelsOf(t.Context(), agents.Member{Template: "gone", Version: 1}) != a.base {
		t.Error("a template that is gone has models of its own")
	}
	g := a.connector.governors
	one := g.For("127.0.0.1:1", "k")
	if g.For("127.0.0.1:1", "k") != one || g.For("127.0.0.1:1", "other") == one || g.For("127.0.0.1:2", "k") == one {
		t.Error("governors are mixed up")
	}
}
