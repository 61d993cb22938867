package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// prepared keeps the statements that readers use prepared: to read the text of a
// query takes SQLite longer than to find one row.
type prepared struct {
	db *sql.DB

	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

// mostPrepared bounds them: lists with filters have their texts made up.
const mostPrepared = 256

// known returns the prepared form of a query, nil if it has none yet.
func (p *prepared) known(text string) (s *sql.Stmt, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stmts[text], len(p.stmts) >= mostPrepared
}

// stmt returns the prepared form of a query, nil if it is to have none. It may
// wait for a connection, so whoever calls it holds neither one nor the lock.
func (p *prepared) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	s, full := p.known(text)
	if s != nil || full {
		return s, nil
	}
	s, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.stmts[text]; other != nil {
		return other, s.Close()
	}
	if p.stmts == nil {
		p.stmts = make(map[string]*sql.Stmt)
	}
	p.stmts[text] = s
	return s, nil
}

func (p *prepared) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, s := range p.stmts {
		err = errors.Join(err, s.Close())
	}
	return err
}

// readers reads by a sql.DB, or within one of its transactions.
type readers struct {
	all *prepared
	tx  *sql.Tx // nil for none
}

func (r readers) rows(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	if r.tx != nil {
		if s, _ := r.all.known(text); s != nil {
			return r.tx.StmtContext(ctx, s).QueryContext(ctx, args...)
		}
		return r.tx.QueryContext(ctx, text, args...)
	}
	s, err := r.all.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return r.all.db.QueryContext(ctx, text, args...)
	}
	return s.QueryContext(ctx, args...)
}

func (r readers) query(ctx context.Context, text string, args []any, scan func(row scanner) error) (err error) {
	rows, err := r.rows(ctx, text, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
