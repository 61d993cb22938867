package sources

import (
	"context"
	"strconv"
	"sync"

	"dossier/cite"
	"dossier/extract"
	"dossier/index"
	"dossier/kb"
	"dossier/lang"
	"dossier/reader"
)

// MaterialName is the source as which text that came with a question is cited.
const MaterialName = "standard input"

// Material is text that came with a question, as a corpus of one document.
type Material struct {
	text   string
	opened func() (material, error)
}

// material is a text that can be searched.
type material struct {
	chunks []kb.Chunk
	index  *index.Index
}

// NewMaterial makes a text searchable when it is searched first.
func NewMaterial(text string) *Material {
	return &Material{text: text, opened: sync.OnceValues(func() (material, error) {
		m := material{chunks: kb.Cut(&reader.Page{Text: text}, 0)}
		b := index.NewBuilder()
		for i := range m.chunks {
			b.Add(m.doc(text, i))
		}
		segment, err := index.Open(b.Bytes())
		if err == nil {
			m.index = index.New(segment)
		}
		return m, err
	})}
}

func (m *material) doc(text string, chunk int) index.Doc {
	c := m.chunks[chunk]
	return index.Doc{ID: strconv.Itoa(chunk), Text: text[c.Start:c.End]}
}

// Name implements Corpus.
func (m *Material) Name() string { return "input" }

// Find implements Corpus.
func (m *Material) Find(_ context.Context, q Query) (Finding, error) {
	at, err := m.opened()
	if err != nil {
		return Finding{}, err
	}
	hits, err := extract.Search(at.index, index.Query{Text: q.Text, Limit: q.Limit}, func(hits []index.Hit) ([]extract.Candidate, error) {
		found := make([]extract.Candidate, len(hits))
		for i, h := range hits {
			n, err := strconv.Atoi(h.ID)
			if err != nil {
				return nil, err
			}
			found[i] = extract.Candidate{Passage: extract.Passage{ID: h.ID, Text: at.doc(m.text, n).Text}, Score: h.Score, Position: n, First: n == 0}
		}
		return found, nil
	})
	if err != nil {
		return Finding{}, err
	}
	leads := make([]Lead, 0, len(hits))
	for _, h := range hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return Finding{}, err
		}
		c := at.chunks[n]
		leads = append(leads, Lead{
			ID: MaterialName + "." + h.ID, Ref: MaterialName, Kind: cite.File, URI: MaterialName, Title: MaterialName,
			Text: m.text[c.Start:c.End], Spot: Spot{Start: c.Start, End: c.End}, Ranking: h.Score, Ranked: true,
		})
	}
	return Finding{Leads: leads}, nil
}

// Read implements Corpus.
func (m *Material) Read(context.Context, Lead) (Document, error) {
	return Document{Title: MaterialName, Lang: lang.Detect(m.text), Text: m.text}, nil
}

// Weights implements Corpus.
func (m *Material) Weights(context.Context) (Weights, error) {
	at, err := m.opened()
	if err != nil {
		return nil, err
	}
	return at.index, nil
}
