package datadir

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// present are those of the names whose processes are there.
func present(t *testing.T, dir string, names ...string) (out []string) {
	t.Helper()
	for _, name := range names {
		alive, err := Alive(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if alive {
			out = append(out, name)
		}
	}
	return out
}

func TestPresence(t *testing.T) {
	dir := t.TempDir()
	if got := present(t, dir, "a", "b"); len(got) > 0 {
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
	if got := present(t, dir, "a", "b", "c"); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatal(got)
	}
	if err := a.Leave(); err != nil {
		t.Fatal(err)
	}
	if got := present(t, dir, "a", "b"); !slices.Equal(got, []string{"b"}) {
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
	all := []string{"child0", "child1", "child2", "child3", "child4"}
	if got := present(t, dir, all...); len(got) != 5 {
		t.Fatal(got)
	}
	for _, c := range children[:4] {
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	var looks sync.WaitGroup
	for i := range 8 {
		looks.Go(func() {
			if p, err := Join(dir, fmt.Sprint("looks", i), Info{}); err != nil || p.Leave() != nil {
				t.Error(err)
			}
		})
	}
	looks.Wait()
	if got := present(t, dir, all...); !slices.Equal(got, []string{"child4"}) {
		t.Error(got)
	}
	left, err := os.ReadDir(filepath.Join(dir, presentDir))
	if err != nil || len(left) != 1 {
		t.Error(left, err)
	}
	_ = children[4].Process.Kill()
	_ = children[4].Wait()
}
