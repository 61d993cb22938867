package fleet

import (
	"fmt"
	"strings"
)

const maxName = 64

// checkName holds a name to what addresses, files and tools can carry.
func checkName(what, name string) error {
	ok := name != "" && len(name) <= maxName
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if !ok {
		return refuse("%q cannot be the name of a %s: use 1 to %d letters from a to z, digits, _ and -", name, what, maxName)
	}
	return nil
}

// meant is the end of a sentence that proposes the name nearest to an unknown
// one, or nothing.
func meant(name string, names []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n), least); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance counts the letters that must be added, dropped or changed to get
// from a to b; it is at least limit when it would be more.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}
