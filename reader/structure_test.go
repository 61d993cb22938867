package reader

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the blocks of the samples as they are now")

// structure is a page's blocks, one a line, with what a reader of them sees.
func structure(p *Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q\n", p.Format, p.Title)
	path := ""
	for _, k := range p.Blocks {
		if at := strings.Join(k.Path, " / "); at != path {
			fmt.Fprintf(&b, "under %q\n", at)
			path = at
		}
		level := ""
		if k.Level > 0 {
			level = fmt.Sprintf(" %d", k.Level)
		}
		page := ""
		if k.Page > 0 {
			page = fmt.Sprintf(" on page %d", k.Page)
		}
		fmt.Fprintf(&b, "%s%s%s: %s\n", k.Kind, level, page, strings.ReplaceAll(p.Text[k.Start:k.End], "\n", "\n  | "))
	}
	return b.String()
}

// TestStructure reads the samples in testdata/structure: each has the shape of
// documents that tools make, and beside it the blocks that it consists of.
func TestStructure(t *testing.T) {
	files, err := filepath.Glob("testdata/structure/*")
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, Config{Workers: 1})
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".blocks") {
			continue
		}
		n++
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Read(t.Context(), Document{Path: file, Body: body})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		check(t, p)
		got := structure(p)
		if *update {
			if err := os.WriteFile(file+".blocks", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file + ".blocks")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got != string(want) {
			t.Errorf("%s:\n%swant\n%s", file, got, want)
		}
	}
	if n == 0 {
		t.Error("no samples")
	}
}

// FuzzText reads any text: its blocks stay parts of it, in order.
func FuzzText(f *testing.F) {
	seed(f, ".txt")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parse(&Document{Body: []byte(s)}, Text, limits{Text: 1 << 20})
		if err == nil {
			check(t, p)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	seed(f, ".md")
	fuzz(f, Markdown, func(_ testing.TB, s string) []byte { return []byte(s) }, "a|b\n-|-\n|", "> [!x]\n>", "x\n: y\n- [a](#b)", "```\n", "- a\n\n      b\n\n      c")
}

func FuzzMan(f *testing.F) {
	seed(f, ".1", ".8")
	fuzz(f, Man, func(_ testing.TB, s string) []byte { return []byte(s) }, ".TS\n.\nT{\nT}", ".Bl\n.It Xo\n.Xc", ".TP\n.nf\n\\f(", "\\[u110000]\\s+\\*[")
}

// seed adds the samples with an ending to a corpus.
func seed(f *testing.F, endings ...string) {
	for _, ending := range endings {
		files, err := filepath.Glob("testdata/structure/*" + ending)
		if err != nil || len(files) == 0 {
			f.Fatal("no samples", ending, err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(body))
		}
	}
}
