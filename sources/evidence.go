package sources

import (
	"slices"

	"dossier/cite"
	"dossier/extract"
	"dossier/lang"
	"dossier/prompt"
)

// Evidence is what was gathered for a question.
type Evidence struct {
	Question string
	Facets   []FacetEvidence
	// Passages that were read, of all facets; each once.
	Passages  []Passage
	Ledger    *cite.Ledger
	Snapshots cite.Snapshots
	Notes     []Note
	// Asked says that there is a model and it was asked.
	Asked bool
	// Leads counts the passages that the searches found.
	Leads int
	// Trouble is what went wrong and was worked around, for people.
	Trouble []string
	// Stopped is why gathering ended before it was through: a spent budget or
	// the wish to finish.
	Stopped error

	byRules   bool // rules stood in for a model, and Trouble says so
	modelPlan bool // what was searched for is a model's plan
}

// FacetEvidence is what was found for a part of the question.
type FacetEvidence struct {
	Title string
	// Passages are places in Evidence.Passages, the best first.
	Passages []int
	// Quotes are the sentences that answer it best, in reading order; Answered
	// says whether they do.
	Quotes     []cite.Passage
	Answered   bool
	Confidence float64
}

// Passage is a piece of a source that was read.
type Passage struct {
	ID string
	cite.Passage
	Title string
	Date  string
	Text  string
}

// Covered counts the facets that are answered.
func (e *Evidence) Covered() int {
	n := 0
	for _, f := range e.Facets {
		if f.Answered {
			n++
		}
	}
	return n
}

// CutShort says whether gathering ended before it was through.
func (e *Evidence) CutShort() bool { return e.Stopped != nil }

// Unsure returns the titles of the facets that count as answered by quotes that
// more often than not do not answer.
func (e *Evidence) Unsure() []string {
	var out []string
	for _, f := range e.Facets {
		if f.Answered && f.Confidence < extract.Sure {
			out = append(out, f.Title)
		}
	}
	return out
}

// Missing returns the titles of the facets that are not answered.
func (e *Evidence) Missing() []string {
	var out []string
	for _, f := range e.Facets {
		if !f.Answered {
			out = append(out, f.Title)
		}
	}
	return out
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// overruled notes that rules stood in for a model that was there.
func (g *gathering) overruled(yes bool, why string) { g.evidence.overruled(g.Language, yes, why) }

func (e *Evidence) overruled(code lang.Code, yes bool, why string) {
	if yes && !e.byRules { // the first cause; the run's log has them all
		e.byRules = true
		e.trouble(code, "research.by-rules", "why", prompt.Told(code, why))
	}
}

// trouble keeps what went wrong, in the language of the answer.
func (g *gathering) trouble(key string, args ...any) { g.evidence.trouble(g.Language, key, args...) }

func (e *Evidence) trouble(code lang.Code, key string, args ...any) {
	if text := lang.Text(code, key, args...); !slices.Contains(e.Trouble, text) {
		e.Trouble = append(e.Trouble, text)
	}
}
