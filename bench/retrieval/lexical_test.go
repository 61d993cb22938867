package main

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"dossier/index"
)

func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	if _, err := readCorpus(dir, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a corpus: %v", err)
	}
	f, err := os.Create(filepath.Join(dir, "corpus.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte("0\tA title\tThe first text\n1\tB\tand the second\n")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "queries.txt"), []byte("first text\nsecond\nthird\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := readCorpus(dir, 2)
	if err != nil || len(c.docs) != 2 || len(c.queries) != 2 || c.docs[1].Text != "and the second" {
		t.Fatalf("%+v, %v", c, err)
	}
	data, figures, err := build(c.docs)
	if err != nil {
		t.Fatal(err)
	}
	segment, err := index.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(index.New(segment), c.queries, 1, &figures); err != nil || figures.P50 <= 0 || figures.IndexMB <= 0 {
		t.Errorf("%+v, %v", figures, err)
	}
}

func TestVectorsAreSeeded(t *testing.T) {
	a, b, other := clustered(2, 1), clustered(2, 1), clustered(2, 2)
	if a[1][7] != b[1][7] || a[1][7] == other[1][7] {
		t.Error("the same seed must give the same vectors, another stream others")
	}
}
