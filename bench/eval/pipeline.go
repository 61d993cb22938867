package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"dossier/event"
	"dossier/index"
	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/lang/terms"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/websearch"
	"dossier/reader"
	"dossier/report"
	kernel "dossier/run"
	"dossier/sources"
)

// product carries out modes without a model.
type product struct {
	store *memory.Store
	runs  atomic.Int64
}

// defaults are the settings of web_search as they are without configuration.
var defaults = websearch.Settings{
	Tuning:   sources.Tuning{Queries: 3, MinIterations: 1, Iterations: 2, MaxResults: 8, TopK: 6, ReadTop: 4},
	MinWords: 400, MaxWords: 600, ContextTokens: 12000,
}

// ask puts a question to a place among the holdings.
func (p *product) ask(ctx context.Context, holdings websearch.Holdings, in sources.Target, question string, before ...event.Message) (*report.Report, error) {
	history := func(context.Context, string, string, int) ([]event.Message, error) { return before, nil }
	m := websearch.New("web_search", websearch.Parts{Models: &llm.Models{}, Holdings: holdings, Blobs: p.store, History: history}, defaults)
	return p.carryOut(ctx, m, mode.Request{Question: question, In: in})
}

// carryOut has a mode work on a request, with the settings that it has.
func (p *product) carryOut(ctx context.Context, m mode.Mode, req mode.Request) (*report.Report, error) {
	settings, err := json.Marshal(m.Settings())
	if err != nil {
		return nil, err
	}
	req.Settings = settings
	var got mode.Answer
	x := kernel.NewExecutor(kernel.ExecutorConfig{
		Journal: p.store, Owner: "eval", Publish: func(event.Event) {},
		Program: func(kernel.Record) (kernel.Func, kernel.Limits, error) {
			return func(ctx context.Context, s *kernel.Scope) (err error) {
				got, err = m.Run(ctx, s, req)
				return err
			}, kernel.Limits{}, nil
		},
	})
	defer x.Close()
	id := fmt.Sprint("q", p.runs.Add(1))
	if err := p.store.Create(ctx, kernel.Record{ID: id, Session: id, Mode: m.Name(), Status: kernel.Queued, Created: time.Now()}, nil, nil); err != nil {
		return nil, err
	}
	status, err := x.Execute(ctx, id)
	if err != nil || status != kernel.Done {
		rec, _ := p.store.Run(ctx, id)
		return nil, fmt.Errorf("the run ended as %s: %w %+v", status, err, rec.Failure)
	}
	return got.Report, p.store.Delete(ctx, id)
}

// quotes are the sentences of a report, and whether it says that nothing
// answers the question. Documents go by the name that nameOf gives them.
func quotes(r *report.Report, nameOf func(*report.Source) string) answered {
	out := answered{Refused: r.Outcome == report.Nothing}
	all := r.Nearest
	for _, s := range r.Sections {
		all = append(all, s.Quotes...)
	}
	for _, q := range all {
		out.Quotes = append(out.Quotes, quotation{nameOf(r.Source(q.Passage.Source)), q.Passage.Start, q.Passage.End})
	}
	return out
}

// pipeline is the product over documents in a folder, mirrored into a
// collection.
type pipeline struct {
	product

	holdings   *sources.Holdings
	collection string
	close      func()
}

// assemble writes documents to a folder and has them read. Each is a file by its
// ID; with their titles each lies in a folder by its ID, and has its title as its
// name and as its first heading, as people's files do.
func assemble(ctx context.Context, docs []index.Doc, titles bool) (*pipeline, error) {
	dir, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return nil, err
	}
	files := reader.New(reader.Config{})
	p := &pipeline{product: product{store: memory.New(memory.Options{})}, close: func() {
		files.Close()
		_ = os.RemoveAll(dir)
	}}
	for _, d := range docs {
		name, text := d.ID+".txt", d.Text
		if titles && d.Title != "" {
			name, text = filepath.Join(d.ID, fileName(d.Title)+".md"), "# "+d.Title+"\n\n"+d.Text
		}
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
	library := kb.New(p.store, files, nil, kb.Options{Terms: terms.Default()})
	c, err := library.Ensure(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, err := library.Sync(ctx, c.ID, kb.SyncOptions{}); err != nil {
		return nil, err
	}
	p.collection, p.holdings = c.ID, &sources.Holdings{Documents: &sources.Local{Library: library}}
	return p, nil
}

// fileName is a title as a file may be called.
func fileName(title string) string {
	const longest = 150 // bytes
	title = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, title)
	for len(title) > longest {
		_, last := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-last]
	}
	return strings.Trim(title, " .")
}

// documentOf is the ID of the document that assemble wrote to a path.
func documentOf(path string) string {
	if filepath.Ext(path) == ".md" {
		return filepath.Base(filepath.Dir(path))
	}
	return strings.TrimSuffix(filepath.Base(path), ".txt")
}

// answer asks the collection and returns the quotes of the report.
func (p *pipeline) answer(ctx context.Context, question string) (answered, error) {
	r, err := p.ask(ctx, p.holdings, sources.Target{Collection: p.collection}, question)
	if err != nil {
		return answered{}, err
	}
	return quotes(r, func(s *report.Source) string { return documentOf(s.URI) }), nil
}
