package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/lang/terms"
	"dossier/reader"
	"dossier/report"
	"dossier/sources"
)

// file is a document of a set as it lies in a folder.
type file struct {
	ID   string // in the set
	Name string // of the file, with folders if it lies in some
	Body []byte
}

// shelf is documents in a folder, searched as `dossier kb search` does it and
// asked as `dossier research --in` does: all of them, or one by itself.
type shelf struct {
	product

	dir     string
	files   *reader.Reader
	library *kb.Library
	paths   map[string]string // by document
	ids     map[string]string // by path
	opened  map[string]string // collections by document; "" is all of them
}

// shelve writes documents to a folder. They are read when they are first asked.
func (e *Env) shelve(docs []file) (*shelf, error) {
	dir, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return nil, err
	}
	s := &shelf{
		dir: dir, product: product{store: memory.New(memory.Options{})},
		files: reader.New(reader.Config{CacheDir: filepath.Join(dir, "read")}),
		paths: map[string]string{}, ids: map[string]string{}, opened: map[string]string{},
	}
	s.library = kb.New(s.store, s.files, nil, kb.Options{Terms: terms.Default()})
	for _, d := range docs {
		path := filepath.Join(dir, "documents", filepath.FromSlash(d.Name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, d.Body, 0o600)
		}
		if err != nil {
			s.close()
			return nil, err
		}
		if other, taken := s.ids[path]; taken {
			s.close()
			return nil, fmt.Errorf("documents %s and %s have one name", other, d.ID)
		}
		s.paths[d.ID], s.ids[path] = path, d.ID
	}
	return s, nil
}

func (s *shelf) close() {
	s.files.Close()
	_ = os.RemoveAll(s.dir)
}

// open returns the collection of a document, of all if it is "".
func (s *shelf) open(ctx context.Context, doc string) (string, error) {
	if id := s.opened[doc]; id != "" {
		return id, nil
	}
	root := filepath.Join(s.dir, "documents")
	if doc != "" {
		if root = s.paths[doc]; root == "" {
			return "", fmt.Errorf("there is no document %q", doc)
		}
	}
	c, err := s.library.Create(ctx, "documents "+doc, root)
	if err != nil {
		return "", err
	}
	done, err := s.library.Sync(ctx, c.ID, kb.SyncOptions{})
	if err != nil {
		return "", err
	}
	for _, f := range done.Failures {
		return "", fmt.Errorf("%s: %s", f.Path, f.Why)
	}
	s.opened[doc] = c.ID
	return c.ID, nil
}

// located is a chunk that was found, in the document that it is of.
type located struct {
	kb.Hit
	Doc string
}

// search returns the best chunks of a document, of all if it is "".
func (s *shelf) search(ctx context.Context, doc, query string, limit int) ([]located, error) {
	id, err := s.open(ctx, doc)
	if err != nil {
		return nil, err
	}
	found, err := s.library.Search(ctx, id, kb.Query{Text: query, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := make([]located, len(found.Hits))
	for i, h := range found.Hits {
		out[i] = located{h, s.ids[h.Path]}
	}
	return out, nil
}

// research asks a question of a document, of all if it is "".
func (s *shelf) research(ctx context.Context, doc, question string) (*report.Report, error) {
	id, err := s.open(ctx, doc)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, &sources.Holdings{Documents: &sources.Local{Library: s.library}}, sources.Target{Collection: id}, question)
}
