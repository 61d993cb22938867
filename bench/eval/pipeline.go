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

	"dossier/event"
	"dossier/index"
	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/websearch"
	"dossier/reader"
	"dossier/report"
	kernel "dossier/run"
	"dossier/sources"
)

// pipeline is the product without a model: documents in a folder, mirrored
// into a collection, and the mode web_search over it.
type pipeline struct {
	store      *memory.Store
	mode       *websearch.Mode
	collection string
	runs       atomic.Int64
	close      func()
}

// defaults are the settings of web_search as they are without configuration.
var defaults = websearch.Settings{
	Tuning:   sources.Tuning{Queries: 3, Iterations: 2, MaxResults: 8, TopK: 6, ReadTop: 4},
	MinWords: 400, MaxWords: 600, ContextTokens: 12000,
}

// assemble writes documents to a folder and has them read.
func assemble(ctx context.Context, docs []index.Doc) (*pipeline, error) {
	dir, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return nil, err
	}
	files := reader.New(reader.Config{})
	p := &pipeline{store: memory.New(memory.Options{}), close: func() {
		files.Close()
		_ = os.RemoveAll(dir)
	}}
	for _, d := range docs {
		if err := os.WriteFile(filepath.Join(dir, d.ID+".txt"), []byte(d.Text), 0o600); err != nil {
			return nil, err
		}
	}
	library := kb.New(p.store, files, nil, kb.Options{})
	c, err := library.Ensure(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, err := library.Sync(ctx, c.ID, kb.SyncOptions{}); err != nil {
		return nil, err
	}
	p.collection = c.ID
	nobody := func(context.Context, string, string, int) ([]event.Message, error) { return nil, nil }
	p.mode = websearch.New("web_search", websearch.Parts{
		Models: &llm.Models{}, Holdings: &sources.Holdings{Documents: &sources.Local{Library: library}}, Blobs: p.store, History: nobody,
	}, defaults)
	return p, nil
}

// answer asks the collection and returns the quotes of the report.
func (p *pipeline) answer(ctx context.Context, question string) (answered, error) {
	settings, err := json.Marshal(defaults)
	if err != nil {
		return answered{}, err
	}
	var got mode.Answer
	x := kernel.NewExecutor(kernel.ExecutorConfig{
		Journal: p.store, Owner: "eval", Publish: func(event.Event) {},
		Program: func(kernel.Record) (kernel.Func, kernel.Limits, error) {
			return func(ctx context.Context, s *kernel.Scope) (err error) {
				got, err = p.mode.Run(ctx, s, mode.Request{Question: question, Settings: settings, In: sources.Place{Collection: p.collection}})
				return err
			}, kernel.Limits{}, nil
		},
	})
	defer x.Close()
	id := fmt.Sprint("q", p.runs.Add(1))
	if err := p.store.Create(ctx, kernel.Record{ID: id, Session: id, Mode: "web_search", Status: kernel.Queued, Created: time.Now()}, nil, nil); err != nil {
		return answered{}, err
	}
	status, err := x.Execute(ctx, id)
	if err != nil || status != kernel.Done {
		rec, _ := p.store.Run(ctx, id)
		return answered{}, fmt.Errorf("the run ended as %s: %w %+v", status, err, rec.Failure)
	}
	if err := p.store.Delete(ctx, id); err != nil {
		return answered{}, err
	}
	r := answered{Refused: got.Report.Outcome == report.Nothing}
	quotes := got.Report.Nearest
	for _, s := range got.Report.Sections {
		quotes = append(quotes, s.Quotes...)
	}
	for _, q := range quotes {
		doc := strings.TrimSuffix(filepath.Base(got.Report.Source(q.Passage.Source).URI), ".txt")
		r.Quotes = append(r.Quotes, quotation{doc, q.Passage.Start, q.Passage.End})
	}
	return r, nil
}
