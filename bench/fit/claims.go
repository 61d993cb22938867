package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"dossier/bench/internal/asked"
	"dossier/extract"
)

// claim is what would be quoted for a question, with what the confidence is told
// by and whether the quotes answer.
type claim struct {
	q     *asked.Question
	kind  string
	signs extract.Signs
	near  float64
	right bool
}

// The kinds of claims. Only what was asked of a collection that has the answer
// can be right.
const (
	answerable       = "answerable"        // of the folder that has the answer
	unanswerable     = "unanswerable"      // the set's own
	passagesRemoved  = "passages removed"  // those that show a fact of the answer
	documentsRemoved = "documents removed" // those in which such a passage was found
	elsewhere        = "elsewhere"         // of another folder
	plainAsked       = "article"           // of short articles
	plainRemoved     = "article removed"
)

// lookedAt is how many passages a selection is made of.
const lookedAt = 6

// order ranks what was found.
func (f *finding) order(w *vector) []int {
	out, worth := make([]int, len(f.judged)), make([]float64, len(f.judged))
	for i := range out {
		out[i], worth[i] = i, f.judged[i].Worth(w)
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return out
}

// claim selects quotes from what ranks first.
func (f *finding) claim(q *asked.Question, order []int) claim {
	return f.claimOf(q, order, func(i int) *extract.Candidate { return &f.found[i] })
}

// claimOf selects quotes from what ranks first, of candidates by their numbers.
func (f *finding) claimOf(q *asked.Question, order []int, candidate func(int) *extract.Candidate) claim {
	var passages []extract.Passage
	seen := map[string]bool{}
	for _, i := range order {
		c := candidate(i)
		if text := strings.Join(strings.Fields(c.Text), " "); !seen[text] && len(passages) < lookedAt {
			seen[text] = true
			passages = append(passages, c.Passage)
		}
	}
	s := extract.Select(f.text, passages, f.words, extract.Options{})
	var a asked.Answer
	for _, quote := range s.Quotes {
		a.Quotes = append(a.Quotes, quote.In(passages))
	}
	return claim{q: q, signs: s.Signs, near: s.Near, right: asked.Judge(q, a).InAll}
}

// claims asks each question of its folder, of what is left of it without what
// shows the answer, and of another folder. The weights of a folder are those that
// were fitted to the others.
func claims(list []example, shelves map[string]*shelf, weights func(folder string) *vector) ([]claim, error) {
	folders := slices.Sorted(maps.Keys(shelves))
	var out []claim
	for i := range list {
		e := &list[i]
		q, s, w := e.q, shelves[e.q.Folder], weights(e.q.Folder)
		c := e.claim(q, e.finding.order(w))
		if c.kind = answerable; q.Unanswerable() {
			c.kind = unanswerable
			out = append(out, c)
			continue
		}
		out = append(out, c)
		holds := map[int]bool{}
		for i := range e.found {
			if e.right[i] {
				holds[s.document[number(&e.found[i])]] = true
			}
		}
		next := folders[(slices.Index(folders, q.Folder)+1)%len(folders)]
		for _, other := range []struct {
			kind string
			from *shelf
			keep func(int) bool
		}{
			{passagesRemoved, s, func(n int) bool { return !q.Shows(s.passages[n].Text) }},
			{documentsRemoved, s, func(n int) bool { return !holds[s.document[n]] }},
			{elsewhere, shelves[next], nil},
		} {
			if len(holds) == 0 && other.kind != elsewhere {
				continue // it was not found: nothing is removed
			}
			f, err := other.from.find(q, other.keep)
			if err != nil {
				return nil, err
			}
			c := f.claim(q, f.order(w))
			c.kind, c.right = other.kind, false
			out = append(out, c)
		}
	}
	return out, nil
}
