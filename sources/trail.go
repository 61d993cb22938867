package sources

import (
	"slices"
	"strings"

	"dossier/cite"
	"dossier/extract"
)

// TrailRounds is what Job.Trail is in a deep research: on questions that need
// several documents later rounds find little that belongs to them.
const TrailRounds = 4

// trailFloor lets be quoted what the trail goes over, however little it has of
// what is asked: names tie it to what has more.
const trailFloor = 0.01

// along are sentences of what the trail of a facet goes over: of each document
// the one that has most of what is asked and of the names that lead to it and on
// from it.
func (g *gathering) along(facet int, byID map[string]int, weights Weights, have []cite.Passage) []cite.Passage {
	title := g.planned[facet].Title
	var out []cite.Passage
	for _, step := range extract.Follow(title, g.foundFor(facet), weights).Steps(g.Tuning.TopK) {
		query := strings.Join(append([]string{title}, step.Names...), " ")
		places := g.passagesAmong([]Lead{g.leads[step.Passage.ID]}, query, byID)
		got := g.evidence.choose(query, places, g.near[facet], weights, extract.Options{Quotes: 1, Prose: true, Floor: trailFloor})
		if !got.Answered {
			continue
		}
		for _, q := range got.Quotes {
			same := func(p cite.Passage) bool { return p.Source == q.Source && p.Start < q.End && q.Start < p.End }
			if !slices.ContainsFunc(have, same) && !slices.ContainsFunc(out, same) {
				out = append(out, q)
			}
		}
	}
	return out
}
