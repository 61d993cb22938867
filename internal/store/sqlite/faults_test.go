package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// begin creates a run and takes it.
func begin(t testing.TB, s store.Store, id string) int64 {
	t.Helper()
	if err := s.Create(t.Context(), run.Record{ID: id, Session: "s"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	h, err := s.Acquire(t.Context(), id, "w", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return h.Record.Epoch
}

// wait commits a batch and waits for it.
func wait(s store.Store, b *run.Batch) error {
	result := make(chan error, 1)
	s.Commit(b, func(err error) { result <- err })
	return <-result
}

// filled makes a database with something in it and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	epoch := begin(t, s, "r1")
	value := json.RawMessage(`"` + text(3000) + `"`)
	for i := range 20 {
		if err := wait(s, stepBatch("r1", epoch, i, value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReopen(t *testing.T) {
	path := filled(t)
	for _, name := range []string{path + "-wal", path + "-shm"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
	s := open(t, path, sqlite.Options{})
	h, err := s.History(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Entries) != 20 || h.Record.LastSeq != 20 || h.Record.Spent.Calls != 20 {
		t.Fatalf("record: %+v, %d entries", h.Record, len(h.Entries))
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A file that cannot be used is left as it is, and the error says what to do.
func TestUnusableFile(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(whole)
	for i := 4096 / 2; i < len(broken); i++ { // the schema itself
		broken[i] = byte(i * 7)
	}
	newer := bytes.Clone(whole)
	newer[63] = 99 // user_version in the header of the file
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE recipes (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	another, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file []byte
		is   error
		says string
	}{
		{"garbage", []byte(strings.Repeat("this is not a database\n", 500)), store.ErrCorrupt, "restore a copy"},
		{"short garbage", []byte("hello"), store.ErrCorrupt, "restore a copy"},
		{"truncated", whole[:len(whole)/2], store.ErrCorrupt, "restore a copy"},
		{"only the header", whole[:100], store.ErrCorrupt, "restore a copy"},
		{"overwritten", broken, store.ErrCorrupt, "restore a copy"},
		{"newer schema", newer, nil, "upgrade"},
		{"another program's", another, nil, "another program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dossier.db")
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(path, sqlite.Options{})
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("error: %v", err)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(after, c.file) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenWhereNothingCanBe(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing", "dossier.db")} {
		if s, err := sqlite.Open(path, sqlite.Options{}); err == nil {
			t.Errorf("%s was opened", path)
			_ = s.Close()
		}
	}
}

func TestStrangePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%20c?d#e&f='\"ü")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "dossier.db")
	begin(t, open(t, path, sqlite.Options{}), "r1")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

// Damage that opening does not see is found by Check.
func TestCheckFindsDamage(t *testing.T) {
	path := filled(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), info.Size()-4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, sqlite.Options{})
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("check: %v", err)
	}
}

// A full disk fails what does not fit, and nothing else.
func TestDiskFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	big, small := begin(t, s, "big"), begin(t, s, "small")
	if err := wait(s, stepBatch("small", small, 0, json.RawMessage(`1`))); err != nil {
		t.Fatal(err)
	}
	if err := s.FillDisk(8); err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 3)
	done := func(err error) { results <- err }
	s.Commit(stepBatch("small", small, 1, json.RawMessage(`1`)), done)
	s.Commit(stepBatch("big", big, 0, json.RawMessage(`"`+text(1<<20)+`"`)), done)
	s.Commit(stepBatch("small", small, 2, json.RawMessage(`1`)), done)
	for i, want := range []error{nil, store.ErrDiskFull, nil} {
		if err := <-results; !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("commit %d: %v", i, err)
		}
	}
	err := s.Create(t.Context(), run.Record{ID: "r3", Request: json.RawMessage(`"` + text(1<<20) + `"`)}, nil, nil)
	if !errors.Is(err, store.ErrDiskFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("create: %v", err)
	}
	if _, err := s.PutBlob(t.Context(), []byte(text(1<<20))); !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("blob: %v", err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.FillDisk(-1); err != nil {
		t.Fatal(err)
	}
	if err := wait(s, stepBatch("big", big, 0, json.RawMessage(`"`+text(1<<20)+`"`))); err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int64{"big": 1, "small": 3} {
		if r, err := s.Run(t.Context(), id); err != nil || r.LastSeq != n {
			t.Errorf("run %s: %v, %v", id, r.LastSeq, err)
		}
	}
}

// The log is carried over while the store is at work.
func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	epoch := begin(t, s, "r1")
	value := json.RawMessage(`"` + text(512<<10) + `"`)
	for i := range 80 {
		if err := wait(s, stepBatch("r1", epoch, i, value)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 12<<20 {
		t.Fatalf("after 40 MB the log has %d bytes", info.Size())
	}
}

// Storage grows with what is said: 2,000 turns of a 1 kB question, a 2 kB
// answer and three steps stay under 20 MB, though their text does not compress.
func TestGrowth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	s := open(t, path, sqlite.Options{})
	const turns, atOnce = 2000, 100
	for first := 0; first < turns; first += atOnce { // turns at once share their fsyncs
		results := make(chan error, atOnce)
		for i := range atOnce {
			go func() { results <- turn(s, fmt.Sprintf("01JD8ZQ4X0%016d", first+i)) }()
		}
		for range atOnce {
			if err := <-results; err != nil {
				t.Fatal(err)
			}
		}
	}
	messages, err := s.Messages(t.Context(), "session", "", 0)
	if err != nil || len(messages) != 2*turns {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var size int64
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	t.Logf("%d bytes in %d files, %d per turn", size, len(files), size/turns)
	if size >= 20<<20 {
		t.Fatalf("%d turns take %d bytes", turns, size)
	}
}

// turn is a run as the chat mode makes it.
func turn(s *sqlite.Store, id string) error {
	ctx, now := context.Background(), time.Now()
	question, answer := text(1000), text(2000)
	request := json.RawMessage(`{"question":"` + question + `","mode":"chat","model":"some-model","history":20}`)
	if err := s.Create(ctx, run.Record{ID: id, Session: "session", Mode: "chat", Title: question[:60], Request: request}, nil, nil); err != nil {
		return err
	}
	h, err := s.Acquire(ctx, id, "worker-0123456789", time.Hour)
	if err != nil {
		return err
	}
	seq := int64(0)
	commit := func(b run.Batch, data ...event.Data) error {
		for _, d := range data {
			seq++
			b.Events = append(b.Events, run.PlacedEvent{Place: fmt.Sprintf("chat/%s#%d", d.Kind(), seq), Event: event.Event{Seq: seq, Time: now, Data: d}})
		}
		b.Run, b.Epoch = id, h.Record.Epoch
		return wait(s, &b)
	}
	spent := run.Spent{Calls: 1, InputTokens: 1234, OutputTokens: 567, Cost: 0.00123}
	entry := func(key, value string) []run.Entry {
		return []run.Entry{{Key: key, Kind: run.EntryStep, Value: json.RawMessage(value), Spent: spent, Time: now, Seq: seq}}
	}
	return errors.Join(
		commit(run.Batch{}, event.RunStatus{Status: "running"}, event.Message{Role: "user", Text: question}),
		commit(run.Batch{Entries: entry("history", `{"messages":20,"tokens":1234}`)}, event.AgentStarted{Name: "chat", Role: "assistant"}),
		commit(run.Batch{Entries: entry("answer", `{"reasoning":"","answer":"`+answer+`"}`), Spent: spent}, event.Usage{Model: "some-model", Input: 1234, Output: 567, Cost: 0.00123}),
		commit(run.Batch{Entries: entry("followups", `["one more question","and another one"]`), Spent: spent}, event.FollowUps{Questions: []string{"one more question", "and another one"}}),
		commit(run.Batch{State: &run.State{Status: run.Done}, Release: true, Active: time.Second},
			event.Message{Role: "assistant", Text: answer, Model: "some-model"}, event.AgentFinished{Name: "chat", Outcome: "done"}, event.RunStatus{Status: "done"}),
	)
}
