package kb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/lang/terms"
	"dossier/llm"
	"dossier/reader"
)

// PageReader reads documents; *reader.Reader is one.
type PageReader interface {
	Read(ctx context.Context, d reader.Document) (*reader.Page, error)
}

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Name of the model: vectors of different names are never compared.
	Name() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbedWith makes an Embedder of a model of an llm.Embedder.
func EmbedWith(e llm.Embedder, model string) Embedder { return embedder{e, model} }

type embedder struct {
	llm.Embedder
	model string
}

func (e embedder) Name() string { return e.model }

func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := e.Embedder.Embed(ctx, e.model, texts)
	if err != nil {
		return nil, err
	}
	return out.Vectors, nil
}

// Options of a library. A field that is 0 has the default that it names.
type Options struct {
	ChunkSize int     // letters in a chunk, see Cut; DefaultChunkSize
	TopBM25   int     // hybrid_top_bm25: chunks that are found by words; 50
	TopDense  int     // hybrid_top_dense: chunks that are found by meaning; 50
	K         float64 // of reciprocal rank fusion; 5
	NoRerank  bool    // leave the order by words as BM25 has it
	Workers   int     // files read at once; as many as there are processors
	MaxFile   int64   // bytes; larger files are listed, not read; 64 MiB
	Cache     int     // bytes of documents kept in memory for searches; 64 MiB
	Results   int     // bytes of results kept in memory, until a collection changes; 8 MiB
	// EmbedBatch is how many chunks an embedder gets at once; 64.
	EmbedBatch int
	// Shared are names of the operator's collections that every user may ask.
	Shared []string
	// Uploads is the folder below which files are kept that are put into
	// collections; "" where none can be.
	Uploads string
	// MaxUploads is how many bytes a user may have put into collections; 0: as many
	// as there is room for.
	MaxUploads int64
	// Terms says what words are in another language, so that questions find
	// documents in others than their own; nil: they don't.
	Terms *terms.Dictionary
}

// defaultK makes the first of both rankings come first in turns: each is good at
// its head, and what stands low in both is seldom what is looked for
// (bench/results/fit.txt).
const defaultK = 5

func (o Options) withDefaults() Options {
	o.ChunkSize = cmp.Or(o.ChunkSize, DefaultChunkSize)
	o.TopBM25 = cmp.Or(o.TopBM25, 50)
	o.TopDense = cmp.Or(o.TopDense, 50)
	o.K = cmp.Or(o.K, defaultK)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.MaxFile = cmp.Or(o.MaxFile, 64<<20)
	o.Cache = cmp.Or(o.Cache, 64<<20)
	o.Results = cmp.Or(o.Results, 8<<20)
	o.EmbedBatch = cmp.Or(o.EmbedBatch, 64)
	return o
}

// Library is the collections of a store, with what reads, searches and packs
// them. It is safe for concurrent use.
type Library struct {
	store    Store
	reader   PageReader
	embedder Embedder // nil if none is configured
	opts     Options

	open     func(path string) (*os.File, error)
	batchMax int // documents that are put in at once

	docs    *documentCache
	results *resultCache
	room    room
	mu      sync.Mutex
	// By collection id: syncs wait for each other, and indexes stay open.
	syncs map[string]*turn
	views map[string]*viewSlot
	clock int64 // counts uses of views
}

// New makes a library over a store. The embedder may be nil: then chunks are
// found by words only.
func New(store Store, reader PageReader, embedder Embedder, opts Options) *Library {
	opts = opts.withDefaults()
	if opts.Uploads != "" {
		store = movable{store, opts.Uploads}
	}
	return &Library{
		store: store, reader: reader, embedder: embedder, opts: opts,
		open: openFile, batchMax: batchDocuments,
		docs: newDocumentCache(opts.Cache), results: newResultCache(opts.Results),
		room: room{used: map[string]*taken{}}, syncs: map[string]*turn{}, views: map[string]*viewSlot{},
	}
}

// MaxFile is how large a file may be that is read, in bytes.
func (l *Library) MaxFile() int64 { return l.opts.MaxFile }

// Create is CreateFor the operator.
func (l *Library) Create(ctx context.Context, name string, roots ...string) (Collection, error) {
	return l.CreateFor(ctx, "", name, roots...)
}

// CreateFor makes a collection of a user that mirrors roots: folders and files
// that exist. It is empty, unless it is the operator's and there is one already
// that was made for these roots when somebody asked about them: that one gets the
// name, with what it has. It fails with ErrExists. Sync fills it.
func (l *Library) CreateFor(ctx context.Context, user, name string, roots ...string) (Collection, error) {
	if strings.TrimSpace(name) == "" {
		return Collection{}, errors.New("a collection needs a name")
	}
	if len(roots) == 0 {
		return Collection{}, fmt.Errorf("collection %q needs a folder to mirror", name)
	}
	paths, err := addRoots(nil, roots)
	if err != nil {
		return Collection{}, err
	}
	made, err := l.mirroring(ctx, user, paths)
	if err != nil {
		return Collection{}, err
	}
	if made.Auto && user == "" {
		_, err := l.store.ChangeCollection(ctx, made.ID, Change{Revision: made.Revision, Name: name})
		switch {
		case err == nil:
			return l.store.Collection(ctx, made.ID)
		case !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNoCollection): // else somebody works with it
			return Collection{}, fmt.Errorf("collection %q: %w", name, err)
		}
	}
	return l.create(ctx, Collection{Name: name, User: user, Roots: paths})
}

// mirroring finds the collection that mirrors these roots and nothing else, one
// of the user's own or one that was made by itself; the zero value where there is
// none.
func (l *Library) mirroring(ctx context.Context, user string, roots []string) (Collection, error) {
	all, err := l.store.Collections(ctx)
	if err != nil {
		return Collection{}, err
	}
	for _, c := range all {
		if slices.Equal(c.Roots, roots) && (c.User == user || c.Auto) {
			return c, nil
		}
	}
	return Collection{}, nil
}

// AddRoots makes a collection mirror more folders and files. Sync reads them.
func (l *Library) AddRoots(ctx context.Context, name string, roots ...string) (Collection, error) {
	for {
		c, err := l.Get(ctx, name)
		if err != nil {
			return Collection{}, err
		}
		paths, err := addRoots(c.Roots, l.found(roots))
		if err != nil {
			return Collection{}, err
		}
		if len(paths) > len(c.Roots) {
			_, err = l.store.ChangeCollection(ctx, c.ID, Change{Revision: c.Revision, Roots: paths})
		}
		switch {
		case errors.Is(err, ErrChanged) && ctx.Err() == nil:
			continue
		case err != nil:
			return Collection{}, fmt.Errorf("collection %q: %w", name, err)
		}
		return l.Get(ctx, c.ID)
	}
}

// found are roots where they are now: a run that was begun before the data directory
// was moved names uploads where they were.
func (l *Library) found(roots []string) []string {
	m, ok := l.store.(movable)
	if !ok {
		return roots
	}
	roots = slices.Clone(roots)
	here := m.here()
	for i, root := range roots {
		roots[i] = here(root)
	}
	return roots
}

// addRoots adds roots that are not among paths.
func addRoots(paths, roots []string) ([]string, error) {
	paths = slices.Clone(paths)
	for _, root := range roots {
		path, err := resolve(root)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func (l *Library) create(ctx context.Context, c Collection) (Collection, error) {
	c.ID, c.Created = rand.Text(), time.Now().UTC()
	if err := l.store.CreateCollection(ctx, c); err != nil {
		return Collection{}, fmt.Errorf("collection %q: %w", c.Name, err)
	}
	return l.store.Collection(ctx, c.ID)
}

// Ensure is EnsureFor the operator.
func (l *Library) Ensure(ctx context.Context, folder string) (Collection, error) {
	return l.EnsureFor(ctx, "", folder)
}

// EnsureFor finds the collection that mirrors a folder or file and nothing else,
// one of the user's own or one that was made by itself, or makes one whose name is
// its path. That one is nobody's: whoever may ask about the folder may use it.
func (l *Library) EnsureFor(ctx context.Context, user, folder string) (Collection, error) {
	path, err := resolve(folder)
	if err != nil {
		return Collection{}, err
	}
	if c, err := l.mirroring(ctx, user, []string{path}); err != nil || c.ID != "" {
		return c, err
	}
	c, err := l.create(ctx, Collection{Name: path, Roots: []string{path}, Auto: true})
	if errors.Is(err, ErrExists) { // somebody was quicker
		return l.store.Collection(ctx, path)
	}
	return c, err
}

// resolve returns the absolute path of a root, without links.
func resolve(root string) (string, error) {
	path, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("folder %s: %w", root, err)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("folder %s: %w", root, err)
	}
	return path, nil
}

// Sees says whether a user may ask a collection: it is their own, or it is shared.
// The operator may ask all.
func (l *Library) Sees(user string, c Collection) bool { return Sees(user, c, l.opts.Shared) }

// Sees is Library.Sees where these collections are shared.
func Sees(user string, c Collection, shared []string) bool {
	return user == "" || c.User == user || c.User == "" && slices.Contains(shared, c.Name)
}

// GetFor is Get for a user: what they may not ask is not there.
func (l *Library) GetFor(ctx context.Context, user, name string) (Collection, error) {
	c, err := l.Get(ctx, name)
	if err == nil && !l.Sees(user, c) {
		return Collection{}, fmt.Errorf("collection %q: %w", name, ErrNoCollection)
	}
	return c, err
}

// Get finds a collection by its name or id. It fails with ErrNoCollection.
func (l *Library) Get(ctx context.Context, name string) (Collection, error) {
	c, err := l.store.Collection(ctx, name)
	if err != nil && !errors.Is(err, ErrNoCollection) { // which names it
		err = fmt.Errorf("collection %q: %w", name, err)
	}
	return c, err
}

// List returns all collections in order of their names.
func (l *Library) List(ctx context.Context) ([]Collection, error) {
	list, err := l.store.Collections(ctx)
	for i := range list {
		n, err := l.Outdated(ctx, list[i].ID)
		if errors.Is(err, ErrNoCollection) {
			continue // it went meanwhile
		}
		if err != nil {
			return nil, err
		}
		list[i].Outdated = n
	}
	return list, err
}

// Delete removes a collection with all that is in it, also what was put into it;
// the files that it mirrors stay. It fails with ErrNoCollection.
func (l *Library) Delete(ctx context.Context, name string) error {
	c, err := l.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := l.store.DeleteCollection(ctx, c.ID); err != nil {
		return fmt.Errorf("collection %q: %w", name, err)
	}
	l.mu.Lock()
	delete(l.views, c.ID)
	l.mu.Unlock()
	l.docs.forget(c.ID)
	l.results.forget(c.ID)
	if own := l.Uploads(c); own != "" {
		if err := os.RemoveAll(own); err != nil {
			return fmt.Errorf("collection %q is deleted, and what was put into it is not: %w", name, err)
		}
		l.freed(c.User)
	}
	return nil
}

// turn lets one sync of a collection run at a time.
type turn struct {
	free  chan struct{}
	users int
}

// take waits until no other sync of the collection runs in this process.
func (l *Library) take(ctx context.Context, id string) (release func(), err error) {
	l.mu.Lock()
	t := l.syncs[id]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		l.syncs[id] = t
	}
	t.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(l.syncs, id)
		}
	}
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
