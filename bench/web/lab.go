package main

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dossier"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

const (
	modelLatency  = 50 * time.Millisecond
	engineLatency = 100 * time.Millisecond
)

// lab is the product with a web and a model of its own.
type lab struct {
	web    *webtest.Web
	model  *llmtest.Server
	engine *dossier.Engine
	dir    string
	close  func()
}

// prepare opens a lab; each has an empty data directory.
func prepare(ctx context.Context, more map[string]string) (*lab, error) {
	dir, err := os.MkdirTemp("", "bench-web-")
	if err != nil {
		return nil, err
	}
	web, err := webtest.Start(webtest.Options{Loopback: true, EngineLatency: engineLatency, Slow: time.Millisecond})
	if err != nil {
		return nil, err
	}
	model := llmtest.New(llmtest.Script{Latency: modelLatency, Rules: []llmtest.Rule{{Reply: llmtest.Do(reply)}}, Keep: 1})
	listening := httptest.NewServer(model)
	at, err := url.Parse(web.Searx())
	if err != nil {
		return nil, err
	}
	set := map[string]string{
		"models.default.base_url": listening.URL + "/v1", "models.default.model": "scripted", "governor.max_concurrency": "512",
		"search.engines": "searxng", "search.searxng.base_url": web.Searx(), "search.searxng.at_once": "256",
		"search.allow_networks": "127.0.0.0/8", "search.allow_ports": at.Port(), "search.page_delay": "0s", "search.pages_per_site": "64",
		"search.browser": "false", "workers": "512",
	}
	maps.Copy(set, more)
	engine, err := dossier.Open(ctx, dossier.Options{DataDir: filepath.Join(dir, "data"), ConfigFile: "none", Set: set, Env: []string{"HOME=" + dir}})
	if err != nil {
		return nil, err
	}
	return &lab{web: web, model: model, engine: engine, dir: filepath.Join(dir, "data"), close: func() {
		_ = engine.Close()
		listening.Close()
		model.Close()
		web.Close()
		_ = os.RemoveAll(dir)
	}}, nil
}

// reply is a model that plans three queries for the question, wants to know
// more after each round, and answers with the first sentence of each source.
func reply(q *llmtest.Request) *llmtest.Reply {
	asked := q.Question()
	if _, rest, ok := strings.Cut(asked, "Question: "); ok {
		asked, _, _ = strings.Cut(rest, "\n")
	}
	switch q.Schema {
	case "plan":
		return llmtest.JSON(map[string]any{"question": asked, "facets": []any{map[string]any{
			"title": asked, "queries": []string{asked, asked + " facts", asked + " history"},
		}}})
	case "follow_up_list":
		round := strings.Count(q.Question(), "\n- ")
		var queries []any
		for i := range 3 {
			queries = append(queries, map[string]any{"facet": 1, "query": fmt.Sprintf("%s more %d", asked, round+i)})
		}
		return llmtest.JSON(map[string]any{"reason": "More may be known.", "enough": false, "queries": queries})
	case "ranked_list":
		return llmtest.JSON(map[string]any{"parts": []any{map[string]any{"part": 1, "results": []int{2, 1, 3, 4, 5, 6}}}})
	case "note":
		return llmtest.JSON(map[string]any{"relevant": true, "summary": "It is about the question.", "quotes": []string{}})
	case "synthesized_answer":
		return llmtest.JSON(map[string]any{"reasoning": "As the passages say.", "answer": sentences(q.Question()), "key_points": []string{}, "unanswered": false})
	case "judgements":
		var all []any
		for i := range strings.Count(q.Question(), "<claim") {
			all = append(all, map[string]any{"claim": i + 1, "verdict": "supported", "passage": 1})
		}
		return llmtest.JSON(map[string]any{"judgements": all})
	case "rewritten":
		return llmtest.JSON(map[string]any{"answer": "It is as the sources say [1]."})
	}
	return nil
}

// sentences are the first ones of the passages that an answer is written from,
// each with its source.
func sentences(prompt string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(prompt, "<passage source=\"") {
		number, rest, ok := strings.Cut(part, "\"")
		_, body, inside := strings.Cut(rest, ">\n")
		if !ok || !inside {
			continue
		}
		if sentence, _, ok := strings.Cut(body, ". "); ok {
			fmt.Fprintf(&out, "%s [%s]. ", strings.TrimSpace(sentence), number)
		}
	}
	return out.String()
}

// questions are those of the web that stand by themselves, in languages whose
// sentences the model can tell.
func (l *lab) questions() []string {
	var out []string
	for _, q := range l.web.Questions() {
		if q.After == "" && !q.Unanswerable && q.Lang != "zh" {
			out = append(out, q.Text)
		}
	}
	return out
}

// ask does one run to its end and returns its record.
func (l *lab) ask(ctx context.Context, modeName, question string) (run.Record, error) {
	rec, err := l.engine.Start(ctx, dossier.Request{Mode: modeName, Request: mode.Request{
		Question: question, In: sources.Target{Web: &sources.WebScope{}},
	}})
	if err != nil {
		return rec, err
	}
	for _, err := range l.engine.Events(ctx, rec.ID, 0) {
		if err != nil {
			return rec, err
		}
	}
	if rec, err = l.engine.Get(ctx, rec.ID); err != nil {
		return rec, err
	}
	if rec.Status != run.Done {
		return rec, fmt.Errorf("%q ended as %s: %+v", question, rec.Status, rec.Failure)
	}
	if r, err := l.engine.Report(ctx, rec.ID); err != nil || len(r.Sources) == 0 && r.Outcome != report.Nothing {
		return rec, fmt.Errorf("%q has no report with sources: %w", question, err)
	}
	return rec, nil
}
