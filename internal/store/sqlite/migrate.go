package sqlite

import (
	"context"
	"database/sql"
	"embed"
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
func migrate(ctx context.Context, conn *sql.Conn) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name
	if err != nil {
		return err
	}
	for {
		have, err := schemaVersion(ctx, conn)
		switch {
		case err != nil:
			return err
		case have > len(files):
			return fmt.Errorf("its schema is version %d and this program knows up to %d: it was written by a newer dossier, upgrade this one", have, len(files))
		case have == len(files):
			return nil
		}
		if err := apply(ctx, conn, files[have], have); err != nil {
			return fmt.Errorf("migration %s: %w", files[have], err)
		}
	}
}

func schemaVersion(ctx context.Context, conn *sql.Conn) (version int, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// apply runs one migration unless another process was faster.
func apply(ctx context.Context, conn *sql.Conn, file string, have int) (err error) {
	script, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error tells what happened
		}
	}()
	var now, tables int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&now); err != nil {
		return err
	}
	if now != have {
		return tx.Rollback()
	}
	if have == 0 {
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if tables > 0 {
			return fmt.Errorf("the file is a database of another program: choose another data directory")
		}
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", have+1)); err != nil {
		return err
	}
	return tx.Commit()
}
