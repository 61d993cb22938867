// Package index ranks texts for a query: an inverted index with BM25 over
// stems and, for scripts without spaces, character bigrams; exact scans over
// compact vectors; and fusion of rankings.
//
// A [Builder] turns documents into a segment, an immutable run of bytes that
// can lie in a file, a blob or a memory map. [Open] reads one in place, and
// [New] searches several as if they were one:
//
//	b := index.NewBuilder()
//	b.Add(index.Doc{ID: "a", Title: "Rivers", Text: "The Neva flows to the sea."})
//	segment, err := index.Open(b.Bytes())
//	hits, err := index.New(segment).Search(index.Query{Text: "where does the Neva flow"})
//
// Documents come and go without touching a segment: new ones go into a
// segment of their own, deleted ones are left out by [Segment.Without], and
// [Merge] makes one segment of several. Statistics are those of all segments
// together, so how documents are spread over segments does not change their
// scores.
//
// The language of a document decides how its Latin words are stemmed. It is
// given in [Doc] or found from the function words of the text. A query is
// stemmed in the languages that the segments hold, so that a short query
// needs no guess of its language.
package index
