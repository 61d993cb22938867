package layers

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPicture holds the picture of ARCHITECTURE.md to the packages that exist:
// each is in it, with its rank, and nothing else is.
func TestPicture(t *testing.T) {
	drawn := picture(t)
	exists := map[string]bool{}
	for _, p := range list(t) {
		at, ok := port(ranks, p.path)
		if !ok {
			continue // TestImportsGoDownward says so
		}
		name := at
		if _, exact := ranks[at]; !exact {
			name = at[:strings.LastIndexByte(at, '/')] + "/*"
		}
		exists[name] = true
		switch rank, ok := drawn[name]; {
		case !ok:
			t.Errorf("the picture of ARCHITECTURE.md lacks %s", name)
		case rank != rankOf(ranks, at):
			t.Errorf("the picture of ARCHITECTURE.md has %s at %d, its rank is %d", name, rank, rankOf(ranks, at))
		}
	}
	for name := range drawn {
		if !exists[name] {
			t.Errorf("the picture of ARCHITECTURE.md has %s, which does not exist", name)
		}
	}
	for name := range ranks {
		if !exists[name] {
			t.Errorf("ranks_test.go has %s, which does not exist", name)
		}
	}
}

var row = regexp.MustCompile(`(?m)^ ?(\d+) (\S+(?: · \S+)*)  `)

// picture reads the ranks out of ARCHITECTURE.md.
func picture(t *testing.T) map[string]int {
	t.Helper()
	raw, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(raw), "\n```\n")
	block, _, found := strings.Cut(block, "\n```\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no picture")
	}
	drawn := map[string]int{}
	for _, m := range row.FindAllStringSubmatch(block, -1) {
		rank, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(m[2], " · ") {
			if name == "dossier" {
				name = root
			}
			drawn[name] = rank
		}
	}
	return drawn
}
