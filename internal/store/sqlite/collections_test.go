package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/kb"
)

// tamper runs a statement on a database file behind the store's back.
func tamper(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// rows counts what is in a table of a database file.
func rows(t testing.TB, path, table string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.QueryRow("SELECT count(*) FROM "+table).Scan(&n), db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// collected makes a database with a collection "c" and returns its path.
func collected(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	if err := s.CreateCollection(t.Context(), kb.Collection{ID: "c", Name: "c"}); err != nil {
		t.Fatal(err)
	}
	c := kb.Change{Put: papers(1, 20, text(2000)), Segments: []kb.Segment{{N: 1, Data: []byte("data")}}}
	if _, err := s.ChangeCollection(t.Context(), "c", c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of the first schema is brought up to date with all that is in it.
func TestUpgrade(t *testing.T) {
	first, err := os.ReadFile("migrations/0001_runs.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dossier.db")
	tamper(t, path, string(first), "PRAGMA user_version = 1", "INSERT INTO settings (bucket, key, value) VALUES ('b', 'k', x'61')")
	s := open(t, path, sqlite.Options{})
	if value, err := s.Setting(t.Context(), "b", "k"); err != nil || string(value) != "a" {
		t.Fatalf("setting: %q, %v", value, err)
	}
	if list, err := s.Collections(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("collections: %v, %v", list, err)
	}
}

// The log of an older file is read by sequence after it was brought up to date,
// and goes with its run.
func TestUpgradeOfALog(t *testing.T) {
	files, err := filepath.Glob("migrations/000[1-4]_*.sql")
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	var old []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, string(text))
	}
	path := filepath.Join(t.TempDir(), "dossier.db")
	tamper(t, path, append(old, "PRAGMA user_version = 4", `
		INSERT INTO runs (id, status, updated, last_seq, last_ord, active, calls, input_tokens, output_tokens, cost, searches, pages)
			VALUES ('r', 'done', 1, 3, 1, 0, 0, 0, 0, 0, 0, 0);
		INSERT INTO requests (run, mode, title, created, fork_of, fork_at) VALUES (1, 'chat', 't', 1, '', '');
		INSERT INTO log (run, kind, key, seq, ord, event, agent, time, value) VALUES
			(1, 'event', 'c', 1, NULL, 'note.added', '', 1, '{"text":"one"}'),
			(1, 'step', 'a', 1, 1, NULL, NULL, 1, '1'),
			(1, 'event', 'b', 2, NULL, 'note.added', '', 1, '{"text":"two"}'),
			(1, 'event', 'a', 3, NULL, 'note.added', '', 1, '{"text":"three"}');
		INSERT INTO blobs (hash, size, data) VALUES (x'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 3, x'00616263')`)...)
	s := open(t, path, sqlite.Options{})
	// Whether a run names a body that is so old is not known: it stays.
	for range 2 {
		if n, err := s.CollectBlobs(t.Context(), 0); err != nil || n != 0 {
			t.Errorf("%d bodies were removed, %v", n, err)
		}
		name, err := s.PutBlob(t.Context(), []byte("abc"))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := s.Blob(t.Context(), name); err != nil || string(body) != "abc" {
			t.Errorf("%q, %v", body, err)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := s.Events(t.Context(), "r", 1, 1)
	if err != nil || len(list) != 1 || list[0].Place != "b" || list[0].Seq != 2 {
		t.Fatalf("events: %+v, %v", list, err)
	}
	h, err := s.History(t.Context(), "r")
	if err != nil || !maps.Equal(h.Places, map[string]int64{"c": 1, "b": 2, "a": 3}) || len(h.Entries) != 1 {
		t.Fatalf("history: %+v, %v", h, err)
	}
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, path, "log"); n != 0 {
		t.Errorf("%d rows are left of the log", n)
	}
	if n := rows(t, path, "pragma_foreign_key_list('log')"); n != 0 {
		t.Errorf("%d lookups are made for each row of the log", n)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A log without its run is found by Check.
func TestCheckFindsAStrayLog(t *testing.T) {
	path := filled(t)
	tamper(t, path, "DELETE FROM requests", "DELETE FROM runs")
	if err := open(t, path, sqlite.Options{}).Check(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("check: %v", err)
	}
}

// Counts that don't fit and parts that are missing are found by Check.
func TestCheckFindsDamagedCollections(t *testing.T) {
	for _, damage := range []string{
		"UPDATE collections SET documents = documents + 1",
		"UPDATE collections SET failed = 1",
		"UPDATE collections SET chunks = 0",
		"UPDATE collections SET bytes = bytes - 1",
		"UPDATE collections SET last_document = 19",
		"UPDATE collections SET last_segment = 0",
		"DELETE FROM documents WHERE n = 3",
		"DELETE FROM contents WHERE n = 3",
		"DELETE FROM postings",
		"DELETE FROM shelves",
	} {
		t.Run(damage, func(t *testing.T) {
			path := collected(t)
			tamper(t, path, "PRAGMA foreign_keys = OFF; "+damage)
			if err := open(t, path, sqlite.Options{}).Check(t.Context()); !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("check: %v", err)
			}
		})
	}
}

// impatient is a context that is cancelled after it was asked some times.
type impatient struct {
	context.Context
	left atomic.Int64
}

func (c *impatient) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A large collection is deleted in steps, so that others can commit. What a
// deletion that was cut short has left is removed by the next one.
func TestDeletionInSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	create := func(id string, documents int) {
		t.Helper()
		if err := s.CreateCollection(t.Context(), kb.Collection{ID: id, Name: id}); err != nil {
			t.Fatal(err)
		}
		c := kb.Change{Put: papers(1, documents, "text"), Segments: []kb.Segment{{N: 1}, {N: 2}}}
		if _, err := s.ChangeCollection(t.Context(), id, c); err != nil {
			t.Fatal(err)
		}
	}
	create("c", 5000)
	ctx := &impatient{Context: t.Context()}
	ctx.left.Store(10)
	if err := s.DeleteCollection(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, path, "documents"); n == 0 || n == 5000 || rows(t, path, "contents") != n || rows(t, path, "collections") != 0 {
		t.Fatalf("%d documents are left", n)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	create("kept", 3)
	create("c", 4)
	if err := s.DeleteCollection(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"shelves": 1, "documents": 3, "contents": 3, "segments": 2, "postings": 2} {
		if got := rows(t, path, table); got != want {
			t.Errorf("%s has %d rows, want %d", table, got, want)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A segment whose tombstones change is not written anew.
func TestTombstonesAreCheap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	if err := s.CreateCollection(t.Context(), kb.Collection{ID: "c", Name: "c"}); err != nil {
		t.Fatal(err)
	}
	g := kb.Segment{N: 1, Data: []byte(text(500_000)), Vectors: []byte(text(500_000))}
	var sizes []int64
	for revision, dead := range []string{"", "a", "ab"} {
		g.Dead = []byte(dead)
		if _, err := s.ChangeCollection(t.Context(), "c", kb.Change{Revision: int64(revision), Segments: []kb.Segment{g}}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if grown := sizes[1] - sizes[0]; grown > 100_000 {
		t.Fatalf("new tombstones of a segment of 1 MB take %d bytes of the log", grown)
	}
	list, _, err := s.Segments(t.Context(), "c")
	if err != nil || len(list) != 1 || string(list[0].Dead) != "ab" || string(list[0].Data) != string(g.Data) {
		t.Fatalf("%d segments, %v", len(list), err)
	}
}

// A change that does not fit on the disk changes nothing, and says so.
func TestChangeOnFullDisk(t *testing.T) {
	s := open(t, collected(t), sqlite.Options{})
	before, err := s.Collection(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.FillDisk(8); err != nil {
		t.Fatal(err)
	}
	c := kb.Change{Revision: before.Revision, Put: papers(21, 100, text(20_000)), Delete: []int64{1}, Segments: []kb.Segment{{N: 2}}}
	if _, err := s.ChangeCollection(t.Context(), "c", c); !errors.Is(err, store.ErrDiskFull) {
		t.Fatalf("change: %v", err)
	}
	if after, err := s.Collection(t.Context(), "c"); err != nil || after.Revision != before.Revision || after.Documents != before.Documents {
		t.Fatalf("%+v, %v", after, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.FillDisk(-1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ChangeCollection(t.Context(), "c", c); err != nil {
		t.Fatal(err)
	}
}
