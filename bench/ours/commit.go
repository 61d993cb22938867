package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dossier/event"
	kernel "dossier/run"
)

// commits has one run record one step after another, and after each makes a
// bare commit: one row with the same bytes into a table without an index, by
// the same driver with the same durability.
func commits(ctx context.Context, o options) (result, error) {
	if o.sessions == 0 {
		o.sessions = 1000
	}
	o.store = "sqlite"
	dir, err := os.MkdirTemp(o.dir, "commit")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	bare, err := openBare(ctx, filepath.Join(dir, "bare.db"))
	if err != nil {
		return result{}, err
	}
	defer bare.close()

	value := text(600)
	spoken := event.Usage{Role: "researcher", Model: "mock", Input: 1000, Output: 100}
	// Result, event and the places of both.
	data, err := event.EncodeData(spoken)
	if err != nil {
		return result{}, err
	}
	same := text(len(value) + len(data) + 2*len("step-100#1"))

	var steps, bares []float64
	b, err := open(o, func(ctx context.Context, s *kernel.Scope) error {
		for i := range o.sessions {
			name := "step-" + strconv.Itoa(i)
			began := time.Now()
			_, err := kernel.Step(ctx, s, name, func(_ context.Context, s *kernel.Scope) (string, error) {
				s.Charge(kernel.Spent{Calls: 1, InputTokens: 1000, OutputTokens: 100})
				return value, s.Emit(spoken)
			})
			steps = append(steps, micros(time.Since(began)))
			if err != nil {
				return err
			}
			began = time.Now()
			if err := bare.commit(ctx, same); err != nil {
				return err
			}
			bares = append(bares, micros(time.Since(began)))
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	if err := b.store.Create(ctx, kernel.Record{ID: "r", Session: "r", Mode: "bench"}, nil, nil); err != nil {
		return result{}, err
	}
	status, err := b.exec.Execute(ctx, "r")
	if err == nil && status != kernel.Done {
		err = fmt.Errorf("the run ended as %s", status)
	}
	if err != nil {
		return result{}, err
	}
	return result{
		Sessions: o.sessions, StepP50US: quantile(steps, 50), StepP95US: quantile(steps, 95),
		BareP50US: quantile(bares, 50), BareP95US: quantile(bares, 95),
	}, b.shut()
}

// text returns n characters.
func text(n int) string {
	s := rand.Text()
	for len(s) < n {
		s += rand.Text()
	}
	return s[:n]
}

// bareFile is a database with one table.
type bareFile struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openBare(ctx context.Context, path string) (*bareFile, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (id INTEGER PRIMARY KEY, value TEXT)"); err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO t (value) VALUES (?)")
	return &bareFile{db, insert}, err
}

// commit is one statement and so one transaction.
func (b *bareFile) commit(ctx context.Context, value string) error {
	_, err := b.insert.ExecContext(ctx, value)
	return err
}

func (b *bareFile) close() {
	_ = b.insert.Close()
	_ = b.db.Close()
}
