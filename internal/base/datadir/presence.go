package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dossier/internal/base/filelock"
)

// presentDir holds a file for each process that works in a directory, locked
// for as long as the process lives.
const presentDir = "present"

// Presence is that of a process in a directory.
type Presence struct {
	file *os.File
	path string
}

// Join makes this process one of those that work in a directory, under a name
// that no other process has or will have. Whoever comes to do something that
// others may find half done joins first.
func Join(dir, name string, info Info) (*Presence, error) {
	fail := func(err error) (*Presence, error) {
		return nil, fmt.Errorf("the data directory %s: %w: make it writable for this user, or choose another with DOSSIER_DATA", dir, err)
	}
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nil, fmt.Errorf("%q can't be the name of a process", name)
	}
	all := filepath.Join(dir, presentDir)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return fail(err)
	}
	tidy(dir)
	raw, err := json.Marshal(info)
	if err != nil {
		return fail(err)
	}
	// It gets its name when it is locked: who finds a file that is not takes its
	// process for dead.
	f, err := os.CreateTemp(all, ".*")
	if err != nil {
		return fail(err)
	}
	p := &Presence{f, filepath.Join(all, name)}
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		_, err = filelock.Try(f)
	}
	if err == nil {
		err = os.Rename(f.Name(), p.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fail(errors.Join(err, f.Close()))
	}
	return p, nil
}

// Leave says that the process works there no longer.
func (p *Presence) Leave() error {
	err := os.Remove(p.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil // the directory is gone
	}
	return errors.Join(err, p.file.Close())
}

// Alive says whether a process works in a directory. What one that is gone has
// left of its presence is removed.
//
// It looks at the file of that process and at nothing else: a list of the
// directory, while others come and go, need not have all who are there.
func Alive(dir, name string) (bool, error) {
	path := filepath.Join(dir, presentDir, name)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("the data directory %s: %w", dir, err)
	}
	dead, err := filelock.Try(f)
	if dead {
		_ = os.Remove(path) // if not now, then by the next who looks
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("the data directory %s: %w", dir, err)
	}
	return !dead, nil
}

// tidy removes what processes that are gone have left.
func tidy(dir string) {
	list, err := os.ReadDir(filepath.Join(dir, presentDir))
	if err != nil {
		return // it does no harm
	}
	for _, entry := range list {
		if !strings.HasPrefix(entry.Name(), ".") { // one that begins so may be about to be locked
			_, _ = Alive(dir, entry.Name())
		}
	}
}
