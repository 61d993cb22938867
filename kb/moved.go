package kb

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// movable is a store whose uploads are found where they are now: paths are kept as
// they were, and a data directory may be moved or copied. The folder of a collection
// has a name that no other has, so that what leads to another place of that name
// leads to the one below uploads.
type movable struct {
	Store
	uploads string
}

// folderName is how long the names of uploads' folders are: those of rand.Text.
const folderName = 26

// here says where uploads are now, for paths from the store.
func (m movable) here() func(path string) string {
	at := realPath(m.uploads)
	moved := map[string]bool{}
	within := string(filepath.Separator) + filepath.Base(m.uploads) + string(filepath.Separator)
	return func(path string) string {
		if strings.HasPrefix(path, at+string(filepath.Separator)) {
			return path
		}
		i := strings.LastIndex(path, within)
		if i < 0 {
			return path
		}
		rest := path[i+len(within):]
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		if len(name) != folderName {
			return path
		}
		known, ok := moved[name]
		if !ok {
			info, err := os.Stat(filepath.Join(at, name))
			known = err == nil && info.IsDir()
			moved[name] = known
		}
		if !known {
			return path
		}
		return filepath.Join(at, rest)
	}
}

// realPath is a path without links, where it leads somewhere.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func moveRoots(c *Collection, here func(string) string) {
	roots := slices.Clone(c.Roots)
	for i, root := range roots {
		roots[i] = here(root)
	}
	c.Roots = roots
}

func moveDocuments(list []Document, here func(string) string) []Document {
	list = slices.Clone(list)
	for i := range list {
		list[i].Path = here(list[i].Path)
	}
	return list
}

// Collection implements Store.
func (m movable) Collection(ctx context.Context, name string) (Collection, error) {
	c, err := m.Store.Collection(ctx, name)
	moveRoots(&c, m.here())
	return c, err
}

// Collections implements Store.
func (m movable) Collections(ctx context.Context) ([]Collection, error) {
	list, err := m.Store.Collections(ctx)
	list = slices.Clone(list)
	here := m.here()
	for i := range list {
		moveRoots(&list[i], here)
	}
	return list, err
}

// Files implements Store.
func (m movable) Files(ctx context.Context, id string) ([]File, error) {
	list, err := m.Store.Files(ctx, id)
	list = slices.Clone(list)
	here, moved := m.here(), false
	for i := range list {
		path := here(list[i].Path)
		moved = moved || path != list[i].Path
		list[i].Path = path
	}
	if moved {
		slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	}
	return list, err
}

// Documents implements Store.
func (m movable) Documents(ctx context.Context, id string, numbers ...int64) ([]Document, error) {
	list, err := m.Store.Documents(ctx, id, numbers...)
	return moveDocuments(list, m.here()), err
}

// FailedDocuments implements Store.
func (m movable) FailedDocuments(ctx context.Context, id string) ([]Document, error) {
	list, err := m.Store.FailedDocuments(ctx, id)
	list = moveDocuments(list, m.here())
	slices.SortFunc(list, func(a, b Document) int { return strings.Compare(a.Path, b.Path) })
	return list, err
}
