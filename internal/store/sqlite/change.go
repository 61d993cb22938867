package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dossier/internal/store"
	"dossier/kb"
)

// CreateCollection implements kb.Store.
func (s *Store) CreateCollection(ctx context.Context, c kb.Collection) error {
	if err := store.CheckCollection(c); err != nil {
		return err
	}
	roots := encodeStrings(c.Roots)
	return s.writer.do(ctx, len(roots), func(tx *tx) error {
		var n int64
		switch err := tx.row("SELECT n FROM collections WHERE id = ? OR name = ?", []any{c.ID, c.Name}, &n); {
		case err == nil:
			return fmt.Errorf("collection %q: %w", c.Name, kb.ErrExists)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if err := tx.row("INSERT INTO shelves DEFAULT VALUES RETURNING n", nil, &n); err != nil {
			return err
		}
		return tx.exec("INSERT INTO collections (n, id, name, user, roots, tags, auto, created, synced) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			n, c.ID, c.Name, c.User, roots, encodeStrings(c.Tags), flag(c.Auto), moment(c.Created), moment(c.Synced))
	})
}

// flag returns a bool as it is stored.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// DeleteCollection implements kb.Store. The collection is gone with the first
// commit. What was in it is removed in steps between which others can commit;
// if that is cut short, the next deletion goes on with it.
func (s *Store) DeleteCollection(ctx context.Context, id string) error {
	err := s.writer.do(ctx, 0, func(tx *tx) error {
		changed, err := tx.w.conn.exec("DELETE FROM collections WHERE id = ?", id)
		if err == nil && changed == 0 {
			return noCollection(id)
		}
		return err
	})
	if err != nil {
		return err
	}
	for more := true; more && ctx.Err() == nil; {
		err := s.writer.between(ctx, sweepWrites, func(tx *tx) (err error) {
			more, err = tx.sweep()
			return err
		})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("collection %q is deleted, and what was in it is not: %w", id, err)
		}
	}
	return nil
}

// What a step removes at most, beside the one document or segment that is
// larger.
const (
	sweepDocuments = 1000
	sweepBytes     = 8 << 20
	sweepWrites    = 200 << 10 // bytes that it writes; pages that get free are not written
)

// sweep removes some of what deleted collections have left and says whether
// there was any.
func (t *tx) sweep() (more bool, err error) {
	var shelf int64
	err = t.row("SELECT n FROM shelves WHERE n NOT IN (SELECT n FROM collections) LIMIT 1", nil, &shelf)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	var last, sum int64
	err = t.w.conn.each("SELECT n, bytes FROM documents WHERE collection = ? ORDER BY n LIMIT ?", []any{shelf, sweepDocuments}, func(row scanner) error {
		var n, bytes int64
		err := row.Scan(&n, &bytes)
		if sum += bytes; last == 0 || sum <= sweepBytes {
			last = n
		}
		return err
	})
	switch {
	case err != nil:
		return false, err
	case last > 0:
		return true, t.exec("DELETE FROM documents WHERE collection = ? AND n <= ?", shelf, last)
	}
	dropped, err := t.w.conn.exec("DELETE FROM segments WHERE id = (SELECT id FROM segments WHERE collection = ? LIMIT 1)", shelf)
	if err != nil || dropped > 0 {
		return true, err
	}
	return true, t.exec("DELETE FROM shelves WHERE n = ?", shelf)
}

// content is a document in the form in which it is stored.
type content struct {
	kb.Document
	warnings, chunks []byte
	text             any
	reason, why      any
}

func newContent(d kb.Document) content {
	c := content{Document: d, warnings: encodeStrings(d.Warnings), chunks: packBytes(encodeChunks(d.Chunks)), text: d.Text}
	if len(d.Text) >= packFrom {
		c.text = pack([]byte(d.Text))
	}
	if d.Failure != nil {
		c.reason, c.why = string(d.Failure.Reason), d.Failure.Why
	}
	return c
}

// counts are what documents add to their collection.
type counts struct{ documents, failed, chunks, bytes int64 }

func (c *counts) add(sign, failed, chunks, bytes int64) {
	c.documents += sign * (1 - failed)
	c.failed += sign * failed
	c.chunks += sign * chunks
	c.bytes += sign * bytes
}

// ChangeCollection implements kb.Store. What can be computed is computed here,
// in the caller's goroutine; the writer only stores it.
func (s *Store) ChangeCollection(ctx context.Context, id string, c kb.Change) (int64, error) {
	size := 100 * (len(c.Delete) + len(c.Touch) + len(c.Drop))
	contents := make([]content, len(c.Put))
	for i, d := range c.Put {
		contents[i] = newContent(d)
		size += 500 + len(d.Text) + len(contents[i].chunks)
	}
	for _, g := range c.Segments {
		size += len(g.Data) + len(g.Dead) + len(g.Vectors)
	}
	var revision int64
	err := s.writer.do(ctx, size, func(tx *tx) (err error) {
		revision, err = tx.change(id, c, contents)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("change collection %q: %w", id, err)
	}
	return revision, nil
}

// change makes a change, after all that could refuse it.
func (t *tx) change(id string, c kb.Change, contents []content) (int64, error) {
	var n int64
	var m store.Marks
	err := t.row("SELECT n, revision, last_document, last_segment FROM collections WHERE id = ?", []any{id}, &n, &m.Revision, &m.Document, &m.Segment)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, kb.ErrNoCollection
	case err != nil:
		return 0, err
	}
	there := map[int64]bool{}
	if len(c.Segments) > 0 {
		err := t.w.conn.each("SELECT n FROM segments WHERE collection = ?", []any{n}, func(row scanner) error {
			var segment int64
			err := row.Scan(&segment)
			there[segment] = true
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	m, err = m.Next(c, func(n int64) bool { return there[n] })
	if err != nil {
		return 0, err
	}
	if c.Name != "" {
		if err := t.rename(n, c.Name); err != nil {
			return 0, err
		}
	}
	var sum counts
	if err := t.remove(n, c, &sum); err != nil {
		return 0, err
	}
	for i := range c.Touch {
		f := &c.Touch[i]
		sec, ns := fileMoment(f.Modified)
		err := t.exec("UPDATE documents SET size = ?, modified = ?, modified_ns = ? WHERE collection = ? AND n = ?", f.Size, sec, ns, n, f.N)
		if err != nil {
			return 0, err
		}
	}
	for i := range contents {
		if err := t.putDocument(n, &contents[i], &sum); err != nil {
			return 0, err
		}
	}
	for i := range c.Segments {
		if err := t.putSegment(n, &c.Segments[i]); err != nil {
			return 0, err
		}
	}
	var roots, tags any
	if c.Roots != nil {
		roots = encodeStrings(c.Roots)
	}
	if c.Tags != nil {
		tags = encodeStrings(c.Tags)
	}
	return m.Revision, t.exec(`UPDATE collections SET revision = ?, last_document = ?, last_segment = ?,
		documents = documents + ?, failed = failed + ?, chunks = chunks + ?, bytes = bytes + ?,
		roots = coalesce(?, roots), tags = coalesce(?, tags), synced = coalesce(nullif(?, 0), synced) WHERE n = ?`,
		m.Revision, m.Document, m.Segment, sum.documents, sum.failed, sum.chunks, sum.bytes, roots, tags, moment(c.Synced), n)
}

// rename gives a collection a name that no other has.
func (t *tx) rename(collection int64, name string) error {
	var other int64
	switch err := t.row("SELECT n FROM collections WHERE name = ? AND n <> ?", []any{name, collection}, &other); {
	case err == nil:
		return fmt.Errorf("%q: %w", name, kb.ErrExists)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return t.exec("UPDATE collections SET name = ?, auto = 0 WHERE n = ?", name, collection)
}

// remove carries out the removals of a change.
func (t *tx) remove(collection int64, c kb.Change, sum *counts) error {
	for _, n := range c.Delete {
		var failed, chunks, bytes int64
		err := t.row("DELETE FROM documents WHERE collection = ? AND n = ? RETURNING failed, chunks, bytes", []any{collection, n}, &failed, &chunks, &bytes)
		switch {
		case err == nil:
			sum.add(-1, failed, chunks, bytes)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	for _, n := range c.Drop {
		if err := t.exec("DELETE FROM segments WHERE collection = ? AND n = ?", collection, n); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putDocument(collection int64, d *content, sum *counts) error {
	failed, chunks, bytes := flag(d.Failure != nil), int64(len(d.Chunks)), int64(len(d.Text))
	sec, ns := fileMoment(d.Modified)
	err := t.exec(`INSERT INTO documents (collection, n, path, hash, size, modified, modified_ns, failed, chunks, bytes, reading)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, collection, d.N, []byte(d.Path), d.Hash, d.Size, sec, ns, failed, chunks, bytes, d.Reading)
	if err != nil {
		return err
	}
	err = t.exec(`INSERT INTO contents (collection, n, reason, why, format, title, author, date, lang, warnings, chunks, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		collection, d.N, d.reason, d.why, string(d.Format), d.Title, d.Author, d.Date, string(d.Lang), d.warnings, d.chunks, d.text)
	if err != nil {
		return err
	}
	sum.add(1, failed, chunks, bytes)
	return nil
}

func (t *tx) putSegment(collection int64, g *kb.Segment) error {
	var id int64
	err := t.row(`INSERT INTO segments (collection, n, dead, embedder) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET dead = excluded.dead, embedder = excluded.embedder RETURNING id`,
		[]any{collection, g.N, g.Dead, g.Embedder}, &id)
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO postings (segment, data, vectors) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data, vectors = excluded.vectors",
		id, g.Data, g.Vectors)
}
