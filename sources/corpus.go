// Package sources gathers what a question needs: it plans queries, searches in
// rounds until every part of the question has something, reads what was found,
// notes what each page says about the question, chooses what is worth quoting,
// and checks what was written against what was read.
//
// Every decision is made by a model where there is one and by rules where
// there is none, and the rest of the code can't tell the difference.
package sources

import (
	"context"
	"errors"

	"dossier/cite"
	"dossier/lang"
)

// Corpus is what a question is asked of: a collection, a folder, the web.
type Corpus interface {
	// Name of the corpus in the event log.
	Name() string
	// Find returns what may be worth reading for a query, the best first.
	Find(ctx context.Context, query string, limit int) ([]Lead, error)
	// Read returns the document that a lead points to. It fails with ErrGone
	// when there is none any more.
	Read(ctx context.Context, lead Lead) (Document, error)
	// Weights tells how much words say in this corpus.
	Weights(ctx context.Context) (Weights, error)
}

// Weights tells how rare the stem of a word is: the higher, the more it says.
type Weights interface{ Weight(term string) float64 }

// ErrGone says that what was found is not there any more.
var ErrGone = errors.New("it is not there any more")

// Lead is a passage that a search found, and the document that it stands in.
type Lead struct {
	// ID of the passage: the same ID is the same text.
	ID string `json:"id"`
	// Ref is how the corpus finds the document again.
	Ref     string    `json:"ref"`
	Kind    cite.Kind `json:"kind"`
	URI     string    `json:"uri"`
	Title   string    `json:"title,omitempty"`
	Author  string    `json:"author,omitempty"`
	Date    string    `json:"date,omitempty"`
	Site    string    `json:"site,omitempty"`
	Lang    lang.Code `json:"lang,omitempty"`
	Text    string    `json:"text"` // of the passage
	Spot    Spot      `json:"spot,omitzero"`
	Ranking float64   `json:"score,omitempty"` // of the search that found it
}

// Spot is where in its document a passage stands. The zero value says that
// only reading the document will tell.
type Spot struct {
	Start    int      `json:"start"` // in bytes
	End      int      `json:"end"`
	Headings []string `json:"headings,omitempty"`
	Page     int      `json:"page,omitempty"`
}

// Document is a document that was read.
type Document struct {
	Title  string
	Author string
	Date   string
	Site   string
	Lang   lang.Code
	Text   string
	// Passages are the pieces into which the text is cut, for documents whose
	// leads have no place.
	Passages []Spot
}

// Blobs keep the texts that a run has read, named by their content.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (string, error)
	Blob(ctx context.Context, name string) ([]byte, error)
}
