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
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/search"
)

// Corpus is what a question is asked of: a collection, a folder, the web.
type Corpus interface {
	// Name of the corpus in the event log.
	Name() string
	// Find returns what may be worth reading for a query, the best first.
	Find(ctx context.Context, q Query) (Finding, error)
	// Read returns the document that a lead points to. It fails with ErrGone
	// when there is none any more.
	Read(ctx context.Context, lead Lead) (Document, error)
	// Weights tells how much words say in this corpus; nil where nothing is
	// known of it.
	Weights(ctx context.Context) (Weights, error)
}

// Choice is a corpus with several engines, of which a query needs some.
type Choice interface {
	// Engines to choose from, the preferred first; none where the choice is
	// made.
	Engines() []search.Info
}

// Query is what a corpus is asked.
type Query struct {
	Text  string
	Limit int
	// Engines are those chosen for it, for a corpus that has a choice.
	Engines []string
	// Tiers of engines, asked one after the other until there is enough, instead
	// of a choice.
	Tiers [][]string
	// Wide asks also those engines that are kept for when the others have too
	// little.
	Wide bool
	// Lang of the query, if it is not the question's.
	Lang lang.Code
}

// Finding is what came of a query.
type Finding struct {
	Leads []Lead `json:"leads,omitempty"`
	// Engines that were asked, by name, and what became of it.
	Engines []search.Attempt `json:"engines,omitempty"`
	Dropped []search.Drop    `json:"dropped,omitempty"`
}

// Event is what came of a query as the run's log tells it.
func (f Finding) Event(query, corpus string) event.SearchResults {
	told := event.SearchResults{Query: query, Engine: corpus, Found: len(f.Leads), Cached: len(f.Engines) > 0}
	for _, a := range f.Engines {
		reply := event.EngineReply{Engine: a.Engine, Found: a.Found, Cached: a.Cached}
		if a.Reason != "" {
			reply.Error = strings.TrimSuffix(string(a.Reason)+": "+a.Detail, ": ")
		}
		told.Cached = told.Cached && a.Cached
		told.Engines = append(told.Engines, reply)
	}
	for _, d := range f.Dropped {
		told.Dropped = append(told.Dropped, event.DroppedResult{URL: d.URL, Reason: string(d.Why), Detail: d.Detail})
	}
	return told
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
	// Ranked says that the search put it where its meaning belongs, so that it
	// need not be ranked again.
	Ranked bool `json:"ranked,omitempty"`
	// Near is how near it comes to the query by its meaning, as in extract.Passage.
	Near float64 `json:"near,omitempty"`
	// Copy is what the search engine has of the document's text.
	Copy string `json:"copy,omitempty"`
	// Corpus is the part of a joined corpus that it belongs to, from 1.
	Corpus int `json:"corpus,omitempty"`
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
	// URI is where it was in the end, if not where the lead said.
	URI    string
	Title  string
	Author string
	Date   string
	Site   string
	Lang   lang.Code
	Text   string
	// Notes are what a reader should know about how it was read.
	Notes []string
	// Passages are the pieces into which the text is cut, for documents whose
	// leads have no place.
	Passages []Spot
}

// Blobs keep the texts that a run has read, named by their content.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (string, error)
	Blob(ctx context.Context, name string) ([]byte, error)
}
