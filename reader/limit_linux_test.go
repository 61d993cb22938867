package reader

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// spinEnv makes the test program one that never ends by itself.
const spinEnv = "READER_TEST_SPIN"

func init() {
	if os.Getenv(spinEnv) != "" {
		limitCPU(1)
		for {
		}
	}
}

func TestProcessorTime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = []string{spinEnv + "=1"}
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); !ok {
		t.Fatalf("it ended with %v", err)
	}
	c := &child{last: &tail{}}
	c.last.Write(out)
	if !strings.Contains(c.epitaph(), "processor time") {
		t.Errorf("%s", out)
	}
}
