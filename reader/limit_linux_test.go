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

var _ = func() bool {
	if os.Getenv(spinEnv) == "" {
		return false
	}
	limitCPU(1)
	for n := uint64(0); ; n++ {
		spun = n
	}
}()

func TestProcessorTime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = []string{spinEnv + "=1"}
	out, err := cmd.CombinedOutput()
	exitError := &exec.ExitError{}
	if errors.As(err, &exitError) {
		t.Fatalf("it ended with %v", err)
	}
	c := &child{last: &tail{}}
	c.last.Write(out)
	if !strings.Contains(c.epitaph(), "processor time") {
		t.Errorf("%s", out)
	}
}
