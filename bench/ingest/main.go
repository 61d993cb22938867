// Command ingest measures how fast a folder becomes a collection: 5,000 files of
// 20 paragraphs each, a third each of plain text, Markdown and HTML, read, cut and
// indexed on SQLite, and once more when nothing has changed. Beside it, in the same
// run, the files are read and their paragraphs put into a table of FTS5.
//
//	go run ./bench/ingest [-corpus FILE] [-files N] [-out FILE]
//
// FILE holds a paragraph a line: number, title, text. Without it nothing is
// measured, and the output says so.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"dossier/bench/internal/lab"
	"dossier/internal/base/rusage"
	"dossier/internal/store/sqlite"
	"dossier/kb"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

const paragraphs = 20 // of a file

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("ingest", flag.ContinueOnError)
	corpus := flags.String("corpus", filepath.Join("..", "shared", "bench", "corpus.tsv.gz"), "paragraphs, one a line")
	files := flags.Int("files", 5000, "how many to make of them")
	out := flags.String("out", filepath.Join("bench", "results", "ingest.txt"), "results file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	dir, err := os.MkdirTemp("", "bench-ingest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "folder")
	size, err := write(*corpus, folder, *files)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(stdout, "corpus absent: no %s; nothing was measured and %s is as it was\n", *corpus, *out)
		return nil
	case err != nil:
		return err
	}
	var text strings.Builder
	w := io.MultiWriter(stdout, &text)
	fmt.Fprintf(w, "# %s\n", strings.Join(append([]string{"go run ./bench/ingest"}, args...), " "))
	fmt.Fprintf(w, "# %s %s/%s, %s; load %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, lab.CPU(), lab.Load())
	fmt.Fprintf(w, "\n## %d files, %.1f MB\n", *files, float64(size)/1e6)
	if err := measure(ctx, w, dir, folder, *files); err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(text.String()), 0o644)
}

// write makes files of a corpus and returns their size.
func write(corpus, folder string, files int) (size int, err error) {
	f, err := os.Open(corpus)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", corpus, err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for n := range files {
		var title string
		var texts []string
		for len(texts) < paragraphs && lines.Scan() {
			fields := strings.SplitN(lines.Text(), "\t", 3)
			if len(fields) < 3 {
				return 0, fmt.Errorf("%s: a line of %d fields", corpus, len(fields))
			}
			title = fields[1]
			texts = append(texts, fields[2])
		}
		if len(texts) == 0 {
			return 0, fmt.Errorf("%s: it has enough for %d files only: lower -files", corpus, n)
		}
		name, body := document(n, title, texts)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600); err != nil {
			return 0, err
		}
		size += len(body)
	}
	return size, lines.Err()
}

// document is the n-th file.
func document(n int, title string, texts []string) (name, body string) {
	switch n % 3 {
	case 0:
		return fmt.Sprintf("%05d.txt", n), title + "\n\n" + strings.Join(texts, "\n\n") + "\n"
	case 1:
		return fmt.Sprintf("%05d.md", n), "# " + title + "\n\n" + strings.Join(texts, "\n\n") + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><title>%s</title></head><body><main><h1>%[1]s</h1>\n", html.EscapeString(title))
	for _, t := range texts {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(t))
	}
	b.WriteString("</main></body></html>\n")
	return fmt.Sprintf("%05d.html", n), b.String()
}

// cost is what something took.
type cost struct{ wall, cpu float64 } // in seconds

func (c cost) per(n int) string {
	return fmt.Sprintf("%8.2f s  %8.2f s CPU  %8.2f ms CPU a file", c.wall, c.cpu, c.cpu*1000/float64(n))
}

func timed(do func() error) (cost, error) {
	began, used := time.Now(), rusage.CPU()
	err := do()
	return cost{time.Since(began).Seconds(), rusage.CPU() - used}, err
}

func measure(ctx context.Context, w io.Writer, dir, folder string, files int) error {
	bare, err := timed(func() error { return fts5(ctx, filepath.Join(dir, "bare.db"), folder) })
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-44s %s\n", "read, paragraphs into FTS5 (modernc)", bare.per(files))
	store, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	var first, second cost
	var chunks int
	first, err = timed(func() error {
		// The child processes' time counts when they have ended.
		r := reader.New(reader.Config{})
		defer r.Close()
		library := kb.New(store, r, nil, kb.Options{})
		c, err := library.Ensure(ctx, folder)
		if err != nil {
			return err
		}
		if _, err := library.Sync(ctx, c.ID, kb.SyncOptions{}); err != nil {
			return err
		}
		c, err = library.Ensure(ctx, folder)
		chunks = c.Chunks
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-44s %s\n", fmt.Sprintf("dossier/kb, %d passages", chunks), first.per(files))
	r := reader.New(reader.Config{})
	defer r.Close()
	library := kb.New(store, r, nil, kb.Options{})
	c, err := library.Ensure(ctx, folder)
	if err != nil {
		return err
	}
	second, err = timed(func() error {
		_, err := library.Sync(ctx, c.ID, kb.SyncOptions{})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-44s %s\n", "dossier/kb, nothing has changed", second.per(files))
	fmt.Fprintf(w, "%.2f of the CPU time of FTS5\n", first.cpu/bare.cpu)
	return nil
}

// fts5 reads a folder and puts its lines into a table.
func fts5(ctx context.Context, path, folder string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE VIRTUAL TABLE t USING fts5(name, text)"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it is over where it was committed
	insert, err := tx.PrepareContext(ctx, "INSERT INTO t VALUES (?, ?)")
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(body)) {
			if line == "\n" {
				continue
			}
			if _, err := insert.ExecContext(ctx, e.Name(), line); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
