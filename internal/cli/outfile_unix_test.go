//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteFileKeepsModes(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"private": 0o600, "shared": 0o664} {
		if err := os.WriteFile(at(name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("private", at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		mode os.FileMode
	}{{"new", 0o640}, {"private", 0o600}, {"shared", 0o664}, {"link", 0o600}} {
		if err := writeFile(at(c.name), []byte(c.name)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(at(c.name))
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(at(c.name)); string(text) != c.name || info.Mode().Perm() != c.mode {
			t.Errorf("%s: %q, mode %o", c.name, text, info.Mode().Perm())
		}
	}
	if to, err := os.Readlink(at("link")); err != nil || to != "private" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("left behind: %v", left)
	}
	if err := writeFile(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if err := writeFile(at("nowhere/x"), nil); err == nil {
		t.Error("a file in a folder that is not there")
	}
}
