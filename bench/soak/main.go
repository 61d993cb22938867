// Command soak has clients use `dossier serve` for a long time, in all the ways that
// there are, and looks at whether it stays as it is: what it has in memory, and which
// goroutines are left when all clients have left.
//
//	go run ./bench/soak [-for 30m] [-clients N] [-out FILE]
//
// The server is a process of its own; the clients, the scripted model and the web that
// is searched are in this one. Clients chat, start runs and cancel them, follow them
// over each protocol, leave in the middle and come back, search, and make mistakes. A
// reply that is not what it has to be is an error, and the last line counts them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"dossier/internal/base/headroom"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	if args := os.Getenv(childVar); args != "" {
		headroom.Keep(headroom.Default)
		os.Exit(serve(args))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	lasts := flag.Duration("for", 30*time.Minute, "how long, the warm-up aside")
	clients := flag.Int("clients", 8, "clients at once")
	out := flag.String("out", "bench/results/soak.txt", "`file` for the figures")
	flag.Parse()
	var text strings.Builder
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		fmt.Println(line)
		text.WriteString(line + "\n")
	}
	say("# %s", strings.Join(append([]string{"go run ./bench/soak"}, os.Args[1:]...), " "))
	say("# %s %s/%s, %d cores, which server and clients share; SQLite", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	f, err := soak(ctx, *clients, *lasts)
	if err == nil {
		f.say(say)
		err = os.WriteFile(*out, []byte(text.String()), 0o644)
	}
	if err == nil && len(f.troubles) > 0 {
		err = fmt.Errorf("%d replies were not what they have to be", len(f.troubles))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// figures are what a soak has found.
type figures struct {
	lasted   time.Duration
	done     map[string]int // by what clients did
	memory   []int64        // samples, in bytes
	before   int            // goroutines without a client, when all was warm
	left     int            // of them, more in the end
	after    int64          // memory without a client in the end
	troubles []string
}

// drift is by how much the memory of the last quarter is more than that of the first,
// as a share of it.
func (f *figures) drift() (first, last int64, share float64) {
	quarter := max(len(f.memory)/4, 1)
	mean := func(list []int64) (sum int64) {
		for _, n := range list {
			sum += n
		}
		return sum / int64(max(len(list), 1))
	}
	first, last = mean(f.memory[:min(quarter, len(f.memory))]), mean(f.memory[max(len(f.memory)-quarter, 0):])
	return first, last, float64(last-first) / float64(max(first, 1))
}

func (f *figures) say(say func(string, ...any)) {
	var names []string
	total := 0
	for name, n := range f.done {
		names = append(names, fmt.Sprintf("%s %d", name, n))
		total += n
	}
	slices.Sort(names)
	say("soak.done %d in %v: %s", total, f.lasted.Round(time.Second), strings.Join(names, ", "))
	first, last, share := f.drift()
	say("soak.memory %.1f MiB in the first quarter, %.1f MiB in the last: %+.1f %% [< 5 %%]; %.1f MiB at most, %.1f MiB when all had left",
		mib(first), mib(last), 100*share, mib(slices.Max(f.memory)), mib(f.after))
	say("soak.goroutines %d before, %d left over when all had left [0]", f.before, f.left)
	for _, trouble := range f.troubles[:min(len(f.troubles), 10)] {
		say("soak.trouble %s", trouble)
	}
	say("soak.errors %d", len(f.troubles))
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
