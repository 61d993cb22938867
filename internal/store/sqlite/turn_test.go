package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/internal/base/filelock"
)

// Whoever comes second waits until the first is done, and whoever waits in vain
// says so and may come again.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	first, second := newTurn(path), newTurn(path)
	defer func() {
		if err := errors.Join(first.close(), second.close()); err != nil {
			t.Error(err)
		}
	}()
	if err := first.take(); err != nil {
		t.Fatal(err)
	}
	second.limit = time.Millisecond
	for range 3 {
		if err := second.take(); !errors.Is(err, filelock.ErrTimeout) {
			t.Fatal(err)
		}
	}
	second.limit = time.Minute
	came := make(chan error, 1)
	var before sync.WaitGroup
	before.Go(func() { came <- second.take() })
	select {
	case err := <-came:
		t.Fatalf("two have a turn: %v", err)
	default:
	}
	if err := first.give(); err != nil {
		t.Fatal(err)
	}
	if err := <-came; err != nil {
		t.Fatal(err)
	}
	if free, err := filelock.Try(first.file); free || err != nil {
		t.Fatalf("two have a turn: %v", err)
	}
	if err := second.give(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.take(), first.give()); err != nil {
		t.Fatal(err)
	}
}

// When a process hangs in its turn, all that wait for the writer are told so after
// the same time, and what they wanted can be tried again.
func TestNoTurnComes(t *testing.T) {
	s := openHere(t)
	s.writer.turn.limit = time.Millisecond
	other := newTurn(s.path)
	if err := other.take(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			err := s.SetSetting(t.Context(), "b", "k", []byte("v"))
			if err == nil || !strings.Contains(err.Error(), "another process") {
				t.Errorf("written, or %v", err)
			}
		})
	}
	all.Wait()
	if err := other.close(); err != nil { // as when the process is killed
		t.Fatal(err)
	}
	s.writer.turn.limit = time.Minute
	if err := s.SetSetting(t.Context(), "b", "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
}
