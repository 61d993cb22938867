package dossier

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherModulesImportUs builds a program of another module against this
// checkout, as docs/go.md says.
func TestOtherModulesImportUs(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	guide, err := os.ReadFile("docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, ok := strings.Cut(string(guide), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	if !ok || !strings.Contains(program, "func main()") {
		t.Fatal("docs/go.md has no program")
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, needs, _ := strings.Cut(string(ours), "\n") // all but our name
	for name, text := range map[string]string{"go.mod": "module example.com/uses\n" + needs, "go.sum": string(sums), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"mod", "edit", "-require=dossier@v0.0.0", "-replace=dossier=" + here},
		{"vet", "-mod=mod", "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
