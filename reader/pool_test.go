package reader

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program that forgot WorkerMain starts itself once and not without end.
func TestWorkerThatIsNone(t *testing.T) {
	t.Setenv(workerEnv, "1000000")
	if _, err := startChild(1 << 28); !errors.Is(err, errNoWorkerMain) {
		t.Error(err)
	}
}

// The machine code of the PDF parser, which takes seconds to make, is not made
// for a short document, also where others have kept something in the directory.
func TestShortPDFIsNotCompiledFor(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"text", "wazero-unfinished"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := New(Config{CacheDir: dir})
	defer r.Close()
	page, err := r.Read(t.Context(), Document{URL: "a.pdf", Body: pdfLaid([]laid{body(60, 700, "The ferry leaves at seven.")})})
	if err != nil || !strings.Contains(page.Text, "The ferry leaves at seven.") {
		t.Fatalf("%+v, %v", page, err)
	}
	if all, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*")); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}
