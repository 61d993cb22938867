package mode

import (
	"context"
	"maps"
	"slices"
	"strings"

	"dossier/event"
	"dossier/llm"
	"dossier/search"
	"dossier/sources"
)

// Circumstances are what the code of a run may depend on between its steps beside
// what was asked and the settings, as it was when the run was created. Outside
// of steps a mode reads these and never what is configured now; inside, what is
// there now counts, and the step's result is recorded. So a run goes the same
// way whenever it is taken up again, and is replayed without any configuration.
type Circumstances struct {
	// Models names the model of each role that has one; in the mode whose agents
	// have models of their own, that of each agent by the agent's name.
	Models map[string]string `json:"models,omitempty"`
	sources.Circumstances
}

// Situated is a Mode whose runs depend on circumstances.
type Situated interface {
	Mode
	// Circumstances returns those of this moment for a request whose settings
	// are frozen: when the run is created, and when it is taken up again, to
	// tell what has changed.
	Circumstances(ctx context.Context, req *Request) Circumstances
}

// ModelsOf names the models that some roles have.
func ModelsOf(models *llm.Models, roles ...llm.RoleName) map[string]string {
	out := make(map[string]string)
	for _, role := range roles {
		s := models.Setting(role)
		if s.Model != nil && role != llm.ForEmbeddings || s.Embedder != nil && s.Name != "" && role == llm.ForEmbeddings {
			out[string(role)] = s.Name
		}
	}
	return out
}

// Changes says how the circumstances differ from those of now.
func (c *Circumstances) Changes(now *Circumstances) []event.Change {
	var out []event.Change
	all := maps.Clone(now.Models)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, c.Models)
	for _, who := range slices.Sorted(maps.Keys(all)) {
		was, had := c.Models[who]
		is, has := now.Models[who]
		if had != has || was != is {
			out = append(out, event.Change{What: "model", Of: who, Was: called(was, had), Now: called(is, has)})
		}
	}
	if was, is := names(c.Engines), names(now.Engines); was != is {
		out = append(out, event.Change{What: "engines", Was: was, Now: is})
	}
	if was, is := strings.Join(c.Rerankers, ", "), strings.Join(now.Rerankers, ", "); was != is {
		out = append(out, event.Change{What: "rerankers", Was: was, Now: is})
	}
	return out
}

// called is the name of a model; one that is there has a name.
func called(name string, there bool) string {
	if there && name == "" {
		return "unnamed"
	}
	return name
}

func names(engines []search.Info) string {
	var out []string
	for _, e := range engines {
		out = append(out, e.Name)
	}
	return strings.Join(out, ", ")
}
