package dossier

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/internal/config"
	"dossier/llm/llmtest"
)

// What a call is for is nobody's business but ours: no provider is told by a
// header of our own.
func TestProvidersAreToldNothingOfUs(t *testing.T) {
	for _, provider := range []string{"openai", "openai-compatible", "anthropic", "gigachat", "test"} {
		var mu sync.Mutex
		calls := 0
		model := llmtest.New(llmtest.Script{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			calls++
			for name, values := range r.Header {
				if strings.Contains(strings.ToLower(name), "dossier") {
					t.Errorf("%s: %s %s has %s: %q", provider, r.Method, r.URL.Path, name, values)
				}
			}
			mu.Unlock()
			model.ServeHTTP(w, r)
		}))
		for _, role := range config.Roles() {
			if provider == "anthropic" && role == config.RoleEmbeddings {
				continue // it has none
			}
			path := "models." + string(role) + "."
			set := map[string]string{
				path + "provider": provider, path + "base_url": srv.URL + "/v1", path + "model": "m", path + "api_key": llmtest.Key, path + "auth_url": srv.URL + "/api/v2/oauth",
			}
			if _, err := TryModel(t.Context(), Options{Env: []string{}, ConfigFile: config.NoFile, Set: set}, string(role)); err != nil {
				t.Errorf("%s as %s: %v", provider, role, err)
			}
		}
		srv.Close()
		if calls < len(config.Roles())-1 {
			t.Errorf("%s: %d calls", provider, calls)
		}
	}
}

// A data directory that is named by a relative path is the same from anywhere.
func TestDataDirectoryIsResolvedOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	e, err := Open(t.Context(), Options{DataDir: "kept", ConfigFile: config.NoFile, Env: []string{"DOSSIER_SEARCH_ENGINES=none"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d, err := e.Agent(t.Context(), "tool_calling_agent")
	if err != nil || !filepath.IsAbs(d.Agent.ReportsDir) || !filepath.IsAbs(d.Agent.LogsDir) {
		t.Errorf("%q, %q, %v", d.Agent.ReportsDir, d.Agent.LogsDir, err)
	}
}
