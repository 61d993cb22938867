package dossier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"dossier/internal/store"
	"dossier/kb"
	"dossier/mode"
	"dossier/mode/ingest"
	"dossier/run"
	"dossier/sources"
)

// NewCollection is a collection that is to be made for files that are put into it.
type NewCollection struct {
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`
	User string   `json:"-"`
}

// CreateCollection makes an empty collection; PutFile fills it. It fails with
// kb.ErrExists.
func (e *Engine) CreateCollection(ctx context.Context, n NewCollection) (kb.Collection, error) {
	c, err := e.library.Begin(ctx, n.User, n.Name, n.Tags...)
	return e.shown(c), taken(err)
}

// TagCollection gives a collection other tags.
func (e *Engine) TagCollection(ctx context.Context, name string, tags []string) (kb.Collection, error) {
	c, err := e.library.Tag(ctx, name, tags...)
	return e.shown(c), taken(err)
}

// Stored is a file that was put into a collection.
type Stored struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// PutFile keeps a file in a collection, under a path with slashes, in place of one
// that was there. When it returns the file is on the disk; IngestCollection has it
// read.
func (e *Engine) PutFile(ctx context.Context, name, path string, from io.Reader) (Stored, error) {
	n, err := e.library.Put(ctx, name, path, from)
	return Stored{path, n}, taken(err)
}

// Documents lists the documents of a collection.
func (e *Engine) Documents(ctx context.Context, name string, f kb.EntryFilter) (kb.Entries, error) {
	return e.library.Entries(ctx, name, f)
}

// Document returns a document with so many of its passages behind the first ones.
// It fails with kb.ErrNoDocument.
func (e *Engine) Document(ctx context.Context, name string, n int64, skip, limit int) (kb.Pieces, error) {
	return e.library.Pieces(ctx, name, n, skip, limit)
}

// DiscardDocument removes a document that was put into a collection, and its file.
// It fails with kb.ErrNoDocument.
func (e *Engine) DiscardDocument(ctx context.Context, name string, n int64) error {
	return taken(e.library.Discard(ctx, name, n))
}

// IngestOptions are those of bringing a collection up to date.
type IngestOptions struct {
	// Reread has all files read again, also those that have not changed or could
	// not be read.
	Reread bool   `json:"reread,omitempty"`
	Lang   string `json:"lang,omitempty"` // of what the run says
	User   string `json:"-"`
}

// IngestCollection starts a run that brings a collection up to date with its
// folders and with what was put into it.
func (e *Engine) IngestCollection(ctx context.Context, name string, o IngestOptions) (run.Record, error) {
	c, err := e.library.Get(ctx, name)
	if err != nil {
		return run.Record{}, err
	}
	in := sources.Target{Paths: c.Roots, Collection: c.Name, Reread: o.Reread, Base: e.library.Uploads(c)}
	return e.Start(ctx, Request{Mode: ingest.Name, User: o.User, Request: mode.Request{Question: c.Name, In: in, Lang: o.Lang, NoInput: true}})
}

// shown is a collection as it is told of: where it keeps what was put into it is
// nobody's business.
func (e *Engine) shown(c kb.Collection) kb.Collection {
	c.Uploads, c.Roots = e.library.Uploads(c) != "", e.library.Mirrored(c)
	return c
}

// taken explains why a library does not take something.
func taken(err error) error {
	var refused *kb.PutError
	var full *kb.FullError
	switch {
	case errors.As(err, &full):
		return &UsageError{Message: err.Error(), Hint: "delete documents or collections that are not needed; whoever runs the server can raise kb.max_uploads_mb", Err: err}
	case errors.As(err, &refused):
		return &UsageError{Message: err.Error(), Err: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", store.ErrDiskFull, err)
	}
	return err
}
