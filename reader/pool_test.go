package reader

import (
	"errors"
	"testing"
)

// A program that forgot WorkerMain starts itself once and not without end.
func TestWorkerThatIsNone(t *testing.T) {
	t.Setenv(workerEnv, "1000000")
	if _, err := startChild(1 << 28); !errors.Is(err, errNoWorkerMain) {
		t.Error(err)
	}
}
