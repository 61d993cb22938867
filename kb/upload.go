package kb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// What is put into a collection itself is kept as files in a folder of its own
// below Options.Uploads. The folder is one of the collection's roots: a sync reads
// it as it reads any other.

// PutError says why a file, a tag or a name is not taken.
type PutError struct{ Name, Why string }

func (e *PutError) Error() string { return fmt.Sprintf("%q is not taken: %s", e.Name, e.Why) }

// Begin makes an empty collection of a user for what is put into it. It fails with
// ErrExists and *PutError.
func (l *Library) Begin(ctx context.Context, user, name string, tags ...string) (Collection, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return Collection{}, &PutError{name, "a collection needs a name"}
	case len(name) > 200:
		return Collection{}, &PutError{name, "it is too long for a name"}
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return Collection{}, &PutError{name, "there are characters in it that are no part of a name"}
	case strings.ContainsAny(name, `/\`): // collections that are made by themselves are called as their folder
		return Collection{}, &PutError{name, "it looks like the path of a folder"}
	}
	tags, err := cleanTags(tags)
	if err != nil {
		return Collection{}, err
	}
	if _, err := l.store.Collection(ctx, name); err == nil {
		return Collection{}, fmt.Errorf("collection %q: %w", name, ErrExists)
	}
	root, err := l.newFolder()
	if err != nil {
		return Collection{}, err
	}
	return l.create(ctx, Collection{Name: name, User: user, Roots: []string{root}, Tags: tags})
}

// Tag gives a collection other tags. It fails with ErrNoCollection and *PutError.
func (l *Library) Tag(ctx context.Context, name string, tags ...string) (Collection, error) {
	tags, err := cleanTags(tags)
	if err != nil {
		return Collection{}, err
	}
	return l.amend(ctx, name, func(Collection) Change { return Change{Tags: tags} })
}

// cleanTags returns tags in order, each once; never nil.
func cleanTags(tags []string) ([]string, error) {
	out := []string{}
	for _, t := range tags {
		switch t = strings.Join(strings.Fields(t), " "); {
		case t == "":
			continue
		case utf8.RuneCountInString(t) > 40 || !utf8.ValidString(t) || strings.ContainsFunc(t, func(r rune) bool { return r == ',' || unicode.IsControl(r) }):
			return nil, &PutError{t, "a tag has at most 40 characters, and no comma"}
		}
		out = append(out, t)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > 20 {
		return nil, &PutError{strings.Join(out, ", "), "a collection has at most 20 tags"}
	}
	return out, nil
}

// amend changes a collection, again if somebody else did meanwhile.
func (l *Library) amend(ctx context.Context, name string, how func(Collection) Change) (Collection, error) {
	for {
		c, err := l.Get(ctx, name)
		if err != nil {
			return Collection{}, err
		}
		change := how(c)
		change.Revision = c.Revision
		switch _, err = l.store.ChangeCollection(ctx, c.ID, change); {
		case errors.Is(err, ErrChanged) && ctx.Err() == nil:
			continue
		case err != nil:
			return Collection{}, fmt.Errorf("collection %q: %w", name, err)
		}
		return l.Get(ctx, c.ID)
	}
}

// Put keeps a file in a collection under a path of its own, with slashes, in place
// of one that was there. When it returns the file is on the disk; the next Sync
// reads it. It fails with ErrNoCollection, *PutError, and *FullError where its owner
// has put in too much.
func (l *Library) Put(ctx context.Context, name, at string, from io.Reader) (bytes int64, err error) {
	if why := badPath(at); why != "" {
		return 0, &PutError{at, why}
	}
	c, err := l.Get(ctx, name)
	if err != nil {
		return 0, err
	}
	dir, err := l.folder(ctx, c)
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir) // nothing below it leads out of it
	if err != nil {
		return 0, fmt.Errorf("collection %q: %w", name, err)
	}
	defer root.Close()
	if err := root.MkdirAll(incoming, 0o700); err != nil {
		return 0, fmt.Errorf("collection %q: %w", name, err)
	}
	aside := filepath.Join(incoming, rand.Text())
	defer tidyIncoming(root, aside)
	m, err := l.meter(ctx, c.User, from)
	if err != nil {
		return 0, err
	}
	var replaced int64
	defer func() { m.settle(err == nil, replaced) }()
	if bytes, err = l.write(ctx, root, aside, m); err != nil {
		if errors.Is(err, errTooLarge) {
			err = &PutError{at, fmt.Sprintf("it is larger than %d MiB", l.opts.MaxFile>>20)}
		}
		return 0, err
	}
	local := filepath.FromSlash(at)
	if was, err := root.Lstat(local); err == nil && was.Mode().IsRegular() {
		replaced = was.Size()
	}
	err = root.MkdirAll(filepath.Dir(local), 0o700)
	if err == nil {
		err = root.Rename(aside, local)
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrExist):
		return 0, &PutError{at, "there is a file where it has a folder, or the other way round"}
	case err != nil:
		return 0, fmt.Errorf("collection %q: %w", name, err)
	}
	for parent := filepath.Dir(local); ; parent = filepath.Dir(parent) {
		settle(root, parent)
		if parent == "." {
			return bytes, nil
		}
	}
}

// incoming is the folder of files that are being written: hidden, so that no sync
// sees them.
const incoming = ".incoming"

// tidyIncoming removes a file that was not taken after all, and what processes that
// were killed have left.
func tidyIncoming(root *os.Root, aside string) {
	_ = root.Remove(aside) // it is gone where all went well
	list, err := fs.ReadDir(root.FS(), incoming)
	if err != nil {
		return
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = root.Remove(filepath.Join(incoming, e.Name()))
		}
	}
}

// write writes a file to the disk.
func (l *Library) write(ctx context.Context, root *os.Root, name string, from io.Reader) (int64, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, io.LimitReader(from, l.opts.MaxFile+1))
	if err == nil && n > l.opts.MaxFile {
		err = errTooLarge
	}
	if err == nil {
		err = cmp.Or(context.Cause(ctx), f.Sync())
	}
	return n, errors.Join(err, f.Close())
}

// settle makes the names in a folder durable, where the system has a way to.
func settle(root *os.Root, dir string) {
	if f, err := root.Open(dir); err == nil {
		_ = f.Sync() // not every file system does this
		_ = f.Close()
	}
}

// Devices of Windows, whose names mean no file there in any folder.
var devices = strings.Fields("CON PRN AUX NUL COM0 COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9 LPT0 LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9")

// badPath says why a file can't be kept under a path; "" if it can.
func badPath(at string) string {
	parts := strings.Split(at, "/")
	switch {
	case at == "":
		return "it has no name"
	case !utf8.ValidString(at) || strings.ContainsFunc(at, unicode.IsControl) || strings.Contains(at, `\`):
		return "there are characters in it that are no part of a name"
	case len(at) > 1000 || len(parts) > 32:
		return "it is too long, or too deep in folders"
	case path.IsAbs(at) || slices.Contains(parts, "..") || !filepath.IsLocal(filepath.FromSlash(at)):
		return "it leads out of its folder"
	case path.Clean(at) != at:
		return "a part of it has no name"
	}
	for _, p := range parts {
		stem, _, _ := strings.Cut(p, ".")
		switch {
		case hidden(p):
			return "files and folders like this are left out"
		case len(p) > 255:
			return "its name is too long"
		case slices.Contains(devices, strings.ToUpper(strings.TrimSpace(stem))):
			return "on some systems that is a device and no file"
		}
	}
	return ""
}

// shelves is the folder of what is put into collections, without links as roots are.
func (l *Library) shelves() string { return realPath(l.opts.Uploads) }

// newFolder makes a folder for what is put into a collection.
func (l *Library) newFolder() (string, error) {
	if l.opts.Uploads == "" {
		return "", errors.New("this library keeps no files")
	}
	dir := filepath.Join(l.opts.Uploads, rand.Text())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return resolve(dir)
}

// folder is where a collection keeps what is put into it; it is made if there is
// none.
func (l *Library) folder(ctx context.Context, c Collection) (string, error) {
	if root := l.Uploads(c); root != "" {
		return root, nil
	}
	root, err := l.newFolder()
	if err == nil {
		_, err = l.AddRoots(ctx, c.ID, root)
	}
	return root, err
}

// Uploads is where a collection keeps what was put into it; "" if it has no such
// folder.
func (l *Library) Uploads(c Collection) string {
	if l.opts.Uploads == "" {
		return ""
	}
	at := l.shelves()
	if i := slices.IndexFunc(c.Roots, func(root string) bool { return filepath.Dir(root) == at }); i >= 0 {
		return c.Roots[i]
	}
	return ""
}

// Mirrored are the roots of a collection without the folder of what was put into
// it.
func (l *Library) Mirrored(c Collection) []string {
	own := l.Uploads(c)
	return slices.DeleteFunc(slices.Clone(c.Roots), func(root string) bool { return root == own })
}

// Unread counts the files that were put into a collection and that no sync has read
// yet. It fails with ErrNoCollection.
func (l *Library) Unread(ctx context.Context, name string) (int, error) {
	c, err := l.Get(ctx, name)
	own := l.Uploads(c)
	if err != nil || own == "" {
		return 0, err
	}
	w := &walker{ctx: ctx, open: l.open, report: func(int, string) {}}
	if err := w.folder(own, time.Time{}); err != nil {
		return 0, err
	}
	files, err := l.store.Files(ctx, c.ID)
	known := make(map[string]File, len(files))
	for _, f := range files {
		known[f.Path] = f
	}
	n := 0
	for _, f := range w.files {
		if was, ok := known[f.path]; !ok || was.Size != f.size || !was.Modified.Equal(stamp(f.modified)) {
			n++
		}
	}
	return n, err
}

// Discard removes documents that were put into a collection, and their files. It
// fails with ErrNoCollection, ErrNoDocument, and with *PutError for a document
// that is mirrored.
func (l *Library) Discard(ctx context.Context, name string, numbers ...int64) error {
	c, err := l.Get(ctx, name)
	if err != nil {
		return err
	}
	files, err := l.store.Files(ctx, c.ID)
	if err != nil {
		return err
	}
	own := l.Uploads(c)
	var paths []string
	for _, n := range numbers {
		i := slices.IndexFunc(files, func(f File) bool { return f.N == n })
		if i < 0 {
			return fmt.Errorf("document %d of %q: %w", n, name, ErrNoDocument)
		}
		below, err := filepath.Rel(own, files[i].Path)
		if own == "" || err != nil || !filepath.IsLocal(below) {
			return &PutError{files[i].Path, "it is in a folder that the collection mirrors; remove it there"}
		}
		paths = append(paths, below)
	}
	root, err := os.OpenRoot(own)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range paths {
		if err := root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := filepath.Dir(p); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil { // there is more in it
				break
			}
		}
	}
	l.freed(c.User)
	return l.forget(ctx, c.ID, numbers)
}

// forget takes documents out of the index whose files are gone.
func (l *Library) forget(ctx context.Context, id string, numbers []int64) error {
	release, err := l.take(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	for {
		c, err := l.store.Collection(ctx, id)
		if err != nil {
			return err
		}
		files, err := l.store.Files(ctx, id)
		if err != nil {
			return err
		}
		a, err := newApplier(ctx, &syncing{l: l, id: id}, c, files)
		if err == nil {
			a.change.Delete = numbers
			for _, n := range numbers {
				delete(a.live, n)
			}
			err = a.bury()
		}
		if err == nil {
			err = a.send(ctx)
		}
		if !errors.Is(err, ErrChanged) || ctx.Err() != nil {
			return err
		}
	}
}
