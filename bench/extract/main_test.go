package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	pages, results := filepath.Join(dir, "pages.jsonl.gz"), filepath.Join(dir, "results.txt")
	args := []string{"-pages", pages, "-yardstick", filepath.Join(dir, "none"), "-rounds", "1", "-out", results}
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil || !strings.Contains(out.String(), "pages absent") {
		t.Errorf("%v, %s", err, out.String())
	}
	if _, err := os.Stat(results); err == nil {
		t.Error("results of nothing were written")
	}
	line := `{"id": "a", "url": "http://a.example/", "html": "<html><body><p>The council voted on Monday to close the old bridge.</p></body></html>"}` + "\n"
	if err := pack(pages, line+line); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(results)
	if err != nil || string(written) != out.String() {
		t.Errorf("%v: %s", err, written)
	}
	for _, want := range []string{"2 pages", "others not measured", "dossier/reader", "html_aeb_en f1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
