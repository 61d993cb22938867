package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
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
	known := int64(len(files))
	for {
		var have int64
		if err := c.row("PRAGMA user_version", nil, &have); err != nil {
			return err
		}
		switch {
		case have > known:
			return fmt.Errorf("its schema is version %d and this program knows up to %d: it was written by a newer dossier, upgrade this one", have, known)
		case have == known:
			return nil
		}
		if err := apply(c, files[have], have); err != nil {
			return fmt.Errorf("migration %s: %w", files[have], err)
		}
	}
}

// apply runs one migration unless another process was faster.
func apply(c *conn, file string, have int64) (err error) {
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
	return c.script(fmt.Sprintf("%s\nPRAGMA user_version = %d;\nCOMMIT", script, have+1))
}
