package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"dossier/internal/base/filelock"
	"dossier/internal/store"
)

// errReadOnly is what Open makes of a file that it can only read.
var errReadOnly = errors.New("it can only be read")

// code returns SQLite's primary result code, and 0 when the error is not one
// of SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// violated says whether err is a broken constraint.
func violated(err error) bool {
	return code(err) == lib.SQLITE_CONSTRAINT
}

// explain turns SQLite's errors into those of the contract, with what to do.
func explain(err error, path string) error {
	primary := code(err)
	switch {
	case err == nil:
		return nil
	case primary == lib.SQLITE_FULL:
		return fmt.Errorf("%w (%s): free some space and try again, nothing that was saved is lost: %w", store.ErrDiskFull, path, err)
	case primary == lib.SQLITE_READONLY, primary == lib.SQLITE_PERM, primary == lib.SQLITE_CANTOPEN && unwritable(path),
		errors.Is(err, errReadOnly), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w (%s): make it and its directory writable for this user, or choose another data directory: %w", store.ErrReadOnly, path, err)
	case primary == lib.SQLITE_CORRUPT, primary == lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", damaged(path), err)
	case primary == lib.SQLITE_BUSY, errors.Is(err, filelock.ErrTimeout):
		return fmt.Errorf("another process has locked %s: wait for it or end it: %w", path, err)
	case primary == lib.SQLITE_IOERR:
		return fmt.Errorf("the disk under %s fails: check it (a file size limit or quota can also be the cause): %w", path, err)
	}
	return err
}

func damaged(path string) error {
	return fmt.Errorf("%w: move %s away (with the files that end in -wal and -shm) and restore a copy, or start with a new one; it was not changed", store.ErrCorrupt, path)
}

// unwritable says whether it is for want of permission that a file cannot be
// made beside path, where SQLite puts its log.
func unwritable(path string) bool {
	f, err := os.CreateTemp(filepath.Dir(path), ".dossier-*")
	if err != nil {
		return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
	}
	_, _ = f.Close(), os.Remove(f.Name()) // it was only a question
	return false
}
