package cli

import (
	"os"
	"path/filepath"
	"testing"
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
