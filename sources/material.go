package sources

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"

	"dossier/cite"
	"dossier/index"
	"dossier/kb"
	"dossier/lang"
	"dossier/reader"
)

// MaterialName is the source as which text that came with a question is cited.
const MaterialName = "standard input"

// Material is text that came with a question, as a corpus of one document. It is
// read and ranked as a file with this text would be.
type Material struct {
	library *kb.Library
	opened  func() (material, error)
}

// material is a text that can be searched.
type material struct {
	doc   kb.Document
	index *index.Index
}

// title is that of the text, or what it is.
func (m *material) title() string { return cmp.Or(m.doc.Title, MaterialName) }

// NewMaterial makes a text searchable when it is searched first.
func NewMaterial(library *kb.Library, text string) *Material {
	return &Material{library: library, opened: sync.OnceValues(func() (material, error) {
		name := MaterialName
		if marked(text) {
			name += ".md"
		}
		doc, err := library.Read(context.Background(), name, text)
		if err != nil {
			// What can't be read as what it seems to be is still text.
			doc = kb.Document{N: 1, Text: text, Lang: lang.Detect(text), Chunks: kb.Cut(&reader.Page{Text: text}, 0)}
		}
		doc.Path = "" // it has no name that could say what it is about
		m := material{doc: doc}
		b := index.NewBuilder()
		for i := range doc.Chunks {
			b.Add(kb.Indexed(&m.doc, i))
		}
		segment, err := index.Open(b.Bytes())
		if err == nil {
			m.index = index.New(segment)
		}
		return m, err
	})}
}

// marked reports whether a text is Markdown, as far as can be told: it begins
// with a heading, has some below others, or blocks of code.
func marked(text string) bool {
	first := true
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case first && strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "), strings.HasPrefix(line, "```"):
			return true
		default:
			first = false
		}
	}
	return false
}

// Name implements Corpus.
func (m *Material) Name() string { return "input" }

// Find implements Corpus.
func (m *Material) Find(_ context.Context, q Query) (Finding, error) {
	at, err := m.opened()
	if err != nil {
		return Finding{}, err
	}
	hits, err := m.library.SearchText(at.index, &at.doc, q.Text, q.Limit)
	if err != nil {
		return Finding{}, err
	}
	leads := make([]Lead, 0, len(hits))
	for _, h := range hits {
		_, n, _ := kb.ParseChunkID(h.ID)
		c := at.doc.Chunks[n]
		leads = append(leads, Lead{
			ID: MaterialName + "." + strconv.Itoa(n), Ref: MaterialName, Kind: cite.File, URI: MaterialName, Title: at.title(), Lang: at.doc.Lang,
			Text: at.doc.Text[c.Start:c.End], Spot: Spot{Start: c.Start, End: c.End, Headings: c.Headings, Page: c.Page}, Ranking: h.Score, Ranked: true,
		})
	}
	return Finding{Leads: leads}, nil
}

// Read implements Corpus.
func (m *Material) Read(context.Context, Lead) (Document, error) {
	at, err := m.opened()
	if err != nil {
		return Document{}, err
	}
	return Document{Title: at.title(), Lang: at.doc.Lang, Text: at.doc.Text}, nil
}

// Weights implements Corpus.
func (m *Material) Weights(context.Context) (Weights, error) {
	at, err := m.opened()
	if err != nil {
		return nil, err
	}
	return at.index, nil
}
