package cite

import (
	"context"
	"slices"

	"dossier/cite/internal/entail"
	"dossier/lang"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts. A Checker gives the first four; the others are for claims that
// never get to one.
const (
	Supported     Verdict = "supported"
	Partial       Verdict = "partial" // some of the claim is in the passages, not all
	Unsupported   Verdict = "unsupported"
	Contradicted  Verdict = "contradicted"
	Misquoted     Verdict = "misquoted"      // a quotation is not in the snapshots cited
	UnknownSource Verdict = "unknown_source" // cites nothing, or nothing that was read
	Edited        Verdict = "edited"         // a person wrote it, and nobody has checked it
)

// Support is what a Checker found.
type Support struct {
	Verdict Verdict `json:"verdict"`
	// Score is the probability, from 0 to 1, that the passages bear the claim
	// out.
	Score float64 `json:"score"`
	// Best is the index of the passage that says most about the claim, -1
	// when none does.
	Best int `json:"best"`
}

// Checker decides whether passages support a claim. It is safe for concurrent
// use.
type Checker interface {
	Check(ctx context.Context, claim string, passages []string) (Support, error)
}

// Lexical is the Checker that needs no model. It compares words, numbers,
// names, their order and cues of negation; a paraphrase that shares no words
// with its passage is unsupported to it, and so is a claim in another language
// than its passages. The zero value works.
type Lexical struct{}

const (
	// supportedFrom is the probability of support from which a claim that is
	// likelier supported than anything else is so called.
	supportedFrom = 0.45
	// partialFrom is the same for partial support.
	partialFrom = 0.25
	// nearlyAll is the share of a claim's words from which on a sentence says the
	// same.
	nearlyAll = 0.9
)

// invented says whether a claim has something that no passage can bear out,
// whatever stands around it: a number that nobody read, or the opposite of what
// they say in the same words.
func invented(f [entail.Size]float64) bool {
	return f[entail.NumbersMissing] > 0 || f[entail.Denies] > 0 && f[entail.Had] >= nearlyAll
}

// Check implements Checker. It fails only with the context's error.
func (Lexical) Check(ctx context.Context, claim string, passages []string) (Support, error) {
	read := make([]*entail.Passage, len(passages))
	for i, p := range passages {
		if err := ctx.Err(); err != nil {
			return Support{}, err
		}
		read[i] = entail.ReadPassage(p, "")
	}
	f, best := entail.Features(entail.ReadClaim(claim, lang.Detect(claim)), read)
	p := entail.Classify(f)
	s := Support{Verdict: Unsupported, Score: p[entail.Supported], Best: best.Passage}
	if invented(f) {
		s.Score = min(s.Score, supportedFrom-0.01)
		p[entail.Supported] = s.Score
	}
	switch top := slices.Max(p[:]); {
	case best.Passage < 0:
		s.Score = 0
	case p[entail.Supported] == top && top >= supportedFrom:
		s.Verdict = Supported
	case p[entail.Contradicted] == top:
		s.Verdict = Contradicted
	case p[entail.Supported] >= partialFrom:
		s.Verdict = Partial
	}
	return s, nil
}
