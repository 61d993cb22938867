// Command retrieval measures how fast and how small the index is, beside
// SQLite's FTS5 and a bare in-memory BM25 in the same run, and how long an
// exact scan over vectors takes beside reading the same bytes.
//
//	go run ./bench/retrieval [-data DIR] [-queries N] [-out FILE]
//
// DIR holds corpus.tsv.gz and queries.txt, and yardsticks/retrieval with the
// program that measures the other two. Without it only the vectors, which are
// made here, are measured, and the output says so.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	// One core: what is compared is the work, not the machine.
	runtime.GOMAXPROCS(1)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "retrieval:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("retrieval", flag.ContinueOnError)
	data := flags.String("data", filepath.Join("..", "shared", "bench"), "directory with the corpus and the yardsticks")
	queries := flags.Int("queries", 2100, "how many of the queries to ask")
	passes := flags.Int("passes", 3, "how often to ask them")
	out := flags.String("out", filepath.Join("bench", "results", "retrieval.txt"), "results file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	var text strings.Builder
	w := io.MultiWriter(stdout, &text)
	fmt.Fprintf(w, "# %s\n", strings.Join(append([]string{"go run ./bench/retrieval"}, args...), " "))
	fmt.Fprintf(w, "# %s %s/%s, one core; p50 and p99 of single queries\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	corpus, err := readCorpus(*data, *queries)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(w, "corpus absent: no %s; only the vectors were measured\n", filepath.Join(*data, "corpus.tsv.gz"))
	case err != nil:
		return err
	default:
		if err := lexical(w, *data, corpus, *passes); err != nil {
			return err
		}
	}
	if err := dense(w); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}
