// Command extract measures how many HTML pages a second of CPU turns into text,
// beside parsing them and no more, and beside go-trafilatura, in the same run.
//
//	go run ./bench/extract [-pages FILE] [-yardstick DIR] [-rounds N] [-out FILE]
//
// FILE holds the pages of the article extraction benchmark, DIR the program that
// measures the others. Without the pages nothing is measured, and the output
// says so.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"dossier/internal/base/rusage"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	runtime.GOMAXPROCS(1)
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("extract", flag.ContinueOnError)
	from := flags.String("pages", filepath.Join("..", "shared", "eval", "html_aeb_en", "pages.jsonl.gz"), "pages, as JSON lines")
	yardstick := flags.String("yardstick", filepath.Join("..", "shared", "bench", "yardsticks", "extract"), "directory of the program that measures others")
	rounds := flags.Int("rounds", 5, "how often to read them")
	out := flags.String("out", filepath.Join("bench", "results", "extract.txt"), "results file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	var text strings.Builder
	w := io.MultiWriter(stdout, &text)
	fmt.Fprintf(w, "# %s\n", strings.Join(append([]string{"go run ./bench/extract"}, args...), " "))
	fmt.Fprintf(w, "# %s %s/%s; pages per second of CPU\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	pages, err := readPages(*from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(stdout, "pages absent: no %s; nothing was measured and %s is as it was\n", *from, *out)
		return nil
	case err != nil:
		return err
	}
	if err := measure(ctx, w, pages, *yardstick, *rounds); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}

// page is a line of the set.
type page struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	HTML string `json:"html"`
}

func readPages(name string) ([]page, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var pages []page
	lines := json.NewDecoder(bufio.NewReader(z))
	for {
		var p page
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return pages, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, len(pages)+1, err)
		}
		pages = append(pages, p)
	}
}

func measure(ctx context.Context, w io.Writer, pages []page, yardstick string, rounds int) error {
	size := 0
	for _, p := range pages {
		size += len(p.HTML)
	}
	fmt.Fprintf(w, "\n## %d pages, %.1f MB of HTML\n", len(pages), float64(size)/1e6)
	show := func(name string, speed float64) {
		fmt.Fprintf(w, "%-40s %7.1f pages/s %8.2f ms a page\n", name, speed, 1000/speed)
	}
	others, err := measureOthers(pages, yardstick, rounds, show)
	if err != nil {
		fmt.Fprintf(w, "others not measured: %v\n", err)
	}
	ours, err := measureOurs(ctx, pages, rounds)
	if err != nil {
		return err
	}
	show("dossier/reader, with its child process", ours)
	parse, fast := others["parse"], others["trafilatura-fast"]
	if parse > 0 && fast > 0 {
		fmt.Fprintf(w, "%.1f times go-trafilatura without fallback and %.2f of html.Parse alone [between go-trafilatura without fallback and html.Parse alone]\n", ours/fast, ours/parse)
	}
	fmt.Fprintln(w, "F1 over these pages: html_aeb_en f1 in bench/results/eval.txt")
	return nil
}

// measureOurs reads the pages as a run does: they go to a child process, and
// text, Markdown, blocks and metadata come back. What starting the child and
// warming up takes is left out.
func measureOurs(ctx context.Context, pages []page, rounds int) (float64, error) {
	cost := func(rounds int) (float64, error) {
		start := rusage.CPU()
		r := reader.New(reader.Config{Workers: 1})
		for range rounds {
			for _, p := range pages {
				_, err := r.Read(ctx, reader.Document{URL: p.URL, Body: []byte(p.HTML), ContentType: "text/html"})
				if about := (*reader.Error)(nil); err != nil && !errors.As(err, &about) {
					r.Close()
					return 0, fmt.Errorf("%s: %w", p.ID, err)
				}
			}
		}
		r.Close() // the child's time is known when it has ended
		return rusage.CPU() - start, nil
	}
	once, err := cost(1)
	if err != nil {
		return 0, err
	}
	all, err := cost(1 + rounds)
	if err != nil {
		return 0, err
	}
	return float64(rounds*len(pages)) / (all - once), nil
}

// measureOthers builds the yardstick and runs it over the same pages.
func measureOthers(pages []page, source string, rounds int, show func(string, float64)) (map[string]float64, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(source); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "extract")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	program := filepath.Join(tmp, "yardstick")
	compile := exec.Command("go", "build", "-o", program, ".")
	compile.Dir = source
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the yardstick: %w\n%s", err, out)
	}
	for _, p := range pages {
		if err := pack(filepath.Join(tmp, p.ID+".html.gz"), p.HTML); err != nil {
			return nil, err
		}
	}
	speeds := map[string]float64{}
	for _, e := range []struct{ engine, name string }{
		{"parse", "html.Parse alone"},
		{"trafilatura-fast", "go-trafilatura without fallback"},
		{"trafilatura", "go-trafilatura with fallback"},
	} {
		cmd := exec.Command(program, "-engine", e.engine, "-dir", tmp, "-rounds", strconv.Itoa(rounds))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("yardstick %s: %w", e.engine, err)
		}
		var f struct {
			Speed float64 `json:"pages_per_cpu_s"`
			Pages int     `json:"pages"`
		}
		if err := json.Unmarshal(out, &f); err != nil {
			return nil, fmt.Errorf("yardstick %s: %w", e.engine, err)
		}
		if f.Pages != len(pages) {
			return nil, fmt.Errorf("yardstick %s read %d pages of %d", e.engine, f.Pages, len(pages))
		}
		speeds[e.engine] = f.Speed
		show(e.name, f.Speed)
	}
	return speeds, nil
}

func pack(name, text string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	_, err = io.WriteString(z, text)
	return errors.Join(err, z.Close(), f.Close())
}
