package sqlite

import (
	"errors"
	"fmt"
	"os"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"dossier/internal/store"
)

// code returns SQLite's primary and extended result codes, and zeros when the
// error is not one of SQLite's.
func code(err error) (primary, extended int) {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff, e.Code()
	}
	return 0, 0
}

// violated says whether err is a broken constraint.
func violated(err error) bool {
	primary, _ := code(err)
	return primary == lib.SQLITE_CONSTRAINT
}

// explain turns SQLite's errors into those of the contract, with what to do.
func explain(err error, path string) error {
	primary, extended := code(err)
	switch {
	case err == nil:
		return nil
	case primary == lib.SQLITE_FULL:
		return fmt.Errorf("%w (%s): free some space and try again, nothing that was saved is lost: %w", store.ErrDiskFull, path, err)
	case primary == lib.SQLITE_READONLY, errors.Is(err, os.ErrPermission), extended == lib.SQLITE_IOERR_ACCESS,
		primary == lib.SQLITE_CANTOPEN && exists(path), primary == lib.SQLITE_PERM:
		return fmt.Errorf("%w (%s): make it and its directory writable for this user, or choose another data directory: %w", store.ErrReadOnly, path, err)
	case primary == lib.SQLITE_CORRUPT, primary == lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", damaged(path), err)
	case primary == lib.SQLITE_BUSY:
		return fmt.Errorf("another process has locked %s: wait for it or end it: %w", path, err)
	case primary == lib.SQLITE_IOERR:
		return fmt.Errorf("the disk under %s fails: check it (a file size limit or quota can also be the cause): %w", path, err)
	}
	return err
}

func damaged(path string) error {
	return fmt.Errorf("%w: move %s away (with the files that end in -wal and -shm) and restore a copy, or start with a new one; it was not changed", store.ErrCorrupt, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
