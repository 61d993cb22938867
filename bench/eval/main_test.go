package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a file under dir, packed if its name ends in .gz.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

const repairCases = `{"input": "{'a': 1.0}", "expected": {"a": 1}, "expected_text": null, "kwargs": {"return_objects": true}}
{"input": "[1, 2", "expected": null, "expected_text": "[1,2.0]", "kwargs": {}}
{"input": "[1, 2", "expected": null, "expected_text": [1, 2], "kwargs": {}}
{"input": "[1, 2", "expected": null, "expected_text": "[1, 3]", "kwargs": {"skip_json_loads": true}}

{"input": "[1", "expected": null, "expected_text": "[1]", "kwargs": {"schema": "s"}}
{"input": "]", "expected": null, "expected_text": "", "kwargs": {}}
`

const errorCases = `{"input": "", "expect_error": true}
{"input": "[1", "expect_error": true}`

const suiteCases = `{"file": "y_a.json", "expect": "accept", "text": "[1e2]"}
{"file": "y_b.json", "expect": "accept", "b64": "IiI="}
{"file": "n_a.json", "expect": "reject", "text": "[1"}
`

func evalDir(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "json_repair/cases_one.jsonl.gz", repairCases)
	write(t, dir, "json_repair/cases_two.jsonl", errorCases)
	write(t, dir, "json_testsuite/cases.jsonl.gz", suiteCases)
	write(t, dir, "unknown_set/x.jsonl", "{}")
	write(t, dir, "README.md", "words")
	return dir
}

// eval runs the program and returns its exit code and output.
func eval(t *testing.T, root string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), root, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFigures(t *testing.T) {
	root, dir, runs := t.TempDir(), evalDir(t), filepath.Join(t.TempDir(), "runs")
	code, stdout, stderr := eval(t, root, "-dir", dir, "-runs", runs)
	const want = `json_repair recovered 0.6667 n=6
json_repair excluded 2 n=8
json_repair agents-ended 1.0000 n=64
json_testsuite accepted-y 1.0000 n=2
json_testsuite panics 0 n=3
`
	if code != 0 || stdout != want {
		t.Fatalf("exit code %d, stderr %q, output\n%swant\n%s", code, stderr, stdout, want)
	}
	results, err := os.ReadFile(filepath.Join(root, "bench", "results", "eval.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(results), "# go run ./bench/eval -dir "+dir+" -runs "+runs+"\n"+want; got != want {
		t.Errorf("results file\n%swant\n%s", got, want)
	}
	answers, err := os.ReadFile(filepath.Join(runs, "json_repair.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(answers, []byte("\n")); n != 6 {
		t.Errorf("%d answers were written, want one per scored case:\n%s", n, answers)
	}
}

func TestResultsAreMerged(t *testing.T) {
	dir, out := evalDir(t), filepath.Join(t.TempDir(), "eval.txt")
	write(t, filepath.Dir(out), "eval.txt", "# before\nzebra recall 1.0000 n=1\njson_repair recovered 0.1 n=1\njson_repair gone 1 n=1\napple f1 0.5000 n=2\n")
	if code, _, stderr := eval(t, t.TempDir(), "-dir", dir, "-set", "none,*_repair", "-out", out); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := "# go run ./bench/eval -dir " + dir + " -set none,*_repair -out " + out + `
apple f1 0.5000 n=2
json_repair recovered 0.6667 n=6
json_repair excluded 2 n=8
json_repair agents-ended 1.0000 n=64
zebra recall 1.0000 n=1
`
	if string(got) != want {
		t.Errorf("results\n%swant\n%s", got, want)
	}
}

func TestMissingData(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	code, stdout, _ := eval(t, root)
	if code != 0 || !strings.Contains(stdout, "no evaluation data at ") {
		t.Errorf("without data: exit code %d, output %q", code, stdout)
	}
	code, stdout, _ = eval(t, root, "-dir", filepath.Join(root, "nowhere"))
	if code != 1 || !strings.Contains(stdout, "no evaluation data at ") {
		t.Errorf("with a wrong -dir: exit code %d, output %q", code, stdout)
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("a run without data left something behind: %v", err)
	}
}

func TestCorporaFillIn(t *testing.T) {
	dir, corpora := t.TempDir(), evalDir(t)
	write(t, dir, "json_testsuite/other.jsonl", "")
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir, "-corpora", corpora)
	if code != 0 || !strings.HasPrefix(stdout, "json_testsuite accepted-y 1.0000 n=2\n") {
		t.Errorf("exit code %d, output %q, stderr %q", code, stdout, stderr)
	}
}

func TestBadInput(t *testing.T) {
	dir := evalDir(t)
	write(t, dir, "json_repair/cases_one.jsonl.gz", "{\"input\": \"1\"}\n{\"input\": 1}\n")
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	if code != 1 || !strings.Contains(stderr, "cases_one.jsonl.gz:2:") {
		t.Errorf("a broken line: exit code %d, stderr %q", code, stderr)
	}
	if !strings.Contains(stdout, "json_testsuite panics 0 n=3") {
		t.Errorf("the other set was not run: %q", stdout)
	}
	for _, args := range [][]string{{"-set", "["}, {"-nope"}, {"extra"}} {
		if code, _, stderr := eval(t, t.TempDir(), args...); code != 2 || stderr == "" {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr)
		}
	}
	code, _, stderr = eval(t, t.TempDir(), "-dir", dir, "-set", "nothing*")
	if code != 1 || !strings.Contains(stderr, "json_repair, json_testsuite") {
		t.Errorf("an unknown set: exit code %d, stderr %q", code, stderr)
	}
}

func TestSameValue(t *testing.T) {
	cases := []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true}, {"1e2", "100", true}, {"-0", "0", true}, {"0.1", "1e-1", true},
		{"12345678901234567890", "12345678901234567891", false}, {"1", `"1"`, false}, {"1e400", "1e401", false},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true}, {`{"a":null}`, `{"b":null}`, false}, {"[1]", "[1,2]", false},
		{"true", "true", true}, {"null", "false", false}, {"1", "1 2", false},
	}
	for _, c := range cases {
		if got := sameValue([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("sameValue(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
