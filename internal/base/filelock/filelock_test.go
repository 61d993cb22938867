package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dossier/internal/base/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, path), open(t, path)
	if err := filelock.Wait(a, time.Minute); err != nil {
		t.Fatal(err)
	}
	if free, err := filelock.Try(b); free || err != nil {
		t.Errorf("a locked file was locked: %v", err)
	}
	if err := filelock.Wait(b, time.Millisecond); !errors.Is(err, filelock.ErrTimeout) {
		t.Error(err)
	}
	got := make(chan error, 1)
	c := open(t, path)
	go func() { got <- filelock.Wait(c, time.Minute) }()
	if err := filelock.Unlock(a); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil { // the one that gave up does not stand in the way
		t.Error(err)
	}
	if err := filelock.Unlock(c); err != nil {
		t.Error(err)
	}
	if err := filelock.Wait(a, time.Minute); err != nil {
		t.Error(err)
	}
}
