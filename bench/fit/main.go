// Command fit (experiments).
package main

import (
	"context"
	"encoding/gob"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/bench/internal/asked"
	"dossier/extract"
	"dossier/index"
	"dossier/kb"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/reader"
)

type doc struct {
	File string // folder/path
	Page *reader.Page
}

func readAll(dir, cache string) []doc {
	if f, err := os.Open(cache); err == nil {
		defer f.Close()
		var out []doc
		if err := gob.NewDecoder(f).Decode(&out); err == nil {
			return out
		}
	}
	r := reader.New(reader.Config{CacheDir: "/tmp/fitcache"})
	defer r.Close()
	var files []string
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, p)
		}
		return nil
	})
	out := make([]doc, len(files))
	var wg sync.WaitGroup
	work := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range work {
				body, err := os.ReadFile(files[i])
				if err != nil {
					continue
				}
				page, err := r.Read(context.Background(), reader.Document{Path: files[i], Body: body})
				rel, _ := filepath.Rel(dir, files[i])
				if err != nil {
					fmt.Println(rel, err)
					continue
				}
				page.Markdown = ""
				out[i] = doc{rel, page}
			}
		})
	}
	for i := range files {
		work <- i
	}
	close(work)
	wg.Wait()
	kept := out[:0]
	for _, d := range out {
		if d.Page != nil {
			kept = append(kept, d)
		}
	}
	f, err := os.Create(cache)
	if err == nil {
		err = gob.NewEncoder(f).Encode(kept)
		f.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	return kept
}

var (
	dir             = flag.String("dir", "/tmp/man", "")
	cache           = flag.String("cache", "/tmp/man.gob", "")
	questions       = flag.String("questions", "/work/shared/eval/manuals_multi/questions.jsonl.gz", "")
	ranked          = flag.Bool("rank", false, "")
	depth           = flag.Int("depth", 100, "")
	unseen          = flag.String("unseen", "/work/wt/questions/bench/questions/documents", "")
	unseenQuestions = flag.String("unseen-questions", "/work/wt/questions/bench/questions/questions.jsonl", "")
	old             = flag.Bool("old", false, "")
)

// unit is a passage of a document
type unit struct {
	doc      *doc
	start    int
	end      int
	headings []string
	text     string
	at       int
}

func main() {
	reader.WorkerMain()
	flag.Parse()
	t0 := time.Now()
	cases := load(*dir, *cache, *questions)
	fmt.Println("judged", time.Since(t0))
	w := report(cases)
	if *unseen != "" {
		mine := load(*unseen, "/tmp/unseen.gob", *unseenQuestions)
		print("UNSEEN search", score(mine, func(*fitCase) *weights { return &weights{1} }))
		print("UNSEEN", score(mine, func(*fitCase) *weights { return &w }))
		refusals(mine, func(*fitCase) *weights { return &w })
		groups(mine, func(*fitCase) *weights { return &w })
	}
	fmt.Println(time.Since(t0))
}

func load(dir, cache, questions string) []fitCase {
	docs := readAll(dir, cache)
	qs, err := asked.Load(questions)
	if err != nil {
		log.Fatal(err)
	}
	folders := map[string][]*unit{}
	for i := range docs {
		d := &docs[i]
		folder, _, _ := strings.Cut(d.File, "/")
		for at, c := range kb.Cut(d.Page, 0) {
			folders[folder] = append(folders[folder], &unit{d, c.Start, c.End, c.Headings, d.Page.Text[c.Start:c.End], at})
		}
	}
	indexes := map[string]*index.Index{}
	for name, units := range folders {
		b := index.NewBuilder()
		for i, u := range units {
			b.Add(index.Doc{ID: fmt.Sprint(i), Title: u.doc.name(), Heading: strings.Join(u.headings, " / "), Text: u.text, Lang: lang.Code(u.doc.Page.Lang)})
		}
		s, err := index.Open(b.Bytes())
		if err != nil {
			log.Fatal(err)
		}
		indexes[name] = index.New(s)
		fmt.Println(name, len(units), "units")
	}
	var cases []fitCase
	for i := range qs {
		q := &qs[i]
		text := q.Question
		if len(q.History) > 0 {
			text = q.History[len(q.History)-1].Question + " " + text
		}
		ix := indexes[q.Folder]
		groups, err := ix.Respell(text)
		if err != nil {
			log.Fatal(err)
		}
		groups = append(groups, kb.Translate(terms.Default(), ix, text)...)
		query := index.Query{Text: text, Limit: *depth, Groups: groups}
		found, err := ix.Search(query)
		if *ranked {
			found, err = ix.Rank(query, func(id string) (index.Doc, error) {
				var k int
				fmt.Sscan(id, &k)
				u := folders[q.Folder][k]
				return index.Doc{ID: id, Title: u.doc.name(), Heading: strings.Join(u.headings, " / "), Text: u.text, Lang: lang.Code(u.doc.Page.Lang)}, nil
			})
		}
		if err != nil {
			log.Fatal(err)
		}
		var cs []extract.Candidate
		var us []*unit
		for _, h := range found {
			var k int
			fmt.Sscan(h.ID, &k)
			u := folders[q.Folder][k]
			us = append(us, u)
			first := k == 0 || folders[q.Folder][k-1].doc != u.doc || !slices.Equal(folders[q.Folder][k-1].headings, u.headings)
			cs = append(cs, extract.Candidate{Title: u.doc.name(), Headings: u.headings, Text: u.text, Score: h.Score, Document: u.doc.File, Lang: lang.Code(u.doc.Page.Lang), First: first, Position: u.at})
		}
		byLang := map[lang.Code]int{}
		code := lang.Code(q.Lang)
		for _, c := range cs {
			if byLang[c.Lang]++; byLang[c.Lang] > byLang[code] {
				code = c.Lang
			}
		}
		judged := extract.Judge(text, code, ix, groups, cs)
		c := fitCase{q: q, text: text, ix: ix, unknown: extract.Unknown(text, code, ix, groups)}
		for j := range judged {
			c.units = append(c.units, us[j])
			c.f = append(c.f, judged[j].Features)
			c.right = append(c.right, !q.Unanswerable() && q.Shows(us[j].text))
			c.quotes = append(c.quotes, window(us[j].text, &judged[j]))
		}
		cases = append(cases, c)
	}
	return cases
}

func (d *doc) name() string {
	_, rest, _ := strings.Cut(d.File, "/")
	rest = strings.TrimSuffix(rest, filepath.Ext(rest))
	if *names {
		return d.Page.Title + " / " + strings.NewReplacer("/", " / ").Replace(rest)
	}
	return d.Page.Title
}

var names = flag.Bool("names", true, "")
