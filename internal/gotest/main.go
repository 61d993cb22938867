// Gotest runs the module's tests and says shortly what came of them.
//
//	go run ./internal/gotest [go test flags and packages]
//	go run ./internal/gotest -fuzz 60s [packages]
//
// The first form runs `go test -json` (over ./... when no package is given)
// and prints one line per package, the output of what failed, the slowest
// tests, and as its last line `N passed, N failed, N skipped`. Packages whose
// work is concurrent are tested again under the race detector, where there is a
// C compiler and no flag was given; those tests count as well. It exits with 0
// only when nothing failed. Where CI=true is in the environment a skipped test
// is a failure too: a check that was not made there is made nowhere.
//
// The second form finds every fuzz target of the packages and fuzzes each for
// the given time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 && args[0] == "-fuzz" {
		if len(args) < 2 {
			fmt.Fprintln(os.Stderr, "gotest: -fuzz needs a time, such as 60s")
			return 2
		}
		each, err := time.ParseDuration(args[1])
		if err != nil || each <= 0 {
			fmt.Fprintf(os.Stderr, "gotest: -fuzz %s: give a time such as 60s\n", args[1])
			return 2
		}
		if err := fuzzAll(ctx, os.Stdout, each, packages(args[2:])); err != nil {
			fmt.Fprintln(os.Stderr, "gotest:", err)
			return 1
		}
		return 0
	}
	rep := newReport(os.Stdout, os.Getenv("CI") == "true")
	err := test(ctx, rep, packages(args))
	if ctx.Err() == nil && !slices.ContainsFunc(args, isFlag) {
		err = errors.Join(err, race(ctx, rep))
	}
	if !rep.finish(err) {
		return 1
	}
	return 0
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") }

// packages is args, or the whole module where none were given.
func packages(args []string) []string {
	if len(args) == 0 {
		return []string{"./..."}
	}
	return args
}

// test feeds rep with what `go test -json` prints.
func test(ctx context.Context, rep *report, args []string) error {
	return feed(goCommand(ctx, append([]string{"test", "-json"}, args...)...), rep)
}

func feed(cmd *exec.Cmd, rep *report) error {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := rep.read(out)
	_, _ = io.Copy(io.Discard, out) // a reader that gave up must not leave the go tool blocked
	return errors.Join(readErr, cmd.Wait())
}

// goCommand is a go command that gets the interrupt itself, so that it can end
// its children before it ends.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
