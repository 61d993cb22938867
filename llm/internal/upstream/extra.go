package upstream

import (
	"encoding/json"
	"fmt"
	"slices"

	"dossier/llm"
)

// AppendExtra appends parameters as members of an object that has some
// already, in the order of their names and without those in own.
func AppendExtra(b []byte, extra map[string]any, own []string) ([]byte, error) {
	if len(extra) == 0 {
		return b, nil
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		if !slices.Contains(own, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		v, err := json.Marshal(extra[name])
		if err != nil {
			return b, fmt.Errorf("extra parameter %q: %w", name, err)
		}
		b = append(b, ',')
		b = llm.AppendString(b, name)
		b = append(b, ':')
		b = append(b, v...)
	}
	return b, nil
}
