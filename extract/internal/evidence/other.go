package evidence

import (
	"dossier/index"
	"dossier/lang"
)

// sense is what a word of a passage may say of the question: a term of it in
// another spelling or another language.
type sense struct {
	term   int
	weight float64
}

// also notes the other ways to say the token that becomes the question's term.
func (q *Question) also(term int, t index.Token, groups []index.Group) {
	for _, g := range groups {
		if t.Start < g.Start || t.End > g.End {
			continue
		}
		for _, a := range g.Alternatives {
			for _, word := range index.TokensAndNames(a.Text, q.latin()) {
				if word.Function || lone(a.Text[word.Start:word.End]) {
					continue
				}
				if _, own := q.place[word.Term]; own {
					continue
				}
				if q.other == nil {
					q.other = map[string]sense{}
				}
				if known, ok := q.other[word.Term]; !ok || known.weight < a.Weight {
					q.other[word.Term] = sense{term, a.Weight}
				}
			}
		}
	}
}

// latin is the language in which Latin words are stemmed.
func (q *Question) latin() lang.Code {
	if q.Lang == lang.Russian || q.Lang == lang.Chinese {
		return lang.English // Latin words among them
	}
	return q.Lang
}

// rarity is how telling a token is, or where no document has it, the likeliest
// of the other ways to say it.
func (q *Question) rarity(w Weights, t index.Token, groups []index.Group) float64 {
	own := w.Weight(t.Term)
	best, said := 0.0, own
	for _, g := range groups {
		if t.Start < g.Start || t.End > g.End {
			continue
		}
		for _, a := range g.Alternatives {
			if a.Weight <= best {
				continue
			}
			for _, word := range index.TokensAndNames(a.Text, q.latin()) {
				if !word.Function {
					best, said = a.Weight, min(own, w.Weight(word.Term))
				}
			}
		}
	}
	return said
}
