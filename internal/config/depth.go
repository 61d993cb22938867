package config

import (
	"slices"
	"strings"
)

// depths are what is said of deep_search as settings of the other searching
// modes, where no layer says one of their own: its names were those of all of
// them. Rounds and time are each mode's own.
func (st *state) depths() []setting {
	own := func(l *leaf) bool {
		return slices.ContainsFunc(st.layers[layerDefault+1:], func(settings []setting) bool {
			return slices.ContainsFunc(settings, func(s setting) bool { return s.leaf == l })
		})
	}
	var out []setting
	for _, settings := range st.layers[layerDefault+1:] {
		for _, s := range settings {
			key, ok := strings.CutPrefix(s.leaf.path, "deep_search.")
			if !ok || key == "max_iterations" || key == "time" {
				continue
			}
			for _, mode := range []string{"web_search.", "quality."} {
				if follower := schema().byPath[mode+key]; !own(follower) {
					s.leaf = follower
					out = append(out, s)
				}
			}
		}
	}
	return out
}
