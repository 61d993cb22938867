package dossier_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/report"
	"dossier/sources"
)

// deepResearch works on a question with the evidence loop and returns the report.
// What the run asks, onClarify answers.
func deepResearch(ctx context.Context, engine *dossier.Engine, question, folder string, onClarify func(question string) string) (*report.Report, error) {
	req := dossier.Request{Mode: "deep_research", Request: mode.Request{Question: question, In: sources.Target{Paths: []string{folder}}}}
	var run string
	for ev, err := range engine.Run(ctx, req) {
		if err != nil {
			return nil, err
		}
		run = ev.Run
		if asked, ok := ev.Data.(event.ClarifyAsked); ok {
			answer := onClarify(strings.Join(asked.Questions, "\n"))
			if err := engine.Answer(ctx, run, asked.ID, answer); err != nil {
				return nil, err
			}
		}
	}
	return engine.Report(ctx, run)
}

// A deep research with a model of one's choice, so many rounds at most, and a
// function that answers what the run asks.
func ExampleEngine_Run_deepResearch() {
	ctx := context.Background()
	folder, provider, stop := scriptedResearch()
	defer stop()
	engine, err := dossier.Open(ctx, dossier.Options{
		DataDir: filepath.Join(folder, "data"), ConfigFile: "none", Env: []string{"HOME=" + folder, "DOSSIER_SEARCH_ENGINES=none"},
		Set: map[string]string{
			"models.default.provider": "openai-compatible", "models.default.base_url": provider, "models.default.model": "scripted",
			"deep_research.engine": "loop", "deep_research.max_iterations": "5",
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	onClarify := func(question string) string {
		fmt.Println("asked:", question)
		return "that of Cape Kestrel"
	}
	r, err := deepResearch(ctx, engine, "What is known of the lighthouse?", filepath.Join(folder, "docs"), onClarify)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Title)
	for _, s := range r.Sections {
		fmt.Println("-", s.Title)
	}
	fmt.Println(len(r.Sources), "source")
	// Output:
	// asked: Which lighthouse?
	// The lighthouse of Cape Kestrel
	// - Builder
	// - Lamp
	// - Ferry
	// 1 source
}

// scriptedResearch stands in for a folder with documents and for a model.
func scriptedResearch() (folder, provider string, stop func()) {
	folder, err := os.MkdirTemp("", "dossier")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "docs"), 0o700); err != nil {
		log.Fatal(err)
	}
	text := "# Cape Kestrel\n\n## Builder\n\nMaria Lindqvist built the lighthouse of Cape Kestrel in 1874.\n\n" +
		"## Lamp\n\n187 steps lead up to the lamp of the lighthouse.\n\n## Ferry\n\nThe ferry to the lighthouse leaves the pier at seven.\n"
	if err := os.WriteFile(filepath.Join(folder, "docs", "cape.md"), []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	object := func(schema string, v map[string]any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.JSON(v)}
	}
	section := func(title, description string) map[string]any {
		return map[string]any{"title": title, "description": description, "search_queries": []string{description}}
	}
	says := func(contains, content string) llmtest.Rule {
		return llmtest.Rule{Schema: "section", Contains: contains, Reply: llmtest.JSON(map[string]any{"content": content})}
	}
	const builder, lamp, ferry = "Maria Lindqvist built the lighthouse of Cape Kestrel in 1874 [1].", "187 steps lead up to the lamp of the lighthouse [1].", "The ferry to the lighthouse leaves the pier at seven [1]."
	model := httptest.NewServer(llmtest.New(llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "clarity", Contains: "The user answered", Reply: llmtest.JSON(map[string]any{
			"is_clear": true, "reasoning": "It is said which.", "clarification_question": "", "refined_query": "What is known of the lighthouse of Cape Kestrel?",
		})},
		object("clarity", map[string]any{
			"is_clear": false, "reasoning": "There are many.", "clarification_question": "Which lighthouse?", "refined_query": "What is known of the lighthouse?",
		}),
		object("research_plan", map[string]any{"research_title": "The lighthouse of Cape Kestrel", "sections": []any{
			section("Builder", "Who built the lighthouse?"), section("Lamp", "How many steps lead up to the lamp?"), section("Ferry", "When does the ferry leave?"),
		}}),
		object("note", map[string]any{"relevant": true, "summary": "It tells of the lighthouse.", "quotes": []string{}}),
		object("reflection", map[string]any{"is_sufficient": true, "overall_score": 8, "gaps": []string{}, "next_queries": []string{}, "reasoning": "Each section has its sentence."}),
		says("Section: Builder", builder), says("Section: Lamp", lamp), says("Section: Ferry", ferry),
		says("", builder+" "+lamp),
	}}))
	return folder, model.URL + "/v1", func() {
		model.Close()
		_ = os.RemoveAll(folder)
	}
}
