package datadir

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	living, err := Living(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(living))
}

func TestPresence(t *testing.T) {
	dir := t.TempDir()
	if got := names(t, dir); len(got) > 0 {
		t.Fatal(got)
	}
	a, err := Join(dir, "a", Info{PID: 1, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Join(dir, "b", Info{PID: 2})
	if err != nil {
		t.Fatal(err)
	}
	living, err := Living(dir)
	if err != nil || living["a"] != (Info{PID: 1, Version: "v1"}) || len(living) != 2 {
		t.Fatal(living, err)
	}
	if err := a.Leave(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"b"}) {
		t.Error(got)
	}
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", ".x", "a/b"} {
		if _, err := Join(dir, bad, Info{}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A process that is killed is not there any more, whoever looks and however
// many do at once.
func TestPresenceEndsWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	var children []*exec.Cmd
	for i := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DATADIR_TEST_JOIN="+dir, fmt.Sprint("DATADIR_TEST_NAME=child", i))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, _, err := bufio.NewReader(out).ReadLine(); err != nil || string(line) != "joined" {
			t.Fatal(string(line), err)
		}
		children = append(children, cmd)
	}
	if got := names(t, dir); len(got) != 5 {
		t.Fatal(got)
	}
	for _, c := range children[:4] {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	var looks sync.WaitGroup
	for range 8 {
		looks.Go(func() {
			if _, err := Living(dir); err != nil {
				t.Error(err)
			}
		})
	}
	looks.Wait()
	if got := names(t, dir); !slices.Equal(got, []string{"child4"}) {
		t.Error(got)
	}
	left, err := os.ReadDir(filepath.Join(dir, presentDir))
	if err != nil || len(left) != 1 {
		t.Error(left, err)
	}
	_ = children[4].Process.Kill()
	_ = children[4].Wait()
}
