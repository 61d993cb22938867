package kb

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// FullError says that a user has put as much into collections as one may.
type FullError struct{ Max int64 } // bytes

func (e *FullError) Error() string {
	return fmt.Sprintf("all that you have put into collections would be more than %d MiB", e.Max>>20)
}

// room is how much of what users may keep is taken.
type room struct {
	mu   sync.Mutex
	used map[string]*taken
}

// taken is what one user has put into collections, in bytes.
type taken struct {
	bytes   int64
	coming  int       // files that are being written
	counted time.Time // on the disk, where others may write as well
}

// recount is how long what was counted is believed.
const recount = time.Minute

// meter counts what a user puts into a collection as it comes, and ends with a
// *FullError where it is too much.
type meter struct {
	l    *Library
	user string
	from io.Reader
	came int64
}

// meter begins to count. The caller calls settle.
func (l *Library) meter(ctx context.Context, user string, from io.Reader) (*meter, error) {
	m := &meter{l: l, user: user, from: from}
	if l.opts.MaxUploads == 0 {
		return m, nil
	}
	l.room.mu.Lock()
	defer l.room.mu.Unlock()
	t := l.room.used[user]
	if t == nil {
		t = &taken{}
		l.room.used[user] = t
	}
	if full := t.bytes >= l.opts.MaxUploads; t.coming == 0 && (full || time.Since(t.counted) > recount) {
		n, err := l.Used(ctx, user)
		if err != nil {
			return nil, err
		}
		t.bytes, t.counted = n, time.Now()
	}
	t.coming++
	return m, nil
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	if m.l.opts.MaxUploads == 0 {
		return n, err
	}
	m.l.room.mu.Lock()
	defer m.l.room.mu.Unlock()
	m.came += int64(n)
	t := m.l.room.used[m.user]
	if t.bytes += int64(n); t.bytes > m.l.opts.MaxUploads {
		return 0, &FullError{m.l.opts.MaxUploads}
	}
	return n, err
}

// settle ends the count: so many bytes stay less than were there before in their
// place; all that came goes again where they were not taken.
func (m *meter) settle(kept bool, replaced int64) {
	if m.l.opts.MaxUploads == 0 {
		return
	}
	m.l.room.mu.Lock()
	defer m.l.room.mu.Unlock()
	t := m.l.room.used[m.user]
	t.coming--
	if kept {
		t.bytes -= replaced
	} else {
		t.bytes -= m.came
	}
}

// freed has the room of a user counted anew, because something of it is gone.
func (l *Library) freed(user string) {
	l.room.mu.Lock()
	defer l.room.mu.Unlock()
	if t := l.room.used[user]; t != nil {
		t.counted = time.Time{}
	}
}

// Used counts the bytes that a user has put into collections, on the disk.
func (l *Library) Used(ctx context.Context, user string) (int64, error) {
	all, err := l.store.Collections(ctx)
	if err != nil {
		return 0, err
	}
	w := &walker{ctx: ctx, open: l.open, report: func(int, string) {}}
	for _, c := range all {
		if own := l.Uploads(c); own != "" && c.User == user {
			if err := w.folder(own, time.Time{}); err != nil {
				return 0, err
			}
		}
	}
	var n int64
	for _, f := range w.files {
		n += f.size
	}
	return n, nil
}
