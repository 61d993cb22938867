package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// errors.txt holds blocks of "== name", a file, "-- errors" and the error.
func TestErrors(t *testing.T) {
	const golden = "testdata/errors.txt"
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(string(data), "== ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		input, want, _ := strings.Cut(rest, "-- errors\n")
		t.Run(name, func(t *testing.T) {
			_, err := load(t, Sources{Env: []string{"SECRET=sk-hidden"}}, yamlFile(input))
			got := "no error\n"
			if err != nil {
				got = err.Error() + "\n"
				checkPositions(t, err)
			}
			fmt.Fprintf(&out, "== %s\n%s-- errors\n%s", name, input, got)
			if got != want && !*update {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if strings.Contains(got, "verysecret") || strings.Contains(got, "sk-hidden") {
				t.Errorf("a secret is shown: %s", got)
			}
		})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkPositions(t testing.TB, err error) {
	t.Helper()
	list, ok := errors.AsType[Errors](err)
	if !ok || len(list) == 0 {
		t.Fatalf("not an Errors: %T %v", err, err)
	}
	for _, e := range list {
		if e.File != "c.yaml" || e.Line < 1 || e.Problem == "" {
			t.Errorf("no position: %#v", e)
		}
	}
}

func TestErrorsOutsideFiles(t *testing.T) {
	tests := []struct {
		name  string
		src   Sources
		files map[string]string
		want  string
	}{
		{"env", Sources{Env: []string{"CHAT_HISTORY_LIMIT=lots"}}, nil, "env CHAT_HISTORY_LIMIT: chat.history_limit: expected a whole number, found lots"},
		{"env range", Sources{Env: []string{"DOSSIER_STRUCTURED_MAX_RETRIES=21"}}, nil, "env DOSSIER_STRUCTURED_MAX_RETRIES: structured.max_retries: expected 0 to 20, found 21"},
		{"flag", Sources{Flags: map[string]string{"lang": "klingon"}}, nil, "flag --lang: lang: expected one of auto, ru, en, zh, found klingon"},
		{"unknown flag", Sources{Flags: map[string]string{"chat.histroy_limit": "1"}}, nil, "flag --set chat.histroy_limit: no setting of this name can be given here; did you mean chat.history_limit?"},
		{"missing file", Sources{File: "gone.yaml"}, nil, "gone.yaml: cannot be read: no such file or directory"},
		{"missing variable's file", Sources{Env: []string{"DOSSIER_CONFIG=gone.yaml"}}, nil, "gone.yaml: cannot be read: no such file or directory"},
		{"a directory", Sources{File: "d"}, map[string]string{"d/x": "y"}, "d: cannot be read: is a directory"},
		{"agents.yaml without agents", Sources{AgentsFile: "a.yaml"}, map[string]string{"a.yaml": "lang: ru"}, "a.yaml:1:1: agents: a file of definitions needs this top-level key"},
		{"empty agents.yaml", Sources{AgentsFile: "a.yaml"}, map[string]string{"a.yaml": "# nothing"}, "a.yaml:1:1: agents: a file of definitions needs this top-level key"},
		{"invalid UTF-8", Sources{}, yamlFile("lang: ru\nlog:\n  file: \"й\xff\"\n"), "c.yaml:3:11: invalid UTF-8; save the file as UTF-8"},
		{"binary", Sources{}, yamlFile("a: \x00"), `c.yaml:1:4: control character '\x00'; is this a text file?`},
		{"too large", Sources{}, yamlFile(strings.Repeat("# padding\n", maxFileSize/10+1)), "c.yaml: is larger than 2 MiB; a configuration is not"},
		{"several places", Sources{Env: []string{"DOSSIER_WORKERS=x"}, Flags: map[string]string{"max-cost": "free"}}, yamlFile("lang: xx"),
			"env DOSSIER_WORKERS: workers: expected a whole number, found x\nc.yaml:1:7: lang: expected one of auto, ru, en, zh, found xx\nflag --max-cost: limits.cost: expected a number, found free"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.src, tt.files)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got:  %v\nwant: %s", err, tt.want)
			}
		})
	}
}

func TestManyErrorsAreCut(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "unknown_%03d: 1\n", i)
	}
	_, err := load(t, Sources{}, yamlFile(b.String()))
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxErrors || lines[maxErrors-1] != "c.yaml:20:1: 81 more errors" {
		t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
}

func TestBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("tools:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&laughs, "  a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	var merges strings.Builder
	merges.WriteString("x-0: &m0 {k0: 1}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&merges, "x-%d: &m%d {<<: [*m%d, *m%d], k%d: 1}\n", i, i, i-1, i-1, i)
	}
	merges.WriteString("tools: {t: *m39}\n")
	for name, text := range map[string]string{
		"aliases": laughs.String(),
		"merges":  merges.String(),
		"depth":   "tools: " + strings.Repeat("{a: ", 5000) + "1" + strings.Repeat("}", 5000),
		"cycle":   "tools: {a: &a {b: {<<: *a}}}",
		"lists":   "tools: {a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
	} {
		_, err := load(t, Sources{}, yamlFile(text))
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		checkPositions(t, err)
	}
}

func TestLargeFile(t *testing.T) {
	var b strings.Builder
	b.WriteString("agents:\n")
	n := 0
	for ; b.Len() < 1<<20; n++ {
		fmt.Fprintf(&b, "  agent_%d:\n    base_class: SGRAgent\n    llm: {model: m%d}\n    tools: [web_search_tool, {x: {a: 1}}]\n", n, n)
	}
	c := mustLoad(t, Sources{}, yamlFile(b.String()))
	last, err := c.Agent(fmt.Sprintf("agent_%d", n-1))
	if err != nil || len(c.Agents) != n || last.Models.Default.Model != fmt.Sprintf("m%d", n-1) {
		t.Errorf("%d agents of %d, %v", len(c.Agents), n, err)
	}
}

func FuzzConfig(f *testing.F) {
	data, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "== ")[1:] {
		_, rest, _ := strings.Cut(block, "\n")
		input, _, _ := strings.Cut(rest, "-- errors\n")
		f.Add([]byte(input))
	}
	f.Add([]byte(Template()))
	f.Add([]byte("llm: &x {model: a, top_p: .inf}\nagents: {a: {llm: *x, mcp: {mcpServers: {s: {url: \"http://u:p@h\"}}}}}"))
	f.Add([]byte("%YAML 1.1\n---\n!!map {chat: !!map {history_limit: !!int '5'}}\n..."))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := fromBytes(data)
		if err != nil {
			checkPositions(t, err)
			_ = err.Error()
			return
		}
		for _, v := range c.Explain() {
			if v.Path == "" || v.Origin == "" {
				t.Fatalf("unexplained: %+v", v)
			}
		}
		for _, r := range Roles() {
			_ = c.Model(r).Missing()
		}
		for name := range c.Agents {
			if _, err := c.Agent(name); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// fromBytes loads one document without touching the disk.
func fromBytes(data []byte) (*Config, error) {
	tb := schema()
	st := &state{env: environ{"HOME=/h", "N=5"}, agents: map[string]*entry{}}
	bad := &problems{}
	st.layers[layerDefault] = st.defaults(tb, bad)
	r := st.reader(tb, "c.yaml", "", layerFile, &st.layers[layerFile], bad)
	if root := r.parse(data); root != nil {
		r.section(tb.root, root, "")
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	return st.fold(tb), nil
}
