package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The same text gives the same answer as a file, in a folder and piped in.
func TestTheSameTextGivesTheSameAnswer(t *testing.T) {
	text, err := os.ReadFile("../../docs/research.md")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.terminal = false
	files(t, d.home, map[string]string{"folder/text.md": string(text)})
	file := filepath.Join(d.home, "folder", "text.md")
	for _, question := range []string{"how are engines chosen?", "which formats are read?", "what happens when no passage answers?", "what does deep_search do?"} {
		answer := func(args ...string) string {
			d.out = &output{}
			d.run(t, append([]string{"research", question, "--brief"}, args...)...)
			return strings.NewReplacer(file, "TEXT", "standard input", "TEXT").Replace(d.out.String())
		}
		d.stdin = strings.NewReader("")
		alone, folder := answer("--in", file), answer("--in", filepath.Dir(file))
		d.stdin = strings.NewReader(string(text))
		if piped := answer(); alone != folder || alone != piped || !strings.Contains(alone, "[1] TEXT:") {
			t.Errorf("%s\nalone\n%s\nin a folder\n%s\npiped in\n%s", question, alone, folder, piped)
		}
	}
}
