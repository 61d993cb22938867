package cite

import (
	"context"
	"errors"
	"fmt"

	"dossier/llm"
)

// Judgement is what a model says about a claim, in the form in which it is
// asked for.
type Judgement struct {
	Verdict Verdict `json:"verdict" jsonschema:"supported, partial, unsupported or contradicted, by the passages alone"`
	Passage int     `json:"passage" jsonschema:"number of the passage that decides it, from 1; 0 if none does"`
	Reason  string  `json:"reason" jsonschema:"one short sentence"`
}

// Validate says what is wrong with a judgement, in words that a model can act
// on.
func (j *Judgement) Validate() error {
	switch j.Verdict {
	case Supported, Partial, Unsupported, Contradicted:
		return nil
	}
	return fmt.Errorf("verdict must be supported, partial, unsupported or contradicted, not %q", j.Verdict)
}

// Judge is the Checker that asks a model.
type Judge struct {
	// Ask puts the claim and the passages to the model. Whoever gives it owns
	// the prompt.
	Ask func(ctx context.Context, claim string, passages []string) (Judgement, error)
}

// scores of a model's verdicts: it gives no probability that could be trusted.
var judged = map[Verdict]float64{Supported: 0.95, Partial: 0.4, Unsupported: 0.1, Contradicted: 0.02}

// Check implements Checker. When the model answers, but not with a judgement,
// the claim gets the verdict of Lexical. A model that calls a claim supported
// by no passage is not believed.
func (j Judge) Check(ctx context.Context, claim string, passages []string) (Support, error) {
	said, err := j.Ask(ctx, claim, passages)
	if err == nil && said.Validate() != nil {
		err = llm.ErrNoObject
	}
	if errors.Is(err, llm.ErrNoObject) {
		return Lexical{}.Check(ctx, claim, passages)
	}
	if err != nil {
		return Support{}, err
	}
	s := Support{Verdict: said.Verdict, Score: judged[said.Verdict], Best: said.Passage - 1}
	if s.Best < 0 || s.Best >= len(passages) {
		s.Best = -1
		if s.Verdict == Supported || s.Verdict == Partial {
			s.Verdict, s.Score = Unsupported, judged[Unsupported]
		}
	}
	return s, nil
}
