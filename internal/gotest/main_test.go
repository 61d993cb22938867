package main

import (
	"cmp"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// The recorded streams are what `go test -json` really printed over a small
// module, without the times and the inner frames of stacks.
func TestReport(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, test := range []struct {
		name   string // the stream's, where it is empty
		stream string
		strict bool
		ran    error
		ok     bool
	}{
		{stream: "passes", ok: true},
		{stream: "cached", ok: true},
		{stream: "fails", ran: failed},
		{stream: "panics", ran: failed},
		{stream: "builds", ran: failed},
		{stream: "hangs", ran: failed},
		{stream: "skips", ok: true},
		{name: "skips-strict", stream: "skips", strict: true},
		{stream: "cut", ran: errors.New("signal: killed")},
		{name: "passes-tool-failed", stream: "passes", ran: errors.New("exit status 2")},
	} {
		name := cmp.Or(test.name, test.stream)
		t.Run(name, func(t *testing.T) {
			in, err := os.Open(filepath.Join("testdata", test.stream+".json"))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var out strings.Builder
			rep := newReport(&out, test.strict)
			if err := rep.read(in); err != nil {
				t.Fatal(err)
			}
			if ok := rep.finish(test.ran); ok != test.ok {
				t.Errorf("finish = %v, want %v", ok, test.ok)
			}
			golden(t, name, out.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s\n(-update rewrites it)", got, want)
	}
}

// A second round over the same packages is marked, and counts.
func TestRounds(t *testing.T) {
	var out strings.Builder
	rep := newReport(&out, false)
	round := `{"Action":"run","Package":"m/a","Test":"T"}
{"Action":"pass","Package":"m/a","Test":"T","Elapsed":0.7}
{"Action":"pass","Package":"m/a","Elapsed":1}
`
	cut := `{"Action":"run","Package":"m/b","Test":"T"}
`
	for _, in := range []string{round, round + cut} {
		if err := rep.read(strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		rep.mark = " (race)"
	}
	if rep.finish(nil) {
		t.Error("a package without a result passes")
	}
	want := `ok   m/a                                      1.0s
ok   m/a (race)                               1.0s
slow m/a T 0.7s
slow m/a (race) T 0.7s
FAIL m/b (race): no result
2 passed, 1 failed, 0 skipped
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestToRace(t *testing.T) {
	got := toRace([]string{"dossier", "dossier/agent", "dossier/agents", "dossier/llm", "dossier/llm/openai", "dossier/runs", "dossier/internal/store/sqlite", "dossier/kb"})
	if want := "dossier dossier/agent dossier/llm dossier/llm/openai dossier/internal/store/sqlite"; strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}

// What is left out by name is there.
func TestRepeatingTestsExist(t *testing.T) {
	files, err := filepath.Glob("../../*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var root strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		root.Write(text)
	}
	for _, name := range repeating {
		if !strings.Contains(root.String(), "\nfunc "+name+"(") {
			t.Errorf("the root has no %s", name)
		}
	}
}

func TestReportPassesOnWhatIsNotJSON(t *testing.T) {
	var out strings.Builder
	rep := newReport(&out, false)
	if err := rep.read(strings.NewReader("go: cannot find main module\n{broken\n")); err != nil {
		t.Fatal(err)
	}
	if rep.finish(errors.New("exit status 1")) {
		t.Error("a go tool that failed passes")
	}
	want := "go: cannot find main module\n{broken\nFAIL go test: exit status 1\n0 passed, 1 failed, 0 skipped\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestParseTargets(t *testing.T) {
	listed := `{"Action":"start","Package":"m/a"}
{"Action":"output","Package":"m/a","Output":"FuzzOne\n"}
{"Action":"output","Package":"m/a","Output":"FuzzTwo\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.01s\n"}
{"Action":"output","Package":"m/b","Output":"FuzzOne\n"}
`
	targets, err := parseTargets([]byte(listed))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, t := range targets {
		got = append(got, t.pkg+"."+t.name)
	}
	if strings.Join(got, " ") != "m/a.FuzzOne m/a.FuzzTwo m/b.FuzzOne" {
		t.Errorf("got %v", got)
	}
}

func TestOnlyDeadline(t *testing.T) {
	quirk := `fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed
fuzz: elapsed: 1m0s, execs: 412 (6/sec), new interesting: 3 (total: 15)
--- FAIL: FuzzOne (60.02s)
    context deadline exceeded
FAIL
exit status 1
FAIL	m/a	60.1s
`
	if !onlyDeadline(quirk) {
		t.Error("the end of the time is taken for a failure")
	}
	for _, also := range []string{
		"        --- FAIL: FuzzOne (0.00s)\n            a_test.go:9: wrong\n",
		"    Failing input written to testdata/fuzz/FuzzOne/0123\n",
		"panic: boom\n",
		"fuzz: minimizing 41-byte failing input file\n",
	} {
		if onlyDeadline(quirk + also) {
			t.Errorf("passes although it says %q", also)
		}
	}
	if onlyDeadline("FAIL\nexit status 1\n") {
		t.Error("a failure without a reason passes")
	}
	if got := executions(quirk); got != "412 execs" {
		t.Errorf("executions = %q", got)
	}
}
