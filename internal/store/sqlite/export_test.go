package sqlite

import (
	"context"
	"fmt"
)

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
