package datadir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary be an owner in another process: it owns the
// directory, says so, and waits until it is killed or its input ends.
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
	dir := os.Getenv("DATADIR_TEST_OWN")
	if dir == "" {
		os.Exit(m.Run())
	}
	lock, err := Own(dir, "v9")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("owned")
	bufio.NewScanner(os.Stdin).Scan()
	runtime.KeepAlive(lock) // a file that nobody holds is closed
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

func TestOwn(t *testing.T) {
	dir := t.TempDir()
	if _, live, err := Owner(dir); live || err != nil {
		t.Fatalf("a new directory has an owner: %v", err)
	}
	lock, err := Own(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	want := Info{PID: os.Getpid(), Version: "v1"}
	if info, live, err := Owner(dir); !live || err != nil || info != want {
		t.Fatalf("owner %+v, %v, %v", info, live, err)
	}
	_, err = Own(dir, "v2")
	var owned *OwnedError
	if !errors.As(err, &owned) || owned.Info != want || owned.Dir != dir {
		t.Fatalf("second owner: %v", err)
	}
	for _, part := range []string{dir, fmt.Sprint("process ", os.Getpid()), "dossier v1", "DOSSIER_DATA"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if info, live, err := Owner(dir); live || err != nil {
		t.Fatalf("owner %+v, %v, %v", info, live, err)
	}
	lock, err = Own(dir, "v2")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// The lock of a process that was killed is free at once.
func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DATADIR_TEST_OWN="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "owned\n" {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	want := Info{PID: cmd.Process.Pid, Version: "v9"}
	if info, live, err := Owner(dir); !live || err != nil || info != want {
		t.Fatalf("owner %+v, %v, %v", info, live, err)
	}
	var owned *OwnedError
	if _, err := Own(dir, "v1"); !errors.As(err, &owned) || owned.Info != want {
		t.Fatalf("second owner: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if info, live, err := Owner(dir); live || err != nil {
		t.Fatalf("owner %+v, %v, %v", info, live, err)
	}
	lock, err := Own(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// Of many that want a directory one gets it, and those who only ask don't
// keep it from anybody.
func TestManyOwners(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	locks := make(chan *Lock, 20)
	for range 20 {
		wg.Go(func() {
			lock, err := Own(dir, "v1")
			var owned *OwnedError
			switch {
			case err == nil:
				locks <- lock
			case !errors.As(err, &owned):
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, _, err := Owner(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(locks) != 1 {
		t.Fatalf("%d owners", len(locks))
	}
	if err := (<-locks).Release(); err != nil {
		t.Fatal(err)
	}
}
