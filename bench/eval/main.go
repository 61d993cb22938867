// Command eval measures Dossier on public evaluation sets and prints one line
// per figure: set, metric, value and n, the number of cases behind the value.
//
//	go run ./bench/eval [-dir DIR] [-corpora DIR] [-set GLOBS] [-runs DIR] [-out FILE] [-embedder URL]
//
// DIR holds one folder per set. The lines also replace those of the same sets
// in the results file; lines of sets that were not run stay.
//
// To add a set, write a file with its Run function and name it in sets.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dossier/bench/internal/lab"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := lab.ProjectRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
	os.Exit(run(ctx, root, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program; it returns the exit code.
func run(ctx context.Context, root string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := filepath.Join(root, "..", "shared", "eval")
	dir := flags.String("dir", data, "directory with one folder per set")
	corpora := flags.String("corpora", data, "directory for the files that -dir does not have")
	pattern := flags.String("set", "*", "run only the sets whose names match one of these `GLOBs`, with commas between them")
	runs := flags.String("runs", "", "also write what was answered, as JSON lines, to this directory")
	documents := flags.String("documents", filepath.Join(root, "bench", "questions", "documents"), "directory with the documents of bench/questions")
	embedder := flags.String("embedder", "", "base `URL` of an endpoint with embeddings, for the figures whose names end in .emb")
	out := flags.String("out", filepath.Join(root, "bench", "results", "eval.txt"), "results file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	complain := func(format string, a ...any) { fmt.Fprintf(stderr, "eval: "+format+"\n", a...) }
	if flags.NArg() > 0 {
		complain("unexpected argument %q", flags.Arg(0))
		return 2
	}
	globs := strings.Split(*pattern, ",")
	for _, glob := range globs {
		if _, err := path.Match(glob, ""); err != nil {
			complain("-set %q is not a pattern: %v", glob, err)
			return 2
		}
	}
	wanted := func(set string) bool {
		return slices.ContainsFunc(globs, func(glob string) bool {
			ok, _ := path.Match(glob, set)
			return ok
		})
	}

	folders, err := os.ReadDir(*dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(stdout, "no evaluation data at %s\n", *dir)
		given := false
		flags.Visit(func(f *flag.Flag) { given = given || f.Name == "dir" })
		if given {
			return 1
		}
		return 0
	}
	if err != nil {
		complain("%v", err)
		return 1
	}

	var figures []figure
	ran := map[string]bool{}
	failed := false
	for _, folder := range folders {
		set := setFor(folder.Name())
		if !wanted(folder.Name()) || set == nil || !folder.IsDir() {
			continue
		}
		env := &Env{Set: folder.Name(), Embedder: *embedder, dirs: []string{*dir, *corpora}, stdout: stdout, stderr: stderr}
		err := env.record(*runs)
		if err == nil {
			err = errors.Join(set.Run(ctx, env), env.close())
		}
		if err != nil {
			complain("%s: %v", folder.Name(), err)
			failed = true
			continue
		}
		figures = append(figures, env.figures...)
		ran[folder.Name()] = true
	}
	if wanted(ownSet) {
		env := &Env{Set: ownSet, Embedder: *embedder, stdout: stdout, stderr: stderr}
		err := env.record(*runs)
		if err == nil {
			err = errors.Join(env.ownQuestions(ctx, root, *documents), env.close())
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(stderr, "no documents of bench/questions at %s: go run ./bench/questions/fetch\n", *documents)
		case err != nil:
			complain("%s: %v", ownSet, err)
			failed = true
		default:
			figures = append(figures, env.figures...)
			ran[ownSet] = true
		}
	}
	if len(ran) == 0 && !failed {
		complain("no set in %s matches %q; known are %s", *dir, *pattern, strings.Join(setNames(), ", "))
		return 1
	}
	command := strings.Join(append([]string{"go run ./bench/eval"}, args...), " ")
	if err := writeResults(*out, command, figures, ran); err != nil {
		complain("%v", err)
		return 1
	}
	if failed {
		return 1
	}
	return 0
}
