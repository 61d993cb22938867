// Command deep measures deep research beside what it waits for: a model that
// takes 50 ms for each call and a search engine that takes 100 ms for each query,
// both on this machine, over the web of invented pages that the tests use.
//
//	go run ./bench/deep [-runs N] [-crowd N] [-out FILE]
//
// It prints how many of the statements in reports are borne out by the passages
// that they cite, for short and long runs with a model that lies; the time of
// runs of both engines beside the critical path, which is computed from the steps
// that each run has recorded; what a whole research takes of the machine; and
// what becomes of many at once.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"dossier/internal/base/headroom"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	headroom.Keep(headroom.Default) // as the product does
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "deep:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context) error {
	runs := flag.Int("runs", 5, "runs of each engine, one after the other")
	crowd := flag.Int("crowd", 200, "runs at once")
	out := flag.String("out", "bench/results/deep.txt", "`file` for the figures")
	one := flag.String("one", "", "do one whole research with the `settings` given and print what it took, as this program does with itself")
	flag.Parse()
	if *one != "" {
		return takes(ctx, *one)
	}
	var text strings.Builder
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		fmt.Println(line)
		text.WriteString(line + "\n")
	}
	say("# %s", strings.Join(append([]string{"go run ./bench/deep"}, os.Args[1:]...), " "))
	say("# %s %s/%s, %d cores; model %v a call, engine %v a query; SQLite", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), modelLatency, engineLatency)
	if err := truthful(ctx, say); err != nil {
		return err
	}
	for _, engine := range []string{"supervisor", "loop"} {
		if err := alone(ctx, engine, *runs, say); err != nil {
			return err
		}
	}
	if err := whole(ctx, say); err != nil {
		return err
	}
	if err := crowded(ctx, *crowd, say); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}
