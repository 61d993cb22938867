package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/config"
)

func TestLogFile(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(data, "logs", "dossier.log")
	write := func(text string) {
		t.Helper()
		l := &logFile{path: func() string { return path }}
		if _, err := l.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("lost\n")
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Fatalf("a log made the data directory: %v", err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	write("one\n")
	write("two\n")
	if got, err := os.ReadFile(path); err != nil || string(got) != "one\ntwo\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the log: %v, %v", info.Mode(), err)
	}
	if err := os.Truncate(path, maxLog+1); err != nil {
		t.Fatal(err)
	}
	write("three\n")
	if got, err := os.ReadFile(path); err != nil || string(got) != "three\n" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != maxLog+1 {
		t.Errorf("the old log: %v, %v", info, err)
	}
}

// A process that goes on writing puts its log aside too.
func TestLogFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.log")
	l := &logFile{path: func() string { return path }}
	line := []byte(strings.Repeat("x", maxLog/2) + "\n")
	for range 7 {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for file, most := range map[string]int64{path: 2 * int64(len(line)), path + ".1": 2 * int64(len(line))} {
		if info, err := os.Stat(file); err != nil || info.Size() > most || info.Size() == 0 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

// TestLogKnowsKeys keeps the keys of engines out of the log, wherever the
// configuration has them.
func TestLogKnowsKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	const text = `
search: {tavily_api_key: plain-tavily, zyte: {api_key: plain-zyte}}
tools: {web_search_tool: {engine: brave, api_key: plain-brave}}
agents: {a: {tools: [{web_search_tool: {engine: perplexity, api_key: plain-perplexity}}]}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{globals: &globals{}}
	a.openLog()
	a.configureLog(c)
	if got := a.redact.Redact("plain-tavily plain-zyte plain-brave plain-perplexity"); strings.Contains(got, "plain") {
		t.Error(got)
	}
}
