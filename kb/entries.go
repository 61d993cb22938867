package kb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier/lang"
	"dossier/reader"
)

// ErrNoDocument says that there is no document of a number.
var ErrNoDocument = errors.New("there is no such document")

// Entry is a document in a list: what is known of it beside its text.
type Entry struct {
	N int64 `json:"n"`
	// Path below the root that it was found in, with slashes; that of several
	// roots begins with the root's name.
	Path     string        `json:"path"`
	Size     int64         `json:"size"`
	Modified time.Time     `json:"modified,omitzero"`
	Format   reader.Format `json:"format,omitempty"`
	Title    string        `json:"title,omitempty"`
	Author   string        `json:"author,omitempty"`
	Date     string        `json:"date,omitempty"`
	Lang     lang.Code     `json:"lang,omitempty"`
	Chunks   int           `json:"chunks"`
	Failure  *Failure      `json:"failure,omitempty"` // why there is no text
	// Uploaded says that it was put into the collection itself, and can be
	// discarded.
	Uploaded bool `json:"uploaded,omitempty"`
}

// EntryFilter says which documents of a collection are listed.
type EntryFilter struct {
	Words  string `json:"words,omitempty"`  // all in the path, in any case
	Failed *bool  `json:"failed,omitempty"` // those without text, or those with
	Skip   int    `json:"skip,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 50 when 0, and at most 200
}

// Entries are documents of a collection in the order of their paths.
type Entries struct {
	Documents []Entry `json:"documents"`
	Total     int     `json:"total"` // that the filter lets through
}

// Entries lists the documents of a collection. It fails with ErrNoCollection.
func (l *Library) Entries(ctx context.Context, name string, f EntryFilter) (Entries, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return Entries{}, err
	}
	files, err := l.store.Files(ctx, c.ID)
	if err != nil {
		return Entries{}, err
	}
	words := strings.Fields(strings.ToLower(f.Words))
	files = slices.DeleteFunc(files, func(d File) bool {
		shown, _ := l.below(c, d.Path)
		shown = strings.ToLower(shown)
		return f.Failed != nil && *f.Failed != d.Failed || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(shown, w) })
	})
	out := Entries{Documents: []Entry{}, Total: len(files)}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	files = files[min(max(f.Skip, 0), len(files)):]
	files = files[:min(f.Limit, 200, len(files))]
	for some := range slices.Chunk(files, 16) { // a document may have megabytes
		var numbers []int64
		for _, d := range some {
			numbers = append(numbers, d.N)
		}
		docs, err := l.store.Documents(ctx, c.ID, numbers...)
		if err != nil {
			return Entries{}, err
		}
		for i := range docs {
			out.Documents = append(out.Documents, l.entry(c, &docs[i]))
		}
	}
	return out, nil
}

func (l *Library) entry(c Collection, d *Document) Entry {
	e := Entry{
		N: d.N, Size: d.Size, Modified: d.Modified, Format: d.Format, Title: d.Title, Author: d.Author, Date: d.Date, Lang: d.Lang,
		Chunks: len(d.Chunks), Failure: d.Failure,
	}
	e.Path, e.Uploaded = l.below(c, d.Path)
	return e
}

// below is a document's path as it is shown, and whether it was put into the
// collection itself.
func (l *Library) below(c Collection, path string) (shown string, uploaded bool) {
	own := l.Uploads(c)
	for _, root := range c.Roots {
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		switch {
		case root == own:
			uploaded = true
		case rel == ".": // a root that is a file
			rel = filepath.Base(root)
		case len(c.Roots) > 1:
			rel = filepath.Join(filepath.Base(root), rel)
		}
		return strings.ToValidUTF8(filepath.ToSlash(rel), "\uFFFD"), uploaded
	}
	return strings.ToValidUTF8(filepath.Base(path), "\uFFFD"), false
}

// Pieces are a document and some of its chunks.
type Pieces struct {
	Entry
	Passages []Piece `json:"passages"`
}

// Piece is a chunk with its text.
type Piece struct {
	ID       string   `json:"id"`
	Headings []string `json:"headings,omitempty"`
	Page     int      `json:"page,omitempty"`
	Text     string   `json:"text"`
}

// Pieces returns a document with so many of its chunks behind the first ones. It
// fails with ErrNoCollection and ErrNoDocument.
func (l *Library) Pieces(ctx context.Context, name string, n int64, skip, limit int) (Pieces, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return Pieces{}, err
	}
	docs, err := l.store.Documents(ctx, c.ID, n) // not as it was kept in memory: it may be gone
	if err != nil {
		return Pieces{}, err
	}
	if len(docs) == 0 {
		return Pieces{}, fmt.Errorf("document %d of %q: %w", n, name, ErrNoDocument)
	}
	d := &docs[0]
	out := Pieces{Entry: l.entry(c, d), Passages: []Piece{}}
	if limit <= 0 {
		limit = 50
	}
	first := min(max(skip, 0), len(d.Chunks))
	for i := first; i < min(len(d.Chunks), first+min(limit, 200)); i++ {
		at := d.Chunks[i]
		out.Passages = append(out.Passages, Piece{ID: ChunkID(n, i), Headings: at.Headings, Page: at.Page, Text: d.Text[at.Start:at.End]})
	}
	return out, nil
}
