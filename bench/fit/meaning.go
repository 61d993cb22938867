package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"dossier/bench/internal/asked"
	"dossier/extract"
	"dossier/index"
	"dossier/kb"
	"dossier/llm/openai"
)

// topDense is how many passages kb looks for by meaning, and fuseK the constant
// by which it joins them with those that have the words.
const (
	topDense = 50
	fuseK    = 5
)

// meaning are the vectors of shelves.
type meaning struct {
	embedder kb.Embedder
	vectors  map[*shelf]*index.Vectors
}

func newMeaning(address string) (*meaning, error) {
	client, err := openai.New(openai.Config{BaseURL: address})
	if err != nil {
		return nil, err
	}
	return &meaning{kb.EmbedWith(client, "embedder"), map[*shelf]*index.Vectors{}}, nil
}

// of returns the vectors of a shelf.
func (m *meaning) of(ctx context.Context, s *shelf) (*index.Vectors, error) {
	if v := m.vectors[s]; v != nil {
		return v, nil
	}
	const batch, atOnce = 64, 4
	made := make([][]float32, len(s.embedded))
	faults := make(chan error, len(s.embedded)/batch+1)
	next := make(chan int)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for from := range next {
				some := s.embedded[from:min(from+batch, len(s.embedded))]
				got, err := m.embedder.Embed(ctx, some)
				if err == nil && len(got) != len(some) {
					err = fmt.Errorf("%d vectors for %d texts", len(got), len(some))
				}
				if err != nil {
					faults <- err
					continue
				}
				copy(made[from:], got)
			}
		})
	}
	for from := 0; from < len(s.embedded); from += batch {
		next <- from
	}
	close(next)
	wg.Wait()
	close(faults)
	if err := <-faults; err != nil {
		return nil, err
	}
	if len(made) == 0 {
		return nil, errors.New("there is no passage")
	}
	b := index.NewVectorBuilder(len(made[0]))
	for i, v := range made {
		if err := b.Add(s.passages[i].ID, v); err != nil {
			return nil, err
		}
	}
	v, err := index.OpenVectors(b.Bytes())
	m.vectors[s] = v
	return v, err
}

// meant is what was found for a question by words, and by meaning.
type meant struct {
	example
	dense []index.Hit
	shelf *shelf
	near  map[string]float64
}

// find searches a shelf by words and by meaning.
func (m *meaning) find(ctx context.Context, s *shelf, q *asked.Question, keep func(passage int) bool) (meant, error) {
	f, err := s.find(q, keep)
	if err != nil {
		return meant{}, err
	}
	out := meant{example: example{finding: f, q: q}, shelf: s}
	v, err := m.of(ctx, s)
	if err != nil {
		return out, err
	}
	query, err := m.embedder.Embed(ctx, []string{f.text})
	if err != nil {
		return out, err
	}
	var filter func(string) bool
	if keep != nil {
		filter = func(id string) bool { return keep(number(&extract.Candidate{Passage: extract.Passage{ID: id}})) }
	}
	out.dense, err = v.Nearest(query[0], topDense, filter)
	out.near = kb.Nearness(out.dense, topDense)
	return out, err
}

// byWords is a constant for what was found by words alone.
const byWords = 0

// order joins what was found by words, ranked by weights, and by meaning; passages
// are named by their numbers on the shelf.
func (m *meant) order(w *vector, k float64) []int {
	var words index.Ranking
	for _, i := range m.finding.order(w) {
		words.Hits = append(words.Hits, index.Hit{ID: m.found[i].ID})
	}
	joined := words.Hits
	if k != byWords {
		joined = index.Fuse(k, words, index.Ranking{Hits: m.dense})
	}
	var out []int
	for _, h := range joined {
		out = append(out, number(&extract.Candidate{Passage: extract.Passage{ID: h.ID}}))
	}
	return out
}

// answer is what would be delivered.
func (m *meant) answer(w *vector, k float64) (a asked.Answer) {
	var best []extract.Candidate
	for _, n := range first(m.order(w, k), 10) {
		best = append(best, m.shelf.passages[n])
	}
	judged := extract.Judge(m.text, best, m.shelf.index, m.words.groups...)
	for i := range judged {
		span, _ := judged[i].Quote(quoteWords)
		quote := strings.Join(strings.Fields(span.In(best[i].Text)), " ")
		if len(a.Quotes) < 5 && !slices.Contains(a.Quotes, quote) {
			a.Quotes = append(a.Quotes, quote)
		}
	}
	return a
}

func first(list []int, n int) []int { return list[:min(n, len(list))] }

// claim selects quotes from what ranks first.
func (m *meant) claim(w *vector, kind string) claim {
	c := m.claimOf(m.q, m.order(w, fuseK), func(n int) *extract.Candidate {
		c := m.shelf.passages[n]
		c.Near = m.near[c.ID]
		return &c
	})
	c.kind, c.right = kind, c.right && kind == answerable
	return c
}

// nearly are the signs of a claim where passages have a nearness.
func nearly(c *claim) []float64 {
	signs := extract.NearSigns(&c.signs, c.near)
	return signs[:]
}

// ask asks the English questions of folders that are mostly asked in English, and
// once more of what is left without the answer and of another folder.
func (m *meaning) ask(ctx context.Context, list []example, shelves map[string]*shelf, weights func(string) *vector) (found []meant, all []claim, err error) {
	var questions []asked.Question
	for i := range list {
		questions = append(questions, *list[i].q)
	}
	questions = asked.Mostly(questions, "en")
	var folders []string
	for _, q := range questions {
		if !slices.Contains(folders, q.Folder) {
			folders = append(folders, q.Folder)
		}
	}
	for i := range questions {
		q := &questions[i]
		s := shelves[q.Folder]
		next := shelves[folders[(slices.Index(folders, q.Folder)+1)%len(folders)]]
		kinds := []struct {
			kind string
			from *shelf
			keep func(int) bool
		}{{answerable, s, nil}, {passagesRemoved, s, func(n int) bool { return !q.Shows(s.passages[n].Text) }}, {elsewhere, next, nil}}
		if q.Unanswerable() {
			kinds = kinds[:1]
			kinds[0].kind = unanswerable
		}
		for _, k := range kinds {
			f, err := m.find(ctx, k.from, q, k.keep)
			if err != nil {
				return nil, nil, err
			}
			if k.from == s && k.keep == nil {
				for _, c := range f.found {
					f.right = append(f.right, !q.Unanswerable() && q.Shows(c.Text))
				}
				found = append(found, f)
			}
			all = append(all, f.claim(weights(q.Folder), k.kind))
		}
	}
	return found, all, nil
}

// report prints what searching by meaning adds; fitted is how its signs weigh, or
// nil to fit them.
func (m *meaning) report(ctx context.Context, out io.Writer, name string, list []example, shelves map[string]*shelf, weights func(string) *vector, fitted []float64) ([]float64, error) {
	found, all, err := m.ask(ctx, list, shelves, weights)
	if err != nil {
		return nil, err
	}
	var plain []example
	at := map[*asked.Question]*meant{}
	for i := range found {
		plain = append(plain, found[i].example)
		at[found[i].q] = &found[i]
	}
	tell(out, name+", by words", plain, func(e *example) asked.Answer { return at[e.q].answer(weights(e.q.Folder), byWords) })
	for _, k := range []float64{1, 2, fuseK, 10, 20, 60} {
		tell(out, fmt.Sprintf("%s, and meaning, k=%.0f", name, k), plain, func(e *example) asked.Answer { return at[e.q].answer(weights(e.q.Folder), k) })
	}
	if fitted != nil {
		tellConfidence(out, name+", by words and meaning", all, func(c *claim) float64 { return logistic(fitted, nearly(c)) })
		return fitted, nil
	}
	fitted = foldConfidence(out, all, len(nearly(&claim{})), nearly)
	fmt.Fprintln(out, "nearWeights = [NearSize]float64"+text(fitted))
	return fitted, nil
}
