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
	s := new(shelf)
	b := index.NewBuilder()
	for i, page := range pages {
		if page == nil {
			continue
		}
		d := &kb.Document{N: int64(i), Path: files[i], Title: page.Title, Lang: lang.Code(page.Lang), Text: page.Text, Chunks: kb.Cut(page, 0)}
		for at := range d.Chunks {
			c := kb.Candidate(d, at)
			c.ID = strconv.Itoa(len(s.passages))
			s.passages = append(s.passages, c)
			doc := kb.Indexed(d, at)
			doc.ID = c.ID
			b.Add(doc)
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
	q        *asked.Question
	features []vector
	right    []bool // it shows a fact of the answer
	quotes   []string
}

// depth is how many passages kb ranks, and quoteWords how long a quote is.
const (
	depth      = 80
	quoteWords = 80
)

// look finds passages for a question.
func (s *shelf) look(q *asked.Question) (example, error) {
	text := q.Question
	if n := len(q.History); n > 0 {
		text = extract.FollowOn(text, q.History[n-1].Question)
	}
	groups, err := s.index.Respell(text)
	if err != nil {
		return example{}, err
	}
	groups = append(groups, kb.Translate(terms.Default(), s.index, text)...)
	hits, err := s.index.Search(index.Query{Text: text, Limit: depth, Groups: groups})
	if err != nil {
		return example{}, err
	}
	found := make([]extract.Candidate, len(hits))
	for i, h := range hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return example{}, fmt.Errorf("hit %q: %w", h.ID, err)
		}
		found[i] = s.passages[n]
		found[i].Score = h.Score
	}
	e := example{q: q}
	for i, j := range extract.Judge(text, found, s.index, groups...) {
		e.features = append(e.features, j.Features)
		e.right = append(e.right, !q.Unanswerable() && q.Shows(found[i].Text))
		quote, _ := j.Quote(quoteWords)
		e.quotes = append(e.quotes, quote.In(found[i].Text))
	}
	return e, nil
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
