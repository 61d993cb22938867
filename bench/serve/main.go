// Command serve measures the server beside a bare one: a program of net/http that
// writes the same messages to whoever is connected, which is the least that such a
// thing can take. Both are processes of their own; the clients are in this one.
//
//	go run ./bench/serve [-streams N] [-sessions N] [-time D] [-calls N] [-out FILE]
//	go run ./bench/serve -nginx
//
// It prints what many open streams of one run take in memory and for each message,
// how late messages arrive when many sessions are told many at once, and how much
// longer a chat completion takes than the call of the model behind it. With -nginx it
// follows a run through nginx as that is without any setting, for more than two minutes
// of silence, and does nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

const defaultOut = "bench/results/serve.txt"

func measure(ctx context.Context) error {
	streams := flag.Int("streams", 10_000, "open streams of one run")
	sessions := flag.Int("sessions", 1000, "sessions that are told ten messages a second")
	lasts := flag.Duration("time", 20*time.Second, "how long they are told")
	calls := flag.Int("calls", 500, "chat completions, one after the other")
	out := flag.String("out", defaultOut, "`file` for the figures")
	nginx := flag.Bool("nginx", false, "follow a run through nginx instead, and write bench/results/serve-nginx.txt")
	as := flag.String("as", "", "be the server of that `name`, as this program has itself be")
	model := flag.String("model", "", "`address` of the model for that")
	flag.Parse()
	switch *as {
	case "ours":
		return ours(ctx, *model)
	case "bare":
		return bare(ctx)
	}
	var text strings.Builder
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		fmt.Println(line)
		text.WriteString(line + "\n")
	}
	say("# %s", strings.Join(append([]string{"go run ./bench/serve"}, os.Args[1:]...), " "))
	say("# %s %s/%s, %d cores, which servers and clients share; SQLite", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if *nginx {
		if err := behindNginx(ctx, say); err != nil {
			return err
		}
		if *out == defaultOut {
			*out = "bench/results/serve-nginx.txt"
		}
		return os.WriteFile(*out, []byte(text.String()), 0o644)
	}
	if err := crowd(ctx, *streams, say); err != nil {
		return err
	}
	if err := many(ctx, *sessions, *lasts, say); err != nil {
		return err
	}
	if err := completions(ctx, *calls, say); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}
