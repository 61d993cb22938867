package search

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Dir is a Cache of at most about maxBytes (64 MiB if it is 0) in a private
// directory for it alone, which is made when it is needed and which several
// processes may share. Entries that are too old go first, then those that soon
// will be. A directory that can't be used costs the cache and nothing else.
func Dir(path string, maxBytes int64) Cache {
	if maxBytes <= 0 {
		maxBytes = 64 << 20
	}
	return &directory{path: path, most: maxBytes, fresh: maxBytes}
}

type directory struct {
	path string
	most int64

	mu    sync.Mutex
	fresh int64 // bytes put since the directory was last looked through
}

// An entry's file has a hash of what follows it, the end of its time in
// nanoseconds, and the value. The file's own time is that end, too, so that what
// is old can be found without reading everything; it is believed for nothing
// else.
const entryHead = sha256.Size + 8

func (d *directory) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(d.path, name[:2], name)
}

func (d *directory) Get(key string) ([]byte, bool) {
	name := d.file(key)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	if len(data) < entryHead || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) ||
		time.Now().UnixNano() >= int64(binary.BigEndian.Uint64(data[sha256.Size:])) {
		_ = os.Remove(name)
		return nil, false
	}
	return data[entryHead:], true
}

func (d *directory) Put(key string, value []byte, ttl time.Duration) {
	if ttl <= 0 || int64(len(value)) > d.most/4 {
		return
	}
	until := time.Now().Add(ttl)
	data := make([]byte, entryHead, entryHead+len(value))
	binary.BigEndian.PutUint64(data[sha256.Size:], uint64(until.UnixNano()))
	data = append(data, value...)
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	if d.write(d.file(key), data, until) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh += int64(len(data))
	if d.fresh > d.most/8 {
		d.fresh = 0
		d.evict(time.Now())
	}
}

// write makes a file, whole or not at all.
func (d *directory) write(name string, data []byte, until time.Time) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Chtimes(f.Name(), until, until)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// evict removes what is too old, what was begun and given up, and, if the rest
// is more than may be kept, those of it whose time ends first, down to nine
// tenths.
func (d *directory) evict(now time.Time) {
	type file struct {
		name  string
		size  int64
		until time.Time
	}
	var files []file
	total := int64(0)
	for _, name := range d.names() {
		info, err := os.Lstat(name)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(info.Name(), "new-"):
			if now.Sub(info.ModTime()) > time.Hour {
				_ = os.Remove(name)
			}
		case !now.Before(info.ModTime()):
			_ = os.Remove(name)
		default:
			files = append(files, file{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	if total <= d.most {
		return
	}
	slices.SortFunc(files, func(a, b file) int { return a.until.Compare(b.until) })
	for _, f := range files {
		if total <= d.most/10*9 {
			break
		}
		if os.Remove(f.name) == nil {
			total -= f.size
		}
	}
}

// names are the files of the directory's folders, as far as they can be read.
func (d *directory) names() []string {
	var names []string
	folders, _ := os.ReadDir(d.path)
	for _, folder := range folders {
		files, _ := os.ReadDir(filepath.Join(d.path, folder.Name()))
		for _, f := range files {
			names = append(names, filepath.Join(d.path, folder.Name(), f.Name()))
		}
	}
	return names
}
