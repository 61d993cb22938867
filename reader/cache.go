package reader

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Version is that of what Read makes of a document. It is raised with each
// change that gives another Page for the same bytes: what was kept of the old
// ones is read anew then.
const Version = 5

// Cache is a reader with a memory: a document that was read before is not read
// again. A document is known by its bytes and by what else decides the result.
// Errors about a document are remembered like pages, so that a bomb goes off
// once; other errors are not, and one that tells of cost for a day only. It is safe for concurrent use, also by several
// processes on one directory.
type Cache struct {
	reader Reads
	dir    string
	most   int64
	salt   string

	mu      sync.Mutex
	size    int64 // of the entries, as far as is known; -1 before the first look
	reading map[string]*reading
}

// reading is a document that is being read, for all who ask for it.
type reading struct {
	done chan struct{}
	page *Page
	err  error
}

// Cached puts a cache of at most maxBytes (256 MiB if it is 0) before r. dir is
// a private directory for it alone; it is made when it is needed. A directory
// that cannot be used costs the cache, not the reading.
func Cached(r *Reader, dir string, maxBytes int64) *Cache {
	c := r.conf
	return &Cache{
		reader: r, dir: dir, most: cmp.Or(maxBytes, 256<<20), size: -1, reading: map[string]*reading{},
		salt: fmt.Sprintf("%d/%d/%d/%d/%d/%d/%d", Version, c.MaxInput, c.MaxText, c.MaxRows, c.MaxPages, c.Memory, c.CPU),
	}
}

// entry is what is kept of a document.
type entry struct {
	Page  *Page  `json:"page,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// Read is as that of Reader. The page is the caller's own.
func (c *Cache) Read(ctx context.Context, d Document) (*Page, error) {
	key := c.key(&d)
	for {
		if e, ok := c.load(key); ok {
			return e.result()
		}
		c.mu.Lock()
		under := c.reading[key]
		mine := under == nil
		if mine {
			under = &reading{done: make(chan struct{})}
			c.reading[key] = under
		}
		c.mu.Unlock()
		if mine {
			return c.read(ctx, key, d, under)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-under.done:
		}
		e := entry{Page: under.page}
		if under.err != nil {
			about, ok := errors.AsType[*Error](under.err)
			if !ok {
				continue // it was given up by who read it, for reasons of their own
			}
			e.Error = about
		}
		return e.result()
	}
}

func (c *Cache) read(ctx context.Context, key string, d Document, mine *reading) (*Page, error) {
	defer func() {
		c.mu.Lock()
		delete(c.reading, key)
		c.mu.Unlock()
		close(mine.done)
	}()
	mine.err = errors.New("the reader panicked") // unless it returns
	mine.page, mine.err = c.reader.Read(ctx, d)
	about, ok := errors.AsType[*Error](mine.err)
	if mine.err == nil || ok {
		c.store(key, &entry{Page: mine.page, Error: about})
	}
	return (&entry{Page: mine.page}).own(), mine.err
}

// result is what Read returns of an entry.
func (e *entry) result() (*Page, error) {
	if e.Error != nil {
		about := *e.Error
		return nil, &about
	}
	return e.own(), nil
}

// own is a page that a caller may change without others seeing it.
func (e *entry) own() *Page {
	if e.Page == nil {
		return nil
	}
	p := *e.Page
	p.Blocks, p.Warnings = slices.Clone(p.Blocks), slices.Clone(p.Warnings)
	return &p
}

// key names a document by everything that Read looks at.
func (c *Cache) key(d *Document) string {
	h := sha256.New()
	ext := strings.ToLower(path.Ext(strings.ReplaceAll(d.Path, "\\", "/")))
	for _, part := range []string{c.salt, d.URL, ext, fmt.Sprint(d.Path == ""), d.ContentType} {
		writePart(h, []byte(part))
	}
	writePart(h, d.Body)
	return hex.EncodeToString(h.Sum(nil))
}

// writePart hashes a part with its length, so that two parts are never taken
// for others that give the same bytes.
func writePart(h hash.Hash, part []byte) {
	_ = binary.Write(h, binary.BigEndian, int64(len(part)))
	h.Write(part)
}

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key[:2], key) }

// An entry's file is a hash of what follows it, and compressed JSON.

// load finds an entry. One that is damaged is removed.
func (c *Cache) load(key string) (*entry, bool) {
	name := c.path(key)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	e, err := unpackEntry(data, c.most)
	if err != nil {
		_ = os.Remove(name)
		return nil, false
	}
	if e.Error != nil && e.Error.Reason == TooCostly {
		// It may have been the machine's fault: it is believed for a day.
		if info, err := os.Stat(name); err != nil || time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(name)
			return nil, false
		}
		return e, true
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // what is used stays longest
	return e, true
}

var errDamaged = errors.New("the entry is damaged")

func unpackEntry(data []byte, most int64) (*entry, error) {
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		return nil, errDamaged
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[sha256.Size:])), most))
	if err != nil {
		return nil, err
	}
	e := &entry{}
	if err := json.Unmarshal(plain, e); err != nil {
		return nil, err
	}
	if (e.Page == nil) == (e.Error == nil) {
		return nil, errDamaged
	}
	return e, nil
}

func packEntry(e *entry) ([]byte, error) {
	plain, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, sha256.Size, sha256.Size+len(plain)/2))
	w, err := flate.NewWriter(b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(plain)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	data := b.Bytes()
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	return data, nil
}

// store keeps an entry, whole or not at all. What cannot be kept is read again
// next time, so that an error here is nobody's.
func (c *Cache) store(key string, e *entry) {
	data, err := packEntry(e)
	if err != nil || int64(len(data)) > c.most/4 {
		return
	}
	name := c.path(key)
	if os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size >= 0 {
		c.size += int64(len(data))
	}
	if c.size < 0 || c.size > c.most {
		c.size = c.evict()
	}
}

// evict removes the entries that were not used for longest, down to nine
// tenths of what may be kept if it is more, and returns what is left. Files
// that were begun and given up go too.
func (c *Cache) evict() int64 {
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	total := int64(0)
	names, _ := filepath.Glob(filepath.Join(c.dir, "*", "*")) // the pattern is a good one
	for _, name := range names {
		info, err := os.Lstat(name)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case !strings.HasPrefix(info.Name(), "new-"):
			files = append(files, file{name, info.Size(), info.ModTime()})
			total += info.Size()
		case time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(name)
		}
	}
	if total <= c.most {
		return total
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= c.most/10*9 {
			break
		}
		if os.Remove(f.name) == nil {
			total -= f.size
		}
	}
	return total
}
