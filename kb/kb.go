// Package kb keeps collections of documents and answers what in them is about
// a query: it mirrors folders (Sync), cuts documents into chunks that keep
// their place (heading path, page, bytes), ranks chunks by words and, where an
// embedder is configured, by meaning (Search), and packs what was found into a
// model's window with numbers to cite (Compose).
//
// A collection changes while it is read: every document has a number that is
// never used again, a file that changed gets a new one, and an index is built
// aside and swapped in with one change. So what a search returned names the
// same text for ever, or is gone and says so.
package kb

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"dossier/lang"
	"dossier/reader"
)

// Collection is a named set of documents.
type Collection struct {
	ID   string `json:"id"`   // never used again
	Name string `json:"name"` // unique
	// User whose it is; "" is the operator's.
	User string `json:"user,omitempty"`
	// Roots are the folders and files that it mirrors, as absolute paths.
	Roots []string `json:"roots"`
	// Tags are words by which it is chosen together with others.
	Tags []string `json:"tags,omitempty"`
	// Auto marks a collection that was made for a folder which somebody asked
	// about; its name is the folder's path.
	Auto     bool      `json:"auto,omitempty"`
	Created  time.Time `json:"created"`
	Synced   time.Time `json:"synced,omitzero"` // when the last sync that went through to its end began
	Revision int64     `json:"revision"`        // grows with every change
	// Counts of what is in it now.
	Documents int   `json:"documents"`        // with text
	Failed    int   `json:"failed,omitempty"` // without
	Chunks    int   `json:"chunks"`
	Bytes     int64 `json:"bytes"` // of text
	// Outdated counts the documents that another version of the program read,
	// see Library.Outdated. A store leaves it 0; Library.List fills it in.
	Outdated int `json:"outdated,omitempty"`
	// Uploads says that it has a folder of its own for what is put into it, see
	// Library.Uploads. A store leaves it out; whoever shows it fills it in.
	Uploads bool `json:"uploads,omitempty"`
	// The highest numbers that were ever used, by what is there or was: new
	// ones lie above.
	LastDocument int64 `json:"-"`
	LastSegment  int64 `json:"-"`
}

// File is what a sync compares: a document without its content.
type File struct {
	N        int64 // number in the collection, from 1, never used again
	Path     string
	Hash     string // of the file's bytes; empty if they were not read
	Size     int64
	Modified time.Time
	Failed   bool
	Reading  string // as that of Document
}

// Document is a file that was read, or that could not be.
type Document struct {
	N int64 `json:"n"`
	// Path is absolute. File names need not be UTF-8, and neither need this be.
	Path     string        `json:"path"`
	Hash     string        `json:"hash,omitempty"`
	Size     int64         `json:"size"`
	Modified time.Time     `json:"modified"`
	Failure  *Failure      `json:"failure,omitempty"` // why there is no text
	Format   reader.Format `json:"format,omitempty"`
	Title    string        `json:"title,omitempty"`
	Author   string        `json:"author,omitempty"`
	Date     string        `json:"date,omitempty"` // YYYY-MM-DD or a prefix of it
	Lang     lang.Code     `json:"lang,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	// Reading is the version of what read it and cut it, see Library.Reading; ""
	// before there were versions.
	Reading string  `json:"reading,omitempty"`
	Text    string  `json:"text,omitempty"`
	Chunks  []Chunk `json:"chunks,omitempty"` // in order, not overlapping
}

// Failure is why a document has no text.
type Failure struct {
	Reason reader.Reason `json:"reason"`
	Why    string        `json:"why"` // for people
}

// Chunk is a piece of a document that is found and read as one.
type Chunk struct {
	Start    int      `json:"start"` // in the document's text, in bytes
	End      int      `json:"end"`
	Headings []string `json:"headings,omitempty"` // it stands under, the outermost first
	Page     int      `json:"page,omitempty"`     // from 1; 0 where there are none
}

// ChunkID names a chunk within its collection: the numbers of its document and
// of the chunk in it, from 0, as in "12.3".
func ChunkID(document int64, chunk int) string {
	return strconv.FormatInt(document, 10) + "." + strconv.Itoa(chunk)
}

// ParseChunkID is the inverse of ChunkID.
func ParseChunkID(id string) (document int64, chunk int, ok bool) {
	d, c, ok := strings.Cut(id, ".")
	if !ok {
		return 0, 0, false
	}
	document, err := strconv.ParseInt(d, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(c, 10, 32)
	return document, int(n), err == nil && document > 0 && n >= 0 && ChunkID(document, int(n)) == id
}

// Segment is a part of a collection's index. Data never changes under its
// number; what is found dead in it, and its vectors, may.
type Segment struct {
	N    int64  // number in the collection, from 1, never used again
	Data []byte // of package index
	Dead []byte // its tombstones
	// Vectors of the chunks, in the form of package index, made by Embedder;
	// empty without one.
	Vectors  []byte
	Embedder string
}

// Change is what happens to a collection at once.
type Change struct {
	// Revision that the change was made for. On another one it is refused with
	// ErrChanged.
	Revision int64
	Put      []Document // new ones, with numbers that were never used
	Delete   []int64    // numbers of documents
	// Touch sets size and modification time of documents whose content is the
	// same. Nothing else of them changes.
	Touch []File
	// Segments are put in, those that are there under their numbers replaced;
	// Drop removes segments.
	Segments []Segment
	Drop     []int64
	// Roots, if not nil, replace the collection's. Synced, if not zero, is set.
	Roots  []string
	Synced time.Time
	// Tags, if not nil, replace the collection's.
	Tags []string
	// Name, if not empty, is the collection's from now on, and it is none that
	// was made by itself any more. It is refused with ErrExists when it is taken.
	Name string
}

// Store keeps collections. It is safe for concurrent use. What is handed over
// and what is returned must not be changed afterwards.
type Store interface {
	// CreateCollection adds an empty collection; its counts, revision and
	// highest numbers are taken as 0. It fails with ErrExists when the name or the id is taken.
	CreateCollection(ctx context.Context, c Collection) error
	// Collection finds one by its name or, failing that, its id. It fails with
	// ErrNoCollection.
	Collection(ctx context.Context, name string) (Collection, error)
	// Collections returns all of them in order of their names.
	Collections(ctx context.Context) ([]Collection, error)
	// DeleteCollection removes a collection with all that is in it. It fails
	// with ErrNoCollection.
	DeleteCollection(ctx context.Context, id string) error
	// Files returns all documents in the order of their paths' bytes.
	Files(ctx context.Context, id string) ([]File, error)
	// Documents returns documents in the order asked for; numbers that are
	// gone are left out.
	Documents(ctx context.Context, id string, numbers ...int64) ([]Document, error)
	// ReadOtherwise counts the documents whose Reading is another than this,
	// without those whose bytes were never read.
	ReadOtherwise(ctx context.Context, id, reading string) (int, error)
	// FailedDocuments returns the documents without text, by path.
	FailedDocuments(ctx context.Context, id string) ([]Document, error)
	// Segments returns the index in order of the segments' numbers, and the
	// revision that it belongs to.
	Segments(ctx context.Context, id string) ([]Segment, int64, error)
	// ChangeCollection makes a change as a whole or not at all and returns the
	// new revision. Removals come first, and what is not there is passed over.
	// It fails with ErrChanged and ErrNoCollection.
	ChangeCollection(ctx context.Context, id string, c Change) (int64, error)
}

// Errors of the port.
var (
	ErrNoCollection = errors.New("there is no such collection")
	ErrExists       = errors.New("there is a collection of that name already")
	ErrChanged      = errors.New("the collection was changed meanwhile")
)
