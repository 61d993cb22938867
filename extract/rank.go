package extract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"dossier/extract/internal/evidence"
	"dossier/index"
	"dossier/lang"
)

// Candidate is a passage that a search found, and how well.
type Candidate struct {
	Passage
	Name     string    // of the file, if it is one: what names a document may be its title
	Lang     lang.Code // of the document
	Score    float64   // of the search
	Position int       // of the passage in its document, from 0
	First    bool      // it is the first under its heading
}

// Ranked is a candidate with what it is worth beside the others.
type Ranked struct {
	Candidate int // index among the candidates given
	Score     float64
}

// Rank puts candidates in the order in which they may answer a question: by
// what the search thought of them, and by how much of what is asked about
// stands together there, in what they define, and in the titles and headings
// above. Groups are other ways to say parts of the question.
func Rank(question string, candidates []Candidate, w Weights, groups ...index.Group) []Ranked {
	judged := Judge(question, candidates, w, groups...)
	weights := evidence.RankWeights()
	out := make([]Ranked, len(candidates))
	for i := range judged {
		out[i] = Ranked{i, judged[i].Worth(&weights)}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// Ordered returns passages in the order in which they may answer a question, for
// those that no search has put in order.
func Ordered(question string, passages []Passage) []Passage {
	return NewShelf(passages).Ordered(question)
}

// Shelf is passages of which several questions are asked: what does not depend on
// the question is made once.
type Shelf struct {
	passages []Passage
	index    *index.Index // nil where none could be made
}

// NewShelf returns a shelf with the passages.
func NewShelf(passages []Passage) *Shelf {
	b := index.NewBuilder()
	for i, p := range passages {
		b.Add(index.Doc{ID: strconv.Itoa(i), Title: p.Title, Heading: strings.Join(p.Headings, " / "), Text: p.Text})
	}
	s := &Shelf{passages: passages}
	if segment, err := index.Open(b.Bytes()); err == nil {
		s.index = index.New(segment)
	}
	return s
}

// Ordered is Ordered of the shelf's passages.
func (s *Shelf) Ordered(question string) []Passage {
	candidates := make([]Candidate, len(s.passages))
	for i, p := range s.passages {
		candidates[i] = Candidate{Passage: p, Position: i}
	}
	var w Weights
	if s.index != nil {
		w = s.index
		hits, err := s.index.Search(index.Query{Text: question, Limit: len(s.passages)})
		for _, h := range hits {
			if n, aerr := strconv.Atoi(h.ID); err == nil && aerr == nil {
				candidates[n].Score = h.Score
			}
		}
	}
	out := make([]Passage, len(s.passages))
	for i, r := range Rank(question, candidates, w) {
		out[i] = s.passages[r.Candidate]
	}
	return out
}

// Judged is what speaks for a candidate, for those who fit weights.
type Judged struct {
	evidence.Judged
	text string
}

// RankWeights are the weights of a candidate's features, as they were fitted.
func RankWeights() [len(evidence.RankNames)]float64 { return evidence.RankWeights() }

// FeatureNames name the features of a candidate.
var FeatureNames = evidence.RankNames

// Judge reads candidates for a question.
func Judge(question string, candidates []Candidate, w Weights, groups ...index.Group) []Judged {
	read := make([]evidence.Candidate, len(candidates))
	count := map[lang.Code]int{}
	code := lang.Code("")
	for i, c := range candidates {
		title := c.Title
		if c.Name != "" {
			title += " / " + c.Name
		}
		read[i] = evidence.Candidate{
			Passage: evidence.Passage{Above: c.Headings, Text: c.Text},
			Title:   title, Score: c.Score, Position: c.Position, First: c.First,
		}
		if count[c.Lang]++; count[c.Lang] > count[code] {
			code = c.Lang
		}
	}
	if code == "" {
		code = lang.Detect(question)
	}
	out := make([]Judged, len(candidates))
	for i, j := range evidence.Read(question, code, w, groups...).Judge(read) {
		out[i] = Judged{j, candidates[i].Text}
	}
	return out
}

// Quote returns the part of the candidate's text to quote, of at most so many
// words, and in it the sentence that says most.
func (j *Judged) Quote(words int) (quote, mark lang.Span) {
	if j.Best < 0 {
		return quote, mark
	}
	units := j.Page.Units
	from, to := j.Page.Around(j.text, j.Best, words)
	return lang.Span{Start: units[from].Start, End: units[to-1].End}, units[j.Best].Span
}
