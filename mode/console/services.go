package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"dossier/internal/haiku"
	"dossier/lang"
	"dossier/run"
)

// RAG answers questions from documents.
type RAG interface {
	// Health returns the status of the service: ok, if all is well.
	Health(ctx context.Context) (status string, err error)
	Search(ctx context.Context, question string, topK int) (Found, error)
}

// Poet writes haiku.
type Poet interface {
	Health(ctx context.Context) (status string, err error)
	Generate(ctx context.Context, theme string) (Haiku, error)
}

// Found is what RAG replies.
type Found struct {
	Answer string   `json:"answer"`
	Titles []string `json:"chunk_title_list"`
	Texts  []string `json:"chunk_texts"`
	// Extractive says that the answer consists of the documents' own sentences.
	Extractive bool   `json:"extractive,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Haiku is what a Poet replies.
type Haiku struct {
	Text      string `json:"haiku_text"`
	Syllables []int  `json:"syllables_per_line"`
	Words     int    `json:"total_words"`
	// Composed says that no model wrote it: it is put together from lists.
	Composed bool   `json:"composed,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Healthy is the status of a service that works.
const Healthy = "ok"

// done is what came of a call: the reply, and what is shown after it.
type done struct {
	Reply string   `json:"reply"`
	Notes []string `json:"notes,omitempty"`
}

// execute calls the tool as a step of the run.
func (t *turn) execute(ctx context.Context, c call) (done, error) {
	return run.Step(ctx, t.scope, "execute", func(ctx context.Context, s *run.Scope) (done, error) {
		log := t.log(stepExec)
		log.Debug("AgentExecute")
		api, _ := t.api(s, stepExec)
		rag, poet := t.Services(s.Record().User, t.code, api)
		var out done
		var err error
		if c.Tool == ToolSearch {
			out, err = t.search(ctx, log, rag, c)
		} else {
			out, err = t.generate(ctx, log, poet, c)
		}
		if ctx.Err() != nil {
			return done{}, context.Cause(ctx)
		}
		if err != nil { // the log has been told; the user gets the seed's text
			failed := map[string]string{ToolSearch: "console.rag-failed", ToolHaiku: "console.haiku-failed"}
			return done{Reply: lang.Text(t.code, failed[c.Tool])}, nil //nolint:nilerr // as above
		}
		return out, nil
	})
}

// errTold is a failure that the log has been told.
var errTold = errors.New("the service failed")

// healthy looks after a service before it is called for what the log is told about.
func healthy(ctx context.Context, log *slog.Logger, what string, health func(context.Context) (string, error)) error {
	status, err := health(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		log.Error("check_health // Unexpected error: " + err.Error())
	}
	if err != nil || !well(status) {
		log.Error(what + " // Health check failed")
		return errTold
	}
	return nil
}

// well says whether a status is that of a service that works: ok, or healthy as the
// server as a whole says it.
func well(status string) bool {
	return strings.EqualFold(status, Healthy) || strings.EqualFold(status, "healthy")
}

func (t *turn) search(ctx context.Context, log *slog.Logger, rag RAG, c call) (done, error) {
	const what = "answer_question"
	if err := healthy(ctx, log, what, rag.Health); err != nil {
		return done{}, err
	}
	found, err := rag.Search(ctx, c.Text, c.TopK)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			log.Error(what + " // Unexpected error: " + err.Error())
		}
		return done{}, errTold
	case found.Error != "":
		log.Error(what + " // Search error: " + found.Error)
		return done{}, errTold
	}
	log.Debug("rag_chunks_message: " + chunks(found))
	titles := strings.Join(found.Titles, ", ")
	if titles == "" {
		titles = "—"
	}
	out := done{
		Reply: lang.Text(t.code, "console.rag-answer", "text", found.Answer),
		Notes: []string{lang.Text(t.code, "console.rag-titles", "n", c.TopK, "titles", titles)},
	}
	if found.Extractive {
		out.Notes = append(out.Notes, lang.Text(t.code, "console.rag-quoted"))
	}
	return out, nil
}

// chunks are the passages of an answer, for the log.
func chunks(f Found) string {
	var b strings.Builder
	for i, text := range f.Texts {
		title := ""
		if i < len(f.Titles) {
			title = f.Titles[i]
		}
		fmt.Fprintf(&b, "\n[%d] %s\n    %s", i+1, title, strings.Join(strings.Fields(text), " "))
	}
	if b.Len() == 0 {
		return "—"
	}
	return b.String()
}

func (t *turn) generate(ctx context.Context, log *slog.Logger, poet Poet, c call) (done, error) {
	const what = "generate_haiku"
	if err := healthy(ctx, log, what, poet.Health); err != nil {
		return done{}, err
	}
	poem, err := poet.Generate(ctx, c.Text)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			log.Error(what + " // Unexpected error: " + err.Error())
		}
		return done{}, errTold
	case poem.Error != "":
		log.Error(what + " // Generation error: " + poem.Error)
		return done{}, errTold
	}
	var lines []string
	for line := range strings.Lines(poem.Text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	out := done{
		Reply: lang.Text(t.code, "console.haiku", "text", strings.Join(lines, " | ")),
		Notes: []string{
			lang.Text(t.code, "console.syllables", "counts", haiku.Dashed(poem.Syllables)),
			lang.Text(t.code, "console.words", "n", strconv.Itoa(poem.Words)),
		},
	}
	if poem.Composed {
		out.Notes = append(out.Notes, lang.Text(t.code, "console.haiku-composed"))
	}
	return out, nil
}
