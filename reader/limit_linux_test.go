package reader

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// spinEnv makes the test program one that never ends by itself.
const spinEnv = "READER_TEST_SPIN"

// spun keeps the loop below from being nothing.
var spun uint64

// TestSpin is what the child of TestProcessorTime does.
func TestSpin(*testing.T) {
	if os.Getenv(spinEnv) == "" {
		return
	}
	limitCPU(1)
	for n := uint64(0); ; n++ {
		spun = n
	}
}

func TestProcessorTime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSpin$")
	cmd.Env = []string{spinEnv + "=1"}
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Fatalf("it ended with %v", err)
	}
	c := &child{last: &tail{}}
	c.last.Write(out)
	if !strings.Contains(c.epitaph(), "processor time") {
		t.Errorf("%s", out)
	}
}
