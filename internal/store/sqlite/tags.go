package sqlite

import (
	"context"
	"fmt"

	"dossier/internal/store"
)

// Tag implements store.Runs.
func (s *Store) Tag(ctx context.Context, id string, tags []string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		h, err := tx.find(id)
		if err == nil {
			err = tx.exec("DELETE FROM tags WHERE run = ?", h.n)
		}
		if err == nil {
			err = tx.tag(h.n, tags)
		}
		return err
	})
}

// tag adds tags to the run numbered n, which has none.
func (t *tx) tag(n int64, tags []string) error {
	for _, tag := range store.CleanTags(tags) {
		if err := t.exec("INSERT INTO tags (run, tag) VALUES (?, ?)", n, tag); err != nil {
			return err
		}
	}
	return nil
}

// Tags implements store.Runs.
func (s *Store) Tags(ctx context.Context, user string) (out []store.TagCount, err error) {
	err = s.each(ctx, "SELECT t.tag, count(*) FROM tags t JOIN runs r ON r.n = t.run WHERE ?1 = '' OR r.user = ?1 GROUP BY t.tag ORDER BY t.tag", []any{user}, func(row scanner) error {
		var c store.TagCount
		err := row.Scan(&c.Tag, &c.Runs)
		out = append(out, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tags: %w", err)
	}
	return out, nil
}
