// Package search is the port to search engines and what stands between them
// and whoever asks: decorators that clean what comes back, keep it, wait where
// an engine wants peace, and turn to the next engine when one fails.
//
// An engine is a folder below this one. It translates a Query into the request
// that its service documents and the reply into Hits, and nothing else: what is
// true of every engine is done here, once.
package search

import (
	"context"
	"time"

	"dossier/lang"
)

// Query is what an engine is asked. An engine passes on what its service can
// express and leaves the rest: Filtered holds the result to the whole of it.
type Query struct {
	Text string `json:"text"`
	// Limit is how many hits are wanted of an engine at most; 0 leaves it to
	// the engine. Who asks several may get more.
	Limit int `json:"limit,omitempty"`
	// Lang is the language in which results are preferred; empty is any.
	Lang lang.Code `json:"lang,omitempty"`
	// Since and Until bound the time of publication; zero is no bound.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Sites are the only domains wanted, with their subdomains; none is all.
	Sites []string `json:"sites,omitempty"`
}

// Hit is something that an engine found. Its texts are plain: no markup, no
// entities. URL is as the engine gave it.
type Hit struct {
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	// Text is more of the page than the snippet where the engine has it: an
	// abstract, an article's text.
	Text   string    `json:"text,omitempty"`
	Author string    `json:"author,omitempty"`
	Date   string    `json:"date,omitempty"` // 2006-01-02, or its first part
	Site   string    `json:"site,omitempty"`
	Lang   lang.Code `json:"lang,omitempty"`
	// Engine that found it.
	Engine string `json:"engine,omitempty"`
	// Score is the engine's own: it orders the hits of one reply, no others.
	Score float64 `json:"score,omitempty"`
}

// Searcher finds things. Nothing found is no error; whatever kept the engine
// from looking is one, and never an empty result. An error is an *Error, an
// *ExhaustedError, or ctx's. It is safe for concurrent use.
type Searcher interface {
	Search(ctx context.Context, q Query) ([]Hit, error)
}

// Engine is a Searcher with a name.
type Engine interface {
	Searcher
	Info() Info
}

// Info is what is known about an engine without asking it.
type Info struct {
	Name string `json:"name"`
	// Topics that it is good for, the first most of all.
	Topics []Topic `json:"topics,omitempty"`
	// Ranked says that its hits are in the order of meaning, so that ranking
	// them again can only do harm.
	Ranked bool `json:"ranked,omitempty"`
	// Document is the address of the description that the engine was built
	// from.
	Document string `json:"-"`
}

// Topic is a kind of thing that people look for.
type Topic string

// The topics.
const (
	Papers       Topic = "papers"       // research and its results
	Code         Topic = "code"         // programs and their faults
	Discussion   Topic = "discussion"   // what people say about it
	Blogs        Topic = "blogs"        // what its makers write
	Encyclopedia Topic = "encyclopedia" // what is settled
	General      Topic = "web"          // everything
	Documents    Topic = "documents"    // the user's own
)

// Opener is an engine that can also give the text of a page that it may have
// found, where the page itself can't be read.
type Opener interface {
	// Open returns what the engine has of the page at url. The error is
	// ErrNotMine for a page that the engine knows nothing about.
	Open(ctx context.Context, url string) (Hit, error)
}
