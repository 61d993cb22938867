package main

import (
	"os"
	"testing"
	"time"

	"dossier/reader"
)

// TestMain makes the test binary the server, too.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	if args := os.Getenv(childVar); args != "" {
		os.Exit(serve(args))
	}
	os.Exit(m.Run())
}

// A short soak: every reply is what it has to be, and nothing of a client is left
// when it has left.
func TestShortSoak(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("what a process has in memory is read from /proc")
	}
	f, err := soak(t.Context(), 4, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	f.say(t.Logf)
	if len(f.troubles) > 0 || f.left > 0 || len(f.done) == 0 {
		t.Errorf("%d errors, %d goroutines left, %d kinds of things done", len(f.troubles), f.left, len(f.done))
	}
}
