//go:build !noui

package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/internal/clienttest"
)

// most is the size of all that the bundler makes, compressed: code and styles of every
// screen. A first visit loads half of it at most, the words of its language included.
const most = 80_000

func TestSize(t *testing.T) {
	visit, words, bundle := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(Assets())) {
		a := Assets()[name]
		size := len(a.zipped())
		t.Logf("%s: %d bytes, %d compressed", name, len(a.Data), size)
		switch path.Ext(name) {
		case ".json":
			words = max(words, size)
		case ".js", ".css":
			bundle += size
		}
		if path.Ext(name) != ".json" && name != "screens.js" {
			visit += size
		}
	}
	t.Logf("compressed: %d bytes of code and styles, at most %d of words, %d for a first visit", bundle, words, visit+words)
	if words == 0 || bundle > most {
		t.Errorf("the bundle is of %d bytes compressed, and %d are the most", bundle, most)
	}
	if visit+words > most/2 {
		t.Errorf("a first visit loads %d bytes compressed, and %d are the most", visit+words, most/2)
	}
}

// bundle calls the bundler, which is in a module of its own.
func bundle(t *testing.T, args ...string) {
	t.Helper()
	clienttest.Packages(t)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "-C", "../tools/webbuild", ".", "-web", "../../web"}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// What is committed is what the sources give: whoever changes one makes the other.
func TestBuiltFilesAreFresh(t *testing.T) {
	out := t.TempDir()
	bundle(t, "-out", out)
	made, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		fresh, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if a := Assets()[f.Name()]; a == nil || !bytes.Equal(a.Data, fresh) {
			t.Errorf("%s is stale: `go generate ./web` makes it anew", f.Name())
		}
	}
	if len(made) != len(Assets()) {
		t.Errorf("%d files are made, and %d committed", len(made), len(Assets()))
	}
}

// The build tag noui leaves the page out.
func TestLeftOut(t *testing.T) {
	for tags, want := range map[string]bool{"": true, "noui": false} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-tags", tags, "-f", "{{.EmbedFiles}}", ".").Output()
		if err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(out, []byte("app.js")); has != want {
			t.Errorf("with the tags %q: %s", tags, out)
		}
	}
}

// The state of the page is a fold of the log: over recorded logs, in whichever
// pieces they come.
func TestFold(t *testing.T) {
	out := t.TempDir()
	bundle(t, "-out", out, "-script", "src/fold.check.ts")
	logs, err := filepath.Glob("../internal/server/agui/testdata/*.jsonl")
	if err != nil || len(logs) < 3 {
		t.Fatalf("there are %d logs: %v", len(logs), err)
	}
	args := []string{}
	for _, log := range logs {
		abs, err := filepath.Abs(log)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abs)
	}
	said := clienttest.Node(t, filepath.Join(out, "script.mjs"), args...)
	t.Log(said)
	if !strings.Contains(said, "checks ") {
		t.Error("the checks did not come to their end")
	}
}

// Text that is being written is shown as the whole of it will be.
func TestGrowingText(t *testing.T) {
	out := t.TempDir()
	bundle(t, "-out", out, "-script", "src/prose.check.ts")
	if said := clienttest.Node(t, filepath.Join(out, "script.mjs")); !strings.Contains(said, "checks ") {
		t.Error("the checks did not come to their end")
	}
}

// The sources keep their types.
func TestTypes(t *testing.T) {
	config, err := filepath.Abs("tsconfig.json")
	if err != nil {
		t.Fatal(err)
	}
	clienttest.Node(t, filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", config)
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// Each language says all that the page says, and nothing else.
func TestCatalogues(t *testing.T) {
	said := map[string]map[string]string{}
	for _, code := range []string{"en", "ru", "zh"} {
		raw, err := os.ReadFile("src/i18n/" + code + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var c map[string]string
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		said[code] = c
	}
	// Forms of number that a language has beside the one that all have.
	forms := map[string][]string{"en": {"one"}, "ru": {"one", "few", "many"}, "zh": nil}
	counted := func(key string) (base string, ok bool) {
		for _, form := range []string{"one", "few", "many", "other"} {
			if base, ok = strings.CutSuffix(key, "."+form); ok && said["en"][base+".one"] != "" && said["en"][base+".other"] != "" {
				return base, true
			}
		}
		return "", false
	}
	for key, text := range said["en"] {
		base, plural := counted(key)
		for code, c := range said {
			if plural {
				for _, form := range append([]string{"other"}, forms[code]...) {
					if !strings.Contains(c[base+"."+form], "{n}") {
						t.Errorf("%s says nothing for %s.%s", code, base, form)
					}
				}
				continue
			}
			if c[key] == "" {
				t.Errorf("%s says nothing for %s", code, key)
			}
			want, got := placeholder.FindAllString(text, -1), placeholder.FindAllString(c[key], -1)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) {
				t.Errorf("%s: %s has %v and not %v", code, key, got, want)
			}
		}
	}
	for code, c := range said {
		for key := range c {
			base, plural := counted(key)
			if said["en"][key] == "" && !plural {
				t.Errorf("%s says %s, and nobody else does", code, key)
			}
			if form, _ := strings.CutPrefix(key, base+"."); plural && form != "other" && !slices.Contains(forms[code], form) {
				t.Errorf("%s has no form %s: %s", code, form, key)
			}
		}
	}
}
