package dossier_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"

	"dossier"
	"dossier/event"
	"dossier/llm/llmtest"
	"dossier/mode"
)

// scripted stands in for a real model, so that the examples run anywhere. A
// program leaves Set out and has its model from the configuration.
func scripted() (options dossier.Options, stop func()) {
	model := httptest.NewServer(llmtest.New(llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.JSON(map[string]any{
		"reasoning": "Short waves scatter more.", "answer": "Because of Rayleigh scattering.", "key_points": []string{},
	})}}}))
	dir, err := os.MkdirTemp("", "dossier")
	if err != nil {
		log.Fatal(err)
	}
	return dossier.Options{
			DataDir: dir, ConfigFile: "none", Env: []string{"HOME=" + dir, "DOSSIER_SEARCH_ENGINES=none"},
			Set: map[string]string{"models.default.base_url": model.URL + "/v1", "models.default.model": "scripted"},
		}, func() {
			model.Close()
			_ = os.RemoveAll(dir)
		}
}

// A run is started and followed to its answer.
func ExampleEngine_Run() {
	options, stop := scripted()
	defer stop()
	ctx := context.Background()
	engine, err := dossier.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	question := dossier.Request{Request: mode.Request{Question: "Why is the sky blue?"}}
	for ev, err := range engine.Run(ctx, question) {
		if err != nil {
			log.Fatal(err)
		}
		if m, ok := ev.Data.(event.Message); ok {
			fmt.Printf("%s: %s\n", m.Role, m.Text)
		}
	}
	// Output:
	// user: Why is the sky blue?
	// assistant: Because of Rayleigh scattering.
}

// A finished run is replayed from its journal, without the model.
func ExampleEngine_Replay() {
	options, stop := scripted()
	defer stop()
	ctx := context.Background()
	engine, err := dossier.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	var id string
	for ev, err := range engine.Run(ctx, dossier.Request{Request: mode.Request{Question: "Why is the sky blue?"}}) {
		if err != nil {
			log.Fatal(err)
		}
		id = ev.Run
	}
	events, err := engine.Replay(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(events), "events, the last is", events[len(events)-1].Kind())
	// Output:
	// 5 events, the last is run.status
}
