// Command agents measures our agent's loop beside a bare net/http loop and
// other frameworks that do the same task with the same tool against the same
// local model server, all of them behind the harness of the yardsticks.
//
//	go run ./bench/agents [-yardsticks DIR] [-reps N] [-all] [-out FILE]
//
// All sides take turns, N times; a figure is the median of its values and a
// ratio the median of the ratios of each turn. Ours works in memory, as the
// others do, and once more with every step committed to SQLite. A framework
// that can't be built here is left out, and the table says so; -all asks for
// more of them than the usual two. Without the yardsticks there is nothing to
// compare with: it says so and ends well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"dossier/bench/internal/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	yardsticks := flag.String("yardsticks", filepath.Join(root, "..", "shared", "bench", "yardsticks"), "`directory` of the yardsticks")
	reps := flag.Int("reps", 5, "how often each side takes its turn")
	all := flag.Bool("all", false, "stand beside all frameworks of the yardsticks")
	out := flag.String("out", filepath.Join(root, "bench", "results", "agents.txt"), "`file` for the table")
	flag.Parse()
	if *reps < 1 {
		return errors.New("-reps: at least one turn is needed")
	}
	if !lab.Present(*yardsticks) {
		fmt.Println("There are no yardsticks in", *yardsticks+": nothing was measured. Name their directory with -yardsticks.")
		return nil
	}
	command := fmt.Sprintf("go run ./bench/agents -reps %d", *reps)
	peers := []string{"eino", "fantasy"}
	if *all {
		command += " -all"
		peers = append(peers, "adk", "langchaingo", "genkit", "trpc")
	}
	c, err := prepare(ctx, root, *yardsticks, peers)
	if err != nil {
		return err
	}
	defer c.Close()
	before := lab.Load()
	figures, err := c.measure(ctx, *reps)
	if err != nil {
		return err
	}
	text := c.Describe(command, *reps, before) + c.leftOut() + "\n" + table(c.sides, figures)
	fmt.Print("\n", text)
	return os.WriteFile(*out, []byte(text), 0o644)
}
