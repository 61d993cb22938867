package kb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dossier/index"
	"dossier/lang"
	"dossier/llm"
)

// Facet is a part of a question with what was found for it, the best first.
// Hits that are too weak to count are the caller's to leave out.
type Facet struct {
	Question string
	Hits     []Hit
}

// Context is passages packed for a model.
type Context struct {
	// Text has the passages under the numbers and names of their sources.
	Text      string     `json:"text"`
	Tokens    int        `json:"tokens"` // of Text, as llm.EstimateTokens says
	Citations []Citation `json:"citations,omitempty"`
	// Coverage is the share of facets with a passage in Text, 0 without
	// facets.
	Coverage float64 `json:"coverage"`
	// Uncovered are the facets without one, by their place.
	Uncovered []int `json:"uncovered,omitempty"`
}

// Citation is a document that passages of a context are from.
type Citation struct {
	Number   int       `json:"number"` // from 1
	Document int64     `json:"document"`
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Date     string    `json:"date,omitempty"`
	Excerpts []Excerpt `json:"excerpts"` // in the order of the document
}

// Excerpt is a run of a document's text in a context.
type Excerpt struct {
	ChunkIDs []string `json:"chunk_ids"`
	Start    int      `json:"start"` // bytes of the document's text
	End      int      `json:"end"`
	Page     int      `json:"page,omitempty"`
	Headings []string `json:"headings,omitempty"`
	text     string
}

// leastTokens is what a passage must have room for, to be cut to fit.
const leastTokens = 40

// Compose packs hits for a model, in at most budget tokens. Every facet gets
// its best passage before any gets its second one, and each an equal share of
// the room if not all fit; passages that say the same as another are left
// out. Passages of one document stand together under one number, and chunks
// that follow each other become one excerpt.
//
// number is for who has numbered sources already: it returns the number of a
// document that is one of them, or else the one that it gets when after others
// that are new have got theirs. Nil counts from 1.
func Compose(facets []Facet, budget int, number func(path string, after int) (n int, known bool)) Context {
	if number == nil {
		number = func(_ string, after int) (int, bool) { return after + 1, false }
	}
	p := packer{left: budget, taken: map[string]bool{}, byDoc: map[int64]int{}, number: number}
	next := make([]int, len(facets)) // place in a facet's hits
	covered := make([]bool, len(facets))
	for round := 0; ; round++ {
		waiting := 0
		for i := range facets {
			if next[i] < len(facets[i].Hits) {
				waiting++
			}
		}
		if waiting == 0 {
			break
		}
		for i, f := range facets {
			if next[i] >= len(f.Hits) {
				continue
			}
			share := p.left / waiting
			if round > 0 {
				share = p.left
			}
			waiting--
			for next[i] < len(f.Hits) {
				placed := p.place(f.Question, f.Hits[next[i]], share)
				if placed == refused && round == 0 {
					break // it may fit into what the others leave
				}
				next[i]++
				covered[i] = covered[i] || placed == known
				// A copy of what is there answers the facet too, but in the
				// later rounds it takes no turn.
				if placed == fresh || placed == known && round == 0 {
					break
				}
			}
		}
	}
	for i, f := range facets {
		covered[i] = covered[i] || slices.ContainsFunc(f.Hits, func(h Hit) bool { return p.taken[h.ID] })
	}
	out := p.context()
	for i := range facets {
		if covered[i] {
			out.Coverage += 1 / float64(len(facets))
		} else {
			out.Uncovered = append(out.Uncovered, i)
		}
	}
	if len(out.Uncovered) == 0 && len(facets) > 0 {
		out.Coverage = 1
	}
	return out
}

// placement is what became of a hit.
type placement int

const (
	refused placement = iota // there is no room
	known                    // it is there already, or a copy of it
	fresh
)

type packer struct {
	left     int // tokens
	taken    map[string]bool
	byDoc    map[int64]int // index of a document's citation
	cited    []Citation
	sketches []lang.Sketch
	number   func(path string, after int) (int, bool)
	fresh    int // cited documents that number did not know
}

// place adds a hit, cut to what fits into share if need be.
func (p *packer) place(question string, h Hit, share int) placement {
	if p.taken[h.ID] {
		return known
	}
	sketch := lang.SketchOf(h.Text)
	if slices.ContainsFunc(p.sketches, sketch.Copies) {
		return known
	}
	at, cited := p.byDoc[h.Document]
	cost := llm.EstimateTokens("\n\n" + label(h.Headings, h.Page))
	if !cited {
		n, _ := p.number(h.Path, p.fresh)
		c := Citation{Number: n, Path: h.Path, Title: h.Title, Date: h.Date}
		cost += llm.EstimateTokens("\n\n" + c.head())
	}
	start, end := 0, len(h.Text)
	if room := share - cost; llm.EstimateTokens(h.Text) > room {
		if room < leastTokens {
			return refused
		}
		start, end = window(question, h.Text, h.Lang, room)
		if start == end {
			return refused
		}
	}
	text := h.Text[start:end]
	p.left -= cost + llm.EstimateTokens(text)
	p.taken[h.ID] = true
	p.sketches = append(p.sketches, sketch)
	if !cited {
		at = len(p.cited)
		p.byDoc[h.Document] = at
		n, known := p.number(h.Path, p.fresh)
		if !known {
			p.fresh++
		}
		p.cited = append(p.cited, Citation{Number: n, Document: h.Document, Path: h.Path, Title: h.Title, Date: h.Date})
	}
	c := &p.cited[at]
	c.Excerpts = append(c.Excerpts, Excerpt{ChunkIDs: []string{h.ID}, Start: h.Start + start, End: h.Start + end,
		Page: h.Page, Headings: h.Headings, text: text})
	return fresh
}

// window returns the sentences in a row that fit into so many tokens and have
// the most words of the question.
func window(question, text string, code lang.Code, room int) (start, end int) {
	asked := map[string]bool{}
	for _, t := range index.Tokens(question, code) {
		if !t.Function {
			asked[t.Term] = true
		}
	}
	sentences := lang.Sentences(text)
	most := -1
	for i := range sentences {
		have := map[string]bool{}
		last := -1
		for j := i; j < len(sentences) && llm.EstimateTokens(text[sentences[i].Start:sentences[j].End]) <= room; j++ {
			last = j
			for _, t := range index.Tokens(sentences[j].In(text), code) {
				if asked[t.Term] {
					have[t.Term] = true
				}
			}
		}
		if last >= 0 && len(have) > most {
			most, start, end = len(have), sentences[i].Start, sentences[last].End
		}
	}
	return start, end
}

// context writes what was placed.
func (p *packer) context() Context {
	var b strings.Builder
	for i := range p.cited {
		c := &p.cited[i]
		slices.SortFunc(c.Excerpts, func(a, b Excerpt) int { return cmp.Compare(a.Start, b.Start) })
		c.Excerpts = joinExcerpts(c.Excerpts)
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(c.head())
		for _, e := range c.Excerpts {
			if l := label(e.Headings, e.Page); l != "" {
				b.WriteString("\n" + l)
			}
			b.WriteString("\n" + e.text)
		}
	}
	text := b.String()
	return Context{Text: text, Tokens: llm.EstimateTokens(text), Citations: p.cited}
}

// joinExcerpts makes one excerpt of chunks that follow each other.
func joinExcerpts(excerpts []Excerpt) []Excerpt {
	out := excerpts[:1]
	for _, e := range excerpts[1:] {
		last := &out[len(out)-1]
		if last.follows(e) {
			last.ChunkIDs = append(last.ChunkIDs, e.ChunkIDs...)
			last.End, last.text = e.End, last.text+"\n"+e.text
			continue
		}
		out = append(out, e)
	}
	return out
}

// follows reports whether nothing that was cut off lies between two excerpts.
func (x *Excerpt) follows(next Excerpt) bool {
	n, a, _ := ParseChunkID(x.ChunkIDs[len(x.ChunkIDs)-1])
	m, b, _ := ParseChunkID(next.ChunkIDs[0])
	const betweenChunks = 8 // bytes of white space and marks
	return n == m && b == a+1 && next.Start-x.End <= betweenChunks && x.Page == next.Page && slices.Equal(x.Headings, next.Headings)
}

// head is the line above the passages of a source.
func (c *Citation) head() string {
	line := fmt.Sprintf("[%d] %s", c.Number, strings.Join(strings.Fields(c.Title), " "))
	if c.Date != "" {
		line += ", " + c.Date
	}
	return line
}

// label says where in its document an excerpt stands.
func label(headings []string, page int) string {
	place := strings.Join(headings, " / ")
	if page > 0 {
		if place != "" {
			place += ", "
		}
		place += fmt.Sprintf("p. %d", page)
	}
	if place == "" {
		return ""
	}
	return "(" + strings.Join(strings.Fields(place), " ") + ")"
}
