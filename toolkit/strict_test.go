package toolkit

import (
	"testing"

	"dossier/llm"
	"dossier/llm/anthropic"
	"dossier/llm/gigachat"
	"dossier/llm/llmtest"
	"dossier/llm/openai"
)

// TestToolsAreValidForEachProvider sends every tool to a service of each kind,
// which refuses what the real ones refuse, and looks at what arrived: held
// strictly where the service can, and with its fields.
func TestToolsAreValidForEachProvider(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{})
	o, err := openai.New(openai.Config{BaseURL: srv.URL() + "/v1", Key: llmtest.Key})
	if err != nil {
		t.Fatal(err)
	}
	a, err := anthropic.New(anthropic.Config{BaseURL: srv.URL(), Key: llmtest.Key})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gigachat.New(gigachat.Config{BaseURL: srv.URL() + "/api/v1", AuthURL: srv.URL() + "/api/v2/oauth", Key: llmtest.Key})
	if err != nil {
		t.Fatal(err)
	}
	k := New(Parts{})
	settings := Settings{Commands: Commands{Workspace: t.TempDir()}}
	for provider, m := range map[string]llm.Model{"openai": o, "anthropic": a, "gigachat": g} {
		for _, name := range k.Names() {
			made, err := k.Make(name, nil, settings)
			if err != nil {
				t.Fatal(err)
			}
			req := &llm.Request{Model: "m", MaxTokens: 100, Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}}, Tools: []llm.Tool{made.Spec().For()}}
			if _, err := m.Stream(t.Context(), req, nil); err != nil {
				t.Errorf("%s, %s: %v", provider, name, err)
				continue
			}
			calls := srv.Calls()
			sent := calls[len(calls)-1].Request.Tools[0]
			if provider != "gigachat" && !sent.Strict { // which has no such thing
				t.Errorf("%s, %s is not held to its schema: %s", provider, name, sent.Parameters)
			}
		}
	}
}
