package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dossier/tool/catalog"
)

// PutTools implements catalog.Store.
func (s *Store) PutTools(ctx context.Context, entries []catalog.Entry) error {
	size := 0
	for i := range entries {
		e := &entries[i]
		size += len(e.Description) + len(e.Schema) + len(e.About)
	}
	err := s.writer.do(ctx, size, func(tx *tx) error {
		for i := range entries {
			e := &entries[i]
			err := tx.exec(`INSERT INTO tools (origin, name, about, description, schema, tags, examples) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET about = excluded.about, description = excluded.description, schema = excluded.schema,
				tags = excluded.tags, examples = excluded.examples`,
				e.Origin, e.Name, e.About, pack([]byte(e.Description)), pack(e.Schema), encodeStrings(e.Tags), encodeStrings(e.Examples))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put tools: %w", err)
	}
	return nil
}

// ToolRecords implements catalog.Store.
func (s *Store) ToolRecords(ctx context.Context) ([]catalog.Record, error) {
	var list []catalog.Record
	err := s.each(ctx, `SELECT origin, name, about, description, schema, tags, examples, calls, failures, spent, last, ok, failed, error
		FROM tools ORDER BY origin, name`, nil, func(row scanner) error {
		var r catalog.Record
		err := row.Scan(&r.Origin, &r.Name, &r.About, textOf{&r.Description}, unpacked{&r.Schema}, stringsOf{&r.Tags}, stringsOf{&r.Examples},
			&r.Calls, &r.Failures, &r.Time, timeAt{&r.Last}, timeAt{&r.OK}, timeAt{&r.Failed}, &r.Error)
		list = append(list, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tool records: %w", err)
	}
	return list, nil
}

// RecordUse implements catalog.Store.
func (s *Store) RecordUse(ctx context.Context, uses []catalog.ToolUse) error {
	err := s.writer.do(ctx, 64*len(uses), func(tx *tx) error {
		for i := range uses {
			if err := tx.addUse(&uses[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record use of tools: %w", err)
	}
	return nil
}

func (t *tx) addUse(u *catalog.ToolUse) error {
	var sum catalog.Use
	var spent int64
	err := t.row("SELECT calls, failures, spent, last, ok, failed, error FROM tools WHERE origin = ? AND name = ?", []any{u.Origin, u.Name},
		&sum.Calls, &sum.Failures, &spent, timeAt{&sum.Last}, timeAt{&sum.OK}, timeAt{&sum.Failed}, &sum.Error)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	sum.Time = time.Duration(spent)
	sum.Add(u.Use)
	return t.exec("UPDATE tools SET calls = ?, failures = ?, spent = ?, last = ?, ok = ?, failed = ?, error = ? WHERE origin = ? AND name = ?",
		sum.Calls, sum.Failures, int64(sum.Time), moment(sum.Last), moment(sum.OK), moment(sum.Failed), sum.Error, u.Origin, u.Name)
}
