// Package docs holds the documents to the truth: what they mention exists, and
// the tables that follow from the code are those of the code.
package docs

import (
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documents")

const top = ".."

// documents are the Markdown files of the repository, by their path from its top.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(top, file)
			if err != nil {
				t.Fatal(err)
			}
			docs[filepath.ToSlash(name)] = string(raw)
		}
	}
	return docs
}

func TestDocumentsExist(t *testing.T) {
	docs := documents(t)
	for _, want := range []string{
		"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/events.md",
		"docs/configuration.md", "docs/agents.md", "docs/cli.md", "docs/server.md", "docs/ru/introduction.md", "docs/zh/introduction.md",
	} {
		if docs[want] == "" {
			t.Errorf("%s is missing", want)
		}
	}
}

var (
	fence    = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	span     = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pathLike = regexp.MustCompile(`^[\w.-]+(/[\w.*-]+)*/?$`)
	suffixed = regexp.MustCompile(`\.(md|go|mod|sum|sql|txt|json|ya?ml|db|log)$`)
	local    = regexp.MustCompile(`(?:^|\s)\./([\w./-]+)`)
)

// users are files of the user that the documents speak of.
var users = []string{"agents.yaml", "config.yaml", "dossier.yaml", "dossier.db", "dossier.log", "run.json", "notes.txt"}

// code is what a document shows as code: its spans and the lines of its blocks.
func code(doc string) (spans, lines []string) {
	for _, block := range fence.FindAllStringSubmatch(doc, -1) {
		lines = append(lines, strings.Split(block[1], "\n")...)
	}
	for _, s := range span.FindAllStringSubmatch(fence.ReplaceAllString(doc, ""), -1) {
		spans = append(spans, s[1])
	}
	return spans, lines
}

func TestPathsExist(t *testing.T) {
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	var tops []string
	for _, e := range entries {
		tops = append(tops, e.Name())
	}
	for name, doc := range documents(t) {
		want := func(p string) {
			p = strings.TrimSuffix(p, "...")
			if found, err := fs.Glob(os.DirFS(top), path.Clean(p)); err != nil || len(found) == 0 {
				t.Errorf("%s mentions %s, which is not there", name, p)
			}
		}
		for _, l := range link.FindAllStringSubmatch(doc, -1) {
			to, _, _ := strings.Cut(l[1], "#")
			if to != "" && !strings.Contains(to, "://") {
				want(path.Join(path.Dir(name), to))
			}
		}
		spans, lines := code(doc)
		for _, s := range spans {
			first, _, folder := strings.Cut(s, "/")
			if pathLike.MatchString(s) && !slices.Contains(users, s) && (folder && slices.Contains(tops, first) || suffixed.MatchString(s)) {
				want(s)
			}
		}
		for _, s := range slices.Concat(spans, lines) {
			for _, l := range local.FindAllStringSubmatch(s, -1) {
				want(l[1])
			}
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	calls := regexp.MustCompile(`^(?:\$ )?make ([a-z-]+)`)
	for name, doc := range documents(t) {
		spans, lines := code(doc)
		for _, s := range slices.Concat(spans, lines) {
			if m := calls.FindStringSubmatch(s); m != nil && !targets[m[1]] {
				t.Errorf("%s mentions make %s: there is no such target", name, m[1])
			}
		}
	}
}

// TestProgramFlagsExist looks at the programs for developers, which use
// package flag: each flag that the documents give them is in their source.
func TestProgramFlagsExist(t *testing.T) {
	call := regexp.MustCompile(`(?:go run \./((?:bench|internal|lang)/[\w/]+)|(?:^|[ /])(dossier-llmtest))((?: +[^ |&;>]+)*)`)
	option := regexp.MustCompile(`(?:^| )-([a-z]+)`)
	for name, doc := range documents(t) {
		spans, lines := code(doc)
		for _, s := range slices.Concat(spans, lines) {
			m := call.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			dir := m[1]
			if m[2] != "" {
				dir = "cmd/" + m[2]
			}
			for _, f := range option.FindAllStringSubmatch(m[3], -1) {
				if !quotedIn(t, dir, f[1]) {
					t.Errorf("%s gives %s the flag -%s, which it does not have", name, dir, f[1])
				}
			}
		}
	}
}

// quotedIn says whether the Go files of a folder have the flag's name as a string.
func quotedIn(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(raw), `"`+name+`"`) || strings.Contains(string(raw), `"-`+name+`"`)
	})
}

func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(documents(t)["README.md"], "\n"); n > 200 {
		t.Errorf("README.md has %d lines; 200 are enough", n)
	}
}

// TestDependenciesAreExplained asks every direct requirement for its reason.
func TestDependenciesAreExplained(t *testing.T) {
	gomod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, explained, found := strings.Cut(documents(t)["ARCHITECTURE.md"], "\n## Direct dependencies\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no section Direct dependencies")
	}
	direct := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?([\w./-]+\.[\w./-]+) v[^\s]+$`).FindAllStringSubmatch(string(gomod), -1) {
		direct[m[1]] = true
		if !strings.Contains(explained, "\n| `"+m[1]+"` | ") {
			t.Errorf("ARCHITECTURE.md does not say why %s is required", m[1])
		}
	}
	if len(direct) == 0 {
		t.Fatal("go.mod has no requirement that this test can read")
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([\\w./-]+)` \\| ").FindAllStringSubmatch(explained, -1) {
		if !direct[m[1]] {
			t.Errorf("ARCHITECTURE.md explains %s, which go.mod does not require", m[1])
		}
	}
}
