// Command fit finds the weights by which package extract ranks passages and
// tells how sure it is of what it quotes. It reads a set of questions over real
// documents (manuals_multi), prints how well they are answered with weights that
// were fitted to the other folders, folder by folder, and the Go text of the
// weights that were fitted to all of them; the questions of bench/questions, which
// nothing is fitted to, come last.
//
// A set has few questions without an answer. So each question that has one is
// asked again of what is left of its folder without the passages, or documents,
// that show the answer, and of another folder; and some questions over short
// articles are asked with their article and without it.
//
// With -embedder, the address of an OpenAI-like endpoint whose model knows English,
// it also finds how near the meaning of a passage must come.
//
//	go run ./bench/fit [-set DIR] [-documents DIR] [-embedder URL]
//
// What it printed last is bench/results/fit.txt.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"dossier/bench/internal/asked"
	"dossier/bench/internal/lab"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	set := flag.String("set", filepath.Join(root, "..", "shared", "eval", "manuals_multi"), "folder with questions.jsonl.gz and corpus.tar.gz")
	documents := flag.String("documents", filepath.Join(root, "bench", "questions", "documents"), "folder with the documents of bench/questions")
	embedder := flag.String("embedder", "", "address of an endpoint for embeddings, to fit what searching by meaning adds")
	flag.Parse()
	if _, err := os.Stat(*set); err != nil {
		return fmt.Errorf("there are no questions to fit to: %w", err)
	}
	dir, err := os.MkdirTemp("", "fit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := exec.CommandContext(ctx, "tar", "xzf", filepath.Join(*set, "corpus.tar.gz"), "-C", dir).Run(); err != nil {
		return fmt.Errorf("unpacking the corpus: %w", err)
	}
	for _, file := range []string{"questions.jsonl.gz", "corpus.tar.gz"} {
		sum, err := hash(filepath.Join(*set, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  %s\n", sum, file)
	}
	cases, shelves, err := load(ctx, dir, filepath.Join(*set, "questions.jsonl.gz"))
	if err != nil {
		return err
	}
	weights, ofFolder := report(out, cases)
	all, err := claims(cases, shelves, ofFolder)
	if err != nil {
		return err
	}
	articles, err := plain(ctx, filepath.Dir(*set))
	if err != nil {
		return err
	}
	all = append(all, articles...)
	confidence := reportConfidence(out, all)
	var near *meaning
	var nearby []float64
	if *embedder != "" {
		if near, err = newMeaning(*embedder); err != nil {
			return err
		}
		if nearby, err = near.report(ctx, out, "English", cases, shelves, ofFolder, nil); err != nil {
			return err
		}
	}
	if _, err := os.Stat(*documents); err != nil {
		fmt.Fprintf(out, "no documents of bench/questions at %s: go run ./bench/questions/fetch\n", *documents)
		return nil
	}
	if cases, shelves, err = load(ctx, *documents, filepath.Join(root, "bench", "questions", "questions.jsonl")); err != nil {
		return err
	}
	tell(out, "bench/questions", cases, func(e *example) asked.Answer { return e.answer(&weights) })
	if all, err = claims(cases, shelves, func(string) *vector { return &weights }); err != nil {
		return err
	}
	tellConfidence(out, "bench/questions", all, func(c *claim) float64 { return logistic(confidence, c.signs[:]) })
	if near != nil {
		_, err = near.report(ctx, out, "own English", cases, shelves, func(string) *vector { return &weights }, nearby)
		return err
	}
	return nil
}

func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// load finds passages for the questions over folders of documents.
func load(ctx context.Context, dir, questions string) ([]example, map[string]*shelf, error) {
	list, err := asked.Load(questions)
	if err != nil {
		return nil, nil, err
	}
	shelves, err := read(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	var out []example
	for i := range list {
		shelf := shelves[list[i].Folder]
		if shelf == nil {
			return nil, nil, fmt.Errorf("%s: there is no folder %q", questions, list[i].Folder)
		}
		e, err := shelf.look(&list[i])
		if err != nil {
			return nil, nil, err
		}
		out = append(out, e)
	}
	return out, shelves, nil
}
