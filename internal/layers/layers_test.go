// Package layers holds the module's packages to the ranks of ARCHITECTURE.md.
package layers

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestImportsGoDownward(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages", len(pkgs))
	}
	for _, sentence := range check(ranks, pkgs) {
		t.Error(sentence)
	}
}

func TestCheck(t *testing.T) {
	table := map[string]int{"cmd/*": 3, root: 2, "mode/*": 2, "mode": 1, "port": 1, "low": 0, "port/inner": 0}
	for _, test := range []struct {
		from, to string
		ok       bool
	}{
		{"cmd/a", "port/one", true},
		{"cmd/a", "cmd/b", false},
		{root, "port/one", true},
		{root, "cmd/a", false},
		{"mode/chat", "mode", true},
		{"mode/chat", "mode/search", false},
		{"mode", "mode/chat", false},
		{"mode", "port", false},
		{"port", "low", true},
		{"low", "port", false},
		{"port/one", "port", true},
		{"port/one", "low", true},
		{"port/one", "port/two", false},
		{"port/one", "port/internal/shared", true},
		{"port/one", "mode", false},
		{"port", "port/one", false},
		{"port", "port/internal/shared", true},
		{"port", "port/inner", true},
		{"port/internal/shared", "port", true},
		{"port/internal/shared", "port/internal/other", true},
		{"port/internal/shared", "port/one", false},
		{"mode/chat", "port/one", true},
	} {
		got := check(table, []pkg{{test.from, []string{test.to}}, {test.to, nil}})
		if ok := len(got) == 0; ok != test.ok {
			t.Errorf("%s imports %s: %q", test.from, test.to, got)
		}
	}
	if got := check(table, []pkg{{"fresh/thing", nil}}); len(got) != 1 || !strings.Contains(got[0], where) {
		t.Errorf("a package without a rank: %q", got)
	}
}

// list is the module's packages that have code beside tests.
func list(t *testing.T) []pkg {
	t.Helper()
	watch(t)
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,GoFiles,Imports,Module", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var found struct {
			ImportPath string
			GoFiles    []string
			Imports    []string
			Module     *struct {
				Path string
				Main bool
			}
		}
		if err := dec.Decode(&found); err != nil {
			t.Fatal(err)
		}
		if found.Module == nil || !found.Module.Main || len(found.GoFiles) == 0 {
			continue
		}
		p := pkg{path: below(found.Module.Path, found.ImportPath)}
		for _, imported := range found.Imports {
			if imported == found.Module.Path || strings.HasPrefix(imported, found.Module.Path+"/") {
				p.imports = append(p.imports, below(found.Module.Path, imported))
			}
		}
		pkgs = append(pkgs, p)
	}
	slices.SortFunc(pkgs, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	return pkgs
}

// watch looks into the folders of the module, because go test takes a result of
// before as long as nothing has changed that the test itself looked at.
func watch(t *testing.T) {
	t.Helper()
	const top = "../.."
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != top && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// below is an import path without the module's.
func below(module, importPath string) string {
	if importPath == module {
		return root
	}
	return strings.TrimPrefix(importPath, module+"/")
}
