package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"dossier/bench/internal/asked"
	"dossier/extract"
	"dossier/reader"
)

// Sets of short articles are there so that the confidence is not that of
// manuals alone.
var plainSets = []struct{ name, docs, questions string }{
	{"retrieval_xquad", "corpus.en.jsonl.gz", "queries.en.jsonl.gz"},
	{"retrieval_xquad", "corpus.ru.jsonl.gz", "queries.ru.jsonl.gz"},
	{"retrieval_xquad", "corpus.zh.jsonl.gz", "queries.zh.jsonl.gz"},
	{"retrieval_rurag_ru", "docs.jsonl.gz", "queries.jsonl.gz"},
}

// plainEvery is which of the questions of a plain set are asked: they shall not
// outweigh the manuals.
const plainEvery = 3

// plain asks questions of sets of articles, with the article and without it.
func plain(ctx context.Context, dir string) ([]claim, error) {
	weights := extract.RankWeights()
	var out []claim
	for _, set := range plainSets {
		docs, err := readLines[struct {
			ID      string `json:"_id"`
			Article *int   `json:"article"`
			Text    string `json:"text"`
		}](filepath.Join(dir, set.name, set.docs))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		questions, err := readLines[struct {
			ID      string   `json:"_id"`
			Article int      `json:"article"`
			Doc     string   `json:"doc_id"`
			Text    string   `json:"text"`
			Answers []string `json:"answers"`
			Answer  string   `json:"answer"`
		}](filepath.Join(dir, set.name, set.questions))
		if err != nil {
			return nil, err
		}
		r := reader.New(reader.Config{})
		pages, names, articles := make([]*reader.Page, len(docs)), make([]string, len(docs)), make([]string, len(docs))
		for i, d := range docs {
			names[i], articles[i] = d.ID+".txt", d.ID
			if d.Article != nil {
				articles[i] = strconv.Itoa(*d.Article)
			}
			if pages[i], err = r.Read(ctx, reader.Document{Path: names[i], Body: []byte(d.Text)}); err != nil {
				return nil, err
			}
		}
		r.Close()
		s, err := fill(pages, names)
		if err != nil {
			return nil, err
		}
		for i, q := range questions {
			if i%plainEvery != 0 {
				continue
			}
			article := q.Doc
			if article == "" {
				article = strconv.Itoa(q.Article)
			}
			accept := q.Answers
			if q.Answer != "" {
				accept = []string{q.Answer}
			}
			a := &asked.Question{ID: q.ID, Folder: article, Question: q.Text, Accept: [][]string{accept}}
			for _, kind := range []string{plainAsked, plainRemoved} {
				var keep func(int) bool
				if kind == plainRemoved {
					keep = func(n int) bool { return articles[s.document[n]] != article }
				}
				f, err := s.find(a, keep)
				if err != nil {
					return nil, err
				}
				c := f.claim(a, f.order(&weights))
				c.kind, c.right = kind, c.right && kind == plainAsked
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var out []T
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, lines.Err()
}
