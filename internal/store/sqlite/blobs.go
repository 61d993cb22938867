package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dossier/internal/store"
)

// Blob implements store.Blobs. It verifies what it has read.
func (s *Store) Blob(ctx context.Context, name string) ([]byte, error) {
	hash, ok := store.ParseBlobName(name)
	if !ok {
		return nil, fmt.Errorf("blob %q: %w", name, store.ErrNotFound)
	}
	var packed []byte
	err := s.row(ctx, "SELECT data FROM blobs WHERE hash = ?", []any{hash}, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", name, err)
	}
	data, err := inflate(packed)
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", name, err)
	}
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], hash) {
		return nil, fmt.Errorf("blob %q is not what it was: %w", name, damaged(s.path))
	}
	return data, nil
}

// PutBlob implements store.Blobs. A body that is there and was put lately costs a
// read.
func (s *Store) PutBlob(ctx context.Context, data []byte) (string, error) {
	name := store.BlobName(data)
	hash, _ := store.ParseBlobName(name)
	lately := s.now().Add(-store.PutGrain)
	var put time.Time
	err := s.row(ctx, "SELECT p.time FROM blobs b JOIN puts p ON p.hash = b.hash WHERE b.hash = ?", []any{hash}, timeAt{&put})
	switch {
	case err == nil && put.After(lately):
		return name, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("blob: %w", err)
	}
	packed, ok := deflate(data)
	if !ok {
		packed = append([]byte{packedPlain}, data...)
	}
	err = s.writer.do(ctx, len(packed), func(tx *tx) error { return tx.putBlob(hash, len(data), packed) })
	if err != nil {
		return "", fmt.Errorf("blob: %w", err)
	}
	return name, nil
}

// putBlob stores a body, or notes that it was put again.
func (t *tx) putBlob(hash []byte, size int, packed []byte) error {
	var have int64
	err := t.row("SELECT 1 FROM blobs WHERE hash = ?", []any{hash}, &have)
	switch {
	case err == nil:
		// One that has no row in puts is older than the table, and stays.
		return t.exec("UPDATE puts SET time = ? WHERE hash = ?", moment(t.now), hash)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if err := t.exec("INSERT INTO puts (hash, time) VALUES (?, ?)", hash, moment(t.now)); err != nil {
		return err
	}
	return t.exec("INSERT INTO blobs (hash, size, data) VALUES (?, ?, ?)", hash, size, packed)
}

// hold notes which bodies the run numbered n names.
func (t *tx) hold(n int64, hashes [][]byte) error {
	for _, hash := range hashes {
		if err := t.exec("INSERT OR IGNORE INTO held (run, hash) VALUES (?, ?)", n, hash); err != nil {
			return err
		}
	}
	return nil
}

// named appends the hashes of the bodies that a value names to those of a list.
func named(list [][]byte, value []byte) [][]byte {
	store.EachBlobName(value, func(name string) {
		hash, _ := store.ParseBlobName(name)
		for _, known := range list {
			if bytes.Equal(known, hash) {
				return
			}
		}
		list = append(list, hash)
	})
	return list
}

// release lets go of some of what a run held that is gone, and says whether it
// still holds any.
func (t *tx) release(n int64) (more bool, err error) {
	var hashes [][]byte
	err = t.w.conn.each("SELECT hash FROM held WHERE run = ? LIMIT ?", []any{n, clearRows + 1}, func(row scanner) error {
		var hash []byte
		err := row.Scan(bytesOf{&hash})
		hashes = append(hashes, bytes.Clone(hash))
		return err
	})
	if err != nil {
		return false, err
	}
	for _, hash := range hashes[:min(len(hashes), clearRows)] {
		if err := t.exec("UPDATE puts SET time = ? WHERE hash = ?", moment(t.now), hash); err != nil {
			return false, err
		}
		if err := t.exec("DELETE FROM held WHERE run = ? AND hash = ?", n, hash); err != nil {
			return false, err
		}
	}
	return len(hashes) > clearRows, nil
}

// What is removed in one step at most, beside the one body that is larger.
const (
	collectBlobs = 50
	collectBytes = 4 << 20
)

// collectable is a condition for rows of puts: last put before the moment ?1, and
// held by no run.
const collectable = "time < ?1 AND NOT EXISTS (SELECT 1 FROM held h WHERE h.hash = puts.hash)"

// CollectBlobs implements store.Blobs. A reader looks for what can go, and the
// writer makes sure of each.
func (s *Store) CollectBlobs(ctx context.Context, unused time.Duration) (removed int, err error) {
	if err := s.clear(ctx); err != nil { // what deleted runs hold still
		return 0, fmt.Errorf("collect blobs: %w", err)
	}
	before := moment(s.now().Add(-unused - store.PutGrain))
	for at := []byte{}; ; {
		var found [][]byte
		var size int64
		err := s.each(ctx, `SELECT hash, (SELECT size FROM blobs b WHERE b.hash = puts.hash) FROM puts
			WHERE hash > ?2 AND `+collectable+" ORDER BY hash LIMIT ?3", []any{before, at, collectBlobs}, func(row scanner) error {
			var hash []byte
			var n maybeInt
			if err := row.Scan(&hash, &n); err != nil {
				return err
			}
			if size += int64(n); len(found) == 0 || size <= collectBytes {
				found = append(found, hash)
			}
			return nil
		})
		if err != nil || len(found) == 0 {
			if err != nil {
				err = fmt.Errorf("collect blobs: %w", err)
			}
			return removed, err
		}
		at = found[len(found)-1]
		gone := 0
		err = s.writer.between(ctx, clearWrites, func(tx *tx) (err error) {
			gone, err = tx.collect(before, found)
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("collect blobs: %w", err)
		}
		removed += gone
	}
}

// collect removes those of the given bodies that can go still.
func (t *tx) collect(before int64, hashes [][]byte) (gone int, err error) {
	for _, hash := range hashes {
		changed, err := t.w.conn.exec("DELETE FROM puts WHERE hash = ?2 AND "+collectable, before, hash)
		if err != nil {
			return gone, err
		}
		if changed == 0 {
			continue
		}
		if err := t.exec("DELETE FROM blobs WHERE hash = ?", hash); err != nil {
			return gone, err
		}
		gone++
	}
	return gone, nil
}
