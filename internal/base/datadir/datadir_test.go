package datadir

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be another process in a directory: it joins,
// says so, and waits until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DATADIR_TEST_JOIN"); dir != "" {
		p, err := Join(dir, os.Getenv("DATADIR_TEST_NAME"), Info{PID: os.Getpid()})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("joined")
		bufio.NewScanner(os.Stdin).Scan() // until it is killed
		time.Sleep(time.Hour)
		runtime.KeepAlive(p)
	}
	os.Exit(m.Run())
}

func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := Make(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := Make(bad); err == nil || !strings.Contains(err.Error(), "DOSSIER_DATA") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
