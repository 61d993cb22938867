package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// migrations holds the schema as numbered files; the number of the last one
// that was applied is the file's user_version.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the file has not seen, each in a
// transaction of its own.
func migrate(c *conn) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name
	if err != nil {
		return err
	}
	known, err := latestMigration()
	if err != nil {
		return err
	}
	for _, file := range files {
		number, err := numberOf(file)
		if err != nil {
			return err
		}
		if err := reach(c, file, number, known); err != nil {
			return err
		}
	}
	return nil
}

// latestMigration is the number of the last migration that this program knows.
func latestMigration() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	return numberOf(files[len(files)-1])
}

// numberOf is the number of a migration: that with which its name begins.
func numberOf(file string) (int64, error) {
	digits, _, _ := strings.Cut(path.Base(file), "_")
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("migration %s: its name has to begin with its number", file)
	}
	return number, nil
}

// reach applies a migration unless the file has seen it.
func reach(c *conn, file string, number, known int64) error {
	for {
		var have int64
		if err := c.row("PRAGMA user_version", nil, &have); err != nil {
			return err
		}
		switch {
		case have > known:
			return fmt.Errorf("its schema is version %d and this program knows up to %d: it was written by a newer dossier, upgrade this one", have, known)
		case have >= number:
			return nil
		}
		if err := apply(c, file, have, number); err != nil {
			return fmt.Errorf("migration %s: %w", file, err)
		}
	}
}

// apply runs one migration unless another process was faster.
func apply(c *conn, file string, have, number int64) (err error) {
	script, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.script("ROLLBACK") // the first error tells what happened
		}
	}()
	var now, tables int64
	if err := c.row("PRAGMA user_version", nil, &now); err != nil {
		return err
	}
	if now != have {
		return c.script("ROLLBACK")
	}
	if have == 0 {
		if err := c.row("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
			return err
		}
		if tables > 0 {
			return errors.New("the file is a database of another program: choose another data directory")
		}
	}
	return c.script(fmt.Sprintf("%s\nPRAGMA user_version = %d;\nCOMMIT", script, number))
}
