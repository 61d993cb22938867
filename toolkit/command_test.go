package toolkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func command(text string) call {
	return call{tool: "run_command_tool", args: args(map[string]any{"reasoning": "r", "command": text})}
}

// bench is a workspace with something outside of it.
func bench(t *testing.T) (w *world, dir string) {
	t.Helper()
	w = newWorld(t)
	root := realDir(t, t.TempDir())
	dir = filepath.Join(root, "work")
	for name, text := range map[string]string{"work/a.txt": "one\ntwo\n", "work/sub/b.txt": "bee\n", "work/keys/k.txt": "hidden\n", "secret.txt": "canary\n", "other/c.txt": "canary\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "../secret.txt", "out": "../other", "in": "a.txt", "dangling": "../nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.settings.Commands = Commands{Workspace: dir}
	return w, dir
}

func TestCommandsLookAround(t *testing.T) {
	w, dir := bench(t)
	for text, want := range map[string]string{
		"cat a.txt":                "Exit code: 0\n\none\ntwo\n",
		"cat in sub/b.txt":         "Exit code: 0\n\none\ntwo\nbee\n",
		"cat '" + dir + "/a.txt'":  "Exit code: 0\n\none\ntwo\n",
		"grep -r bee .":            "Exit code: 0\n\n./sub/b.txt:bee\n",
		"grep two a.txt":           "Exit code: 0\n\ntwo\n",
		"grep nothing a.txt":       "Exit code: 1\n\n",
		"find . -name b.txt":       "Exit code: 0\n\n./sub/b.txt\n",
		`echo "a  b" 'c|d' мост 桥`: "Exit code: 0\n\na  b c|d мост 桥\n",
		"pwd":                      "Exit code: 0\n\n" + dir + "\n",
		"sort -r a.txt":            "Exit code: 0\n\ntwo\none\n",
		"cat ./sub/../a.txt":       "Exit code: 0\n\none\ntwo\n",
	} {
		if o := w.do(command(text)).last(); o.Failed || o.Text != want {
			t.Errorf("%s: %+v", text, o)
		}
	}
	if o := w.do(command("cat missing.txt")).last(); o.Failed || !strings.Contains(o.Text, "Exit code: 1") || !strings.Contains(o.Text, "Errors:") {
		t.Errorf("%+v", o)
	}
}

func TestCommandsStayInside(t *testing.T) {
	w, _ := bench(t)
	refused := []string{
		"cat ../secret.txt", "cat /etc/passwd", "cat link", "cat out/c.txt", "ls out", "ls ..", "cat sub/../../secret.txt", "ls ~", "cat dangling", "cat out/../secret.txt", "ls out/..", "grep -fout/../secret.txt a.txt",
		"grep -f../secret.txt a.txt", "grep -f/etc/passwd a.txt", "grep --file=../secret.txt a.txt", "grep -flink a.txt", "grep --file=link a.txt",
		"grep -R canary .", "grep --dereference-rec canary .", "find -L . -name c.txt", "find . -follow", "find . -exec cat {} +", "find . -delete", "find . -fprint x",
		"sort -o x a.txt", "sort --output=x a.txt", "sort --out=x a.txt", "sort --compress-program=sh a.txt", "sort -ro x a.txt", "wc --files0-from=a.txt", "sort --files0=a.txt",
		"uniq a.txt sub/b.txt", "date --set=2020-01-01", "date -s 2020-01-01", "date 010100002020", "date -u 01010000", "date -d now 010100002020", "date -us now", "date -fa.txt", "ls -L out", "ls -laL",
		"sh -c ls", "bash", "python3 -c 1", "/bin/ls", "./a.txt", "rm a.txt", "env ls",
		"ls | wc", "ls > x", "cat < a.txt", "ls; rm a.txt", "ls & rm a.txt", "echo `id`", "echo $(id)", "ls\nrm a.txt", "", "'' x", "echo 'open", `echo \`,
	}
	for _, text := range refused {
		o := w.do(command(text)).last()
		if !o.Failed || strings.Contains(o.Text, "canary") {
			t.Errorf("%q: %+v", text, o)
		}
	}
	for _, text := range []string{"date", "date -u +%F", "date -d yesterday +%F", "date -ud2020-01-02 +%F", "date --date=yesterday"} {
		if o := w.do(command(text)).last(); o.Failed {
			t.Errorf("%q: %+v", text, o)
		}
	}
	if names := filesIn(t, w.settings.Commands.Workspace); slices.Contains(names, "x") || !slices.Contains(names, "a.txt") {
		t.Errorf("%v", names)
	}
}

func TestCommandSettings(t *testing.T) {
	w, dir := bench(t)
	k := New(Parts{})
	for config, want := range map[string]string{
		`{"workspace_path":"/"}`:             "lies outside",
		`{"workspace_path":"out"}`:           "lies outside",
		`{"workspace_path":"none"}`:          "workspace_path",
		`{"mode":"unsafe"}`:                  "not allowed by the operator",
		`{"mode":"wild"}`:                    "no mode",
		`{"timeout_seconds":100000}`:         "between 1 and",
		`{"include_paths":["ls","python3"]}`: "python3, which is not among",
		`{"programs":["python3"]}`:           "python3, which is not among",
		`{"workspace":"x"}`:                  "did you mean workspace_path",
	} {
		if err := k.Check(RunCommand, json.RawMessage(config), w.settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
	with := func(config, text string) call {
		c := command(text)
		c.config = config
		return c
	}
	if o := w.do(with(`{"workspace_path":"sub"}`, "cat b.txt")).last(); o.Failed {
		t.Errorf("%+v", o)
	}
	if o := w.do(with(`{"exclude_paths":["keys"]}`, "find sub -name b.txt")).last(); o.Failed {
		t.Errorf("%+v", o)
	}
	for _, c := range []call{
		with(`{"workspace_path":"sub"}`, "cat ../a.txt"),
		with(`{"include_paths":["ls"]}`, "cat a.txt"),
		with(`{"programs":["ls"]}`, "cat a.txt"),
		with(`{"exclude_paths":["keys","cat"]}`, "cat a.txt"),
		with(`{"exclude_paths":["keys"]}`, "cat keys/k.txt"),
		with(`{"exclude_paths":["keys"]}`, "ls ./sub/../keys"),
		with(`{"exclude_paths":["keys"]}`, "grep -r hidden ."),
		with(`{"exclude_paths":["keys"]}`, "grep --rec hidden"),
		with(`{"exclude_paths":["keys"]}`, "grep -d recurse hidden keys/../."),
		with(`{"exclude_paths":["keys"]}`, "grep -hd recurse hidden ."),
		with(`{"exclude_paths":["keys"]}`, "ls -R"),
		with(`{"exclude_paths":["keys"]}`, "find"),
		with(`{"exclude_paths":["keys/k.txt"]}`, "find -name k.txt"),
		with(`{"exclude_paths":["keys"]}`, "find sub . -name k.txt"),
		with(`{"exclude_paths":["`+dir+`/keys"]}`, "ls keys"),
	} {
		if o := w.do(c).last(); !o.Failed || strings.Contains(o.Text, "hidden") {
			t.Errorf("%s %s: %+v", c.config, c.args, o)
		}
	}
	w.settings.Commands.Unsafe = true
	if o := w.do(with(`{"mode":"unsafe"}`, "env")).last(); o.Failed || strings.Contains(o.Text, "GOPATH") || strings.Contains(o.Text, "USER=") || !strings.Contains(o.Text, "HOME="+dir) {
		t.Errorf("%+v", o)
	}
}

func TestCommandOutputIsBounded(t *testing.T) {
	w, _ := bench(t)
	w.settings.Commands.Unsafe = true
	big := command("head -c 200000 /dev/zero")
	big.config = `{"mode":"unsafe"}`
	if o := w.do(big).last(); o.Failed || !strings.Contains(o.Text, "[cut: 170000 more bytes]") {
		t.Errorf("%d", len(o.Text))
	}
}

func TestSplitCommand(t *testing.T) {
	for text, want := range map[string][]string{
		`a b  c`:             {"a", "b", "c"},
		`a 'b c' "d e"f`:     {"a", "b c", "d ef"},
		`a "" ''`:            {"a", "", ""},
		`a b\ c \|`:          {"a", "b c", "|"},
		`a "x\"y\\z\n" '\"'`: {"a", `x"y\z\n`, `\"`},
		`find \( -name x \)`: {"find", "(", "-name", "x", ")"},
		"grep 'a\nb' $x$":    {"grep", "a\nb", "$x$"},
	} {
		got, err := splitCommand(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// Words that are quoted come back as they were, whatever is in them.
func FuzzSplitCommand(f *testing.F) {
	for _, seed := range []string{"ls", "a 'b", "\\", "$(x)", "\"a\\\"b\"", "мост 桥", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, err := splitCommand(text)
		if err == nil && (len(words) == 0 || words[0] == "" || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "\x00") })) {
			t.Errorf("%q: %q", text, words)
		}
		if strings.Contains(text, "\x00") || text == "" {
			return
		}
		quoted := "p '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		if words, err := splitCommand(quoted); err != nil || len(words) != 2 || words[1] != text {
			t.Errorf("%q: %q, %v", quoted, words, err)
		}
	})
}

// No argument that is let through reaches outside of the workspace.
func FuzzCheckPath(f *testing.F) {
	root := f.TempDir()
	dir := filepath.Join(root, "work")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "up")); err != nil {
		f.Fatal(err)
	}
	w, err := newWorkspace(commandConfig{}, Commands{Workspace: dir})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a", "../a", "up/x", "up/../x", "up/work/a", "sub/../../x", "/etc", "-f/etc", "--a=../x", "~", "sub//./x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		if w.check(arg) != nil {
			return
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = w.dir + "/" + path // as the system would read it
		}
		if to, err := filepath.EvalSymlinks(path); err == nil && !inside(w.dir, to) {
			t.Errorf("%q leads to %s", arg, to)
		}
	})
}
