package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dossier/llm/llmtest"
)

// start runs the command until the test ends and returns the base URL that it
// printed.
func start(t *testing.T, args ...string) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, args, w)
		w.CloseWithError(io.EOF)
		done <- err
	}()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if m := regexp.MustCompile(`OPENAI_BASE_URL=(\S+)/v1 OPENAI_API_KEY=\S`).FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
		if strings.HasPrefix(lines.Text(), "Ctrl-C") {
			break
		}
	}
	if url == "" {
		t.Fatalf("no line to connect with; %v", <-done)
	}
	return url, func() error { cancel(); return <-done }
}

func TestServesAndStops(t *testing.T) {
	dir := t.TempDir()
	script, log := filepath.Join(dir, "script.yaml"), filepath.Join(dir, "calls.jsonl")
	if err := os.WriteFile(script, []byte("rules: [{contains: hello, reply: {text: Good day.}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the log is appended to
		url, stop := start(t, "-addr", "127.0.0.1:0", "-script", script, "-log", log, "-latency", "1ms", "-seed", "7")
		resp, err := http.Post(url+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"test","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), "Good day.") {
			t.Errorf("%s, %v", body, err)
		}
		if err := stop(); err != nil {
			t.Errorf("stopped with %v", err)
		}
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var call llmtest.Call
	if len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &call) != nil || call.Number != 1 || call.Role != "test" {
		t.Errorf("log %s", data)
	}
}

func TestStopsWithACallUnderWay(t *testing.T) {
	url, stop := start(t, "-addr", "127.0.0.1:0", "-latency", "1h")
	sent := make(chan error)
	go func() {
		req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions",
			io.MultiReader(strings.NewReader(`{"model":"test","messages":[{"role":"user","content":"hello"}]}`), reached{sent}))
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	<-sent
	if err := stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

// reached is an empty reader that tells when it is reached.
type reached struct{ signal chan error }

func (r reached) Read([]byte) (int, error) {
	close(r.signal)
	return 0, io.EOF
}

func TestCommandLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("rules:\n- rolle: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		usage bool
		want  string
	}{
		{[]string{"-addr", "0.0.0.0:0"}, true, "-public"},
		{[]string{"-addr", ":0"}, true, "-public"},
		{[]string{"-addr", "nowhere"}, true, "HOST:PORT"},
		{[]string{"-bogus"}, true, "bogus"},
		{[]string{"extra"}, true, "extra"},
		{[]string{"-script", bad}, false, "line 2: field rolle not found"},
		{[]string{"-script", bad + "x"}, false, "no such file"},
		{[]string{"-log", t.TempDir()}, false, "call log"},
		{[]string{"-addr", "127.0.0.1:99999"}, false, "choose another port"},
	} {
		err := run(t.Context(), c.args, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(usageError)) != c.usage {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// TestHelp holds the help to the flags and to the script's syntax.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, &out); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	_, yaml, found := strings.Cut(out.String(), "give it:\n\n")
	yaml, _, ended := strings.Cut(yaml, "\nFaults:")
	script, err := llmtest.Parse([]byte(yaml))
	if !found || !ended || err != nil || len(script.Rules) != 5 {
		t.Errorf("the example: %v, %d rules", err, len(script.Rules))
	}
	_, kinds, _ := strings.Cut(out.String(), "\nFaults:\n")
	n := 0
	for word := range strings.FieldsSeq(kinds) {
		switch word {
		case "refusals", "the", "wire", "words":
			continue
		}
		n++
		if _, err := llmtest.Parse([]byte("rules: [{fault: {kind: " + word + "}}]")); err != nil {
			t.Errorf("the help names a fault that doesn't exist: %v", err)
		}
	}
	if n != 24 {
		t.Errorf("%d faults in the help, want all 24", n)
	}
}
