package kb_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/index"
	"dossier/kb"
	"dossier/reader"
)

var update = flag.Bool("update", false, "add a line for a version that has none yet")

// What was read is kept under the version of what read it, cut it and made terms
// of it. So a change that makes something else of the same documents has to come
// with another version: testdata/versions.txt has a line for each version that
// there was, with a sum of what it made of the samples. -update adds a line, and
// changes none.
func TestVersionsTellWhatWasMade(t *testing.T) {
	r := newReader(t)
	pages, chunks := sha256.New(), sha256.New()
	terms := index.NewBuilder()
	for _, d := range samples(t) {
		page, err := r.Read(t.Context(), d)
		if err != nil {
			t.Fatalf("%s: %v", d.Path, err)
		}
		put(t, pages, page)
		doc := kb.Document{N: 1, Path: d.Path, Title: page.Title, Lang: "en", Text: page.Text, Chunks: kb.Cut(page, 0)}
		put(t, chunks, doc)
		for i := range doc.Chunks {
			in := kb.Indexed(&doc, i)
			in.ID = d.Path + "#" + in.ID
			terms.Add(in)
		}
	}
	// Each depends on those before it.
	reading := strings.Split(kb.New(nil, nil, nil, kb.Options{}).Reading(), ".")
	indexed := sha256.Sum256(terms.Bytes())
	for _, made := range []struct{ what, constant, version, sum string }{
		{"reader", "reader.Version", reading[0], fmt.Sprintf("%x", pages.Sum(nil))},
		{"cut", "cutting in kb/chunk.go", strings.Join(reading[:2], "."), fmt.Sprintf("%x", chunks.Sum(nil))},
		{"terms", "index.Analysis", strings.Join(reading, "."), fmt.Sprintf("%x", indexed)},
	} {
		name := made.what + " " + made.version
		switch known, ok := versions(t)[name]; {
		case ok && known != made.sum:
			t.Fatalf("%s makes something else of the samples than before: raise %s, then run the test with -update", name, made.constant)
		case !ok && *update:
			record(t, name+" "+made.sum)
		case !ok:
			t.Errorf("testdata/versions.txt has no line for %s: -update adds it", name)
		}
	}
}

// samples are documents of all formats.
func samples(t *testing.T) []reader.Document {
	out, err := reader.Samples()
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, reader.Document{Path: "long.md", Body: []byte(longSample())})
	files, err := filepath.Glob("../reader/testdata/structure/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".blocks") {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, reader.Document{Path: filepath.ToSlash(file), Body: body})
	}
	return out
}

// longSample has paragraphs, lists, rows and code of many lengths: where it is
// cut tells what the limits are.
func longSample() string {
	var b strings.Builder
	sentences := []string{"The ferry to the island leaves at seven.", "Паром возвращается, когда темнеет.", "码头上贴着时刻表。"}
	for i := range 40 {
		say := func(n int) string { return strings.Repeat(sentences[i%3]+" ", n) }
		if i%4 == 0 {
			fmt.Fprintf(&b, "## Part %d\n\n", i)
		}
		fmt.Fprintf(&b, "%s\n\nWhat it takes:\n\n- %s\n- %s\n\n", say(i), say(i/3+1), say(i/2))
		fmt.Fprintf(&b, "| day | boats |\n|---|---|\n| %d | %s |\n| %d | two |\n\nRun:\n\n```\nferry --day %d\n```\n\n", i, say(i%9+1), i+1, i)
	}
	return b.String()
}

func put(t *testing.T, sum interface{ Write([]byte) (int, error) }, v any) {
	t.Helper()
	if err := json.NewEncoder(sum).Encode(v); err != nil {
		t.Fatal(err)
	}
}

const versionsFile = "testdata/versions.txt"

// versions are the sums by what made them.
func versions(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(versionsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 3 {
			out[f[0]+" "+f[1]] = f[2]
		}
	}
	return out
}

func record(t *testing.T, line string) {
	t.Helper()
	f, err := os.OpenFile(versionsFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, line); err != nil {
		t.Fatal(err)
	}
}
