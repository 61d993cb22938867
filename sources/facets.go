package sources

import (
	"slices"

	"dossier/cite"
	"dossier/extract"
)

// distinctFacets are the parts of a plan, those that ask one thing as one: with
// the first title, and the queries and engines of all.
func distinctFacets(planned []Facet) []Facet {
	var out []Facet
	for _, f := range planned {
		i := slices.IndexFunc(out, func(o Facet) bool { return extract.Same(o.Title, f.Title) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Queries = append(slices.Clip(out[i].Queries), f.Queries...)
		out[i].Engines = append(slices.Clip(out[i].Engines), f.Engines...)
	}
	return out
}

// uniteFacets makes one of the facets that ask the same kind of thing of the
// same names and that the same sentences answer: they are one in other words.
func (g *gathering) uniteFacets() {
	e := g.evidence
	for i := 0; i < len(e.Facets); i++ {
		for j := len(e.Facets) - 1; j > i; j-- {
			a, b := &e.Facets[i], &e.Facets[j]
			if !a.Answered || !b.Answered || !cite.SamePassages(a.Quotes, b.Quotes) || !extract.Alike(a.Title, b.Title) {
				continue
			}
			for _, p := range b.Passages {
				if !slices.Contains(a.Passages, p) {
					a.Passages = append(a.Passages, p)
				}
			}
			a.Confidence = max(a.Confidence, b.Confidence)
			g.planned[i].Queries = distinct(append(slices.Clip(g.planned[i].Queries), g.planned[j].Queries...))
			e.Facets, g.planned = slices.Delete(e.Facets, j, j+1), slices.Delete(g.planned, j, j+1)
		}
	}
}
