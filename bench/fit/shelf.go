package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dossier/bench/internal/asked"
	"dossier/extract"
	"dossier/index"
	"dossier/kb"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/reader"
)

// shelf is a folder of documents, cut into passages and indexed, as kb does it.
type shelf struct {
	passages []extract.Candidate
	document []int    // of each passage
	embedded []string // what of each passage becomes a vector
	index    *index.Index
}

// read reads the folders in a directory.
func read(ctx context.Context, dir string) (map[string]*shelf, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	r := reader.New(reader.Config{CacheDir: filepath.Join(os.TempDir(), "dossier-fit")})
	defer r.Close()
	out := map[string]*shelf{}
	for _, f := range folders {
		if f.IsDir() {
			if out[f.Name()], err = readFolder(ctx, r, filepath.Join(dir, f.Name())); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func readFolder(ctx context.Context, r *reader.Reader, dir string) (*shelf, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	pages := make([]*reader.Page, len(files))
	var wg sync.WaitGroup
	work := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range work {
				if body, err := os.ReadFile(files[i]); err == nil {
					pages[i], _ = r.Read(ctx, reader.Document{Path: files[i], Body: body}) // what can't be read is not there
				}
			}
		})
	}
	for i := range files {
		work <- i
	}
	close(work)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fill(pages, files)
}

// fill cuts pages into passages and indexes them.
func fill(pages []*reader.Page, names []string) (*shelf, error) {
	s := new(shelf)
	b := index.NewBuilder()
	for i, page := range pages {
		if page == nil {
			continue
		}
		d := &kb.Document{N: int64(i), Path: names[i], Title: page.Title, Lang: lang.Code(page.Lang), Text: page.Text, Chunks: kb.Cut(page, 0)}
		for at := range d.Chunks {
			c := kb.Candidate(d, at)
			c.ID = strconv.Itoa(len(s.passages))
			s.passages = append(s.passages, c)
			s.document = append(s.document, i)
			doc := kb.Indexed(d, at)
			doc.ID = c.ID
			b.Add(doc)
			s.embedded = append(s.embedded, kb.Embedded(doc))
		}
	}
	segment, err := index.Open(b.Bytes())
	if err != nil {
		return nil, err
	}
	s.index = index.New(segment)
	return s, nil
}

// example is a question with the passages that were found for it.
type example struct {
	finding
	q        *asked.Question
	features []vector
	right    []bool // it shows a fact of the answer
	quotes   []string
}

// depth is how many passages kb ranks, and quoteWords how long a quote is.
const (
	depth        = 80
	depthWithout = 400 // where passages are left out
	quoteWords   = 80
)

// finding is what a search of a shelf found for a question.
type finding struct {
	text   string // of the question, standing by itself
	found  []extract.Candidate
	judged []extract.Judged
	words  rephrasing
}

// rephrasing are the words of a shelf, and other ways to say those of one
// question.
type rephrasing struct {
	*index.Index
	groups []index.Group
}

// Rephrase implements extract.Rephraser.
func (r rephrasing) Rephrase(string) ([]index.Group, error) { return r.groups, nil }

// find searches for a question, as kb does, in the passages that keep lets
// through; nil lets all.
func (s *shelf) find(q *asked.Question, keep func(passage int) bool) (f finding, err error) {
	f.text = q.Question
	if n := len(q.History); n > 0 {
		f.text = extract.FollowOn(f.text, q.History[n-1].Question)
	}
	groups, err := s.index.Respell(f.text)
	if err != nil {
		return f, err
	}
	groups = append(groups, kb.Translate(terms.Default(), s.index, f.text)...)
	f.words = rephrasing{s.index, groups}
	limit := depth
	if keep != nil {
		limit = depthWithout
	}
	hits, err := s.index.Search(index.Query{Text: f.text, Limit: limit, Groups: groups})
	if err != nil {
		return f, err
	}
	for _, h := range hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return f, fmt.Errorf("hit %q: %w", h.ID, err)
		}
		if keep == nil || keep(n) {
			c := s.passages[n]
			c.Score = h.Score
			f.found = append(f.found, c)
		}
		if len(f.found) == depth {
			break
		}
	}
	f.judged = extract.Judge(f.text, f.found, s.index, groups...)
	return f, nil
}

// number is that of a passage on its shelf.
func number(c *extract.Candidate) int {
	n, _ := strconv.Atoi(c.ID)
	return n
}

// look finds passages for a question.
func (s *shelf) look(q *asked.Question) (example, error) {
	f, err := s.find(q, nil)
	e := example{q: q, finding: f}
	for i := range f.judged {
		j := &f.judged[i]
		e.features = append(e.features, j.Features)
		e.right = append(e.right, !q.Unanswerable() && q.Shows(f.found[i].Text))
		quote, _ := j.Quote(quoteWords)
		e.quotes = append(e.quotes, quote.In(f.found[i].Text))
	}
	return e, err
}

// answer is what would be delivered: the best passages, copies left out.
func (e *example) answer(w *vector) asked.Answer {
	var a asked.Answer
	for _, i := range e.order(w) {
		if len(a.Quotes) == 5 {
			break
		}
		if quote := strings.Join(strings.Fields(e.quotes[i]), " "); !slices.Contains(a.Quotes, quote) {
			a.Quotes = append(a.Quotes, quote)
		}
	}
	return a
}
