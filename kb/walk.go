package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// found is a file of a root.
type found struct {
	path     string
	size     int64
	modified time.Time
	err      error // why it cannot be looked at: a folder, or a file without a status
}

// walker lists the files of a collection's roots.
type walker struct {
	ctx     context.Context
	open    func(path string) (*os.File, error)
	files   []found
	skipped []Skip
	skips   int
	blocked []string // folders that could not be read, each with a final separator
	report  func(n int, path string)
}

// left out, with everything below.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// walk lists the regular files below roots in the order of their paths' bytes,
// each once. Links are not followed, so that no loop can happen; nothing is
// opened but folders.
func (w *walker) walk(roots []string) error {
	for _, root := range roots {
		info, err := os.Stat(root)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the folder %s is gone; nothing was changed: bring it back, or remove the collection with `dossier kb rm`", root)
		case err != nil:
			w.fail(root, err, time.Time{})
		case info.IsDir():
			if err := w.folder(root, info.ModTime()); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			w.add(found{path: root, size: info.Size(), modified: info.ModTime()})
		default:
			w.skip(root, info.Mode())
		}
	}
	slices.SortFunc(w.files, func(a, b found) int { return strings.Compare(a.path, b.path) })
	w.files = slices.CompactFunc(w.files, func(a, b found) bool { return a.path == b.path })
	return nil
}

func (w *walker) folder(dir string, modified time.Time) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	f, err := w.open(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.fail(dir, err, modified)
		}
		return nil
	}
	var below []found
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			if hidden(e.Name()) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if !e.IsDir() && !e.Type().IsRegular() {
				w.skip(path, e.Type())
				continue
			}
			info, err := e.Info()
			switch {
			case errors.Is(err, fs.ErrNotExist): // it went meanwhile
			case err != nil && e.IsDir():
				w.fail(path, err, time.Time{})
			case err != nil:
				w.add(found{path: path, err: err})
			case info.IsDir():
				below = append(below, found{path: path, modified: info.ModTime()})
			case info.Mode().IsRegular():
				w.add(found{path: path, size: info.Size(), modified: info.ModTime()})
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			w.fail(dir, err, modified)
			break
		}
	}
	f.Close() // before going down: folders may be nested deeply
	for _, d := range below {
		if err := w.folder(d.path, d.modified); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) add(f found) {
	w.files = append(w.files, f)
	w.report(len(w.files), f.path)
}

// fail records a folder that cannot be read.
func (w *walker) fail(dir string, err error, modified time.Time) {
	w.add(found{path: dir, err: err, modified: modified})
	w.blocked = append(w.blocked, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// maxSkips bounds the list of what was left out.
const maxSkips = 100

func (w *walker) skip(path string, mode fs.FileMode) {
	w.skips++
	if len(w.skipped) >= maxSkips {
		return
	}
	why := "not a regular file"
	switch mode.Type() {
	case fs.ModeSymlink:
		why = "a link"
	case fs.ModeNamedPipe:
		why = "a pipe"
	case fs.ModeSocket:
		why = "a socket"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		why = "a device"
	}
	w.skipped = append(w.skipped, Skip{Path: path, Why: why})
}

// unseen reports whether a file may be there though the walk did not see it,
// because a folder above it could not be read.
func (w *walker) unseen(path string) bool {
	return slices.ContainsFunc(w.blocked, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

// openFile opens a file to read. It does not wait for a writer if the file has
// become a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// errNotRegular says that a file has become something else.
var errNotRegular = errors.New("it is no regular file any more")

// readFile reads a file of at most limit bytes, with the status that it had
// before. The status is there whenever the file could be opened.
func (l *Library) readFile(path string, limit int64) (body []byte, info fs.FileInfo, err error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	f, err := l.open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || !os.SameFile(named, info) {
		return nil, nil, errNotRegular
	}
	if info.Size() > limit {
		return nil, info, errTooLarge
	}
	body = make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF:
			return body, info, nil
		case err != nil:
			return nil, info, err
		case int64(len(body)) > limit: // it grew
			return nil, info, errTooLarge
		case len(body) == cap(body):
			body = slices.Grow(body, cmp.Or(len(body), 512))
		}
	}
}

var errTooLarge = errors.New("too large")
