package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dossier"
	"dossier/kb"
	"dossier/run"
	"dossier/sources"
)

// Folders are those below which requests may name folders and files.
type Folders []string

// NewFolders makes folders of what the operator named.
func NewFolders(paths []string) (Folders, error) {
	var out Folders
	for _, p := range paths {
		if home, ok := strings.CutPrefix(p, "~/"); ok {
			dir, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("server.folders: %w", err)
			}
			p = filepath.Join(dir, home)
		}
		if !filepath.IsAbs(p) {
			return nil, &dossier.UsageError{Message: fmt.Sprintf("server.folders: %q is no absolute path", p), Hint: "write the whole path, as /srv/documents"}
		}
		target, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, &dossier.UsageError{Message: fmt.Sprintf("server.folders: %v", err), Hint: "name folders that exist"}
		}
		out = append(out, target)
	}
	return out, nil
}

// errFolders says that a path may not be named. It is the same whether there is
// something at that path or not.
func errFolders(path string) error {
	return &dossier.UsageError{
		Message: fmt.Sprintf("%q is not below a folder that may be asked about", path),
		Hint:    "the operator names such folders in server.folders; `dossier research --in DIR` asks about any folder from the command line",
	}
}

// Allow returns what a path leads to, links followed, if that is below one of
// the folders.
func (f Folders) Allow(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", errFolders(path)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", errFolders(path)
	}
	for _, folder := range f {
		if below, err := filepath.Rel(folder, target); err == nil && filepath.IsLocal(below) {
			return target, nil
		}
	}
	return "", errFolders(path)
}

// target holds what a question is asked of to what the caller may ask.
func (v view) target(ctx context.Context, req *dossier.Request) error {
	in := &req.In
	if err := v.documents(ctx, in.Paths, in.Collection); err != nil {
		return err
	}
	for _, also := range in.Also {
		if err := v.documents(ctx, also.Paths, also.Collection); err != nil {
			return err
		}
	}
	if in.Base != "" {
		if _, err := v.policy.Folders.Allow(in.Base); err != nil {
			if len(in.Paths) > 0 {
				return err
			}
			in.Base = "" // of a request that is made again
		}
	}
	return nil
}

// documents checks paths, which are replaced by what they lead to, or the name of
// a collection.
func (v view) documents(ctx context.Context, paths []string, collection string) error {
	for i, p := range paths {
		target, err := v.policy.Folders.Allow(p)
		if err != nil {
			return err
		}
		paths[i] = target
	}
	if collection == "" || v.caller.Operates() {
		return nil
	}
	c, err := v.Engine.Collection(ctx, collection)
	switch {
	case errors.Is(err, kb.ErrNoCollection) && len(paths) > 0:
		return nil // it is made
	case err != nil:
		return err
	case len(paths) > 0 && c.User != v.caller.User:
		return &sources.TargetError{Message: fmt.Sprintf("the name %q is taken", collection), Hint: "choose another name for the collection"}
	case !v.sees(c.Collection):
		return noCollection(collection)
	}
	return nil
}

func noCollection(name string) error {
	return fmt.Errorf("collection %q: %w", name, kb.ErrNoCollection)
}

// sees says whether the caller may ask a collection.
func (v view) sees(c kb.Collection) bool { return kb.Sees(v.caller.User, c, v.policy.Shared) }

// public is a collection as the caller sees it: whose folders it mirrors is not
// for those who may only ask it.
func (v view) public(c kb.Collection) kb.Collection {
	if !v.caller.Operates() && c.User != v.caller.User {
		c.Roots = nil
	}
	return c
}

// Collections implements Library.
func (v view) Collections(ctx context.Context) (dossier.CollectionList, error) {
	all, err := v.Engine.Collections(ctx)
	if err != nil || v.caller.Operates() {
		return all, err
	}
	out := dossier.CollectionList{MaxFile: all.MaxFile}
	for _, c := range all.Collections {
		if !v.sees(c) {
			continue
		}
		out.Collections = append(out.Collections, v.public(c))
		if c.Name == all.Active {
			out.Active = all.Active
		}
	}
	return out, nil
}

// Collection implements Library.
func (v view) Collection(ctx context.Context, name string) (dossier.CollectionDetail, error) {
	c, err := v.Engine.Collection(ctx, name)
	if v.caller.Operates() {
		return c, err
	}
	if err == nil && !v.sees(c.Collection) {
		err = noCollection(name)
	}
	if err != nil {
		return dossier.CollectionDetail{}, unnamed(name, err)
	}
	c.Collection = v.public(c.Collection)
	if c.User != v.caller.User {
		c.Failures, c.Unread = nil, 0
	}
	return c, nil
}

// unnamed hides which collection is in use where the caller has named none and
// may not ask that one.
func unnamed(name string, err error) error {
	if name == "" && errors.Is(err, kb.ErrNoCollection) {
		return &dossier.UsageError{Message: "no collection is named", Hint: "name one of those that GET /api/kb/collections lists"}
	}
	return err
}

// SearchCollection implements Library.
func (v view) SearchCollection(ctx context.Context, name string, q kb.Query) (kb.Result, error) {
	c, err := v.Collection(ctx, name)
	if err != nil {
		return kb.Result{}, err
	}
	return v.Engine.SearchCollection(ctx, c.ID, q)
}

// DeleteCollection implements Library.
func (v view) DeleteCollection(ctx context.Context, name string) error {
	c, err := v.ownCollection(ctx, name)
	if err != nil {
		return err
	}
	return v.Engine.DeleteCollection(ctx, c.ID)
}

// ownCollection is a collection that the caller may change.
func (v view) ownCollection(ctx context.Context, name string) (dossier.CollectionDetail, error) {
	c, err := v.Collection(ctx, name)
	if err == nil && c.User != v.caller.User {
		err = v.operators()
	}
	return c, err
}

// CreateCollection implements Documents.
func (v view) CreateCollection(ctx context.Context, n dossier.NewCollection) (kb.Collection, error) {
	n.User = v.caller.User
	return v.Engine.CreateCollection(ctx, n)
}

// TagCollection implements Documents.
func (v view) TagCollection(ctx context.Context, name string, tags []string) (kb.Collection, error) {
	c, err := v.ownCollection(ctx, name)
	if err != nil {
		return kb.Collection{}, err
	}
	return v.Engine.TagCollection(ctx, c.ID, tags)
}

// PutFile implements Documents.
func (v view) PutFile(ctx context.Context, name, path string, from io.Reader) (dossier.Stored, error) {
	c, err := v.ownCollection(ctx, name)
	if err != nil {
		return dossier.Stored{}, err
	}
	return v.Engine.PutFile(ctx, c.ID, path, from)
}

// Documents implements Documents. What could not be read is for the owner.
func (v view) Documents(ctx context.Context, name string, f kb.EntryFilter) (kb.Entries, error) {
	c, err := v.Collection(ctx, name)
	if err != nil {
		return kb.Entries{}, err
	}
	if !v.caller.Operates() && c.User != v.caller.User {
		f.Failed = new(bool)
	}
	return v.Engine.Documents(ctx, c.ID, f)
}

// Document implements Documents.
func (v view) Document(ctx context.Context, name string, n int64, skip, limit int) (kb.Pieces, error) {
	c, err := v.Collection(ctx, name)
	if err != nil {
		return kb.Pieces{}, err
	}
	return v.Engine.Document(ctx, c.ID, n, skip, limit)
}

// DiscardDocument implements Documents.
func (v view) DiscardDocument(ctx context.Context, name string, n int64) error {
	c, err := v.ownCollection(ctx, name)
	if err != nil {
		return err
	}
	return v.Engine.DiscardDocument(ctx, c.ID, n)
}

// IngestCollection implements Documents. The folders of a user's collection have to
// be such as may still be asked about.
func (v view) IngestCollection(ctx context.Context, name string, o dossier.IngestOptions) (run.Record, error) {
	c, err := v.ownCollection(ctx, name)
	if err != nil {
		return run.Record{}, err
	}
	if o.User = v.caller.User; !v.caller.Operates() {
		for _, root := range c.Roots {
			if _, err := v.policy.Folders.Allow(root); err != nil {
				return run.Record{}, err
			}
		}
	}
	rec, err := v.Engine.IngestCollection(ctx, c.ID, o)
	about(ctx, rec.ID)
	return v.shown(rec), err
}

// UseCollection implements Library.
func (v view) UseCollection(ctx context.Context, name string) (kb.Collection, error) {
	if err := v.operators(); err != nil {
		return kb.Collection{}, err
	}
	return v.Engine.UseCollection(ctx, name)
}

// Diagnose implements Library.
func (v view) Diagnose(ctx context.Context, c dossier.Checkup) ([]dossier.Finding, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.Diagnose(ctx, c)
}

// Connections implements Library: what is called, and where, is the operator's.
func (v view) Connections(ctx context.Context) ([]dossier.Connection, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.Connections(ctx)
}

// TryConnection implements Library.
func (v view) TryConnection(ctx context.Context, kind, name string) (dossier.Finding, error) {
	if err := v.operators(); err != nil {
		return dossier.Finding{}, err
	}
	return v.Engine.TryConnection(ctx, kind, name)
}
