package sqlite

import (
	"context"
	"fmt"
	"runtime"
)

// Block keeps the writer from its work until release is called.
func (s *Store) Block() (release func()) {
	held, free := make(chan struct{}), make(chan struct{})
	s.writer.enqueue(job{do: func(*tx) error { close(held); <-free; return nil }, done: func(error) {}})
	<-held
	return func() { close(free) }
}

// AwaitPieces returns when so many pieces of long work wait for the writer.
func (s *Store) AwaitPieces(n int) {
	for {
		s.writer.mu.Lock()
		waiting := len(s.writer.pieces)
		s.writer.mu.Unlock()
		if waiting >= n {
			return
		}
		runtime.Gosched()
	}
}

// FillDisk lets the file grow by so many pages and no more, until it is
// called with -1.
func (s *Store) FillDisk(pages int64) error {
	return s.writer.do(context.Background(), 0, func(tx *tx) error {
		limit := int64(1) << 30
		if pages >= 0 {
			if err := tx.row("PRAGMA page_count", nil, &limit); err != nil {
				return err
			}
			limit += pages
		}
		return tx.w.conn.script(fmt.Sprintf("PRAGMA max_page_count = %d", limit))
	})
}
