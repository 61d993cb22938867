// Command fleet measures what registered instances of agents cost: on disk,
// at the start of the program, when one is woken, and in memory after many
// were.
//
//	go run ./bench/fleet [-instances N] [-woken N] [-wakes N] [-out FILE]
//
// The instances are registered in an SQLite file. Another process then opens
// it, wakes instances one at a time at random (the row, the version of its
// template, a new session that is recorded durably), and wakes many more from
// many goroutines, each once, with nothing of the registering in its memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"dossier/agent"
	"dossier/bench/internal/lab"
	"dossier/internal/fleet"
	"dossier/internal/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// size is how much is measured.
type size struct {
	instances int
	wakes     int // one at a time
	woken     int // each once
}

func run(ctx context.Context) error {
	var n size
	flag.IntVar(&n.instances, "instances", 1_000_000, "how many are registered")
	flag.IntVar(&n.wakes, "wakes", 10_000, "how many are woken one at a time")
	flag.IntVar(&n.woken, "woken", 100_000, "how many are woken once, for what that leaves in memory")
	out := flag.String("out", "bench/results/fleet.txt", "`file` for the table; empty writes none")
	waking := flag.String("waking", "", "`file` of a store to wake instances of; the program calls itself with it")
	flag.Parse()
	if n.wakes+n.woken > n.instances || n.wakes < 1 || n.woken < 1 {
		return errors.New("-wakes and -woken: at least one each, and no more than there are instances")
	}
	if *waking != "" {
		f, err := wake(ctx, *waking, n)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	if *out != "" {
		if _, err := os.Stat(filepath.Dir(*out)); err != nil {
			return fmt.Errorf("-out: run it in the project, or name another file: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "fleet-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	before := lab.Load()
	file := filepath.Join(dir, "dossier.db")
	began := time.Now()
	if err := register(ctx, file, n.instances); err != nil {
		return err
	}
	took := time.Since(began)
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	found, err := elsewhere(ctx, file, n)
	if err != nil {
		return err
	}
	found.Registering, found.Disk = took, info.Size()
	text := describe(n, before) + "\n" + table(n, found)
	fmt.Print(text)
	if *out == "" {
		return nil
	}
	return os.WriteFile(*out, []byte(text), 0o644)
}

// elsewhere wakes instances in a process of its own.
func elsewhere(ctx context.Context, file string, n size) (found, error) {
	self, err := os.Executable()
	if err != nil {
		return found{}, err
	}
	c := exec.CommandContext(ctx, self, "-waking", file,
		"-instances", fmt.Sprint(n.instances), "-wakes", fmt.Sprint(n.wakes), "-woken", fmt.Sprint(n.woken))
	c.Stderr = os.Stderr
	said, err := c.Output()
	if err != nil {
		return found{}, fmt.Errorf("waking: %w", err)
	}
	var f found
	return f, json.Unmarshal(said, &f)
}

// document is of the length that definitions have.
var document = "class: ResearchSGRToolCallingAgent\ndescription: answers questions about the handbook\nprompts:\n  system_prompt: |\n" +
	strings.Repeat("    You read before you write, and you write what you have read.\n", 30)

// name of an instance.
func name(n int) string { return fmt.Sprintf("agent-%07d", n) }

// newFleet returns the fleet of a store.
func newFleet(s *sqlite.Store) (*fleet.Fleet, error) {
	ids := 0
	return fleet.New(fleet.Options{
		Store: s,
		Check: func(name string, document []byte) (agent.Definition, error) {
			return agent.Definition{Name: name, Decider: agent.Hybrid, Description: string(document)}, nil
		},
		// As long as those of the program, and sorted by time as they are.
		NewID: func() string { ids++; return fmt.Sprintf("0k3w%012x", ids) },
	})
}

// register makes the store.
func register(ctx context.Context, file string, n int) (err error) {
	s, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err := newFleet(s)
	if err != nil {
		return err
	}
	for t := range templates {
		if _, err := f.Create(ctx, template(t), fleet.Text{Document: document}); err != nil {
			return err
		}
		if err := f.Publish(ctx, template(t), 1); err != nil {
			return err
		}
	}
	_, err = f.RegisterMany(ctx, func(yield func(fleet.Instance) bool) {
		for i := range n {
			if !yield(fleet.Instance{Name: name(i), Template: template(i % templates)}) {
				return
			}
		}
	})
	return err
}

const templates = 20

func template(n int) string { return fmt.Sprint("template-", n) }
