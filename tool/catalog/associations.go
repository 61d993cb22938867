package catalog

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed associations.txt
var associations string

// concepts maps a stem to the numbers of the groups of associations.txt that
// it is in.
var concepts = sync.OnceValue(func() map[string][]int32 {
	m := map[string][]int32{}
	group := int32(0)
	for line := range strings.Lines(associations) {
		if line[0] == '#' || strings.TrimSpace(line) == "" {
			continue
		}
		for _, t := range tokens(line) {
			if of := m[t.Term]; len(of) == 0 || of[len(of)-1] != group {
				m[t.Term] = append(of, group)
			}
		}
		group++
	}
	return m
})
