package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"dossier"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

const (
	modelLatency  = 50 * time.Millisecond
	engineLatency = 100 * time.Millisecond
)

// world is a web and a model on this machine.
type world struct {
	web   *webtest.Web
	tasks []string
	set   map[string]string // the settings by which both are reached
	close func()
}

// open starts a world with a model that takes so long for each call.
func open(m *researcher, latency time.Duration) (*world, error) {
	web, err := webtest.Start(webtest.Options{Loopback: true, EngineLatency: engineLatency, Slow: time.Millisecond})
	if err != nil {
		return nil, err
	}
	w := &world{web: web}
	for _, q := range web.Questions() {
		if q.Lang == lang.English && q.After == "" && !q.Unanswerable {
			w.tasks = append(w.tasks, q.Text)
		}
	}
	m.tasks = w.tasks
	model := llmtest.New(llmtest.Script{Latency: latency, Rules: []llmtest.Rule{{Reply: llmtest.Do(m.reply)}}, Keep: 1})
	listening := httptest.NewServer(model)
	at, err := url.Parse(web.Searx())
	if err != nil {
		return nil, err
	}
	w.set = map[string]string{
		"models.default.base_url": listening.URL + "/v1", "models.default.model": "scripted", "governor.max_concurrency": "1024",
		"search.engines": "searxng", "search.searxng.base_url": web.Searx(), "search.searxng.at_once": "512", "search.cache_ttl": "0s",
		"search.allow_networks": "127.0.0.0/8", "search.allow_ports": at.Port(), "search.page_delay": "0s", "search.pages_per_site": "64",
		"search.browser": "false", "workers": "512",
	}
	w.close = func() {
		listening.Close()
		model.Close()
		web.Close()
	}
	return w, nil
}

// lab is the product with an empty data directory.
type lab struct {
	engine *dossier.Engine
	dir    string
	close  func()
}

// prepare opens a lab with settings; later ones come before earlier ones.
func prepare(ctx context.Context, settings ...map[string]string) (*lab, error) {
	dir, err := os.MkdirTemp("", "bench-deep-")
	if err != nil {
		return nil, err
	}
	set := make(map[string]string)
	for _, s := range settings {
		maps.Copy(set, s)
	}
	engine, err := dossier.Open(ctx, dossier.Options{DataDir: filepath.Join(dir, "data"), ConfigFile: "none", Set: set, Env: []string{"HOME=" + dir}})
	if err != nil {
		return nil, err
	}
	return &lab{engine: engine, dir: filepath.Join(dir, "data"), close: func() {
		_ = engine.Close()
		_ = os.RemoveAll(dir)
	}}, nil
}

// question is what all runs are asked; n makes it one of its own.
func question(n int) string {
	return fmt.Sprintf("What is known about the coast of the Aune, its towns, bridges, lights and beasts (%d)?", n)
}

// research does one deep research to its end and returns its record.
func (l *lab) research(ctx context.Context, n int) (run.Record, error) {
	rec, err := l.engine.Start(ctx, dossier.Request{Mode: "deep_research", Request: mode.Request{
		Question: question(n), NoInput: true, In: sources.Target{Web: &sources.WebScope{}},
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
		return rec, fmt.Errorf("run %s ended as %s: %+v", rec.ID, rec.Status, rec.Failure)
	}
	if r, err := l.engine.Report(ctx, rec.ID); err != nil || len(r.Sources) == 0 || len(r.Sections) == 0 {
		return rec, fmt.Errorf("run %s has no report with sources: %w", rec.ID, err)
	}
	return rec, nil
}

// asText is settings as an argument of a program.
func asText(set map[string]string) (string, error) {
	raw, err := json.Marshal(set)
	return string(raw), err
}
