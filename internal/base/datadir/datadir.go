// Package datadir sees to it that the directory in which Dossier keeps its
// data has one owner at a time.
//
// Ownership is a lock of the operating system on a file in the directory, so
// it ends with the process, however that ends. The file says who the owner is.
package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Make creates the directory, for this user only, if it is not there.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w: choose another with DOSSIER_DATA", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data directory %s is not a directory: choose another with DOSSIER_DATA", dir)
	}
	return nil
}

// Info is what an owner says of itself.
type Info struct {
	PID     int    `json:"pid"`
	Version string `json:"version,omitempty"`
}

// OwnedError says that another process owns the directory.
type OwnedError struct {
	Dir string
	Info
}

// Error says who the owner is and what to do.
func (e *OwnedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Version != "" {
		who += " (dossier " + e.Version + ")"
	}
	return fmt.Sprintf("the data directory %s belongs to %s: wait until it is done or end it, or choose another directory with DOSSIER_DATA", e.Dir, who)
}

// Lock is the ownership of a directory.
type Lock struct {
	file *os.File
	info Info
}

// A client that asks for the owner holds the lock for a moment; Own tries
// again rather than take it for an owner.
const (
	tries           = 5
	triesAfterDeath = 300
	tryAgain        = 10 * time.Millisecond
)

// Own makes this process the owner of a directory that Make has made. It fails
// with *OwnedError when another is.
func Own(dir, version string) (*Lock, error) {
	f, err := os.OpenFile(lockFile(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("own the data directory: %w: make it writable for this user, or choose another with DOSSIER_DATA", err)
	}
	for try := 1; ; try++ {
		free, err := lock(f, exclusive)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("own the data directory %s: %w", dir, err), f.Close())
		}
		if free {
			break
		}
		// A process that was killed while it started another leaves the lock to
		// that one, until it has become another program.
		if info := readInfo(f); try >= tries && (try >= triesAfterDeath || alive(info.PID)) {
			_ = f.Close() // it was only read
			return nil, &OwnedError{Dir: dir, Info: info}
		}
		time.Sleep(tryAgain)
	}
	l := &Lock{file: f, info: Info{PID: os.Getpid(), Version: version}}
	if err := l.write(); err != nil {
		return nil, errors.Join(fmt.Errorf("own the data directory %s: %w", dir, err), f.Close())
	}
	return l, nil
}

// write puts the owner's info into the file.
func (l *Lock) write() error {
	b, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err := l.file.WriteAt(b, 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(b)))
}

// Release gives the directory up. The file stays: to remove it would let two
// processes lock two files of the same name.
func (l *Lock) Release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// Owner returns what the live owner of a directory says of itself, and false
// when there is none.
func Owner(dir string) (Info, bool, error) {
	f, err := os.Open(lockFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return Info{}, false, nil
	}
	if err != nil {
		return Info{}, false, fmt.Errorf("owner of the data directory: %w", err)
	}
	defer f.Close() // ends the lock too
	free, err := lock(f, shared)
	if err != nil {
		return Info{}, false, fmt.Errorf("owner of the data directory %s: %w", dir, err)
	}
	if free {
		return Info{}, false, nil
	}
	return readInfo(f), true, nil
}

// readInfo returns what the file says, or nothing while it says nothing.
func readInfo(f *os.File) Info {
	var info Info
	if err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<16)).Decode(&info); err != nil {
		return Info{}
	}
	return info
}

func lockFile(dir string) string { return filepath.Join(dir, "dossier.lock") }
