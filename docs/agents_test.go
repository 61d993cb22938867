package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"dossier/internal/config"
)

// TestAgentExamples reads the files that docs/agents.md shows.
func TestAgentExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(documents(t)["docs/agents.md"], -1)
	if len(blocks) < 3 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		dir := t.TempDir()
		for name, text := range map[string]string{"dossier.yaml": b[1], "prompts/careful.txt": "Be careful."} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := config.Load(config.Sources{Dir: dir, File: "dossier.yaml", Env: []string{"TAVILY_API_KEY=k", "BRAVE_API_KEY=k", "TRANSLATOR_TOKEN=k"}})
		if err != nil {
			t.Errorf("%v:\n%s", err, b[1])
			continue
		}
		for _, name := range c.Definitions() {
			if _, err := c.Definition(name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		remote, err := c.RemoteAgents()
		if err != nil {
			t.Error(err)
		}
		for _, name := range remote {
			if _, err := c.RemoteAgent(name); err != nil {
				t.Error(err)
			}
		}
	}
}
