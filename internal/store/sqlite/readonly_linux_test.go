package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
)

// asNobody calls do with the file permissions of an ordinary user, in case
// the test runs as root.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func TestReadOnly(t *testing.T) {
	full, empty := filepath.Dir(filled(t)), t.TempDir()
	locked := filled(t)
	for path, mode := range map[string]os.FileMode{
		full: 0o555, filepath.Join(full, "dossier.db"): 0o444, empty: 0o555, locked: 0o444, filepath.Dir(locked): 0o777,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{full, empty, filepath.Dir(locked)} { // go up to where everybody may look
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = os.Chmod(full, 0o755), os.Chmod(empty, 0o755) })
	for name, path := range map[string]string{
		"directory with a database": filepath.Join(full, "dossier.db"),
		"empty directory":           filepath.Join(empty, "dossier.db"),
		"file":                      locked,
	} {
		asNobody(t, func() {
			s, err := sqlite.Open(path, sqlite.Options{})
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "writable") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if files, err := os.ReadDir(empty); err != nil || len(files) > 0 {
		t.Errorf("left in the directory: %v, %v", files, err)
	}
}
