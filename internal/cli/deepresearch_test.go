package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal a deep research asks for its question, and shows its plan.
func TestDeepResearchAsks(t *testing.T) {
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "mill.md"), []byte("The mill of Altona was built in 1802 by Hans Otto.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.stdin = strings.NewReader("When was the mill of Altona built?\nadd Who built the mill of Altona?; drop 2\nstart\n")
	if code := d.run(t, "research", "--deep-research", "--engine", "loop", "--plan", "edit", "--in", docs); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.err)
	}
	for _, want := range []string{"What do you want to know?", "# When was the mill of Altona built?", "## Background", "## Who built the mill of Altona?", "“start” begins"} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("%q is missing in %s", want, d.err)
		}
	}
	if got := d.out.String(); !strings.Contains(got, "1802") || !strings.Contains(got, "Conclusion") {
		t.Errorf("the report is %s", got)
	}
	// Where nobody can be asked there is no question to ask for.
	d = newDesk(t)
	d.terminal = false
	if code := d.run(t, "research", "--deep-research", "--engine", "loop", "--in", docs); code != 2 {
		t.Errorf("exit code %d\n%s", code, d.err)
	}
}
