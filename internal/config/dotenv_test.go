package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVariable(t *testing.T) {
	for line, want := range map[string]string{
		"": "|", "  # a note": "|", "A=1": "A|1", "export A=1": "A|1", " A = 1 ": "A|1", "A=": "A|", "A=a b # note": "A|a b", "A=a#b": "A|a#b",
		"A='a # \\n'": `A|a # \n`, `A="a\nb \"c\" \\" # note`: "A|a\nb \"c\" \\", "exported=1": "exported|1", "\ufeffA=1": "A|1",
		"A=sk-1=2": "A|sk-1=2", "no variable": "!", "=1": "!", `A="open`: "!", "A B=1": "!",
	} {
		name, value, problem := variable(line)
		got := name + "|" + value
		if problem != "" {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzVariable(f *testing.F) {
	f.Add(`export A="b\n" # c`)
	f.Fuzz(func(t *testing.T, line string) {
		name, value, problem := variable(line)
		if problem != "" && name+value != "" || strings.Contains(name, "=") {
			t.Errorf("%q: %q, %q, %q", line, name, value, problem)
		}
	})
}

// TestDotEnv holds the order: the environment, .env of the working directory, that
// beside the file, the file's own defaults.
func TestDotEnv(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".env", "OPENAI_API_KEY=sk-here\nDOSSIER_SEARCH_TIMEOUT=7s\nCONFIG_FILE=conf/our.yaml\nwhat is this\n")
	put("conf/.env", "OPENAI_API_KEY=sk-beside\nDOSSIER_SEARCH_TIMEOUT=8s\nTAVILY_API_KEY=tvly-beside\n")
	put("conf/our.yaml", "chat:\n  history_limit: 7\n")
	put("other.yaml", "services:\n  web: {image: nginx}\n")
	c, err := Load(Sources{Dir: dir, DotEnv: true, Env: []string{"DOSSIER_SEARCH_TIMEOUT=9s"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Model("default").APIKey.Reveal(); got != "sk-here" {
		t.Errorf("the key is %q", got)
	}
	if c.Search.Timeout.String() != "9s" || c.Search.TavilyAPIKey.Reveal() != "tvly-beside" || c.Chat.HistoryLimit != 7 {
		t.Errorf("timeout %v, limit %d", c.Search.Timeout, c.Chat.HistoryLimit)
	}
	if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, ".env:4") {
		t.Errorf("notes %q", notes)
	}
	c, err = Load(Sources{Dir: dir, DotEnv: true, Env: []string{"CONFIG_FILE=other.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(c.Notes(), "\n"); c.File() != "" || !strings.Contains(notes, "other.yaml") {
		t.Errorf("file %q, notes %q", c.File(), notes)
	}
	// One that is not there is not called somebody else's.
	c, err = Load(Sources{Dir: dir, Env: []string{"CONFIG_FILE=gone.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, "gone.yaml cannot be read: no such file") {
		t.Errorf("notes %q", notes)
	}
	c, err = Load(Sources{Dir: dir, Env: []string{"HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Model("default").APIKey.Reveal() != "" {
		t.Error(".env was read unasked")
	}
}
