package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/llm/llmtest"
)

// crowd is how many commands are given at once.
const crowd = 300

// Hundreds of commands at once on one data directory, which none of them finds
// there: each gets its answer, with one call of the model, and none is in the
// way of another.
func TestCrowd(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Script{Models: []string{"m"}})
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "DOSSIER_DATA="+filepath.Join(home, "data"), "DOSSIER_SEARCH_ENGINES=none", "LANG=en_US.UTF-8",
		"DOSSIER_MODELS_DEFAULT_BASE_URL="+srv.URL()+"/v1", "DOSSIER_MODELS_DEFAULT_MODEL=m")
	dossier := func(args ...string) (string, error) {
		cmd := exec.Command("dossier", args...)
		cmd.Env = env
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, errs.String())
		}
		return out.String(), nil
	}
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			question := fmt.Sprintf("question number %d", i)
			out, err := dossier("ask", question)
			if err != nil || !strings.Contains(out, "“"+question+"”") {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	all.Wait()
	if calls := len(srv.Calls()); calls != crowd {
		t.Errorf("%d calls of the model for %d answers", calls, crowd)
		ids, _ := dossier("runs", "list", "--limit", "1000")
		for line := range strings.Lines(ids) {
			log, err := dossier("runs", "watch", strings.Fields(line)[0], "--json")
			if err != nil || strings.Contains(log, "resumed") {
				t.Logf("%s%v", log, err)
			}
		}
	}
	list, err := dossier("runs", "list", "--limit", "1000")
	if done := strings.Count(list, " done "); err != nil || done != crowd {
		t.Errorf("%d runs are done: %v", done, err)
	}
}
