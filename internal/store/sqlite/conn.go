package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	engine "modernc.org/sqlite"
)

// conn is the connection that writes. It speaks to the driver directly: the
// writer needs no pool, and database/sql would be a tenth of a commit's time.
// It is not safe for concurrent use.
type conn struct {
	c     driver.Conn
	stmts map[string]*stmt
}

// stmt is a prepared statement and the room for its arguments.
type stmt struct {
	driver.Stmt
	args []driver.NamedValue
}

func connect(dsn string) (*conn, error) {
	connector, err := engine.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]*stmt{}}, nil
}

func (c *conn) close() error {
	var err error
	for _, s := range c.stmts {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, c.c.Close())
}

// readOnly says whether SQLite could open the file only for reading.
func (c *conn) readOnly() bool {
	x, ok := c.c.(interface {
		IsReadOnly(schema string) (bool, error)
	})
	if !ok {
		return false
	}
	only, err := x.IsReadOnly("main")
	return err == nil && only
}

// script runs statements that are not worth preparing.
func (c *conn) script(text string) error {
	x, ok := c.c.(driver.ExecerContext)
	if !ok {
		return errors.New("the SQLite driver cannot run scripts")
	}
	_, err := x.ExecContext(context.Background(), text, nil)
	return err
}

// stmt returns the prepared form of a statement with its arguments bound.
func (c *conn) stmt(text string, args []any) (*stmt, error) {
	s := c.stmts[text]
	if s == nil {
		prepared, err := c.c.Prepare(text)
		if err != nil {
			return nil, fmt.Errorf("prepare %.40q: %w", text, err)
		}
		s = &stmt{Stmt: prepared}
		c.stmts[text] = s
	}
	s.args = s.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case nil, int64, float64, string, []byte:
		default:
			return nil, fmt.Errorf("argument %d of %.40q is a %T", i, text, a)
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return s, nil
}

// exec runs a statement and says how many rows it has changed.
func (c *conn) exec(text string, args ...any) (changed int64, err error) {
	s, err := c.stmt(text, args)
	if err != nil {
		return 0, err
	}
	x, ok := s.Stmt.(driver.StmtExecContext)
	if !ok {
		return 0, errors.New("the SQLite driver cannot run prepared statements")
	}
	r, err := x.ExecContext(context.Background(), s.args)
	clear(s.args) // don't keep large values alive
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// each calls scan for each row of a query.
func (c *conn) each(text string, args []any, scan func(row scanner) error) (err error) {
	s, err := c.stmt(text, args)
	if err != nil {
		return err
	}
	x, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return errors.New("the SQLite driver cannot run prepared queries")
	}
	r, err := x.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	values := make(columns, len(r.Columns()))
	for {
		switch err := r.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := scan(values); err != nil {
			return err
		}
	}
}

// row reads one row; it fails with sql.ErrNoRows when there is none.
func (c *conn) row(text string, args []any, dst ...any) error {
	found := false
	err := c.each(text, args, func(row scanner) error {
		found = true
		return row.Scan(dst...)
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// scanner is a row, of this connection or of database/sql.
type scanner interface{ Scan(dst ...any) error }

// columns is a row of this connection.
type columns []driver.Value

// Scan copies the columns as sql.Rows does, for the types that we use.
func (c columns) Scan(dst ...any) error {
	if len(dst) != len(c) {
		return fmt.Errorf("%d columns, %d places for them", len(c), len(dst))
	}
	for i, src := range c {
		switch d := dst[i].(type) {
		case sql.Scanner:
			if err := d.Scan(src); err != nil {
				return err
			}
			continue
		case *int64:
			if v, ok := src.(int64); ok {
				*d = v
				continue
			}
		case *float64:
			if v, ok := src.(float64); ok {
				*d = v
				continue
			}
		default:
			if assign(reflect.ValueOf(d).Elem(), src) {
				continue
			}
		}
		return fmt.Errorf("column %d is a %T and goes into a %T", i, src, dst[i])
	}
	return nil
}

// assign sets dst, of a type made of string or int, and says whether it could.
func assign(dst reflect.Value, src driver.Value) bool {
	switch v := src.(type) {
	case string:
		if dst.Kind() == reflect.String {
			dst.SetString(v)
			return true
		}
	case int64:
		if dst.CanInt() && !dst.OverflowInt(v) {
			dst.SetInt(v)
			return true
		}
	}
	return false
}
