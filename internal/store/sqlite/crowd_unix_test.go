//go:build unix

package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// member is one of many processes that use a file at the same moment: it waits
// until its input ends, opens the file, has a run of its own recorded, and closes
// it.
func member(path string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	ctx, id := context.Background(), fmt.Sprint("r", os.Getpid())
	if err := s.Create(ctx, run.Record{ID: id, Home: id, Request: json.RawMessage(`{"q":1}`)}, nil, nil); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	h, err := s.Acquire(ctx, id, id, time.Minute)
	if err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	for i := range crowdSteps {
		if err := wait(s, stepBatch(id, h.Record.Epoch, i, json.RawMessage(`"`+text(600)+`"`))); err != nil {
			return fmt.Errorf("step: %w", err)
		}
	}
	if _, lost, err := s.Renew(ctx, id, time.Minute, map[string]int64{id: 0}); err != nil || len(lost) > 0 {
		return fmt.Errorf("renew: %v, %w", lost, err)
	}
	if events, err := s.Events(ctx, id, 0, 0); err != nil || len(events) != crowdSteps {
		return fmt.Errorf("%d events: %w", len(events), err)
	}
	err = wait(s, &run.Batch{Run: id, Epoch: h.Record.Epoch, State: &run.State{Status: run.Done}, Release: true})
	if err != nil {
		return fmt.Errorf("end: %w", err)
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

const crowdSteps = 10

// Many processes that come at once to a file which is not there yet make it, use
// it and leave, and none is told that it is locked.
func TestManyProcesses(t *testing.T) {
	processes := 40
	if n, err := strconv.Atoi(os.Getenv("SQLITE_TEST_PROCESSES")); err == nil {
		processes = n
	}
	path := filepath.Join(t.TempDir(), "dossier.db")
	inputs := make([]io.Closer, processes)
	var all sync.WaitGroup
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "SQLITE_TEST_MEMBER="+path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		inputs[i] = in
		all.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
	began := time.Now()
	for _, in := range inputs {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	t.Logf("%d processes took %v", processes, time.Since(began))
	s := open(t, path, sqlite.Options{})
	list, err := s.List(t.Context(), store.Filter{Limit: 2 * processes, Status: run.Done})
	if err != nil || len(list) != processes {
		t.Errorf("%d runs of %d are done, %v", len(list), processes, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
