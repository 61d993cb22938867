package layers

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestPicture holds the picture of ARCHITECTURE.md to the packages that exist:
// each is in it, with its rank, and nothing else is. Where a line stands for the
// packages of a folder and names some, it names all.
func TestPicture(t *testing.T) {
	drawn, words := picture(t)
	named, unnamed := map[string]bool{}, map[string][]string{}
	exists := map[string]bool{}
	for _, p := range list(t) {
		at, ok := port(ranks, p.path)
		if !ok {
			continue // TestImportsGoDownward says so
		}
		name := at
		if _, exact := ranks[at]; !exact {
			name = path.Dir(at) + "/*"
			if slices.Contains(words[name], path.Base(at)) {
				named[name] = true
			} else {
				unnamed[name] = append(unnamed[name], path.Base(at))
			}
		}
		exists[name] = true
		switch rank, ok := drawn[name]; {
		case !ok:
			t.Errorf("the picture of ARCHITECTURE.md lacks %s", name)
		case rank != rankOf(ranks, at):
			t.Errorf("the picture of ARCHITECTURE.md has %s at %d, its rank is %d", name, rank, rankOf(ranks, at))
		}
	}
	for name := range named {
		if len(unnamed[name]) > 0 {
			t.Errorf("the line of %s in the picture of ARCHITECTURE.md lacks %v", name, unnamed[name])
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

// picture reads the ranks out of ARCHITECTURE.md, and the words beside them.
func picture(t *testing.T) (drawn map[string]int, words map[string][]string) {
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
	drawn, words = map[string]int{}, map[string][]string{}
	rows := row.FindAllStringSubmatchIndex(block, -1)
	for i, at := range rows {
		end := len(block)
		if i+1 < len(rows) {
			end = rows[i+1][0]
		}
		rank, err := strconv.Atoi(block[at[2]:at[3]])
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(block[at[4]:at[5]], " · ") {
			if name == "dossier" {
				name = root
			}
			drawn[name] = rank
			words[name] = strings.FieldsFunc(block[at[1]:end], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:()", r) })
		}
	}
	return drawn, words
}
