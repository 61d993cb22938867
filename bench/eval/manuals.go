package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"dossier/bench/internal/asked"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/lang/terms"
	"dossier/llm/openai"
	"dossier/reader"
	"dossier/report"
	"dossier/sources"
)

// runManuals answers questions over folders of real documents, as `dossier
// research --in DIR` does without a model.
func runManuals(ctx context.Context, e *Env) error {
	file, err := e.Path("questions.jsonl.gz")
	if err != nil {
		return err
	}
	questions, err := asked.Load(file)
	if err != nil {
		return err
	}
	corpus, err := e.Path("corpus.tar.gz")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := exec.CommandContext(ctx, "tar", "xzf", corpus, "-C", dir).Run(); err != nil {
		return fmt.Errorf("unpacking %s: %w", corpus, err)
	}
	return e.research(ctx, dir, questions)
}

// ownSet is the name of the questions of bench/questions among the figures:
// nothing is fitted to them.
const ownSet = "questions"

func (e *Env) ownQuestions(ctx context.Context, root, documents string) error {
	if _, err := os.Stat(documents); err != nil {
		return err
	}
	questions, err := asked.Load(filepath.Join(root, "bench", "questions", "questions.jsonl"))
	if err != nil {
		return err
	}
	return e.research(ctx, documents, questions)
}

// research asks questions of the folders in a directory, and where there is an
// embedder those in its language once more with it.
func (e *Env) research(ctx context.Context, dir string, questions []asked.Question) error {
	if err := e.researchWith(ctx, dir, questions, nil, ""); err != nil || e.Embedder == "" {
		return err
	}
	client, err := openai.New(openai.Config{BaseURL: e.Embedder})
	if err != nil {
		return err
	}
	// The encoders that may be passed on freely know English: they are asked for
	// English questions, over folders that are not in another language.
	english := asked.Mostly(questions, "en")
	if err := e.researchWith(ctx, dir, english, nil, ".words"); err != nil {
		return err
	}
	return e.researchWith(ctx, dir, english, kb.EmbedWith(client, "embedder"), ".emb")
}

// researchWith prints figures with a suffix.
func (e *Env) researchWith(ctx context.Context, dir string, questions []asked.Question, embedder kb.Embedder, suffix string) error {
	files := reader.New(reader.Config{CacheDir: filepath.Join(os.TempDir(), "dossier-eval")})
	defer files.Close()
	p := &product{store: memory.New(memory.Options{})}
	library := kb.New(p.store, files, embedder, kb.Options{Terms: terms.Default()})
	holdings := &sources.Holdings{Documents: &sources.Local{Library: library}}
	collections := map[string]string{}
	var results []asked.Result
	for i := range questions {
		q := &questions[i]
		if collections[q.Folder] == "" {
			c, err := library.Ensure(ctx, filepath.Join(dir, q.Folder))
			if err != nil {
				return err
			}
			if _, err := library.Sync(ctx, c.ID, kb.SyncOptions{}); err != nil {
				return err
			}
			collections[q.Folder] = c.ID
		}
		r, err := p.ask(ctx, holdings, sources.Target{Collection: collections[q.Folder]}, q.Question, said(q.History)...)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		a := delivered(q.ID, r)
		if err := e.Record(a); err != nil {
			return err
		}
		results = append(results, asked.Judge(q, a))
	}
	for _, f := range asked.Figures(results) {
		e.Score(f.Name+suffix, f.Value, f.N)
	}
	if suffix != "" {
		return nil
	}
	return e.agentOver(ctx, p, library, collections, questions, results)
}

// said is a conversation as a mode gets it.
func said(turns []asked.Turn) []event.Message {
	var out []event.Message
	for _, t := range turns {
		out = append(out, event.Message{Role: "user", Text: t.Question})
		if t.Answer != "" {
			out = append(out, event.Message{Role: "assistant", Text: t.Answer})
		}
	}
	return out
}

// delivered are the quotes of a report in their order.
func delivered(id string, r *report.Report) asked.Answer {
	a := asked.Answer{ID: id, Refused: r.Outcome == report.Nothing}
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			a.Quotes = append(a.Quotes, q.Text)
			a.Words += len(strings.Fields(q.Text))
		}
	}
	return a
}
