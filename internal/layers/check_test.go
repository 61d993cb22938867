package layers

import (
	"fmt"
	"path"
	"strings"
)

// where says to whom it may concern how a new package gets its rank.
const where = "give it a rank in internal/layers/ranks_test.go and a line in the picture of ARCHITECTURE.md"

// A pkg is a package of the module and what its code, tests aside, imports.
type pkg struct {
	path    string // below the module's path; root for the module's own
	imports []string
}

// check returns a sentence for every import that the ranks forbid and for
// every package that has no rank.
func check(ranks map[string]int, pkgs []pkg) []string {
	var wrong []string
	known := map[string]bool{}
	for _, p := range pkgs {
		if _, ok := port(ranks, p.path); ok {
			known[p.path] = true
		} else {
			wrong = append(wrong, fmt.Sprintf("%s has no rank: %s", p.path, where))
		}
	}
	for _, p := range pkgs {
		for _, imported := range p.imports {
			if !known[p.path] || !known[imported] {
				continue
			}
			if reason := forbidden(ranks, p.path, imported); reason != "" {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.path, imported, reason))
			}
		}
	}
	return wrong
}

// forbidden says why from may not import to; it is empty where it may.
func forbidden(ranks map[string]int, from, to string) string {
	fromPort, _ := port(ranks, from)
	toPort, _ := port(ranks, to)
	if fromPort != toPort {
		if fromRank, toRank := rankOf(ranks, fromPort), rankOf(ranks, toPort); fromRank <= toRank {
			return fmt.Sprintf("rank %d may import only what is below it, and this is %d", fromRank, toRank)
		}
		return ""
	}
	switch {
	case to == toPort:
		return "" // an adapter and its port
	case strings.HasPrefix(to, fromPort+"/internal/"):
		return "" // what a port and its adapters share
	case from == fromPort:
		return "a port does not know its adapters"
	default:
		return "adapters of one port don't import each other"
	}
}

// port is the package that gives p its rank: p itself where it is listed, or
// the nearest listed package above it.
func port(ranks map[string]int, p string) (string, bool) {
	for at := p; at != "."; at = path.Dir(at) {
		if listed(ranks, at) {
			return at, true
		}
	}
	return p, p == root && listed(ranks, root)
}

func listed(ranks map[string]int, p string) bool {
	_, exact := ranks[p]
	_, pattern := ranks[path.Dir(p)+"/*"]
	return exact || pattern
}

func rankOf(ranks map[string]int, p string) int {
	if rank, ok := ranks[p]; ok {
		return rank
	}
	return ranks[path.Dir(p)+"/*"]
}
