// Command kernel measures what the run kernel costs beside a bare net/http
// loop that makes the same calls to the same local model server.
//
//	go run ./bench/kernel [-yardsticks DIR] [-reps N] [-out FILE]
//
// The loop and the server are the yardsticks' own programs, copied and built
// unmodified. The server has the first core and the client the second, except
// where many runs work at once. Both sides take turns, N times; a figure is
// the median of its values and a ratio the median of the ratios of each turn.
// Without the yardsticks there is nothing to compare with: it says so and
// ends well.
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
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	yardsticks := flag.String("yardsticks", filepath.Join(root, "..", "shared", "bench", "yardsticks"), "`directory` of the yardsticks")
	reps := flag.Int("reps", 5, "how often both sides take their turn")
	out := flag.String("out", filepath.Join(root, "bench", "results", "kernel.txt"), "`file` for the table")
	flag.Parse()
	if *reps < 1 {
		return errors.New("-reps: at least one turn is needed")
	}
	if !lab.Present(*yardsticks) {
		fmt.Println("There are no yardsticks in", *yardsticks+": nothing was measured. Name their directory with -yardsticks.")
		return nil
	}
	l, err := prepare(ctx, root, *yardsticks)
	if err != nil {
		return err
	}
	defer l.Close()
	before := lab.Load()
	figures, err := l.measure(ctx, *reps)
	if err != nil {
		return err
	}
	text := l.Describe(fmt.Sprintf("go run ./bench/kernel -reps %d", *reps), *reps, before) + "\n" + table(figures)
	fmt.Print("\n", text)
	return os.WriteFile(*out, []byte(text), 0o644)
}
