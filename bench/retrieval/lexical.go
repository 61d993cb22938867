package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/index"
	"dossier/internal/base/rusage"
)

// corpus is what is indexed and asked.
type corpus struct {
	docs    []index.Doc
	bytes   int
	queries []string
}

func readCorpus(dir string, queries int) (*corpus, error) {
	f, err := os.Open(filepath.Join(dir, "corpus.tsv.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	c := &corpus{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, rest, _ := strings.Cut(lines.Text(), "\t")
		_, text, ok := strings.Cut(rest, "\t")
		if !ok {
			return nil, fmt.Errorf("corpus.tsv.gz:%d: want id, title and text", len(c.docs)+1)
		}
		// The yardstick indexes the text alone.
		c.docs = append(c.docs, index.Doc{ID: id, Text: text})
		c.bytes += len(text)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	asked, err := os.ReadFile(filepath.Join(dir, "queries.txt"))
	if err != nil {
		return nil, err
	}
	c.queries = strings.Split(strings.TrimSpace(string(asked)), "\n")
	c.queries = c.queries[:min(queries, len(c.queries))]
	return c, nil
}

// figures of an engine, under the names that the yardstick prints.
type figures struct {
	IndexCPU float64 `json:"index_cpu_s"`
	IndexMB  float64 `json:"index_mb"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
}

func (f figures) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%-28s p50 %9.1f µs   p99 %9.1f µs   index %6.2f s CPU %7.2f MB\n", name, f.P50, f.P99, f.IndexCPU, f.IndexMB)
}

// lexical measures the index beside the yardsticks.
func lexical(w io.Writer, dir string, c *corpus, passes int) error {
	fmt.Fprintf(w, "\n## %d paragraphs, %.1f MB of text; %d queries, any term, first ten\n", len(c.docs), float64(c.bytes)/1e6, len(c.queries))
	bare, fts5, err := yardsticks(w, dir, passes, len(c.queries))
	if err != nil {
		fmt.Fprintf(w, "yardsticks not measured: %v\n", err)
	}
	data, ours, err := build(c.docs)
	if err != nil {
		return err
	}
	segment, err := index.Open(data)
	if err != nil {
		return err
	}
	if err := ask(index.New(segment), c.queries, passes, &ours); err != nil {
		return err
	}
	ours.print(w, "dossier/index")
	if fts5.P50 > 0 && bare.P50 > 0 {
		fmt.Fprintf(w, "p50 is 1/%.0f of FTS5's [1/20 or less] and %.2f of bare BM25's [4 or less]; indexing takes %.2f of FTS5's CPU time [1 or less]; %.1f MB [15 or less]\n",
			fts5.P50/ours.P50, ours.P50/bare.P50, ours.IndexCPU/fts5.IndexCPU, ours.IndexMB)
	}

	fmt.Fprintf(w, "\n## by number of passages\n")
	if err := scale(w, "10k", c, c.docs[:min(10_000, len(c.docs))], 1); err != nil {
		return err
	}
	if err := scale(w, "100k", c, c.docs, 1); err != nil {
		return err
	}
	return scale(w, "1M (ten segments)", c, c.docs, 10)
}

// build indexes docs and says what it cost.
func build(docs []index.Doc) ([]byte, figures, error) {
	start := rusage.CPU()
	b := index.NewBuilder()
	for _, d := range docs {
		b.Add(d)
	}
	data := b.Bytes()
	return data, figures{IndexCPU: rusage.CPU() - start, IndexMB: float64(len(data)) / 1e6}, nil
}

// ask measures queries after a pass that warms up.
func ask(x *index.Index, queries []string, passes int, f *figures) error {
	var took []float64
	for pass := range passes + 1 {
		for _, q := range queries {
			start := time.Now()
			if _, err := x.Search(index.Query{Text: q, Limit: 10}); err != nil {
				return err
			}
			if pass > 0 {
				took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
			}
		}
	}
	slices.Sort(took)
	f.P50, f.P99 = took[len(took)/2], took[len(took)*99/100]
	return nil
}

// scale measures docs, copies times over, each copy a segment with ids of its
// own.
func scale(w io.Writer, name string, c *corpus, docs []index.Doc, copies int) error {
	var segments []*index.Segment
	var total figures
	for n := range copies {
		part := docs
		if n > 0 {
			part = slices.Clone(docs)
			for i := range part {
				part[i].ID = strconv.Itoa(n*len(docs) + i)
			}
		}
		data, f, err := build(part)
		if err != nil {
			return err
		}
		segment, err := index.Open(data)
		if err != nil {
			return err
		}
		segments = append(segments, segment)
		total.IndexCPU += f.IndexCPU
		total.IndexMB += f.IndexMB
	}
	if err := ask(index.New(segments...), c.queries, 1, &total); err != nil {
		return err
	}
	total.print(w, name)
	return nil
}

// yardsticks builds the program that measures bare BM25 and FTS5 and runs it
// on the same corpus.
func yardsticks(w io.Writer, dir string, passes, queries int) (bare, fts5 figures, err error) {
	source, err := filepath.Abs(filepath.Join(dir, "yardsticks", "retrieval"))
	if err != nil {
		return bare, fts5, err
	}
	if _, err := os.Stat(source); err != nil {
		return bare, fts5, err
	}
	tmp, err := os.MkdirTemp("", "retrieval")
	if err != nil {
		return bare, fts5, err
	}
	defer os.RemoveAll(tmp)
	program := filepath.Join(tmp, "yardstick")
	compile := exec.Command("go", "build", "-o", program, ".")
	compile.Dir = source
	if out, err := compile.CombinedOutput(); err != nil {
		return bare, fts5, fmt.Errorf("build the yardstick: %w\n%s", err, out)
	}
	tsv, asked := filepath.Join(tmp, "corpus.tsv"), filepath.Join(tmp, "queries.txt")
	if err := unpack(filepath.Join(dir, "corpus.tsv.gz"), tsv); err != nil {
		return bare, fts5, err
	}
	all, err := os.ReadFile(filepath.Join(dir, "queries.txt"))
	if err != nil {
		return bare, fts5, err
	}
	lines := strings.SplitAfter(string(all), "\n")
	if err := os.WriteFile(asked, []byte(strings.Join(lines[:min(queries, len(lines))], "")), 0o644); err != nil {
		return bare, fts5, err
	}
	for _, e := range []struct {
		engine, name string
		passes       int
		to           *figures
	}{{"bm25", "bare BM25, in memory", passes, &bare}, {"modernc", "FTS5 (modernc)", 1, &fts5}} {
		cmd := exec.Command(program, "-engine", e.engine, "-passes", strconv.Itoa(e.passes),
			"-corpus", tsv, "-queries", asked, "-dir", filepath.Join(tmp, "scratch"))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.Output()
		if err != nil {
			return bare, fts5, fmt.Errorf("yardstick %s: %w", e.engine, err)
		}
		if err := json.Unmarshal(out, e.to); err != nil {
			return bare, fts5, fmt.Errorf("yardstick %s: %w", e.engine, err)
		}
		e.to.print(w, e.name)
	}
	return bare, fts5, nil
}

func unpack(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, z); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
