package sources

import (
	"testing"

	"dossier/event"
	"dossier/run"
)

// TestFacetsOfOneMeaning holds that what a plan asks twice is one facet: in the
// same words from the start, in others when the same sentences answer it.
func TestFacetsOfOneMeaning(t *testing.T) {
	const census = "The census counted 18,240 inhabitants in Oststrand, which is the population of the town. Its mayor is Halvor Quist."
	for _, c := range []struct {
		name   string
		facets []string
		asked  int // facets that are searched for
		want   int
	}{
		{"the same words", []string{"How many inhabitants does Oststrand have?: census", "Oststrand has how many inhabitants?: town"}, 1, 1},
		{"other words, the same sentences", []string{"How many inhabitants does Oststrand have?: census", "What is the population of Oststrand?: town"}, 2, 1},
		{"another kind of answer", []string{"How many inhabitants does Oststrand have?: census", "Who is the mayor of Oststrand?: mayor"}, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := scripted(map[string]any{"plan": planOf("q", c.facets...), "note": noNote})
			e, d := gather(t, Job{Models: m.models(), Corpus: newShelf("census", census), Question: "q"}, run.Limits{})
			var plans []event.PlanUpdated
			for _, data := range d.log {
				if p, ok := data.(event.PlanUpdated); ok {
					plans = append(plans, p)
				}
			}
			if len(plans[0].Steps) != c.asked || len(plans[len(plans)-1].Steps) != c.want || len(e.Facets) != c.want || e.Covered() != c.want {
				t.Errorf("planned %+v; %d of %d facets covered", plans, e.Covered(), len(e.Facets))
			}
			for _, data := range d.log {
				if told, ok := data.(event.Coverage); ok && told.Total != c.want {
					t.Errorf("told %+v", told)
				}
			}
			if rounds := d.rounds(); len(rounds[0]) < 3 { // what the second asked for is searched for too
				t.Errorf("searched for %q", rounds)
			}
		})
	}
}
