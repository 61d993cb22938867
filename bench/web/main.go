// Command web measures what a web search costs beside what it waits for: a
// model that takes 50 ms for each call and a search engine that takes 100 ms
// for each query, both on this machine, over the web of invented pages that the
// tests use.
//
//	go run ./bench/web [-runs N] [-crowd N] [-out FILE]
//
// It prints the time of runs one after the other beside the critical path, which
// is computed from the steps that each run has recorded; what a crowd of runs at
// once takes; and how often a question that is asked again finds its results
// and pages kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context) error {
	runs := flag.Int("runs", 10, "runs of each mode, one after the other")
	crowd := flag.Int("crowd", 500, "runs at once")
	out := flag.String("out", "bench/results/web.txt", "`file` for the figures")
	flag.Parse()
	var text strings.Builder
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		fmt.Println(line)
		text.WriteString(line + "\n")
	}
	say("# %s", strings.Join(append([]string{"go run ./bench/web"}, os.Args[1:]...), " "))
	say("# %s %s/%s, %d cores; model %v a call, engine %v a query; SQLite", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), modelLatency, engineLatency)
	for _, mode := range []string{"web_search", "deep_search"} {
		if err := alone(ctx, mode, *runs, say); err != nil {
			return err
		}
	}
	if err := crowded(ctx, *crowd, say); err != nil {
		return err
	}
	if err := again(ctx, say); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}
