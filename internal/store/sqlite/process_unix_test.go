//go:build unix

package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// TestMain lets the test binary be the other process too.
func TestMain(m *testing.M) {
	if path := os.Getenv("SQLITE_TEST_MEMBER"); path != "" {
		if err := member(path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv("SQLITE_TEST_CHILD"); path != "" {
		if err := child(path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child takes run r1, tells so, and then does what it is told: "step" commits
// one step, "on" commits steps until it is killed.
func child(path string) error {
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	h, err := s.Acquire(context.Background(), "r1", "child", time.Minute)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	next := 0
	step := func() {
		err := wait(s, stepBatch("r1", h.Record.Epoch, next, json.RawMessage(`"`+text(600)+`"`)))
		switch {
		case err == nil:
			next++
			fmt.Println("done", next)
		case errors.Is(err, run.ErrFenced):
			fmt.Println("fenced")
		default:
			fmt.Println("error", err)
		}
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		step()
		for in.Text() == "on" {
			step()
		}
	}
	return nil
}

// process is a child at work.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func spawn(t *testing.T, path string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SQLITE_TEST_CHILD="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	p.expect(t, "ready")
	return p
}

func (p *process) say(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
}

func (p *process) expect(t *testing.T, line string) {
	t.Helper()
	if !p.out.Scan() || p.out.Text() != line {
		t.Fatalf("the child said %q, want %q", p.out.Text(), line)
	}
}

// A process that was stopped for longer than its lease cannot write when it
// comes back: another has taken the run over.
func TestTakeover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	later := func() time.Time { return time.Now().Add(time.Hour) }
	s := open(t, path, sqlite.Options{Now: later})
	if err := s.Create(t.Context(), run.Record{ID: "r1"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	zombie := spawn(t, path)
	zombie.say(t, "step")
	zombie.expect(t, "done 1")
	if err := zombie.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h, err := s.Acquire(t.Context(), "r1", "successor", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if h.Record.Epoch != 2 || len(h.Entries) != 1 {
		t.Fatalf("history: %+v", h)
	}
	if err := wait(s, stepBatch("r1", 2, 1, json.RawMessage(`2`))); err != nil {
		t.Fatal(err)
	}
	if err := zombie.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	zombie.say(t, "step")
	zombie.expect(t, "fenced")
	if h, err := s.History(t.Context(), "r1"); err != nil || len(h.Entries) != 2 || h.Record.LastSeq != 2 {
		t.Fatalf("history: %+v, %v", h, err)
	}
}

// What was reported as committed is there after a kill, and nothing is torn.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	for kill := range 5 {
		s := open(t, path, sqlite.Options{})
		if err := s.Create(t.Context(), run.Record{ID: "r1"}, nil, nil); err != nil {
			t.Fatal(err)
		}
		worker := spawn(t, path)
		worker.say(t, "on")
		reported := 0
		for reported < 20+7*kill && worker.out.Scan() {
			if _, err := fmt.Sscanf(worker.out.Text(), "done %d", &reported); err != nil {
				t.Fatal(worker.out.Text())
			}
			if reported == 10 { // this process writes to the same file meanwhile
				if err := s.SetSetting(t.Context(), "b", "k", []byte("v")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := worker.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for worker.out.Scan() {
			if strings.HasPrefix(worker.out.Text(), "done") {
				reported++
			}
		}
		_ = worker.cmd.Wait() // it was killed
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, sqlite.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := s.History(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		if n := int(h.Record.LastSeq); n < reported || n > reported+1 || len(h.Entries) != n || len(h.Places) != n {
			t.Fatalf("%d commits were reported; %d events, %d entries, %d places", reported, n, len(h.Entries), len(h.Places))
		}
		if err := s.Delete(t.Context(), "r1"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Two processes write to one file at the same time.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	stores := []store.Store{open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})}
	results := make(chan error, 20)
	for i := range 20 {
		go func() {
			s, id := stores[i%2], fmt.Sprint("r", i)
			err := s.Create(t.Context(), run.Record{ID: id, Session: "s"}, nil, nil)
			if err == nil {
				_, err = s.Acquire(t.Context(), id, "w", time.Minute)
			}
			for k := 0; err == nil && k < 20; k++ {
				err = wait(s, stepBatch(id, 1, k, json.RawMessage(`1`)))
			}
			results <- err
		}()
	}
	for range 20 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	if err := stores[0].Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if r, err := stores[(i+1)%2].Run(t.Context(), fmt.Sprint("r", i)); err != nil || r.LastSeq != 20 {
			t.Fatalf("run %d: %+v, %v", i, r, err)
		}
	}
}

// TestTheFileIsPrivate opens a database in a directory that others can read.
func TestTheFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "dossier.db")
	for _, state := range []string{"new", "made readable"} {
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), run.Record{ID: state, Mode: "chat"}, nil, nil); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if info, err := f.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has mode %v, %v", state, f.Name(), info.Mode(), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
