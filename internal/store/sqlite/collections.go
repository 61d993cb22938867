package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/kb"
	"dossier/reader"
)

const selectCollection = `SELECT id, name, user, roots, tags, auto, created, synced, revision, documents, failed, chunks, bytes, last_document, last_segment
	FROM collections `

func scanCollection(row scanner) (c kb.Collection, err error) {
	err = row.Scan(&c.ID, &c.Name, &c.User, stringsOf{&c.Roots}, stringsOf{&c.Tags}, &c.Auto, timeAt{&c.Created}, timeAt{&c.Synced}, &c.Revision,
		&c.Documents, &c.Failed, &c.Chunks, &c.Bytes, &c.LastDocument, &c.LastSegment)
	return c, err
}

func noCollection(id string) error { return fmt.Errorf("collection %q: %w", id, kb.ErrNoCollection) }

// Collection implements kb.Store.
func (s *Store) Collection(ctx context.Context, name string) (c kb.Collection, err error) {
	found := false
	err = s.each(ctx, selectCollection+"WHERE name = ?1 OR id = ?1 ORDER BY name = ?1 DESC LIMIT 1", []any{name}, func(row scanner) (err error) {
		found = true
		c, err = scanCollection(row)
		return err
	})
	switch {
	case err != nil:
		return kb.Collection{}, fmt.Errorf("collection %q: %w", name, err)
	case !found:
		return kb.Collection{}, noCollection(name)
	}
	return c, nil
}

// Collections implements kb.Store.
func (s *Store) Collections(ctx context.Context) ([]kb.Collection, error) {
	var list []kb.Collection
	err := s.each(ctx, selectCollection+"ORDER BY name", nil, func(row scanner) error {
		c, err := scanCollection(row)
		list = append(list, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("collections: %w", err)
	}
	return list, nil
}

// mirrored is what a read needs to know of a collection.
type mirrored struct {
	n         int64
	revision  int64
	documents int
}

// reading calls do with one moment of a collection.
func (s *Store) reading(ctx context.Context, id string, do func(q querier, c mirrored) error) error {
	err := s.snapshot(ctx, func(q querier) error {
		var c mirrored
		err := q.query(ctx, "SELECT n, revision, documents + failed FROM collections WHERE id = ?", []any{id}, func(row scanner) error {
			return row.Scan(&c.n, &c.revision, &c.documents)
		})
		switch {
		case err != nil:
			return err
		case c.n == 0:
			return kb.ErrNoCollection
		}
		return do(q, c)
	})
	if err != nil {
		return fmt.Errorf("collection %q: %w", id, err)
	}
	return nil
}

// fileTime scans the two columns of a file's time.
type fileTime struct{ sec, ns sql.NullInt64 }

func (t fileTime) time() time.Time {
	if !t.sec.Valid {
		return time.Time{}
	}
	return time.Unix(t.sec.Int64, t.ns.Int64).UTC()
}

// fileMoment returns a file's time as it is stored.
func fileMoment(t time.Time) (sec any, ns int64) {
	if t.IsZero() {
		return nil, 0
	}
	return t.Unix(), int64(t.Nanosecond())
}

// Files implements kb.Store. The rows are read in the order in which they lie
// and sorted here, which takes less than an index that every change would
// write.
func (s *Store) Files(ctx context.Context, id string) ([]kb.File, error) {
	var files []kb.File
	err := s.reading(ctx, id, func(q querier, c mirrored) error {
		if c.documents == 0 {
			return nil
		}
		files = make([]kb.File, 0, c.documents)
		var f kb.File
		var at fileTime
		var path sql.RawBytes
		dst := []any{&f.N, &path, &f.Hash, &f.Size, &at.sec, &at.ns, &f.Failed, &f.Reading}
		return q.query(ctx, "SELECT n, path, hash, size, modified, modified_ns, failed, reading FROM documents WHERE collection = ?", []any{c.n}, func(row scanner) error {
			err := row.Scan(dst...)
			f.Path, f.Modified = string(path), at.time()
			files = append(files, f)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b kb.File) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.N, b.N)) })
	return files, nil
}

const selectDocument = `SELECT d.n, d.path, d.hash, d.size, d.modified, d.modified_ns, d.reading,
	c.reason, c.why, c.format, c.title, c.author, c.date, c.lang, c.warnings, c.chunks, c.text
	FROM documents d JOIN contents c ON c.collection = d.collection AND c.n = d.n WHERE d.collection = ? AND `

func scanDocument(row scanner) (d kb.Document, err error) {
	var at fileTime
	var path []byte
	var reason, why sql.NullString
	err = row.Scan(&d.N, &path, &d.Hash, &d.Size, &at.sec, &at.ns, &d.Reading,
		&reason, &why, &d.Format, &d.Title, &d.Author, &d.Date, &d.Lang, stringsOf{&d.Warnings}, chunksOf{&d.Chunks}, textOf{&d.Text})
	d.Path, d.Modified = string(path), at.time()
	if reason.Valid {
		d.Failure = &kb.Failure{Reason: reader.Reason(reason.String), Why: why.String}
	}
	return d, err
}

// Documents implements kb.Store.
func (s *Store) Documents(ctx context.Context, id string, numbers ...int64) ([]kb.Document, error) {
	asked, err := json.Marshal(numbers)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", id, err)
	}
	var list []kb.Document
	err = s.reading(ctx, id, func(q querier, c mirrored) error {
		if len(numbers) == 0 {
			return nil
		}
		found := make(map[int64]kb.Document, len(numbers))
		err := q.query(ctx, selectDocument+"d.n IN (SELECT value FROM json_each(?))", []any{c.n, string(asked)}, func(row scanner) error {
			d, err := scanDocument(row)
			found[d.N] = d
			return err
		})
		for _, n := range numbers {
			if d, ok := found[n]; ok {
				list = append(list, d)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// ReadOtherwise implements kb.Store.
func (s *Store) ReadOtherwise(ctx context.Context, id, reading string) (n int, err error) {
	err = s.reading(ctx, id, func(q querier, c mirrored) error {
		return q.query(ctx, "SELECT count(*) FROM documents WHERE collection = ? AND reading <> ? AND hash <> ''", []any{c.n, reading}, func(row scanner) error {
			return row.Scan(&n)
		})
	})
	return n, err
}

// FailedDocuments implements kb.Store.
func (s *Store) FailedDocuments(ctx context.Context, id string) ([]kb.Document, error) {
	var list []kb.Document
	err := s.reading(ctx, id, func(q querier, c mirrored) error {
		return q.query(ctx, selectDocument+"d.failed ORDER BY d.path, d.n", []any{c.n}, func(row scanner) error {
			d, err := scanDocument(row)
			list = append(list, d)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Segments implements kb.Store.
func (s *Store) Segments(ctx context.Context, id string) (list []kb.Segment, revision int64, err error) {
	err = s.reading(ctx, id, func(q querier, c mirrored) error {
		revision = c.revision
		return q.query(ctx, `SELECT g.n, p.data, g.dead, p.vectors, g.embedder FROM segments g JOIN postings p ON p.segment = g.id
			WHERE g.collection = ? ORDER BY g.n`, []any{c.n}, func(row scanner) error {
			var g kb.Segment
			err := row.Scan(&g.N, bytesOf{&g.Data}, bytesOf{&g.Dead}, bytesOf{&g.Vectors}, &g.Embedder)
			list = append(list, g)
			return err
		})
	})
	if err != nil {
		return nil, 0, err
	}
	return list, revision, nil
}

// checkCollections says whether the counts of collections are right and every
// document and segment is whole.
func (s *Store) checkCollections(ctx context.Context) error {
	var id string
	err := s.reader.QueryRowContext(ctx, `SELECT id FROM collections c LEFT JOIN (
			SELECT collection, count(*) AS n, sum(failed) AS failed, sum(chunks) AS chunks, sum(bytes) AS bytes, max(n) AS last
			FROM documents GROUP BY collection) d ON d.collection = c.n
		WHERE c.documents <> coalesce(d.n - d.failed, 0) OR c.failed <> coalesce(d.failed, 0)
		OR c.chunks <> coalesce(d.chunks, 0) OR c.bytes <> coalesce(d.bytes, 0) OR c.last_document < coalesce(d.last, 0)
		OR coalesce(d.n, 0) <> (SELECT count(*) FROM contents WHERE collection = c.n)
		OR EXISTS (SELECT 1 FROM segments g WHERE g.collection = c.n AND (g.n > c.last_segment OR g.id NOT IN (SELECT segment FROM postings)))
		LIMIT 1`).Scan(&id)
	switch {
	case err == nil:
		return fmt.Errorf("check database: the counts of collection %q don't fit what is in it: %w", id, damaged(s.path))
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	return nil
}
